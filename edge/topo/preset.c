#include "edge/topo/preset.h"

#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <stdio.h>
#include <string.h>

static const struct preset presets[] = {
    {"8 H100 on one NVSwitch board", "H100 HBM3", "", 8, TOPO_PATH_NVLINK, 18},
    {"8 H100 on one NVSwitch board", "H100 80GB", "PCIE NVL", 8, TOPO_PATH_NVLINK, 18},
    {"4 H100 of one board", "H100 HBM3", "", 4, TOPO_PATH_NVLINK, 0},
    {"8 H200 on one NVSwitch board", "H200", "NVL", 8, TOPO_PATH_NVLINK, 0},
    {"8 H20 on one NVSwitch board", "H20", "", 8, TOPO_PATH_NVLINK, 18},
    {"8 H800 on one NVSwitch board", "H800", "PCIE", 8, TOPO_PATH_NVLINK, 0},
    {"8 B200 on one NVSwitch board", "B200", "", 8, TOPO_PATH_NVLINK, 0},
    {"8 B300 on one NVSwitch board", "B300", "", 8, TOPO_PATH_NVLINK, 0},
    {"4 GB200 of one tray", "GB200", "", 4, TOPO_PATH_NVLINK, 18},
    {"4 GB300 of one tray", "GB300", "", 4, TOPO_PATH_NVLINK, 0},
    {"8 A100 on one NVSwitch board", "A100 SXM4", "", 8, TOPO_PATH_NVLINK, 12},
    /* Either a board of four or half of one of eight: one island in both. */
    {"4 A100 of one board", "A100 SXM4", "", 4, TOPO_PATH_NVLINK, 0},
    {"8 A800 on one NVSwitch board", "A800 SXM4", "", 8, TOPO_PATH_NVLINK, 0},
    {"16 V100 on two NVSwitch boards", "V100 SXM3", "", 16, TOPO_PATH_NVLINK, 0},
    {"8 MI300X, all joined", "MI300X", "", 8, TOPO_PATH_XGMI, 1},
    {"8 MI325X, all joined", "MI325X", "", 8, TOPO_PATH_XGMI, 0},
    {"T4 without links", "T4", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"L4 without links", "L4", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"L20 without links", "L20", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"L40 without links", "L40", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"L40S without links", "L40S", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"A2 without links", "A2", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"A10 without links", "A10", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"A10G without links", "A10G", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"A16 without links", "A16", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"P4 without links", "P4", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"P40 without links", "P40", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"RTX 4090 without links", "RTX 4090", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"RTX 5090 without links", "RTX 5090", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"RTX 6000 Ada without links", "RTX 6000 ADA", "", 0, TOPO_PATH_UNKNOWN, 0},
    {"RTX PRO 6000 without links", "RTX PRO 6000", "", 0, TOPO_PATH_UNKNOWN, 0},
};

static size_t word_length(const char *at)
{
    return strcspn(at, "-_ ");
}

/* Does one of the words of the product equal this one, in any case? */
static bool has_word(const char *product, const char *word, size_t length)
{
    char wanted[16];

    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)length, word);
    for (const char *at = product; *at;) {
        size_t n = word_length(at);

        if (topo_text_equal(at, n, wanted))
            return true;
        at += n;
        at += *at != '\0';
    }
    return false;
}

/* Are all (or is any) of the words in the product? */
static bool words_stand(const char *product, const char *words, bool all)
{
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");

        if (has_word(product, at, n) != all)
            return !all;
        at += n;
        at += *at == ' ';
    }
    return all;
}

const struct preset *preset_find(const char *product, uint32_t gpus)
{
    if (gpus == 0 || gpus > TOPO_DEVICES_MAX || has_word(product, "MIG", 3))
        return NULL;
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        const struct preset *p = &presets[i];

        if ((p->gpus == 0 || p->gpus == gpus) && words_stand(product, p->words, true) &&
            !words_stand(product, p->not, false))
            return p;
    }
    return NULL;
}

struct topo *preset_open(const struct preset *p, uint32_t gpus)
{
    struct topo *t = memory_zeroed(sizeof(*t));
    struct topo_host *h;

    t->file = topo_keep_string(t, "preset");
    t->kind = TOPO_PRESET;
    h = topo_host_add(t, NULL, 0);
    for (uint32_t g = 0; g < gpus; g++) {
        struct topo_device *d = topo_device_add(t, h, TOPO_DEVICE_GPU, 0);

        if (d)
            d->index = (int32_t)g;
    }
    topo_host_sort(t, h, NULL);
    topo_links_make(t, h);
    h->links_known = true;
    for (uint32_t a = 0; a < h->device_count; a++)
        for (uint32_t b = 0; b < a; b++)
            topo_link_set(h, a, b, (struct topo_link){.path = p->path, .links = p->links});
    topo_islands_find(t, h);
    topo_remark(t, 0, "a preset, not measured: %s", p->name);
    return t;
}
