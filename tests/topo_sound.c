#include "tests/topo_sound.h"

#include "edge/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SURE(x) ((x) ? (void)0 : not_so(#x))

static _Noreturn void not_so(const char *what)
{
    (void)fprintf(stderr, "not so: %s\n", what);
    abort();
}

static void sound_device(const struct topo_host *h, const struct topo_device *d)
{
    int32_t count = (int32_t)h->device_count;

    SURE(d->island >= TOPO_NONE && d->island < count);
    SURE(d->bridge >= TOPO_NONE && d->bridge < count);
    SURE(d->root >= TOPO_NONE && d->root < count);
    SURE(d->numa >= TOPO_NONE && d->memory_numa >= TOPO_NONE && d->index >= TOPO_NONE);
    SURE(d->bridge == TOPO_NONE || d->root != TOPO_NONE);
}

static void sound_host(const struct topo_host *h)
{
    SURE(h->gpu_count + h->nic_count <= h->device_count);
    SURE(h->device_count <= TOPO_DEVICES_MAX);
    for (uint32_t d = 0; d < h->device_count; d++) {
        bool accelerator =
            h->device[d].kind == TOPO_DEVICE_GPU || h->device[d].kind == TOPO_DEVICE_NPU;

        SURE(accelerator == (d < h->gpu_count));
        sound_device(h, &h->device[d]);
    }
    for (uint32_t a = 0; a < h->device_count && h->link; a++) {
        SURE(topo_link(h, a, a)->path == TOPO_PATH_SELF);
        for (uint32_t b = 0; b < a; b++) {
            const struct topo_link *ab = topo_link(h, a, b), *ba = topo_link(h, b, a);

            SURE(ab->path == ba->path && ab->links == ba->links && ab->mbyte_s == ba->mbyte_s);
            SURE(ab->path < TOPO_PATH_COUNT && ab->path != TOPO_PATH_SELF);
            SURE(!topo_path_joins(ab->path) || !h->links_known ||
                 h->device[a].island == h->device[b].island);
        }
    }
}

static void sound_fabric(const struct topo_fabric *f)
{
    uint64_t hosts = 0, children = 0, below = 0;

    for (uint32_t d = 0; d < f->domain_count; d++) {
        const struct topo_domain *domain = &f->domain[d];

        hosts += domain->hosts;
        children += domain->children;
        below += domain->parent != TOPO_NONE;
        SURE(domain->parent >= TOPO_NONE && domain->parent < (int32_t)f->domain_count);
        SURE(domain->level >= TOPO_NONE && domain->level < (int32_t)f->level_count);
        SURE(domain->parent == TOPO_NONE ? domain->depth == 0
                                         : domain->depth == f->domain[domain->parent].depth + 1);
    }
    SURE(hosts == f->host_count && children == below);
    for (uint32_t h = 0; h < f->host_count; h++)
        SURE(f->host[h].domain < f->domain_count && f->host[h].name);
    for (uint32_t c = 0; c < f->cable_count; c++)
        SURE(f->cable[c].a < f->cable[c].b && f->cable[c].b < f->domain_count &&
             f->cable[c].count > 0);
}

/* The words must hold no control character, whatever the names were. */
static void sound_words(const struct topo *t)
{
    struct out out = {0};

    topo_text(t, &out);
    for (size_t i = 0; i < out.length; i++)
        SURE((unsigned char)out.bytes[i] >= 0x20 && out.bytes[i] != 0x7F);
    for (size_t r = 0; r < t->remark_count; r++)
        for (const char *at = t->remark[r].text; *at; at++)
            SURE((unsigned char)*at >= 0x20 && *at != 0x7F);
    out_free(&out);
}

static void sound_topo(const struct topo *t)
{
    for (size_t h = 0; h < t->host_count; h++)
        sound_host(&t->host[h]);
    for (size_t f = 0; f < t->fabric_count; f++)
        sound_fabric(&t->fabric[f]);
    sound_words(t);
}

void topo_sound(const uint8_t *data, size_t size, topo_reader *reader)
{
    struct topo *t = memory_zeroed(sizeof(*t));
    struct page p = {0};
    struct err err = {""};
    int code;

    t->file = topo_keep_string(t, "F");
    code = topo_page_text(t, (const char *)data, size, &p, &err);
    if (!code)
        code = reader ? reader(t, &p, &err) : topo_read(t, &p, &err);
    if (code)
        SURE(code == ERR_INPUT && strncmp(err.text, "F:", 2) == 0 && strstr(err.text, "expected"));
    else
        sound_topo(t);
    for (const char *at = err.text; *at; at++)
        SURE((unsigned char)*at >= 0x20 && *at != 0x7F);
    topo_close(t);
}
