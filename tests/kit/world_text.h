/* world_text.h - the other half of the language of world.h: decisions to text
 *
 * Misuse  More text than there is room for ends in must().
 */
#ifndef TESTS_KIT_WORLD_TEXT_H
#define TESTS_KIT_WORLD_TEXT_H

#include "tests/kit/world.h"

/* Appends the decisions of the last step to what was said. */
void world_write_decisions(struct world *w);

#endif
