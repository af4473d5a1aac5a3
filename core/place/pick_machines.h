/* pick_machines.h - the insides of real hosts as one line of text, for tests and benches
 *
 * "8 i:0123/4567 n:0123/4567 p:01/23/45/67 nics:1010 l:18 04=2" is a host of 8 devices (hexadecimal
 * digits), with islands, NUMA nodes and PCIe switches as groups (a device in none of them is in no
 * part), NICs per switch, the link inside every island and the links of single pairs. Without any
 * link the matrix is unknown; "l:0" says that there is none.
 *
 * The machines are those whose layout people publish as nvidia-smi, npu-smi, mx-smi and rocm-smi
 * matrices, NCCL and hwloc files.
 *
 * Misuse  A text that is not of this form stops the program.
 */
#ifndef PLACE_PICK_MACHINES_H
#define PLACE_PICK_MACHINES_H

#include <stdint.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/shape.h"

struct pick_machine {
    const char *name, *text;
};

static const struct pick_machine pick_machines[] = {
    /* Switched or fully linked boards. */
    {"hgx8", "8 i:01234567 n:0123/4567 p:01/23/45/67 nics:2222 l:18"},
    {"hgx8-bare", "8 i:01234567 l:18"},
    {"hgx8-rail", "8 i:01234567 n:0123/4567 p:0/1/2/3/4/5/6/7 nics:11111111 l:18"},
    {"hgx8-near-nics", "8 i:01234567 n:0123/4567 p:01/23/45/67 nics:2200 l:12"},
    {"hgx8-one-bare", "8 i:01234567 n:01234567 p:0/1/2/3/4/5/6/7 nics:22222022 l:18"},
    {"hgx8-snc4", "8 i:01234567 n:012/3/456/7 l:18"},
    {"dgx-a100", "8 i:01234567 n:01/23/45/67 p:01/23/45/67 nics:2222 l:12"},
    {"ascend8", "8 i:01234567 n:01/23/45/67"},
    {"mi300x", "8 i:01234567 n:0123/4567 l:1"},
    {"a100-4", "4 i:0123 n:01/23 l:4"},
    {"h100-4", "4 i:0123 n:0/1/2/3 p:0/1/2/3 nics:1111 l:6"},
    {"gb200-tray", "4 i:0123 n:01/23 l:18"},
    {"dgx2",
     "16 i:0123456789abcdef n:01234567/89abcdef p:01/23/45/67/89/ab/cd/ef nics:11111111 l:6"},
    /* Meshes whose pairs differ. */
    {"dgx1", "8 i:01234567 n:0123/4567 p:01/23/45/67 nics:1111 03=2 04=2 12=2 15=2 23=2 47=2 56=2 "
             "67=2 01=1 02=1 13=1 26=1 37=1 45=1 46=1 57=1"},
    {"dgx1-hybrid", "8 i:01234567 01=2 02=2 15=2 23=2 37=2 45=2 46=2 67=2 03=1 04=1 12=1 13=1 26=1 "
                    "47=1 56=1 57=1"},
    {"dgx1-hugectr", "8 i:01234567 n:0123/4567 02=2 07=2 13=2 16=2 23=2 45=2 46=2 57=2 01=1 03=1 "
                     "12=1 25=1 34=1 47=1 56=1 67=1"},
    {"dgx1-vm",
     "8 i:01234567 03=2 06=2 12=2 17=2 23=2 45=2 47=2 56=2 01=1 02=1 13=1 24=1 35=1 46=1 "
     "57=1 67=1"},
    {"ndv2", "8 i:01234567 n:01234567 01=2 03=2 12=2 24=2 35=2 47=2 56=2 67=2 02=1 06=1 13=1 17=1 "
             "23=1 45=1 46=1 57=1"},
    {"v100-4", "4 i:0123 01=1 02=1 13=1 03=2 12=2 23=2"},
    {"mi-ring4", "4 i:0123 n:0123 01=1 02=1 13=1 23=1"},
    {"mi200-8",
     "8 i:01234567 n:01234567 01=1 02=1 06=1 13=1 15=1 23=1 24=1 37=1 45=1 46=1 57=1 67=1"},
    {"mi-8-six", "8 i:01234567 n:0123/4567 01=1 02=1 03=1 04=1 06=1 07=1 12=1 13=1 15=1 16=1 17=1 "
                 "23=1 24=1 25=1 26=1 34=1 35=1 37=1 45=1 46=1 47=1 56=1 57=1 67=1"},
    {"mi250-8", "8 i:01234567 n:0145/2367 01=4 23=4 45=4 67=4 04=2 26=2 06=1 13=1 17=1 24=1 35=1 "
                "57=1"},
    {"two-dgx1",
     "16 i:01234567/89abcdef n:01234567/89abcdef 03=2 04=2 12=2 15=2 23=2 47=2 56=2 67=2 "
     "01=1 02=1 13=1 26=1 37=1 45=1 46=1 57=1 8b=2 8c=2 9a=2 9d=2 ab=2 cf=2 de=2 ef=2 "
     "89=1 8a=1 9b=1 ae=1 bf=1 cd=1 ce=1 df=1"},
    {"cube16",
     "16 i:0123456789abcdef 01=1 23=1 45=1 67=1 89=1 ab=1 cd=1 ef=1 02=1 13=1 46=1 57=1 "
     "8a=1 9b=1 ce=1 df=1 04=1 15=1 26=1 37=1 8c=1 9d=1 ae=1 bf=1 08=1 19=1 2a=1 3b=1 4c=1 "
     "5d=1 6e=1 7f=1"},
    /* Several islands. */
    {"bridge2", "2 i:01 l:2"},
    {"bridge4", "4 i:01/23 n:01/23 l:12"},
    {"bridge8", "8 i:01/23/45/67 n:0123/4567 l:12"},
    {"bridge8-across", "8 i:04/15/26/37 n:0123/4567 p:01/23/45/67 nics:1111 l:12"},
    {"bridge16", "16 i:01/23/45/67/89/ab/cd/ef n:01234567/89abcdef l:4"},
    {"p9-4", "4 i:01/23 n:01/23 p:01/23 nics:22 l:3"},
    {"p9-6", "6 i:012/345 n:012/345 l:2"},
    {"metax8", "8 i:0123/4567 n:01234567"},
    {"two-hives16",
     "16 i:01234567/89abcdef n:01234567/89abcdef p:0123/4567/89ab/cdef nics:1111 l:1"},
    {"one-bridge-one-single", "3 i:01 n:012 l:4"},
    {"quad-pair-singles", "8 i:0123/45 n:0123/4567 l:4"},
    /* PCIe only. */
    {"pcie8", "8 i:0/1/2/3/4/5/6/7 n:0123/4567 p:01/23/45/67 nics:1111 l:0"},
    {"p40-8", "8 n:01234567 p:0123/4567 nics:10 l:0"},
    {"rtx4090-8", "8 i:0/1/2/3/4/5/6/7 n:0123/4567 l:0"},
    {"pcie8-6-2", "8 n:012345/67 p:12/34/67 nics:000 l:0"},
    {"pcie8-3-1-4", "8 n:012/3/4567 l:0"},
    {"k80-4", "4 n:0123 l:0"},
    {"pcie3-1-2", "3 n:0/12 l:0"},
    {"pcie5-1-4", "5 n:0/1234 p:12/34 nics:00 l:0"},
    {"pcie6", "6 n:012/345 p:01/2/34/5 nics:1010 l:0"},
    {"pcie10", "10 n:01234/56789 p:01234/56789 nics:11 l:0"},
    {"pcie16", "16 n:01234567/89abcdef p:0123/4567/89ab/cdef nics:1111 l:0"},
    {"interleaved8", "8 n:0246/1357 p:04/26/15/37 nics:1111 l:0"},
    /* Nothing known. */
    {"unknown8", "8"},
    {"unknown1", "1"},
};

