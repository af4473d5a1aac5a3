#include "edge/sim/log.h"

#include "edge/base/memory.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES (1u << 18)

static const char list_prefix[] = "openb_pod_list_", list_suffix[] = ".csv";

struct log {
    const struct world *world;
    struct out path, line, timing;
    struct out_file file, timing_file;
    EVP_MD_CTX *sha;
    int64_t t_ns;
    uint64_t lines;
};

void log_workload(struct out *t, const struct world *w)
{
    const char *name = w->workload_name ? w->workload_name : "";
    size_t length = strlen(name), prefix = sizeof(list_prefix) - 1,
           suffix = sizeof(list_suffix) - 1;

    if (w->openb && length > prefix && strncmp(name, list_prefix, prefix) == 0) {
        name += prefix;
        length -= prefix;
    }
    if (w->openb && length > suffix && strcmp(name + length - suffix, list_suffix) == 0)
        length -= suffix;
    out_bytes(t, name, length);
}

static void list_file(struct out *t, const struct world *w)
{
    struct out name = {0};

    log_workload(&name, w);
    if (w->openb)
        out_format(t, "%s%s%s", list_prefix, name.bytes, list_suffix);
    else
        out_add(t, name.bytes);
    out_free(&name);
}

int64_t log_seed(const struct world *w, const struct log_head *head)
{
    if (w->openb && head->arrivals < w->openb->seed_count)
        return w->openb->seed[head->arrivals];
    return w->seed;
}

void log_name(struct out *t, const struct world *w, const char *folder, const struct log_head *head,
              const char *suffix)
{
    int64_t seed = log_seed(w, head);

    if (folder)
        out_format(t, "%s/", folder);
    size_t from = t->length;
    log_workload(t, w);
    out_format(t, "-%s-", head->policy);
    for (size_t i = from; i < t->length; i++)
        if (t->bytes[i] == '/' || (unsigned char)t->bytes[i] < 0x20)
            t->bytes[i] = '_';
    out_integer(t, seed < 0 ? 0 : seed);
    out_add(t, suffix);
}

void log_job(struct out *t, const struct world *w, uint32_t job, uint32_t arrival)
{
    if (arrival != WORLD_NONE)
        out_format(t, "%u:", arrival);
    out_add(t, w->job[job].name);
}

static void flush(struct log *l)
{
    if (l->line.length > 0) {
        EVP_DigestUpdate(l->sha, l->line.bytes, l->line.length);
        out_file_write(&l->file, l->line.bytes, l->line.length);
    }
    out_clear(&l->line);
    out_file_write(&l->timing_file, l->timing.bytes, l->timing.length);
    out_clear(&l->timing);
}

static void key_text(struct out *t, const char *key, const char *value)
{
    out_format(t, ",\"%s\":", key);
    out_json(t, value);
}

static void key_job(struct log *l, const char *key, uint32_t job, uint32_t arrival)
{
    out_format(&l->line, ",\"%s\":", key);
    if (arrival == WORLD_NONE) {
        out_json(&l->line, l->world->job[job].name);
        return;
    }
    struct out name = {0};
    log_job(&name, l->world, job, arrival);
    out_json(&l->line, name.bytes);
    out_free(&name);
}

static void key_truth(struct out *t, const char *key, bool truth)
{
    out_format(t, ",\"%s\":%s", key, truth ? "true" : "false");
}

static void head_line(struct log *l, const struct log_head *head)
{
    struct out *t = &l->line, workload = {0};
    int64_t seed = log_seed(l->world, head);

    list_file(&workload, l->world);
    out_add(t, "{\"kind\":\"header\",\"format\":\"dovetail-decisions/2\"");
    key_text(t, "cluster", l->world->openb ? "openb" : l->world->cluster_name);
    key_text(t, "workload", workload.bytes);
    key_text(t, "policy", head->policy);
    out_add(t, ",\"seed\":");
    if (seed < 0)
        out_add(t, "null");
    else
        out_integer(t, seed);
    key_text(t, "version", head->version);
    out_add(t, "}\n");
    l->lines = 1;
    out_free(&workload);
}

/* What the job asks, so that a log can be explained alone. The fields of an openb pod are the
 * ask's own names; a gang's are one sentence, since a workload may write them in two forms. */
