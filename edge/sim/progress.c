#include "edge/sim/progress.h"

#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_NS 100000000LL
#define PLAIN_NS    10000000000LL
#define WIPE        "\r\033[K"
#define BAR_MAX     30u
#define CLOCK_EVERY UINT64_C(64)

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static unsigned columns_of(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void count_text(struct out *out, uint64_t count)
{
    if (count >= 10000000)
        out_format(out, "%.1fM", (double)count / 1e6);
    else if (count >= 10000)
        out_format(out, "%.1fk", (double)count / 1e3);
    else
        out_format(out, "%llu", (unsigned long long)count);
}

static void left_text(struct out *out, double seconds)
{
    unsigned long s = seconds > 0 && seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 0;

    if (s >= 3600)
        out_format(out, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        out_format(out, "%lu:%02lu", s / 60, s % 60);
}

static void bar(struct out *out, uint64_t done, uint64_t total, unsigned cells)
{
    unsigned full = (unsigned)((double)done / (double)total * cells);

    out_char(out, '[');
    for (unsigned i = 0; i < cells; i++)
        out_char(out, i < full ? '=' : i == full ? '>' : ' ');
    out_add(out, "] ");
}

void progress_line(struct out *out, const char *what, uint64_t done, uint64_t total,
                   int64_t elapsed_ns, unsigned columns)
{
    struct out words = {0};
    double seconds = (double)elapsed_ns / 1e9;

    if (total > 0 && done > total)
        done = total;
    if (total > 0)
        out_format(&words, "%3.0f %% ", 100.0 * (double)done / (double)total);
    count_text(&words, done);
    if (total > 0) {
        out_char(&words, '/');
        count_text(&words, total);
    }
    out_format(&words, " %s", what);
    if (done > 0 && seconds > 0) {
        out_add(&words, ", ");
        count_text(&words, (uint64_t)((double)done / seconds));
        out_add(&words, "/s");
    }
    if (done > 0 && total > done) {
        out_add(&words, ", left ");
        left_text(&words, seconds * (double)(total - done) / (double)done);
    }
    if (total > 0 && words.length + 14 < columns) {
        unsigned cells = columns - (unsigned)words.length - 4;

        bar(out, done, total, cells < BAR_MAX ? cells : BAR_MAX);
    }
    out_bytes(out, words.bytes, words.length < columns ? words.length : columns);
    out_free(&words);
}

static void show(struct progress *p, const char *before, const char *after)
{
    struct out line = {0};
    ssize_t wrote;

    out_add(&line, before);
    progress_line(&line, p->what, atomic_load(&p->done), p->total, clock_ns() - p->start_ns,
                  p->terminal ? columns_of(p->fd) - 1 : 100);
    out_add(&line, after);
    wrote = write(p->fd, line.bytes, line.length);
    if (wrote < 0)
        p->silent = true; /* nobody listens: the work goes on */
    out_free(&line);
}

void progress_begin(struct progress *p, const char *what, uint64_t total, bool silent)
{
    const char *term = getenv("TERM");

    *p = (struct progress){.what = what, .total = total, .fd = STDERR_FILENO, .silent = silent};
    atomic_flag_clear(&p->drawing);
    p->terminal = isatty(p->fd) && term && strcmp(term, "dumb") != 0;
    p->start_ns = clock_ns();
    atomic_store(&p->shown_ns, p->start_ns);
}

void progress_add(struct progress *p, uint64_t count)
{
    uint64_t before = atomic_fetch_add(&p->done, count);
    int64_t now;

    /* of many steps only some look at the clock */
    if (p->silent ||
        (p->total > CLOCK_EVERY * 64 && before / CLOCK_EVERY == (before + count) / CLOCK_EVERY))
        return;
    now = clock_ns();
    if (now - atomic_load(&p->shown_ns) < (p->terminal ? TERMINAL_NS : PLAIN_NS))
        return;
    if (atomic_flag_test_and_set(&p->drawing))
        return;
    atomic_store(&p->shown_ns, now);
    show(p, p->terminal ? WIPE : "", p->terminal ? "" : "\n");
    atomic_flag_clear(&p->drawing);
}

void progress_end(struct progress *p)
{
    if (!p->silent && p->terminal && atomic_load(&p->shown_ns) != p->start_ns &&
        write(p->fd, WIPE, sizeof(WIPE) - 1) < 0)
        return;
    p->silent = true;
}
