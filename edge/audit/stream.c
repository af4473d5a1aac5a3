#include "edge/audit/stream_parts.h"

#include "edge/base/memory.h"
#include "edge/base/out.h"
#include "edge/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FOLDERS_MAX 100000u
#define ASK         "`kubectl get nodes,pods -A -o json`"

size_t source_next(struct source *s, const char **ret_bytes, struct err *err)
{
    static _Thread_local char chunk[SOURCE_BYTES];
    int got, code;

    if (!s->file) {
        size_t length = s->length;

        *ret_bytes = s->bytes;
        s->length = 0;
        return length;
    }
    got = gzread(s->file, chunk, sizeof(chunk));
    *ret_bytes = chunk;
    if (got > 0)
        return (size_t)got;
    (void)gzerror(s->file, &code);
    if (got < 0 || code == Z_BUF_ERROR) {
        s->failed = true;
        (void)err_set(err, ERR_INPUT,
                      code == Z_ERRNO ? "%s: cannot be read"
                                      : "%s: the gzip data is cut or damaged",
                      s->name);
    }
    return 0;
}

static const struct tree *field(const struct tree *map, const char *key)
{
    return map && map->kind == TREE_MAP ? tree_find(map, key) : NULL;
}

void stream_hand_out(struct stream *s, const char *around, const struct tree *object)
{
    const struct tree *kind = field(object, "kind"), *items = field(object, "items");
    char stripped[64];
    const char *text = kind && kind->kind == TREE_STRING ? kind->text : NULL;

    if (items && items->kind == TREE_LIST) {
        for (const struct tree *t = items->child; t; t = t->next)
            if (t->kind == TREE_MAP && !tree_find(t, "items"))
                stream_hand_out(s, text, t);
        return;
    }
    if (!text && around) { /* the items of a NodeList say nothing themselves */
        size_t length = strlen(around);

        if (length > 4 && length < sizeof(stripped) && strcmp(around + length - 4, "List") == 0) {
            memcpy(stripped, around, length - 4);
            stripped[length - 4] = '\0';
            text = stripped;
        }
    }
    if (text && strlen(text) >= 4 && strcmp(text + strlen(text) - 4, "List") == 0)
        return; /* a list without items */
    s->objects++;
    s->object(s->context, text, object);
}

static const char *line_of(char *out, size_t room, const char *at, size_t length)
{
    const char *end = memchr(at, '\n', length);

    return text_shown(out, room, at, end ? (size_t)(end - at) : length);
}

