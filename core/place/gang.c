#include "core/place/gang.h"

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "core/place/choose.h"
#include "core/place/equal.h"
#include "core/place/lifetime.h"
#include "core/place/mixed.h"
#include "core/place/profile.h"
#include "core/place/ranks.h"
#include "core/place/shapes.h"

static const struct podset *only_set(const struct view *v)
{
    const struct job *j = job_row(v->m, v->job);

    return j->podsets == 1 ? podset_row(v->m, j->podset_head) : 0;
}

static uint64_t job_required(const struct view *v)
{
    return view_minds(v, LIMIT(TOPOLOGY)) ? job_row(v->m, v->job)->required | v->wished : v->wished;
}

static enum verdict find_mixed(struct view *v, uint64_t scopes, bool full, struct mixed *ret);

static enum verdict fits_proven(struct view *v)
{
    const struct podset *p = only_set(v);
    struct mixed found;

    if (p)
        return choose_fits(v, p) ? VERDICT_FITS : VERDICT_NO;
    return find_mixed(v, job_required(v), false, &found);
}

/* A no because of seats that nobody can place is no proof: they may sit elsewhere. */
static enum verdict doubt(struct view *v)
{
    struct view trusting = *v;

    if (!config_row(v->m)->unknown_seats || !view_minds(v, LIMIT(UNKNOWN)))
        return VERDICT_NO;
    trusting.dropped |= LIMIT(UNKNOWN);
    return fits_proven(&trusting) == VERDICT_NO ? VERDICT_NO : VERDICT_UNPROVEN;
}

enum verdict gang_fits(struct view *v)
{
    enum verdict verdict = fits_proven(v);

    return verdict == VERDICT_NO ? doubt(v) : verdict;
}

/* ---- doing ---- */

/* Devices of the host on which this gang holds a share already. */
static uint16_t own_cards(const struct model *m, uint32_t job, uint32_t host)
{
    uint16_t cards = 0;

    /* Its seats are the newest of the host: nobody else was seated since. */
    for (uint32_t s = host_row(m, host)->seat_head; s != ROW_NONE && seat_row(m, s)->job == job;
         s = seat_row(m, s)->next_of_host)
        cards |= seat_row(m, s)->devices;
    return cards;
}

/* Puts one pod of an equal gang on the host, on devices within. */
static void seat_pod(struct model *m, struct view *v, uint32_t podset, uint32_t host,
                     uint16_t within, uint32_t pod)
{
    const struct podset *p = podset_row(m, podset);
    struct spot s;
    bool fits;

    if (podset_is_share(p) && view_minds(v, LIMIT(TOPOLOGY)) &&
        !(job_row(m, v->job)->flags & JOB_SHARES_CARD))
        within &= (uint16_t)~own_cards(m, v->job, host);
    fits = score_host(v, p, host, within, &s, SCORE_FULL);
    must(fits);
    host_take(m, host, v->job, podset, pod, s.devices, s.slot, GRADE_PLANNED);
}

/* Scratch memory for the hosts of a region. */
static struct share *shares_of(struct model *m)
{
    return (struct share *)(void *)((char *)m + m->scratch_at);
}

/* The next pod number that is not done. */
static uint32_t take_number(const struct model *m, uint32_t job, uint32_t *next_pod)
{
    while (job_row(m, job)->done_pods && job_pod_done(m, job, *next_pod))
        (*next_pod)++;
    return (*next_pod)++;
}

/* Seats on one host: slices below the host part by part, else one by one. */
static void seat_on_host(struct model *m, struct view *v, uint32_t podset, const struct share *s,
                         uint16_t within, uint32_t *next_pod)
{
    const struct podset *p = podset_row(m, podset);
    bool parts = p->slice_pods && p->slice_scope < SHAPE_PART_COUNT;
    uint16_t masks[GPUS_MAX];
    unsigned count = view_masks(v, s->host, parts ? SCOPE_BIT(p->slice_scope) : 0, masks);
    uint32_t rest = s->pods;

    for (unsigned n = 0; n < count && rest; n++) {
        uint16_t mask = masks[n] & within;
        uint32_t here = view_pods(v, s->host, p, mask);

        if (parts)
            here = here / p->slice_pods * p->slice_pods;
        for (here = here < rest ? here : rest; here > 0; here--, rest--)
            seat_pod(m, v, podset, s->host, mask, take_number(m, v->job, next_pod));
    }
    must(rest == 0);
}

