/* topo.h - files that describe hosts and fabrics, read as people have them
 *
 * One file, whatever tool wrote it, becomes one struct topo: hosts (devices and the links between
 * them), fabrics (levels of switches or blocks above hosts), asks (what a workload or a queue wants
 * of them) and remarks (what was odd, ignored, cut or contradictory). The format is told by the
 * content, never by the name of the file.
 *
 * Idea    What a file does not say stays unknown: TOPO_NONE, NULL, or TOPO_PATH_UNKNOWN. "No link"
 *         and "cannot see links" differ: see links_known. Nothing is filled in from what machines
 *         of that name usually have; that is what preset.h is for, and it says so.
 * Units   mbyte_s is MB/s one way, memory_mib MiB, gpu_milli thousandths of a GPU. Indices are the
 *         tool's own; numbers of devices inside a host are positions in host.device.
 * Owner   topo_open() makes everything in one arena; topo_close() frees it with all its texts.
 * Order   Devices: accelerators, NICs, switches, others, each as the file has them. Fabrics, hosts
 *         and domains in the order of the file. Parts (island, bridge, root) are numbered from 0 by
 *         their first device.
 * Errors  A file that cannot be understood is `FILE:LINE: found X, expected Y`. A file that is cut
 *         or odd is read as far as it can be trusted, with a remark and complete = false.
 * Misuse  Texts come from outside and may hold control characters: print them with text_shown(),
 *         out_json() or out_html().
 */
#ifndef EDGE_TOPO_TOPO_H
#define EDGE_TOPO_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edge/base/err.h"
#include "edge/base/out.h"

#define TOPO_NONE        (-1)
#define TOPO_BYTES_MAX   ((size_t)64 << 20) /* of a file, unzipped */
#define TOPO_DEVICES_MAX 512u               /* of a host */
#define TOPO_HOSTS_MAX   100000u            /* described one by one, of a file */
#define TOPO_NAMES_MAX   1000000u           /* hosts and domains of a file, ranges written out */
#define TOPO_REMARKS_MAX 200u               /* more, or more than 5 alike, are counted only */

enum topo_kind {
    TOPO_EMPTY,     /* nothing but blanks and comments */
    TOPO_MATRIX,    /* nvidia-smi topo -m, and tables of its kind */
    TOPO_MATRIX_MP, /* nvidia-smi topo -mp: PCIe only, links are hidden */
    TOPO_P2P,       /* nvidia-smi topo -p2p: a table of abilities, no topology */
    TOPO_NPU,       /* npu-smi info -t topo */
    TOPO_MX,        /* mx-smi topo -m */
    TOPO_ROCM,      /* rocm-smi --showtopo */
    TOPO_NCCL,      /* NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE */
    TOPO_NCCL_GRAPH,
    TOPO_HWLOC,
    TOPO_LSTOPO,
    TOPO_SLURM,      /* topology.conf */
    TOPO_SLURM_YAML, /* topology.yaml */
    TOPO_GRES,
    TOPO_IBNET,
    TOPO_TOPOGRAPH,
    TOPO_HIVED,
    TOPO_KUBE,   /* Kubernetes objects, or fragments of them */
    TOPO_LABELS, /* labels as text: kubectl describe, key=value */
    TOPO_PRESET, /* no file: a guess by product, see preset.h */
};

/* From near to far, links of their own first. */
enum topo_path {
    TOPO_PATH_UNKNOWN,
    TOPO_PATH_SELF,
    TOPO_PATH_NVLINK,
    TOPO_PATH_XGMI,
    TOPO_PATH_HCCS,
    TOPO_PATH_MX,
    TOPO_PATH_SIO, /* two dies of one Ascend package */
    TOPO_PATH_UB,
    TOPO_PATH_PIX,  /* one PCIe switch */
    TOPO_PATH_PXB,  /* several PCIe switches below one host bridge */
    TOPO_PATH_PHB,  /* through a host bridge */
    TOPO_PATH_NODE, /* between host bridges of one NUMA node */
    TOPO_PATH_SYS,  /* between NUMA nodes */
    TOPO_PATH_PCIE, /* over PCIe, no more is said */
    TOPO_PATH_ETH,
    TOPO_PATH_COUNT,
};

