/* kube.h - how edge/topo takes Kubernetes objects apart; private to this folder
 *
 * Only what speaks of topology and GPUs is read; objects of other kinds are counted in a remark.
 */
#ifndef EDGE_TOPO_KUBE_H
#define EDGE_TOPO_KUBE_H

#include "edge/base/tree.h"
#include "edge/topo/topo_parts.h"

/* A member of a HyperNode, kept until all of them are known. */
struct member {
    struct member *next;
    size_t fabric;
    uint32_t domain, line;
    const char *name;
    bool is_node, is_domain; /* neither: the type is not said */
};

const char *kube_name(const struct tree *object); /* metadata.name, or NULL */
const struct tree *kube_find(const struct tree *object, const char *first, const char *second);
const char *kube_annotation(const struct tree *object, const char *key);

int kube_node(struct topo *t, const struct tree *object, struct err *err);
int kube_slice(struct topo *t, const struct tree *object, struct err *err);
/* A list of devices as ResourceSlices have them, without its object. */
void kube_devices(struct topo *t, struct topo_host *h, const struct tree *list);
int kube_pod(struct topo *t, const struct tree *object, struct err *err);
int kube_pod_group(struct topo *t, const struct tree *object, struct err *err);
int kube_queue(struct topo *t, const struct tree *object, struct err *err);
int kube_levels(struct topo *t, const struct tree *object, struct err *err);
int kube_hypernode(struct topo *t, const struct tree *object, struct err *err);
int kube_config_map(struct topo *t, const struct tree *object, struct err *err);
int kube_kind_cluster(struct topo *t, const struct tree *object, struct err *err);
/* Volcano's discovery of topologies. */
void kube_sources(struct topo *t, const struct tree *list);
/* Annotations and constraints outside of objects that have a reader. */
bool kube_fragment(struct topo *t, const struct tree *root);
int kube_hived_pods(struct topo *t, const struct tree *object, struct err *err);

/* A quantity of memory as MiB, rounded down; TOPO_NONE: none. */
int64_t kube_mib(const char *quantity);

#endif