static bool begins(const char *at, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* A first line of words with wide gaps and no colon, as kubectl heads its tables. */
static bool is_table(const char *at, size_t length)
{
    const char *end = memchr(at, '\n', length);
    size_t line = end ? (size_t)(end - at) : length;

    return *at >= 'A' && *at <= 'Z' && !memchr(at, ':', line) &&
           (memmem(at, line, "   ", 3) || memchr(at, '\t', line));
}

/* Things that people pipe in by mistake, each with what to do instead; 0: none of them. */
static int mistaken(const char *name, const char *at, size_t length, struct err *err)
{
    static const char *const said[] = {
        "Error from server", "error:",          "Error:",
        "Unable to connect", "The connection ", "No resources found"};
    char line[120];

    (void)line_of(line, sizeof(line), at, length);
    if (*at == '<')
        return err_set(
            err, ERR_INPUT,
            "%s: this is an HTML or XML page (\"%s\"), not a dump; a proxy or a log-in "
            "page may have answered instead of the API server. Expected the output of " ASK,
            name, line);
    if (is_table(at, length))
        return err_set(err, ERR_INPUT,
                       "%s: this is a table of kubectl, which leaves out most of what is needed. "
                       "Run " ASK " and give me its output",
                       name);
    for (size_t n = 0; n < sizeof(said) / sizeof(said[0]); n++)
        if (begins(at, length, said[n]))
            return err_set(err, ERR_INPUT, "%s: kubectl itself failed: %s", name, line);
    if (begins(at, length, "Name: ") || begins(at, length, "Capacity:"))
        return err_set(
            err, ERR_INPUT,
            "%s: this is the text of `kubectl describe`, which is made for people. Run " ASK
            " and give me its output",
            name);
    return 0;
}

static int read_source(struct stream *s, struct source *from, struct err *err)
{
    const char *bytes;
    size_t length = source_next(from, &bytes, err), at = 0;
    int code;

    if (from->failed)
        return ERR_INPUT;
    if (length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    while (at < length && strchr(" \t\r\n", bytes[at]) && bytes[at])
        at++;
    if (at == length)
        return err_set(err, ERR_INPUT, "%s: it is empty, expected the output of " ASK, from->name);
    code = mistaken(from->name, bytes + at, length - at, err);
    if (code)
        return code;
    s->files++;
    if (bytes[at] == '{' || bytes[at] == '[')
        return stream_json(s, from, bytes + at, length - at, err);
    return stream_yaml(s, from, bytes + at, length - at, err);
}

int stream_bytes(struct stream *s, const char *name, const char *bytes, size_t length,
                 struct err *err)
{
    struct source from = {.name = name, .bytes = bytes, .length = length};

    return read_source(s, &from, err);
}

static int read_file(struct stream *s, const char *path, struct err *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct source from = {.name = standard ? "standard input" : path};
    int code;

    errno = 0;
    from.file = standard ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
    if (!from.file)
        return err_set(err, ERR_TROUBLE, "%s: %s", from.name, strerror(errno ? errno : ENOMEM));
    (void)gzbuffer(from.file, SOURCE_BYTES);
    code = read_source(s, &from, err);
    (void)gzclose(from.file);
    return code;
}

static bool is_dump(const char *name)
{
    static const char *const ends[] = {".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz"};
    size_t length = strlen(name);

    for (size_t n = 0; n < sizeof(ends) / sizeof(ends[0]); n++)
        if (length > strlen(ends[n]) && strcmp(name + length - strlen(ends[n]), ends[n]) == 0)
            return true;
    return false;
}

/* Folders still to be read. */
struct folders {
    char **path;
    size_t count, limit;
};

static int read_folder(struct stream *s, struct folders *f, const char *path, struct err *err)
{
    struct dirent **entry;
    int count = scandir(path, &entry, NULL, alphasort), code = 0;

    if (count < 0)
        return err_set(err, ERR_TROUBLE, "%s: %s", path, strerror(errno));
    for (int n = 0; n < count; n++) {
        struct out inner = {NULL, 0, 0};
        struct stat what;

        out_format(&inner, "%s/%s", path, entry[n]->d_name);
        if (code || entry[n]->d_name[0] == '.' || stat(inner.bytes, &what) != 0) {
            out_free(&inner);
        } else if (S_ISDIR(what.st_mode) && f->count < FOLDERS_MAX) {
            f->path = out_grow(f->path, f->count, &f->limit, sizeof(*f->path));
            f->path[f->count++] = inner.bytes;
        } else {
            if (is_dump(entry[n]->d_name))
                code = read_file(s, inner.bytes, err);
            else
                s->files_passed_over++;
            out_free(&inner);
        }
        free(entry[n]);
    }
    free(entry);
    return code;
}

int stream_read(struct stream *s, const char *path, struct err *err)
{
    struct folders f = {NULL, 0, 0};
    struct stat what;
    int code;

    if (strcmp(path, "-") == 0)
        return read_file(s, path, err);
    if (stat(path, &what) != 0)
        return err_set(err, ERR_TROUBLE, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(what.st_mode))
        return read_file(s, path, err);
    code = read_folder(s, &f, path, err);
    for (size_t n = 0; n < f.count; n++) {
        char *next = f.path[n];

        if (!code)
            code = read_folder(s, &f, next, err);
        free(next);
    }
    free(f.path);
    return code;
}
