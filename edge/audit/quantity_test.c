/* Quantities of every form that the API writes and people type. */
#include "edge/audit/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void quantities_are_read(void **state)
{
    static const struct {
        const char *why, *text;
        unsigned decimals;
        bool good;
        int64_t value;
    } row[] = {
        {"a plain number", "8", 0, true, 8},
        {"cores as milli-cores", "4", 3, true, 4000},
        {"milli-cores", "100m", 3, true, 100},
        {"half a core", "0.5", 3, true, 500},
        {"a fraction without a digit before it", ".5", 3, true, 500},
        {"a point with nothing after it", "5.", 3, true, 5000},
        {"a fraction finer than milli is rounded up", "0.0001", 3, true, 1},
        {"so is nano", "1n", 3, true, 1},
        {"micro", "2500u", 3, true, 3},
        {"devices are never a fraction, and a half is a whole one", "500m", 0, true, 1},
        {"an exponent", "1e3", 0, true, 1000},
        {"an exponent with a sign", "5e-1", 3, true, 500},
        {"a large E that is an exponent", "1E3", 0, true, 1000},
        {"a large E that is exa", "2E", 0, true, 2000000000000000000},
        {"kilo", "3k", 0, true, 3000},
        {"kibi", "3Ki", 0, true, 3072},
        {"a plus", "+7", 0, true, 7},
        {"more than fits is cut", "99999999999999999999999", 0, true, QUANTITY_MAX},
        {"the largest suffix is cut too", "16Ei", 0, true, QUANTITY_MAX},
        {"zero", "0", 0, true, 0},
        {"zero with a suffix", "0Ei", 0, true, 0},
        {"nothing", "", 0, false, 0},
        {"a suffix alone", "Gi", 0, false, 0},
        {"a negative one", "-1", 0, false, 0},
        {"a comma", "1,5", 0, false, 0},
        {"words after the number", "7 <=== here", 0, false, 0},
        {"an unknown suffix", "1GB", 0, false, 0},
        {"an exponent that is none", "1e", 0, false, 0},
        {"an exponent that is too large to be meant", "1e999", 0, false, 0},
        {"two points", "1.2.3", 0, false, 0},
    };

    (void)state;
    for (size_t n = 0; n < COUNT(row); n++) {
        int64_t value = -7;
        bool good = quantity_read(row[n].text, row[n].decimals, &value);

        if (good != row[n].good || value != (good ? row[n].value : -7))
            fail_msg("%s: \"%s\" gives %d %lld", row[n].why, row[n].text, good, (long long)value);
    }
}

static void memory_is_read_in_mib(void **state)
{
    static const struct {
        const char *why, *text;
        bool up;
        int64_t mib;
    } row[] = {
        {"whole gibibytes", "8Gi", true, 8192},
        {"bytes that an ask has beyond a MiB count as one more", "1048577", true, 2},
        {"bytes that a node has beyond a MiB do not count", "2097151", false, 1},
        {"decimal gigabytes, asked", "1G", true, 954},
        {"decimal gigabytes, offered", "1G", false, 953},
        {"kibibytes as the kubelet writes them", "2113531740Ki", false, 2063995},
        {"milli-bytes, which the API does write", "128974848000m", true, 123},
    };

    (void)state;
    for (size_t n = 0; n < COUNT(row); n++) {
        int64_t mib = -7;

        if (!quantity_mib(row[n].text, row[n].up, &mib) || mib != row[n].mib)
            fail_msg("%s: \"%s\" gives %lld", row[n].why, row[n].text, (long long)mib);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_read),
        cmocka_unit_test(memory_is_read_in_mib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
