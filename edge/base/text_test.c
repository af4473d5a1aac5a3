/* UTF-8 as it may and may not stand in names, and what messages show of it. */
#include "edge/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void utf8_is_judged(void **state)
{
    static const struct {
        const char *why, *text;
        bool fine;
    } row[] = {
        {"nothing at all", "", true},
        {"plain text", "abc", true},
        {"two, three and four bytes", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", true},
        {"the largest character", "\xF4\x8F\xBF\xBF", true},
        {"beyond the largest", "\xF4\x90\x80\x80", false},
        {"a surrogate", "\xED\xA0\x80", false},
        {"just below the surrogates", "\xED\x9F\xBF", true},
        {"an overlong slash", "\xC0\xAF", false},
        {"an overlong form of three", "\xE0\x80\xAF", false},
        {"an overlong form of four", "\xF0\x80\x80\xAF", false},
        {"cut in the middle", "\xE2\x82", false},
        {"a stray middle byte", "\x80", false},
        {"a wrong third byte", "\xE2\x82z", false},
        {"Latin-1", "caf\xE9", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (text_is_utf8(row[i].text, strlen(row[i].text)) != row[i].fine)
            fail_msg("%s", row[i].why);
}

static void shown_text_is_safe(void **state)
{
    char out[16];

    (void)state;
    assert_string_equal(text_shown(out, sizeof(out), "abc", 3), "abc");
    assert_string_equal(text_shown(out, sizeof(out), "a\nb\x7F\xFF", 5), "a?b??");
    assert_string_equal(text_shown(out, sizeof(out), "0123456789abcdef", 16), "0123456789ab...");
    assert_string_equal(text_shown(out, sizeof(out), "0123456789\xE2\x82\xAC_", 14),
                        "0123456789...");
    assert_string_equal(text_shown(out, sizeof(out), "", 0), "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_judged),
        cmocka_unit_test(shown_text_is_safe),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
