/* world_text.h - the language of world.h: text to events, decisions to text
 *
 * Misuse  A word that is not understood ends in must().
 */
#ifndef TESTS_KIT_WORLD_TEXT_H
#define TESTS_KIT_WORLD_TEXT_H

#include "tests/kit/world.h"

/* Runs all commands; what follows the last step is told and not yet applied. */
void world_run_text(struct world *w, const char *text);

/* Appends the decisions of the last step to what was said. */
void world_write_decisions(struct world *w);

#endif
