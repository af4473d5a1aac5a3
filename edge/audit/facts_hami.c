/* Nodes whose devices HAMi shares out: the resource counts shares, an annotation names the cards.
 * Entries are "uuid,shares,memory,cores,type,numa,healthy" with a colon after each, or JSON. */
#include "edge/audit/facts_parts.h"

#include "edge/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARDS_MOST 64

static void add_card(struct facts_cards *c, int64_t shares, bool healthy, const char *type)
{
    if (c->all == CARDS_MOST)
        return;
    c->all++;
    c->healthy += healthy;
    c->shares = shares > 1 && shares <= 1000 ? shares : 1;
    if (type && !c->type[0])
        (void)text_shown(c->type, sizeof(c->type), type, strlen(type));
}

static bool read_json(struct facts_cards *c, const char *text)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *t = NULL;
    struct err err;
    bool good = tree_from_json(m, "annotation", 1, text, strlen(text), &t, &err) == 0 &&
                t->kind == TREE_LIST;

    for (const struct tree *x = good ? t->child : NULL; x; x = x->next) {
        const struct tree *health = facts_field(x, "health");
        const char *count = facts_plain(x, "count");

        add_card(c, count ? strtoll(count, NULL, 10) : 1, !health || health->truth,
                 facts_string(x, "type"));
    }
    tree_memory_close(m);
    return good;
}

static void read_entry(struct facts_cards *c, const char *text, size_t length)
{
    char copy[256], *field[8] = {NULL};
    unsigned count = 0;

    if (length == 0 || length >= sizeof(copy))
        return;
    memcpy(copy, text, length);
    copy[length] = '\0';
    for (char *at = copy; at && count < 8; count++) {
        field[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    if (count >= 5)
        add_card(c, strtoll(field[1], NULL, 10), strcmp(field[count - 1], "false") != 0, field[4]);
}

bool facts_hami(const struct tree *annotations, struct facts_cards *ret)
{
    const char *text = facts_string(annotations, "hami.io/node-nvidia-register");

    *ret = (struct facts_cards){0};
    if (!text || !*text)
        return false;
    if (*text == '[')
        return read_json(ret, text) && ret->all > 0;
    while (*text) {
        size_t length = strcspn(text, ":");

        read_entry(ret, text, length);
        text += length + (text[length] == ':');
    }
    return ret->all > 0;
}
