/* explain_parts.h - a job's lines as explain.c read them; for explain*.c alone */
#ifndef EDGE_SIM_EXPLAIN_PARTS_H
#define EDGE_SIM_EXPLAIN_PARTS_H

#include "edge/base/out.h"
#include "edge/base/tree.h"

struct explain_line {
    uint32_t number;
    const struct tree *line;
};

struct story {
    const char *path;
    const char *job; /* the id in full */
    const struct tree *header;
    bool arrivals;  /* an openb log: times are positions */
    bool cut;       /* the log has no end line, or its last line is not whole */
    uint32_t lines; /* read */
    struct explain_line *line;
    size_t count, limit;
};

enum story_state { STORY_WAITS, STORY_RUNS, STORY_FINISHED, STORY_DROPPED, STORY_CANCELLED };

struct story_sum {
    enum story_state state;
    uint32_t starts;
    int64_t submit_ns, first_start_ns, end_ns; /* -1: not said */
    const struct tree *last_refusal;
};

/* The text of a member, "" where there is none. */
const char *story_text(const struct tree *map, const char *key);
/* A time member in ns, or -1. */
int64_t story_ns(const struct tree *map, const char *key);
bool story_is(const struct tree *line, const char *kind);
/* True where the line's job is the story's, false where the story's job is its `by`. */
bool story_own(const struct story *s, const struct tree *line);
struct story_sum story_sum(const struct story *s);

void story_write_text(const struct story *s, struct out *out);
void story_write_json(const struct story *s, struct out *out);

#endif