enum topo_device_kind {
    TOPO_DEVICE_GPU,
    TOPO_DEVICE_NPU,
    TOPO_DEVICE_NIC,
    TOPO_DEVICE_SWITCH, /* of links, such as an NVSwitch */
    TOPO_DEVICE_SLICE,  /* a MIG instance: part of another device */
    TOPO_DEVICE_OTHER,  /* a PCI device of unknown kind */
};

struct topo_device {
    enum topo_device_kind kind;
    int32_t index;     /* as the tool counts them */
    const char *name;  /* "GPU0", "mlx5_1"; NULL: none */
    const char *alias; /* the name behind the name: NIC0 is mlx5_1 */
    const char *uuid, *pci, *vendor, *model, *parent_uuid, *profile;
    const char *pcie_root;
    const char *cpus;   /* the affinity, as ranges; NULL: not said or not trusted */
    int32_t numa;       /* node of its CPUs */
    bool numa_said;     /* the file has a place for it, and it may say N/A */
    bool numa_by_paths; /* not written, but its paths to a known one cross no NUMA node */
    int32_t memory_numa;
    int32_t island; /* part of devices joined by links */
    int32_t bridge; /* part behind one PCIe switch */
    int32_t root;   /* part behind PCIe switches of one host bridge */
    int64_t memory_mib;
    uint32_t ports;          /* of a NIC */
    uint32_t links_out;      /* links to what is no device of the file */
    uint32_t links_out_ends; /* entries of the file that say so */
    const char *links; /* gres.conf: its links by device, -1 for itself; NULL: none are given */
    uint32_t line;
    bool cut; /* its row ends early */
};

struct topo_link {
    enum topo_path path;
    uint32_t links;   /* bonded; 0: not said */
    uint32_t mbyte_s; /* 0: not said */
    uint32_t weight, hops;
    const char *p2p; /* what topo -p2p says of the pair: OK, GNS, ...; NULL: nothing */
};

/* Something counted by name: a resource, a backend of hwloc, a matrix of distances. */
struct topo_count {
    const char *name;
    int64_t count;
    bool mixed; /* distances: between objects of several types */
};

struct topo_host {
    const char *name; /* NULL: the file does not say */
    uint32_t line;
    struct topo_device *device;
    uint32_t device_count, gpu_count, nic_count;
    struct topo_link *link; /* device_count x device_count; NULL: the file has no pairs */
    bool links_known;       /* a pair without a link has none; false: links are out of sight */
    bool abilities;         /* only a table of peer-to-peer abilities: no topology */
    bool self_links;        /* links from a device to itself were ignored */
    bool complete;
    int64_t gpus_stated; /* where the file has a number and no devices */
    const char *model;
    int64_t memory_mib;           /* of each GPU */
    const char *slices;           /* the MIG strategy */
    const char *taint;            /* of GPUs: key=value:effect */
    int32_t ready;                /* 1, 0 or TOPO_NONE */
    int32_t packages, numa_nodes; /* TOPO_NONE: not said */
    int32_t numa_memory;          /* of those, without CPUs */
    const char *autodetect;       /* gres.conf: what the daemon looks at instead */
    struct topo_count *resource;  /* allocatable, GPUs and slices only */
    uint32_t resource_count;
    struct topo_count *backend; /* OS devices of accelerators by library */
    uint32_t backend_count;
    struct topo_count *distance;
    uint32_t distance_count;
};

enum topo_fabric_kind {
    TOPO_FABRIC_TREE,
    TOPO_FABRIC_BLOCK,
    TOPO_FABRIC_FLAT,
    TOPO_FABRIC_RING,
    TOPO_FABRIC_TORUS,
    TOPO_FABRIC_LINKS, /* domains of links between hosts */
    TOPO_FABRIC_CLOS,  /* leaf and spine, as cabled */
    TOPO_FABRIC_CELLS, /* HiveD */
    TOPO_FABRIC_NAMES, /* level names only, no domains */
};