static void ask(struct log *l, const struct world_job *job)
{
    struct out *t = &l->line, said = {0};

    if (l->world->openb) {
        const struct world_podset *p = &job->podset[0];

        out_format(t, ",\"gpus\":%u", p->gpus);
        if (p->gpus == 1 && p->milli < 1000)
            out_format(t, ",\"milli\":%u", p->milli);
        out_add(t, ",\"cpu_milli\":");
        out_integer(t, p->cpu_milli);
        out_add(t, ",\"mem_mib\":");
        out_integer(t, p->mem_mib);
        return;
    }
    if (job->team != WORLD_NONE)
        key_text(t, "team", l->world->team[job->team].name);
    if (job->priority != 0)
        out_format(t, ",\"priority\":%d", job->priority);
    for (uint32_t i = 0; i < job->podset_count; i++) {
        const struct world_podset *p = &job->podset[i];

        out_format(&said, "%s%u pod%s of %u GPU%s", i ? ", " : "", p->pods, p->pods == 1 ? "" : "s",
                   p->gpus, p->gpus == 1 ? "" : "s");
        if (p->gpus == 1 && p->mig != WORLD_NONE)
            out_format(&said, " (MIG %s)", l->world->mig_name[p->mig]);
        else if (p->gpus == 1 && p->mem_share_mib > 0)
            out_format(&said, " (%lld MiB of it)", (long long)p->mem_share_mib);
        else if (p->gpus == 1 && p->milli < 1000)
            out_format(&said, " (%u milli of it)", p->milli);
        if (p->pods_min < p->pods)
            out_format(&said, ", at least %u", p->pods_min);
    }
    key_text(t, "asks", said.length ? said.bytes : "");
    out_free(&said);
}

static void pod(struct log *l, const struct record *r, const struct record_pod *at)
{
    struct out *t = &l->line;
    const struct world_podset *set = &l->world->job[r->job].podset[at->podset];
    bool first = true;

    out_format(t, "{\"pod\":%u,\"node\":", at->pod);
    out_json(t, l->world->node[at->node].name);
    out_add(t, ",\"gpus\":[");
    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if ((uint32_t)at->devices >> d & 1u) {
            out_format(t, first ? "%u" : ",%u", d);
            first = false;
        }
    out_char(t, ']');
    if (set->gpus == 1 && set->mig != WORLD_NONE) {
        key_text(t, "mig", l->world->mig_name[set->mig]);
        out_format(t, ",\"slot\":%u", at->mig_slot);
    } else if (set->gpus == 1 && set->mem_share_mib > 0) {
        out_format(t, ",\"mem_share_mib\":%lld", (long long)set->mem_share_mib);
    } else if (set->gpus == 1 && set->milli < 1000) {
        out_format(t, ",\"milli\":%u", set->milli);
    }
    out_char(t, '}');
}

static void pods(struct log *l, const struct record *r)
{
    out_add(&l->line, ",\"pods\":[");
    for (uint32_t i = 0; i < r->pod_count; i++) {
        if (i)
            out_char(&l->line, ',');
        if (r->kind == RECORD_SHRINK)
            out_integer(&l->line, r->pods[i].pod);
        else
            pod(l, r, &r->pods[i]);
    }
    out_char(&l->line, ']');
}

static void binding(struct out *t, int32_t bits)
{
#define BINDING_NAME(name, text) text,
    static const char *const name[] = {RECORD_BINDING_MAP(BINDING_NAME)};
#undef BINDING_NAME
    bool first = true;

    out_add(t, ",\"binding\":[");
    for (unsigned b = 0; b < sizeof(name) / sizeof(name[0]); b++)
        if ((uint32_t)bits >> b & 1u) {
            out_format(t, first ? "\"%s\"" : ",\"%s\"", name[b]);
            first = false;
        }
    out_char(t, ']');
}

static void placement(struct log *l, const struct record_reason *why)
{
    struct out *t = &l->line;

    if (why->domain_level) {
        out_add(t, ",\"domain\":{\"level\":");
        out_json(t, why->domain_level);
        key_text(t, "name", why->domain ? why->domain : "");
        out_char(t, '}');
    }
    if (why->term_count == 0)
        return;
    if (why->runner_up_node != WORLD_NONE)
        key_text(t, "runner_up", l->world->node[why->runner_up_node].name);
    out_add(t, ",\"terms\":[");
    for (unsigned i = 0; i < why->term_count; i++) {
        const struct record_term *term = &why->term[i];

        out_add(t, i ? ",{\"name\":" : "{\"name\":");
        out_json(t, term->name);
        key_text(t, "unit", term->unit ? term->unit : "");
        out_add(t, ",\"value\":");
        out_integer(t, term->value);
        if (why->runner_up_node != WORLD_NONE) {
            out_add(t, ",\"runner_up\":");
            out_integer(t, term->runner_up);
        }
        out_char(t, '}');
    }
    out_char(t, ']');
}

static void reason(struct log *l, const struct record *r)
{
    struct out *t = &l->line;
    const struct record_reason *why = &r->reason;

    if (!why->code)
        return;
    out_add(t, ",\"reason\":{\"code\":");
    out_json(t, why->code);
    if (why->text)
        key_text(t, "text", why->text);
    if (r->kind == RECORD_REFUSE) {
        if (why->free_gpu_milli >= 0) {
            out_add(t, ",\"free_gpus\":");
            out_decimal(t, why->free_gpu_milli, 3);
        }
        if (why->best_pods >= 0)
            out_format(t, ",\"best_pods\":%lld", (long long)why->best_pods);
        if (why->binding >= 0)
            binding(t, why->binding);
    } else {
        placement(l, why);
    }
    if (why->cure)
        key_text(t, "cure", why->cure);
    out_char(t, '}');
}

