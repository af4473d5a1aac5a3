#include "core/engine/event.h"

static void put_u8(struct wire_out *w, const uint8_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        wire_put(w, v[i]);
}

static void put_u16(struct wire_out *w, const uint16_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        wire_put(w, v[i]);
}

static void put_u32(struct wire_out *w, const uint32_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        wire_put(w, (uint32_t)(v[i] + 1)); /* "none" is all ones: one byte instead of five */
}

static void put_u64(struct wire_out *w, const uint64_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        wire_put(w, v[i]);
}

static void put_i32(struct wire_out *w, const int32_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        wire_put_signed(w, v[i]);
}

static void put_i64(struct wire_out *w, const int64_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        wire_put_signed(w, v[i]);
}

static void get_u8(struct wire_in *r, uint8_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        v[i] = (uint8_t)wire_get_bits(r, 8);
}

static void get_u16(struct wire_in *r, uint16_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        v[i] = (uint16_t)wire_get_bits(r, 16);
}

static void get_u32(struct wire_in *r, uint32_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        v[i] = (uint32_t)wire_get_bits(r, 32) - 1;
}

static void get_u64(struct wire_in *r, uint64_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        v[i] = wire_get(r);
}

static void get_i32(struct wire_in *r, int32_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int64_t value = wire_get_signed(r);

        r->bad |= value < INT32_MIN || value > INT32_MAX;
        v[i] = r->bad ? 0 : (int32_t)value;
    }
}

static void get_i64(struct wire_in *r, int64_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        v[i] = wire_get_signed(r);
}

#define PUT_FIELD(type, name)        put_##type(w, &x->name, 1);
#define PUT_ARRAY(type, name, count) put_##type(w, x->name, count);
#define GET_FIELD(type, name)        get_##type(r, &x->name, 1);
#define GET_ARRAY(type, name, count) get_##type(r, x->name, count);
#define EVENT_CODEC(KIND, name, what)                                                              \
    static void put_##name(struct wire_out *w, const struct event_##name *x)                       \
    {                                                                                              \
        EVENT_##KIND##_FIELDS(PUT_FIELD, PUT_ARRAY)                                                \
    }                                                                                              \
    static void get_##name(struct wire_in *r, struct event_##name *x)                              \
    {                                                                                              \
        EVENT_##KIND##_FIELDS(GET_FIELD, GET_ARRAY)                                                \
    }
EVENT_MAP(EVENT_CODEC)

void event_put(struct wire_out *w, const struct event *e)
{
    wire_put(w, e->kind);
    wire_put_signed(w, e->at_ns);
    switch (e->kind) {
#define EVENT_PUT_CASE(KIND, name, what)                                                           \
    case EVENT_##KIND:                                                                             \
        put_##name(w, &e->name);                                                                   \
        break;
        EVENT_MAP(EVENT_PUT_CASE)
    case EVENT_COUNT:
        break;
    }
}

bool event_get(struct wire_in *r, struct event *ret_event)
{
    uint64_t kind;

    if (r->bad || r->byte == r->end)
        return false;
    kind = wire_get(r);
    if (kind >= EVENT_COUNT)
        r->bad = true;
    ret_event->at_ns = wire_get_signed(r);
    if (r->bad)
        return false;
    ret_event->kind = (enum event_kind)kind;
    switch (ret_event->kind) {
#define EVENT_GET_CASE(KIND, name, what)                                                           \
    case EVENT_##KIND:                                                                             \
        get_##name(r, &ret_event->name);                                                           \
        break;
        EVENT_MAP(EVENT_GET_CASE)
    case EVENT_COUNT:
        break;
    }
    return !r->bad;
}

const char *event_name(enum event_kind kind)
{
    static const char *const names[EVENT_COUNT] = {
#define EVENT_NAME(KIND, name, what) #name,
        EVENT_MAP(EVENT_NAME)};

    return kind < EVENT_COUNT ? names[kind] : "none";
}