/* Seats in a region, on as few hosts as can be. The census is of no use afterwards. */
static void seat_shares(struct model *m, struct census *t, uint32_t podset, const struct region *r,
                        uint32_t pods, uint32_t *next_pod)
{
    struct share *share = shares_of(m);
    uint32_t used = choose_fewest(share, choose_hosts(t, r, share), pods);

    for (uint32_t n = 0; n < used; n++) {
        struct share s = share[n];

        seat_on_host(m, t->v, podset, &s, r->within, next_pod);
    }
}

/* True if a pod of the job sits in the domain already: it was filled as far as it goes. */
static bool has_seat_in(const struct model *m, uint32_t job, unsigned level, uint32_t domain)
{
    for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        if (board_row(m, seat_row(m, s)->host)->domain[level] == domain)
            return true;
    return false;
}

/* Slices above the host: whole ones, domain by domain, the domain with the least room first that
 * holds the rest, else the largest. */
static void seat_slices(struct model *m, struct view *v, uint32_t podset, const struct region *r,
                        uint32_t pods, uint32_t *next_pod)
{
    const struct podset *p = podset_row(m, podset);
    unsigned level = p->slice_scope - SCOPE_OF_LEVEL;

    while (pods > 0) {
        uint64_t best_room = 0;
        struct region best = *r;

        for (uint32_t d = 0; d < model_count(m, TABLE_DOMAIN); d++) {
            struct region part = *r;
            uint64_t room;
            bool better;

            if (!domain_row(m, d)->used || domain_row(m, d)->level != level ||
                has_seat_in(m, v->job, level, d))
                continue;
            part.scopes = (r->scopes & SCOPE_LEVELS) | SCOPE_BIT(p->slice_scope);
            part.first_level = level;
            part.domain[level] = d;
            part.members = index_members(m, d, &part.member_count);
            room = equal_in_region(v, &part, p, UINT64_MAX);
            better = room >= pods ? best_room < pods || room < best_room : room > best_room;
            if (room && better) {
                best_room = room;
                best = part;
            }
        }
        must(best_room > 0);

        uint32_t here = best_room < pods ? (uint32_t)best_room : pods;
        struct census t = census_of(v, p);

        seat_shares(m, &t, podset, &best, here, next_pod);
        pods -= here;
    }
}

static void seat_equal(struct model *m, struct census *t, const struct region *r, uint32_t pods)
{
    uint32_t podset = job_row(m, t->v->job)->podset_head, next_pod = 0;
    const struct podset *p = podset_row(m, podset);

    if (p->slice_pods && p->slice_scope > SCOPE_OF_HOST && p->slice_scope < SCOPE_OF_CLUSTER &&
        r->host == ROW_NONE)
        seat_slices(m, t->v, podset, r, pods, &next_pod);
    else
        seat_shares(m, t, podset, r, pods, &next_pod);
}

/* The scopes to try, strictest first: what the job prefers, else the ladder of tightness. */
struct wishes {
    uint64_t scopes[LEVELS_MAX + 6];
    uint8_t scope[LEVELS_MAX + 6];
    unsigned count;
};

static void wish(struct wishes *w, uint64_t required, uint64_t wished, unsigned scope)
{
    w->scopes[w->count] = required | wished;
    w->scope[w->count++] = (uint8_t)scope;
}

/* Where a wished level is too small, the larger ones of its chain come next, the smallest first. */
static void wish_wider(const struct model *m, struct wishes *w, uint64_t required, unsigned scope)
{
    const struct level *from = scope >= SCOPE_OF_LEVEL && scope < SCOPE_OF_CLUSTER
                                   ? level_row(m, scope - SCOPE_OF_LEVEL)
                                   : NULL;

    for (unsigned rank = from ? from->rank + 1u : LEVELS_MAX; rank < LEVELS_MAX; rank++)
        for (unsigned l = 0; l < LEVELS_MAX; l++)
            if (level_row(m, l)->used && level_row(m, l)->chain == from->chain &&
                level_row(m, l)->rank == rank)
                wish(w, required, SCOPE_BIT(SCOPE_OF_LEVEL + l), SCOPE_OF_LEVEL + l);
}