#define PICK_MACHINES (sizeof(pick_machines) / sizeof(pick_machines[0]))

static inline unsigned pick_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    must(c >= 'a' && c <= 'f');
    return (unsigned)(c - 'a') + 10;
}

/* A decimal number; *text is left behind it. */
static inline unsigned pick_number(const char **text)
{
    unsigned number = 0;

    must(**text >= '0' && **text <= '9');
    for (; **text >= '0' && **text <= '9'; (*text)++)
        number = number * 10 + pick_digit(**text);
    return number;
}

/* Devices written as digits. */
static inline uint16_t pick_set(const char *digits)
{
    unsigned set = 0;

    for (; *digits; digits++)
        set |= 1u << pick_digit(*digits);
    return (uint16_t)set;
}

static inline const char *pick_parts(struct shape *s, enum shape_part part, const char *text)
{
    uint8_t number = 0;

    for (; *text && *text != ' '; text++) {
        if (*text == '/')
            number++;
        else
            s->part[part][pick_digit(*text)] = number;
    }
    return text;
}

static inline void pick_join(struct shape *s, unsigned a, unsigned b, unsigned link)
{
    must(a < s->gpus && b < s->gpus && a != b && link <= UINT16_MAX);
    s->link[a][b] = (uint16_t)link;
    s->link[b][a] = (uint16_t)link;
    s->links_known = 1;
}

static inline void pick_join_islands(struct shape *s, unsigned link)
{
    for (unsigned a = 0; a < s->gpus; a++)
        for (unsigned b = 0; b < a; b++)
            if (bits_has(shape_part_mask(s, SHAPE_ISLAND, a), b))
                pick_join(s, a, b, link);
    s->links_known = 1;
}

static inline struct shape pick_machine_shape(const char *text)
{
    struct shape s = {.gpus = (uint8_t)pick_number(&text)};

    must(s.gpus <= SHAPE_GPUS_MAX);
    memset(s.part, SHAPE_NO_PART, sizeof(s.part));
    while (*text == ' ') {
        text++;
        if (strncmp(text, "i:", 2) == 0) {
            text = pick_parts(&s, SHAPE_ISLAND, text + 2);
        } else if (strncmp(text, "n:", 2) == 0) {
            text = pick_parts(&s, SHAPE_NUMA, text + 2);
        } else if (strncmp(text, "p:", 2) == 0) {
            text = pick_parts(&s, SHAPE_PCIE, text + 2);
        } else if (strncmp(text, "nics:", 5) == 0) {
            text += 5;
            for (unsigned i = 0; *text && *text != ' '; i++, text++)
                s.nics[i] = (uint8_t)pick_digit(*text);
        } else if (strncmp(text, "l:", 2) == 0) {
            text += 2;
            pick_join_islands(&s, pick_number(&text));
        } else {
            unsigned a = pick_digit(text[0]), b = pick_digit(text[1]);

            must(text[2] == '=');
            text += 3;
            pick_join(&s, a, b, pick_number(&text));
        }
    }
    must(*text == 0 && shape_valid(&s));
    return s;
}

/* The machine of this name, which must exist. */
static inline struct shape pick_machine(const char *name)
{
    unsigned i = 0;

    while (i < PICK_MACHINES && strcmp(pick_machines[i].name, name) != 0)
        i++;
    must(i < PICK_MACHINES);
    return pick_machine_shape(pick_machines[i].text);
}

#endif
