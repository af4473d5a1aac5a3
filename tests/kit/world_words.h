/* world_words.h - the words of the language of world.h
 *
 * Misuse  A word that is not understood ends in must().
 */
#ifndef TESTS_KIT_WORLD_WORDS_H
#define TESTS_KIT_WORLD_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* The words of a text: ";" and "+" stand alone. */
struct words {
    const char *at;
    char word[64];
};

bool words_next(struct words *t);
/* The next word of this command; false at its end. */
bool words_more(struct words *t);
/* The next word as a number: what a command speaks of. */
uint32_t words_subject(struct words *t);

bool words_is(const char *word, const char *text);
int64_t words_number(const char *text, int base);
uint64_t words_hex(const char *text);
/* The value if the word is NAME=value, else NULL. */
const char *words_value(const char *word, const char *name);
/* Takes it as a number. */
bool words_take(const char *word, const char *name, int64_t *ret_value);

uint16_t words_devices(const char *text);
/* A list a,b,c of scopes, in its order. */
unsigned words_scopes(const char *text, uint8_t *ret_scopes);
unsigned words_scope(const char *name);
uint64_t words_scope_bits(const char *text);

#endif