static struct wishes wishes_of(const struct view *v, uint64_t required, uint32_t pods)
{
    const struct job *j = job_row(v->m, v->job);
    struct wishes w = {.count = 0};

    for (unsigned n = j->preferred_count; n > 0; n--) {
        uint64_t wished = 0;

        for (unsigned i = 0; i < n; i++)
            wished |= SCOPE_BIT(j->preferred[i]);
        wish(&w, required, wished, j->preferred[n - 1]);
    }
    if (j->preferred_count)
        wish_wider(v->m, &w, required, j->preferred[0]);
    if (j->preferred_count == 0 && pods > 1 && config_row(v->m)->scorer == SCORER_DOVETAIL) {
        uint8_t scope[PROFILE_SCOPES_MAX];
        unsigned count = profile_ladder(v->m, j->profile, scope);

        for (unsigned n = 0; n < count; n++)
            wish(&w, required, SCOPE_BIT(scope[n]), scope[n]);
    }
    wish(&w, required, 0, SCOPE_OF_CLUSTER);
    return w;
}

static enum verdict plan_one(struct model *m, struct view *v, const struct podset *p,
                             struct plan *plan)
{
    struct wishes w = wishes_of(v, view_required(v, p), 1);
    uint64_t slice =
        p->slice_pods && view_minds(v, LIMIT(TOPOLOGY)) ? SCOPE_BIT(p->slice_scope) : 0;

    if (podset_most(v, p) < 1)
        return VERDICT_NO;
    for (unsigned n = 0; n < w.count; n++) {
        bool by_end = lifetime_search(v, p, w.scopes[n] | slice, &plan->best, &plan->second);

        if (!by_end &&
            score_search(v, p, w.scopes[n] | slice, &plan->best, &plan->second) != VERDICT_FITS)
            continue;
        if (!by_end && config_row(m)->scorer == SCORER_DOVETAIL)
            shapes_move(v, p, w.scopes[n] | slice, &plan->best);
        host_take(m, plan->best.host, v->job, job_row(m, v->job)->podset_head, 0,
                  plan->best.devices, plan->best.slot, GRADE_PLANNED);
        plan->pods = 1;
        plan->scope = SCOPE_OF_HOST;
        return VERDICT_FITS;
    }
    return VERDICT_NO;
}

/* The first wish that the portions meet. */
static unsigned wish_met(const struct view *v, const struct podset *p,
                         const struct portion *portion, uint32_t count)
{
    struct wishes w = wishes_of(v, 0, podset_most(v, p));
    unsigned n = 0;

    if (rules_wish_met(v, portion, count))
        return 0;
    for (n = 1; n + 1 < w.count; n++) {
        uint64_t rest = w.scopes[n];

        while (rest && bits_low(rest) >= SCOPE_OF_HOST &&
               rules_in_one(v->m, portion, count, bits_low(rest)))
            rest = bits_drop_low(rest);
        if (rest == 0)
            break;
    }
    return n;
}

/* All pods as the policy's own rule spreads them; false: it has none, or no answer. */
static bool plan_by_rule(struct model *m, struct view *v, const struct podset *p, struct plan *plan)
{
    uint32_t podset = job_row(m, v->job)->podset_head, next_pod = 0;
    const struct portion *portion;
    uint32_t count = rules_spread(v, p, podset_most(v, p), &portion);

    for (uint32_t n = 0; n < count; n++) {
        struct share s = {portion[n].host, portion[n].pods};

        seat_on_host(m, v, podset, &s, UINT16_MAX, &next_pod);
    }
    plan->pods = next_pod;
    plan->scope = count ? (uint8_t)rules_scope(v, portion, count) : 0;
    plan->wish = count ? (uint8_t)wish_met(v, p, portion, count) : 0;
    return count > 0;
}

/* Our own rule goes up from one level that the gang prefers. Other wishes, and the lack of them,
 * are first tried one by one, which the index makes quick. */
