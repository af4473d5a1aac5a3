/* reason.h - why a job waits or was let go: one table of codes
 *
 * A refusal is data: a code, the limits that bind, and which events would cure it; the same bits
 * wake the job. The table yields the enum, the words in logs and metrics, the sentences in English
 * and Chinese, and the reference page.
 *
 * Kinds   never: not even the empty, healthy cluster could; not now: no room in this shape; policy:
 *         there is room, and a rule holds it back; not proven: the search ran out of its budget or
 *         of knowledge.
 * Words   {gpus} GPUs asked, {free} free GPUs of allowed models, {best} most pods that one domain
 * of the required level holds, {pods} pods asked at least, {level} that level.
 */
#ifndef MODEL_REASON_H
#define MODEL_REASON_H

#include <stdint.h>

enum reason_kind { REASON_NEVER, REASON_NOT_NOW, REASON_POLICY, REASON_NOT_PROVEN };

/* Events that may turn a refusal into a start. */
enum cure {
    CURE_NONE = 0,
    CURE_FREED = 1, /* something that runs ends */
    CURE_GREW = 2,  /* a host or device comes, or comes back, or is relabelled */
    CURE_QUOTA = 4, /* the team's limit rises, or it gives back */
    CURE_ASK = 8,   /* the job asks for less */
};

/* X(CODE, code, kind, cures, English, Chinese) */
#define REASON_MAP(X)                                                                              \
    X(NEVER_MODEL, "never_model", REASON_NEVER, CURE_GREW | CURE_ASK,                              \
      "no host with an allowed GPU model could hold it even when empty",                           \
      "即使集群为空,也没有允许型号的主机能容纳它")                                                 \
    X(NEVER_TOPOLOGY, "never_topology", REASON_NEVER, CURE_GREW | CURE_ASK,                        \
      "no {level} is large enough even when empty: {pods} pods asked, {best} fit",                 \
      "即使集群为空,也没有足够大的 {level}:需要 {pods} 个 pod,最多容纳 {best} 个")                 \
    X(NEVER_SIZE, "never_size", REASON_NEVER, CURE_GREW | CURE_ASK,                                \
      "the cluster is too small even when empty: {gpus} GPUs asked",                               \
      "即使集群为空也太小:需要 {gpus} 块 GPU")                                                     \
    X(SHORTAGE, "shortage", REASON_NOT_NOW, CURE_FREED | CURE_GREW,                                \
      "{gpus} GPUs asked, {free} of allowed models are free",                                      \
      "需要 {gpus} 块 GPU,允许型号中空闲 {free} 块")                                               \
    X(SCATTERED, "scattered", REASON_NOT_NOW, CURE_FREED | CURE_GREW,                              \
      "{free} GPUs are free, but not together: one {level} holds {best} of {pods} pods",           \
      "空闲 {free} 块 GPU,但不在一起:单个 {level} 只能容纳 {pods} 个 pod 中的 {best} 个")          \
    X(CPU, "cpu", REASON_NOT_NOW, CURE_FREED | CURE_GREW | CURE_ASK,                               \
      "GPUs are free, but the hosts lack CPU beside them", "有空闲 GPU,但所在主机缺少 CPU")        \
    X(MEM, "mem", REASON_NOT_NOW, CURE_FREED | CURE_GREW | CURE_ASK,                               \
      "GPUs are free, but the hosts lack memory beside them", "有空闲 GPU,但所在主机缺少内存")     \
    X(PODS, "pods", REASON_NOT_NOW, CURE_FREED | CURE_GREW,                                        \
      "GPUs are free, but their hosts run as many pods as they may",                               \
      "有空闲 GPU,但所在主机的 pod 数已达上限")                                                    \
    X(EXTRA, "extra", REASON_NOT_NOW, CURE_FREED | CURE_GREW,                                      \
      "GPUs are free, but the hosts lack another resource that it asks",                           \
      "有空闲 GPU,但所在主机缺少所需的其他资源")                                                   \
    X(HEALTH, "health", REASON_NOT_NOW, CURE_GREW,                                                 \
      "it would fit but for hosts or devices that failed, are drained, or are about to leave",     \
      "若非主机或设备故障、排空或即将离开,本可容纳")                                               \
    X(QUOTA, "quota", REASON_POLICY, CURE_QUOTA | CURE_ASK,                                        \
      "there is room, but its team would hold more GPUs than its limit",                           \
      "有空间,但其团队将超过 GPU 上限")                                                            \
    X(NEVER_QUOTA, "never_quota", REASON_NEVER, CURE_QUOTA | CURE_ASK,                             \
      "it asks for more GPUs than its team may ever hold", "所需 GPU 超过其团队的上限")            \
    X(RESERVED, "reserved", REASON_POLICY, CURE_FREED | CURE_GREW | CURE_ASK,                      \
      "there is room, but it is kept for a job that stands before it and would be delayed",        \
      "有空间,但已为排在前面的作业保留,启动会推迟它")                                              \
    X(PATIENCE, "patience", REASON_POLICY, CURE_FREED | CURE_GREW | CURE_ASK,                      \
      "there is room, but not in one {level}: it waits for a better place as long as it may",      \
      "有空间,但不在同一个 {level}:在允许的时间内等待更好的位置")                                  \
    X(MEMBER, "member", REASON_NOT_NOW, CURE_FREED | CURE_GREW,                                    \
      "it runs without some of its pods: where its others are there is no room for them",          \
      "作业缺少部分 pod 运行:其他 pod 所在之处没有空间")                                           \
    X(EXCLUSIVE, "exclusive", REASON_POLICY, CURE_FREED | CURE_GREW | CURE_ASK,                    \
      "there is room, but only in a {level} that another job has, or wants, for itself",           \
      "有空间,但所在的 {level} 被其他作业独占,或本作业需要独占")                                   \
    X(UNPROVEN, "unproven", REASON_NOT_PROVEN, CURE_FREED | CURE_GREW,                             \
      "no place was found within the search budget; none is ruled out",                            \
      "在搜索预算内未找到位置,但也不能排除")                                                       \
    X(UNKNOWN, "unknown", REASON_NOT_PROVEN, CURE_FREED | CURE_GREW,                               \
      "whether it fits depends on devices whose holders are not known",                            \
      "能否容纳取决于占用情况未知的设备")

#define REASON_ENUM(name, code, kind, cures, en, zh) WHY_##name,
enum reason_code { REASON_MAP(REASON_ENUM) REASON_COUNT };

#endif
