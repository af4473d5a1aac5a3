/* Jobs: which pods belong together. What a scheduler was told beats labels of the tools that make
 * pods, and these beat owners. Replicas of a Deployment or StatefulSet are jobs of their own, of
 * which the report names the owner. */
#include "edge/audit/facts_parts.h"

#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

#define GANG_MAX 100000

uint32_t facts_job_put(struct facts *f, const char *space, const char *kind, const char *name,
                       bool gang)
{
    struct out key = {NULL, 0, 0};
    uint32_t row;

    out_format(&key, "%s/%s/%s", space, kind, name);
    row = facts_row(f, 'j', key.bytes);
    if (row == FACTS_NONE) {
        row = (uint32_t)f->job_count;
        f->job = out_grow(f->job, f->job_count, &f->job_limit, sizeof(*f->job));
        f->job[f->job_count++] =
            (struct facts_job){.name = names_put(&f->names, key.bytes), .pod_head = FACTS_NONE};
        facts_row_put(f, 'j', key.bytes, row);
    }
    out_free(&key);
    f->job[row].gang |= gang;
    return row;
}

static uint32_t count_of(const char *text)
{
    long count = text ? strtol(text, NULL, 10) : 0;

    return count > 0 && count <= GANG_MAX ? (uint32_t)count : 0;
}

void facts_add_group(struct facts *f, const struct tree *group)
{
    const struct tree *meta = facts_field(group, "metadata"), *spec = facts_field(group, "spec");
    const char *name = facts_string(meta, "name"), *space = facts_string(meta, "namespace"),
               *least = facts_plain(spec, "minMember");
    uint32_t job;

    if (!least)
        least = facts_plain(facts_field(facts_field(spec, "schedulingPolicy"), "gang"), "minCount");
    if (!name)
        return;
    job = facts_job_put(f, space ? space : "default", "PodGroup", name, true);
    f->job[job].pods_least = count_of(least);
}

static const struct {
    const char *key, *kind;
    bool label;
} group_names[] = {{"pod-group-name", "PodGroup", false},
                   {"scheduling.k8s.io/group-name", "PodGroup", false},
                   {"scheduling.volcano.sh/group-name", "PodGroup", false},
                   {"scheduling.x-k8s.io/pod-group", "PodGroup", true},
                   {"kueue.x-k8s.io/pod-group-name", "PodGroup", true},
                   {"jobset.sigs.k8s.io/jobset-name", "JobSet", true},
                   {"volcano.sh/job-name", "VolcanoJob", true},
                   {"training.kubeflow.org/job-name", "TrainingJob", true},
                   {"ray.io/cluster", "RayCluster", true}};

static const char *const gang_kinds[] = {"PyTorchJob", "MPIJob",          "TFJob",    "XGBoostJob",
                                         "JAXJob",     "PaddleJob",       "TrainJob", "JobSet",
                                         "RayCluster", "LeaderWorkerSet", "RayJob",   "PodGroup",
                                         "Workflow",   "PodClique",       "PodGang",  "AppWrapper"};

static bool is_gang(const char *kind)
{
    for (size_t n = 0; n < sizeof(gang_kinds) / sizeof(gang_kinds[0]); n++)
        if (strcmp(kind, gang_kinds[n]) == 0)
            return true;
    return false;
}

static const struct tree *controller_of(const struct tree *meta)
{
    const struct tree *owners = facts_field(meta, "ownerReferences");

    for (const struct tree *t = owners && owners->kind == TREE_LIST ? owners->child : NULL; t;
         t = t->next) {
        const struct tree *is = facts_field(t, "controller");

        if (!is || is->truth)
            return t;
    }
    return NULL;
}

/* A group of a LeaderWorkerSet: leader and workers of one index. */
static uint32_t leader_worker(struct facts *f, const char *space, const struct tree *labels,
                              const struct tree *notes)
{
    const char *name = facts_string(labels, "leaderworkerset.sigs.k8s.io/name"),
               *index = facts_plain(labels, "leaderworkerset.sigs.k8s.io/group-index");
    struct out full = {NULL, 0, 0};
    uint32_t job;

    if (!name)
        return FACTS_NONE;
    out_format(&full, "%s-%s", name, index ? index : "0");
    job = facts_job_put(f, space, "LeaderWorkerSet", full.bytes, true);
    f->job[job].pods_least = count_of(facts_plain(notes, "leaderworkerset.sigs.k8s.io/size"));
    out_free(&full);
    return job;
}

static uint32_t by_group(struct facts *f, const char *space, const struct tree *meta,
                         const struct tree *spec)
{
    const struct tree *labels = facts_field(meta, "labels"),
                      *notes = facts_field(meta, "annotations");
    const char *name = facts_string(facts_field(spec, "schedulingGroup"), "podGroupName");
    uint32_t job, total = count_of(facts_plain(notes, "kueue.x-k8s.io/pod-group-total-count"));

    if (name)
        return facts_job_put(f, space, "PodGroup", name, true);
    for (size_t n = 0; n < sizeof(group_names) / sizeof(group_names[0]); n++) {
        name = facts_plain(group_names[n].label ? labels : notes, group_names[n].key);
        if (!name || !*name)
            continue;
        job = facts_job_put(f, space, group_names[n].kind, name, true);
        if (total)
            f->job[job].pods_least = total;
        return job;
    }
    return leader_worker(f, space, labels, notes);
}

uint32_t facts_job_of(struct facts *f, const struct tree *meta, const struct tree *spec,
                      struct facts_pod *pod)
{
    const char *space = facts_name(f, pod->space), *name = facts_name(f, pod->name), *kind;
    const struct tree *owner = controller_of(meta), *labels = facts_field(meta, "labels");
    uint32_t job = pod->gpus > 0 ? by_group(f, space, meta, spec) : FACTS_NONE;

    kind = facts_string(owner, "kind");
    pod->fixed = kind && (strcmp(kind, "DaemonSet") == 0 || strcmp(kind, "Node") == 0);
    if (job != FACTS_NONE)
        return job;
    if (pod->gpus == 0) /* nobody asks which job it is */
        return facts_job_put(f, "", "", "", false);
    name += strlen(space) + 1;
    if (!kind || !facts_string(owner, "name"))
        return facts_job_put(f, space, "Pod", name, true);
    if (strcmp(kind, "Job") == 0)
        return facts_job_put(f, space, kind, facts_string(owner, "name"),
                             facts_plain(labels, "batch.kubernetes.io/job-completion-index") ||
                                 facts_plain(labels, "job-completion-index"));
    return facts_job_put(f, space, kind, facts_string(owner, "name"), is_gang(kind));
}