static bool rule_goes_first(const struct view *v)
{
    const struct job *j = job_row(v->m, v->job);

    return config_row(v->m)->scorer != SCORER_DOVETAIL ||
           (j->preferred_count == 1 && j->preferred[0] >= SCOPE_OF_HOST);
}

/* Do the scopes name a domain that no smaller ones divide: a host, or one of a chain's smallest
 * level? */
static bool is_smallest(const struct model *m, uint64_t scopes)
{
    for (uint64_t l = scopes & SCOPE_LEVELS; l; l = bits_drop_low(l))
        if (level_row(m, bits_low(l) - SCOPE_OF_LEVEL)->rank == 0)
            return true;
    return (scopes & (SCOPE_PARTS | SCOPE_BIT(SCOPE_OF_HOST))) != 0;
}

/* What does not fit at all needs no wishes. A wish that asks what the one before asked in vain is
 * passed over. */
static enum verdict plan_equal(struct model *m, struct view *v, const struct podset *p,
                               struct plan *plan)
{
    uint32_t least = podset_least(v, p), most = podset_most(v, p);
    struct wishes w = wishes_of(v, view_required(v, p), most);
    struct region r;
    uint64_t room = 0;
    struct census t;

    if (!choose_fits(v, p))
        return VERDICT_NO;
    if (rule_goes_first(v) && plan_by_rule(m, v, p, plan))
        return VERDICT_FITS;
    t = census_of(v, p);
    for (unsigned n = 0; n < w.count; n++) {
        bool widest = w.scopes[n] == w.scopes[w.count - 1];

        if (widest && !rule_goes_first(v) && !is_smallest(m, w.scopes[n]) &&
            plan_by_rule(m, v, p, plan)) {
            plan->wish = (uint8_t)n;
            return VERDICT_FITS;
        }
        if ((n > 0 && w.scopes[n] == w.scopes[n - 1]) ||
            !choose_tightest(&t, w.scopes[n], most, widest ? least : most, &r, &room))
            continue;
        seat_equal(m, &t, &r, most);
        plan->pods = most;
        plan->scope = w.scope[n];
        plan->wish = (uint8_t)n;
        return VERDICT_FITS;
    }
    /* r and room are of the widest question now. */
    if (room < least || room == 0)
        return VERDICT_NO;
    seat_equal(m, &t, &r, (uint32_t)room);
    plan->pods = (uint32_t)room;
    plan->scope = SCOPE_OF_CLUSTER;
    plan->wish = (uint8_t)(w.count - 1);
    return VERDICT_FITS;
}

/* First pod number of a podset within the gang. */
static uint32_t first_pod(const struct model *m, uint32_t job, uint32_t podset)
{
    uint32_t first = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != podset; p = podset_row(m, p)->next)
        first += podset_row(m, p)->pods;
    return first;
}

/* Equal pods are numbered along the hosts in id order, then along the devices. */
static void order_pods(struct mixed_pod *pod, uint32_t count)
{
    for (uint32_t n = 1; n < count; n++)
        for (uint32_t at = n;
             at > 0 && pod[at - 1].podset == pod[at].podset &&
             (pod[at - 1].host > pod[at].host ||
              (pod[at - 1].host == pod[at].host && pod[at - 1].devices > pod[at].devices));
             at--) {
            struct mixed_pod swap = pod[at];

            pod[at] = pod[at - 1];
            pod[at - 1] = swap;
        }
}

static void seat_mixed(struct model *m, struct view *v, const struct mixed *found)
{
    uint32_t podset = ROW_NONE, pod = 0;

    order_pods(found->pod, found->pod_count);

    for (uint32_t n = 0; n < found->pod_count; n++) {
        const struct mixed_pod x = found->pod[n];
        const struct podset *p = podset_row(m, x.podset);
        struct spot s;

        if (x.podset != podset)
            pod = first_pod(m, v->job, x.podset);
        podset = x.podset;
        /* Whole devices of a gang that names no level below the host are all alike to the search:
         * the links choose among them now. */
        if (!found->exact_devices && p->gpus > 0 && !podset_is_share(p) &&
            !(job_required(v) & SCOPE_PARTS) &&
            score_host(v, p, x.host, UINT16_MAX, &s, SCORE_FULL))
            host_take(m, x.host, v->job, podset, take_number(m, v->job, &pod), s.devices, 0,
                      GRADE_PLANNED);
        else
            host_take(m, x.host, v->job, podset, take_number(m, v->job, &pod), x.devices, x.slot,
                      GRADE_PLANNED);
    }
}

