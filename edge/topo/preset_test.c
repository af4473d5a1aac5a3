/* Presets: by whole words of a product and the number of GPUs, and never where both would fit. */
#include "edge/topo/preset.h"
#include "tests/topo_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void products_have_presets(void **state)
{
    static const struct {
        const char *why, *product;
        uint32_t gpus;
        const char *reading; /* NULL: no preset */
    } row[] = {
        {"the label of GPU Feature Discovery", "NVIDIA-H100-80GB-HBM3", 8,
         "8 GPUs; NV18 on all 28 pairs; islands {0-7}"},
        {"shared or not, the links are the same", "NVIDIA-H100-80GB-HBM3-SHARED", 8,
         "8 GPUs; NV18 on all 28 pairs; islands {0-7}"},
        {"the label of GKE", "nvidia-h100-80gb", 8, "8 GPUs; NV18 on all 28 pairs; islands {0-7}"},
        {"the attribute of a ResourceSlice", "NVIDIA H100 80GB HBM3", 8,
         "8 GPUs; NV18 on all 28 pairs; islands {0-7}"},
        {"links that are not known stay without a number", "NVIDIA-A100-SXM4-40GB", 4,
         "4 GPUs; NV on all 6 pairs; islands {0-3}"},
        {"AMD", "AMD_Instinct_MI300X_OAM", 8, "8 GPUs; XGMI x1 on all 28 pairs; islands {0-7}"},
        {"no links, any number", "nvidia-tesla-t4", 3, "3 GPUs; no NVLink"},
        {"one GPU has no pairs", "Tesla-T4", 1, "1 GPU; no NVLink"},
        {"several words", "NVIDIA-RTX-6000-Ada-Generation", 4, "4 GPUs; no NVLink"},
        {"a number that no board has", "NVIDIA-H100-80GB-HBM3", 6, NULL},
        {"with or without bridges", "NVIDIA-A100-PCIE-40GB", 8, NULL},
        {"with bridges, but which", "NVIDIA-H100-NVL", 8, NULL},
        {"H200 NVL is a PCIe card", "NVIDIA-H200-NVL", 8, NULL},
        {"a word inside a word: GH200 is no H200", "NVIDIA-GH200-480GB", 8, NULL},
        {"RTX A6000 may have a bridge and is no RTX 6000 Ada", "NVIDIA-RTX-A6000", 2, NULL},
        {"MIG counts slices", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", 8, NULL},
        {"nothing", "", 8, NULL},
        {"no GPUs", "Tesla-T4", 0, NULL},
        {"more GPUs than a host holds", "Tesla-T4", 100000, NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        const struct preset *p = preset_find(row[i].product, row[i].gpus);
        struct out out = {0};
        struct topo *t;

        if ((p == NULL) != (row[i].reading == NULL))
            fail_msg("%s: %s", row[i].why, p ? p->name : "none");
        if (!p)
            continue;
        t = preset_open(p, row[i].gpus);
        topo_text(t, &out);
        if (strcmp(out.bytes, row[i].reading) != 0)
            fail_msg("%s: %s", row[i].why, out.bytes);
        assert_int_equal(t->kind, TOPO_PRESET);
        assert_true(topo_has_remark(t, "a preset, not measured"));
        assert_true(topo_has_remark(t, p->name));
        out_free(&out);
        topo_close(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_presets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