struct topo_domain {
    const char *name; /* may be NULL: known by its place only */
    int32_t parent;   /* TOPO_NONE: a root */
    uint32_t depth;   /* 0: a root */
    int32_t level;    /* of fabric.level, or TOPO_NONE */
    uint32_t children, hosts;
    int64_t tier; /* as the file counts, or TOPO_NONE */
    uint32_t line;
    bool unsorted;  /* collects hosts without a place: not a domain */
    bool by_labels; /* members are chosen by labels, not by name */
};

struct topo_place {
    const char *name;
    uint32_t domain;
    uint32_t ports; /* cables to this domain; 0: not said */
    uint32_t line;
};

struct topo_cable {
    uint32_t a, b; /* domains */
    uint32_t count;
};

struct topo_fabric {
    const char *name;
    enum topo_fabric_kind kind;
    bool is_default;
    bool complete;
    bool closed;        /* private */
    const char **level; /* names, widest first */
    uint32_t level_count;
    struct topo_domain *domain;
    uint32_t domain_count;
    size_t domain_limit;
    struct topo_place *host;
    uint32_t host_count;
    size_t host_limit;
    struct topo_cable *cable;
    uint32_t cable_count;
    size_t cable_limit;
    int64_t *size; /* of blocks, in hosts */
    uint32_t size_count;
    int64_t dim[3];
    uint32_t unnamed_ports, other_ports; /* adapters without a host's name; no hosts at all */
    uint32_t line;
};

enum topo_ask_kind { TOPO_ASK_POD, TOPO_ASK_GROUP, TOPO_ASK_QUEUE, TOPO_ASK_SOURCE };

/* What a workload or a queue says about topology and GPUs. */
struct topo_ask {
    enum topo_ask_kind kind;
    const char *name, *parent, *topology;
    const char *mode;  /* required, preferred, hard, soft, on, off */
    const char *level; /* by name or label */
    const char *profile;
    int64_t tier;             /* TOPO_NONE: not said */
    int64_t count;            /* pods, or slices */
    int64_t gpu_milli;        /* TOPO_NONE: not said */
    int64_t quota, limit;     /* of a queue, milli; TOPO_UNLIMITED or TOPO_NONE */
    int64_t interval_seconds; /* of a source; TOPO_NONE: not said */
    uint32_t line;
};

#define TOPO_UNLIMITED (-2)

struct topo_remark {
    uint32_t line; /* 0: the whole file */
    const char *text;
    const char *format; /* private: what kind of remark it is */
};

struct topo_block; /* private */
struct topo_names;
struct member;

struct topo {
    const char *file;
    enum topo_kind kind;
    struct topo_host *host;
    size_t host_count, host_limit;
    struct topo_fabric *fabric;
    size_t fabric_count, fabric_limit;
    struct topo_ask *ask;
    size_t ask_count, ask_limit;
    struct topo_remark *remark;
    size_t remark_count, remark_limit;
    uint32_t remarks_left_out;
    uint32_t names, devices; /* so far: hosts and domains, devices of all hosts */
    uint32_t spelled;        /* private: names out of ranges so far, repeated ones too */
    size_t pairs;            /* of link matrices */
    struct member *member, *member_last; /* private: of domains, until all are read */
    struct topo_names *known;            /* private: domains by their labels */
    bool embedded;                       /* private: inside a text of another file */
    struct topo_block *block;            /* the arena */
};

/* Reads a file, plain or gzipped; "-" is standard input. */
int topo_open(struct topo **ret_topo, const char *path, struct err *err);
/* The same from memory; name speaks in errors and remarks. */
int topo_open_text(struct topo **ret_topo, const char *name, const char *text, size_t length,
                   struct err *err);
void topo_close(struct topo *t);

/* The pair's link; a host without pairs answers an unknown one. */
const struct topo_link *topo_link(const struct topo_host *h, uint32_t a, uint32_t b);
/* A path that joins devices beside PCIe, and so makes islands. */
bool topo_path_joins(enum topo_path path);
const char *topo_path_name(enum topo_path path); /* "NV", "PIX", ... */
const char *topo_kind_name(enum topo_kind kind); /* "nvidia-smi topo -m", ... */

/* What was read, in a line of statements, hosts and fabrics in order. */
void topo_text(const struct topo *t, struct out *out);

#endif