static void body(struct log *l, const struct record *r)
{
    static const char *const fits[] = {"false", "true", "null"};
    static const char *const end[] = {"ok", "fail", "cancel"};
    struct out *t = &l->line;

    switch (r->kind) {
    case RECORD_START:
    case RECORD_GROW:
        pods(l, r);
        break;
    case RECORD_REFUSE:
        out_format(t, ",\"fits\":%s", fits[r->fits]);
        key_truth(t, "final", r->final);
        break;
    case RECORD_PROMISE:
        out_add(t, ",\"by\":");
        out_seconds(t, r->by_ns);
        if (r->pod_count > 0)
            pods(l, r);
        if (r->why)
            key_text(t, "why", r->why);
        break;
    case RECORD_SHRINK:
    case RECORD_PREEMPT:
    case RECORD_MOVE:
        if (r->by != WORLD_NONE)
            key_job(l, "by", r->by, WORLD_NONE);
        if (r->cause)
            key_text(t, "cause", r->cause);
        if (r->kind != RECORD_SHRINK)
            key_truth(t, "saved", r->saved);
        if (r->kind != RECORD_PREEMPT)
            pods(l, r);
        break;
    case RECORD_FINISH:
        key_text(t, "status", end[l->world->job[r->job].end]);
        break;
    case RECORD_SUBMIT:
        ask(l, &l->world->job[r->job]);
        break;
    case RECORD_EVENT:
    case RECORD_FAIL:
        break;
    }
}

static void take(void *context, const struct record *r)
{
    static const char *const kind[] = {"submit",  "start", "grow",  "shrink", "refuse", "promise",
                                       "preempt", "move",  "event", "fail",   "finish"};
    struct log *l = context;
    struct out *t = &l->line;

    out_format(t, "{\"kind\":\"%s\",\"t\":", kind[r->kind]);
    out_seconds(t, r->t_ns);
    if (r->kind == RECORD_EVENT) {
        const char *raw = l->world->event[r->event].raw;

        if (raw && *raw)
            out_format(t, ",%s", raw);
    } else {
        key_job(l, "job", r->job, r->arrival);
        body(l, r);
        reason(l, r);
    }
    out_add(t, "}\n");
    l->lines++;
    l->t_ns = r->t_ns;
    if (r->decide_ns >= 0) {
        out_format(&l->timing, "%llu ", (unsigned long long)l->lines);
        out_integer(&l->timing, (r->decide_ns + 500) / 1000);
        out_char(&l->timing, '\n');
    }
    if (t->length >= FLUSH_BYTES)
        flush(l);
}

struct sink log_sink(struct log *l)
{
    return (struct sink){.take = take, .context = l};
}

static void discard(struct log *l)
{
    EVP_MD_CTX_free(l->sha);
    out_free(&l->path);
    out_free(&l->line);
    out_free(&l->timing);
    free(l);
}

int log_open(struct log **ret_log, const struct world *w, const char *folder,
             const struct log_head *head, struct err *err)
{
    struct log *l = memory_zeroed(sizeof(*l));
    struct out timing_path = {0};
    int result;

    l->world = w;
    log_name(&l->path, w, folder, head, ".log");
    log_name(&timing_path, w, folder, head, ".log.us");
    l->sha = EVP_MD_CTX_new();
    if (!l->sha || EVP_DigestInit_ex(l->sha, EVP_sha256(), NULL) != 1)
        result = err_set(err, ERR_TROUBLE, "SHA-256 is not available in this libcrypto");
    else
        result = out_file_open(&l->file, l->path.bytes, false, err);
    if (!result) {
        struct err ignored;

        result = out_file_open(&l->timing_file, timing_path.bytes, false, err);
        if (result)
            out_file_close(&l->file, &ignored);
    }
    out_free(&timing_path);
    if (result) {
        discard(l);
        return result;
    }
    head_line(l, head);
    *ret_log = l;
    return ERR_NONE;
}

int log_cut(struct log *l, struct err *err)
{
    struct err later;
    int result, timing_result;

    flush(l);
    result = out_file_close(&l->file, err);
    timing_result = out_file_close(&l->timing_file, result ? &later : err);
    discard(l);
    return result ? result : timing_result;
}

int log_close(struct log *l, const char *state_digest, const struct metric_value *summary,
              uint32_t count, struct err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    struct out *t = &l->line;
    bool first = true;

    flush(l);
    EVP_DigestFinal_ex(l->sha, digest, &length);
    out_add(t, "{\"kind\":\"end\",\"t\":");
    out_seconds(t, l->t_ns);
    out_add(t, ",\"digest\":\"");
    for (unsigned i = 0; i < length; i++)
        out_format(t, "%02x", digest[i]);
    out_char(t, '"');
    if (state_digest)
        key_text(t, "state", state_digest);
    out_add(t, ",\"summary\":{");
    for (uint32_t i = 0; i < count; i++) {
        if (!summary[i].known)
            continue;
        if (!first)
            out_char(t, ',');
        first = false;
        out_json(t, summary[i].name);
        out_char(t, ':');
        out_real(t, summary[i].value, 6);
    }
    out_add(t, "}}\n");
    out_file_write(&l->file, t->bytes, t->length);
    out_clear(t);
    return log_cut(l, err);
}
