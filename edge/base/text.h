/* text.h - small questions about text from outside
 *
 * Errors  None: these answer, the reader that asks says what was expected.
 */
#ifndef EDGE_BASE_TEXT_H
#define EDGE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True if all bytes are UTF-8 of the shortest form, without surrogates. */
bool text_is_utf8(const char *text, size_t length);

/* A form of text that is safe inside a message: at most `room` - 1 bytes are written, control
 * characters and broken UTF-8 become '?', what is too long ends in "...". Returns out. */
const char *text_shown(char *out, size_t room, const char *text, size_t length);

#endif
