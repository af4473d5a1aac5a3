#include "edge/topo/xml.h"

#include <expat.h>
#include <string.h>

#define DEPTH_MAX    256u
#define ELEMENTS_MAX 1000000u
#define PIECE_BYTES  (1 << 20)

struct parse {
    struct topo *t;
    XML_Parser parser;
    struct xml *root, *now;
    uint32_t count, first_line;
    struct out text; /* of the element that is open */
    const char *why; /* stopped by ourselves */
};

static uint32_t line_now(const struct parse *s)
{
    return s->first_line - 1 + (uint32_t)XML_GetCurrentLineNumber(s->parser);
}

static void stop(struct parse *s, const char *why)
{
    if (!s->why)
        s->why = why;
    (void)XML_StopParser(s->parser, XML_FALSE);
}

/* Gives collected text to its element, once it goes on with another. */
static void settle_text(struct parse *s)
{
    if (s->now && s->text.length && s->text.bytes) {
        size_t length = s->text.length, from = 0;

        while (from < length && strchr(" \t\r\n", s->text.bytes[from]))
            from++;
        if (from < length && !s->now->text)
            s->now->text = topo_keep(s->t, s->text.bytes + from, length - from);
    }
    out_clear(&s->text);
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    struct parse *s = data;
    size_t count = 0;

    settle_text(s);
    if (s->now && s->now->depth + 1 == DEPTH_MAX) {
        stop(s, "elements nested deeper than 256");
        return;
    }
    if (++s->count > ELEMENTS_MAX) {
        stop(s, "more than 1000000 elements");
        return;
    }

    struct xml *x = topo_take(s->t, sizeof(*x));
    x->name = topo_keep_string(s->t, name);
    x->line = line_now(s);
    while (attributes[count])
        count++;
    x->attribute = topo_take(s->t, (count + 1) * sizeof(*x->attribute));
    for (size_t i = 0; i < count; i++)
        x->attribute[i] = topo_keep_string(s->t, attributes[i]);
    x->parent = s->now;
    if (s->now) {
        x->depth = s->now->depth + 1;
        if (s->now->last)
            s->now->last->next = x;
        else
            s->now->child = x;
        s->now->last = x;
    } else if (!s->root) {
        s->root = x;
    }
    s->now = x;
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
    struct parse *s = data;

    (void)name;
    settle_text(s);
    if (s->now)
        s->now = s->now->parent;
}

static void XMLCALL on_text(void *data, const XML_Char *text, int length)
{
    struct parse *s = data;

    out_bytes(&s->text, text, (size_t)length);
}

/* Entities are declared inside a document type; hwloc's and NCCL's need none. */
static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_declarations)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    if (has_declarations)
        stop(data, "declarations inside the document type");
}

static int say_broken(struct parse *s, struct err *err)
{
    enum XML_Error code = XML_GetErrorCode(s->parser);
    bool cut = code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
               code == XML_ERROR_UNCLOSED_CDATA_SECTION || code == XML_ERROR_PARTIAL_CHAR;

    if (s->why)
        return topo_bad(err, s->t, line_now(s), "found %s, expected a description of a machine",
                        s->why);
    if (cut && s->now)
        return topo_bad(err, s->t, line_now(s),
                        "found the end of the text inside <%s> of line %u, expected all of it",
                        SHOWN(s->now->name), s->now->line);
    return topo_bad(err, s->t, line_now(s), "found broken XML (%s), expected whole XML",
                    XML_ErrorString(code));
}

int xml_open(struct topo *t, const struct page *p, struct xml **ret_root, struct err *err)
{
    struct parse s = {.t = t, .first_line = p->first_line};
    /* Blank lines in front of a declaration are common in pastes, and no XML. */
    size_t from = strspn(p->text, " \t\r\n");
    int code = ERR_NONE;

    for (size_t i = 0; i < from; i++)
        s.first_line += p->text[i] == '\n';
    s.parser = XML_ParserCreate(NULL);
    if (!s.parser)
        return err_set(err, ERR_TROUBLE, "%s: no memory to read XML", t->file);
    XML_SetUserData(s.parser, &s);
    XML_SetElementHandler(s.parser, on_start, on_end);
    XML_SetCharacterDataHandler(s.parser, on_text);
    XML_SetStartDoctypeDeclHandler(s.parser, on_doctype);
    while (!code) {
        size_t left = p->length - from;
        int piece = left > PIECE_BYTES ? PIECE_BYTES : (int)left;
        bool last = (size_t)piece == left;

        if (XML_Parse(s.parser, p->text + from, piece, last) != XML_STATUS_OK)
            code = say_broken(&s, err);
        from += (size_t)piece;
        if (last)
            break;
    }
    if (!code && !s.root)
        code = topo_bad(err, t, p->first_line, "found no element, expected XML");
    XML_ParserFree(s.parser);
    out_free(&s.text);
    *ret_root = s.root;
    return code;
}

const char *xml_find(const struct xml *x, const char *attribute)
{
    for (const char **a = x->attribute; a[0]; a += 2)
        if (strcmp(a[0], attribute) == 0)
            return a[1];
    return NULL;
}

bool xml_is(const struct xml *x, const char *name)
{
    return strcmp(x->name, name) == 0;
}

const struct xml *xml_after(const struct xml *root, const struct xml *x)
{
    if (x->child)
        return x->child;
    while (x != root && !x->next)
        x = x->parent;
    return x == root ? NULL : x->next;
}

bool xml_number(const struct xml *x, const char *attribute, int64_t limit, int64_t *ret_value)
{
    const char *text = xml_find(x, attribute);

    return text && topo_number(text, strlen(text), limit, ret_value);
}

int topo_read_xml(struct topo *t, const struct page *p, struct err *err)
{
    struct xml *root = NULL;
    int code = xml_open(t, p, &root, err);

    if (code || !root)
        return code;
    if (xml_is(root, "system"))
        return topo_read_nccl(t, root, err);
    if (xml_is(root, "graphs"))
        return topo_read_nccl_graph(t, root, err);
    if (xml_is(root, "topology") || xml_is(root, "root"))
        return topo_read_hwloc(t, root, err);
    if (topo_text_equal(root->name, strlen(root->name), "html"))
        return topo_bad(err, t, root->line,
                        "found a page of HTML, expected a description of a "
                        "machine");
    return topo_bad(err, t, root->line,
                    "found <%s>, expected <system> of NCCL or <topology> of "
                    "hwloc",
                    SHOWN(root->name));
}