/* Looks for the gang in every region of the scopes; UNPROVEN if some region was not searched
 * through. */
static enum verdict find_mixed(struct view *v, uint64_t scopes, bool full, struct mixed *ret)
{
    enum verdict verdict = VERDICT_NO;
    struct region r;

    region_start(&r, scopes);
    while (region_next(v, &r)) {
        enum verdict here =
            v->steps > v->steps_max ? VERDICT_UNPROVEN : mixed_search(v, &r, full, ret);

        if (here == VERDICT_FITS)
            return here;
        if (here == VERDICT_UNPROVEN)
            verdict = here;
        if (v->steps > v->steps_max)
            return verdict;
    }
    return verdict;
}

/* True if the gang asks for more than its minimum. */
static bool is_elastic(const struct view *v)
{
    for (uint32_t p = job_row(v->m, v->job)->podset_head; p != ROW_NONE;
         p = podset_row(v->m, p)->next)
        if (podset_least(v, podset_row(v->m, p)) < podset_most(v, podset_row(v->m, p)))
            return true;
    return false;
}

/* The minimum first: what does not fit at all needs no wishes. Then the full gang by its wishes,
 * the strictest first; if none can be had, what was found in the beginning. */
static enum verdict plan_mixed(struct model *m, struct view *v, struct plan *plan)
{
    struct wishes w = wishes_of(v, job_required(v), job_row(m, v->job)->pods);
    bool elastic = is_elastic(v);
    uint64_t steps_max = v->steps_max;
    struct mixed found;
    enum verdict verdict = find_mixed(v, job_required(v), false, &found);

    if (verdict != VERDICT_FITS)
        return verdict;
    for (unsigned full = elastic ? 2 : 1; full-- > 0;)
        for (unsigned n = 0; n < w.count; n++) {
            v->steps = 0; /* each wish has a budget of its own: a wish is no proof */
            v->steps_max = n + 1 < w.count || full ? steps_max / 4 : steps_max;
            if (find_mixed(v, w.scopes[n], full, &found) != VERDICT_FITS)
                continue;
            seat_mixed(m, v, &found);
            plan->pods = found.pod_count;
            plan->scope = w.scope[n];
            plan->wish = (uint8_t)n;
            return VERDICT_FITS;
        }
    return VERDICT_UNPROVEN;
}

enum verdict gang_plan(struct model *m, struct view *v, struct plan *ret_plan)
{
    const struct podset *p = only_set(v);
    enum verdict verdict;

    *ret_plan = (struct plan){.best = {.host = ROW_NONE}, .second = {.host = ROW_NONE}};
    verdict = !p             ? plan_mixed(m, v, ret_plan)
              : p->pods == 1 ? plan_one(m, v, p, ret_plan)
                             : plan_equal(m, v, p, ret_plan);
    if (verdict == VERDICT_FITS)
        ranks_lay(m, v->job);
    return verdict == VERDICT_NO ? doubt(v) : verdict;
}

bool gang_better_exists(const struct model *m, uint32_t job, const struct plan *plan)
{
    struct view v = view_of(m, job);
    struct wishes w = wishes_of(&v, 0, job_row(m, job)->pods);

    v.dropped = LIMIT(BUSY) | LIMIT(UNKNOWN);
    for (unsigned n = 0; n < plan->wish && n < w.count; n++) {
        v.wished = w.scopes[n];
        if (gang_fits(&v) == VERDICT_FITS)
            return true;
    }
    return false;
}

uint64_t gang_best_wish(const struct model *m, uint32_t job)
{
    struct view v = view_of(m, job);
    struct wishes w = wishes_of(&v, 0, job_row(m, job)->pods);

    v.dropped = LIMIT(BUSY) | LIMIT(UNKNOWN);
    for (unsigned n = 0; n + 1 < w.count; n++) {
        v.wished = w.scopes[n];
        if (gang_fits(&v) == VERDICT_FITS)
            return w.scopes[n];
    }
    return 0;
}
