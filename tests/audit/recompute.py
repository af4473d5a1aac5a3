#!/usr/bin/env python3
"""recompute.py - the figures of an audit worked out again from the dump alone

    recompute.py DUMP REPORT.json

Reads the dump with Python's own JSON reader, works out capacity, fragmentation by standard shape
and the topology of running gangs in the plainest way there is, shares no line with the program,
and compares. Knows only the kinds of objects that make_dump.py writes. Exits with 1 and says what
differs.
"""
import json
import sys

LEVELS = ["cloud.provider.com/topology-rack", "cloud.provider.com/topology-block"]
GPU = "nvidia.com/gpu"


def mib(text):
    for end, factor in (("Gi", 1024), ("Mi", 1)):
        if text.endswith(end):
            return int(text[:-2]) * factor
    raise ValueError(text)


def milli(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


class Node:
    def __init__(self, o):
        status, labels = o["status"], o["metadata"]["labels"]
        self.name = o["metadata"]["name"]
        self.model = labels["nvidia.com/gpu.product"]
        self.all = int(status["capacity"][GPU])
        self.good = int(status["allocatable"][GPU])
        self.cpu = milli(status["allocatable"]["cpu"])
        self.mem = mib(status["allocatable"]["memory"])
        self.slots = int(status["allocatable"]["pods"])
        self.ready = [c for c in status["conditions"] if c["type"] == "Ready"][0]["status"] == "True"
        self.cordoned = o["spec"].get("unschedulable", False)
        self.tainted = any(t["key"] != GPU for t in o["spec"].get("taints", []))
        block, rack = labels[LEVELS[1]], labels[LEVELS[0]]
        self.domain = {"host": self.name, LEVELS[0]: (block, rack), LEVELS[1]: block,
                       "cluster": ""}
        self.held = self.used_cpu = self.used_mem = self.pods = self.ending = 0
        self.empty_cpu, self.empty_mem, self.empty_slots = self.cpu, self.mem, self.slots

    def free(self):
        return max(0, self.good - self.held) if self.ready and not self.cordoned else 0


def read(path):
    nodes, pods = {}, []
    with open(path, encoding="utf-8") as f:
        for o in json.load(f)["items"]:
            if o["kind"] == "Node":
                nodes[o["metadata"]["name"]] = Node(o)
            else:
                pods.append(o)
    for p in pods:
        at = nodes.get(p["spec"].get("nodeName"))
        if not at or p["status"]["phase"] in ("Succeeded", "Failed"):
            continue
        gpus, cpu, mem = ask(p)
        at.held += gpus
        at.pods += 1
        at.used_cpu += cpu
        at.used_mem += mem
        if p["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet":
            at.empty_cpu -= cpu
            at.empty_mem -= mem
            at.empty_slots -= 1
    return nodes, pods


def ask(p):
    r = p["spec"]["containers"][0]["resources"].get("requests", {})
    return int(r.get(GPU, 0)), milli(r.get("cpu", "0")), mib(r.get("memory", "0Mi"))


def capacity(nodes):
    out = dict.fromkeys(("nodes", "gpus", "held", "free", "unhealthy", "not_ready", "cordoned"), 0)
    for n in nodes:
        rest = max(0, n.good - n.held)
        out["nodes"] += 1
        out["gpus"] += n.all
        out["held"] += n.held
        out["unhealthy"] += n.all - n.held - rest
        out["free" if n.ready and not n.cordoned else
            "cordoned" if n.ready else "not_ready"] += rest
    return out


def by_domain(nodes, level, count):
    sums = {}
    for n in nodes:
        key = n.domain[level]
        sums[key] = sums.get(key, 0) + count(n)
    return sums


def shape(nodes, gpus):
    most = max(n.all for n in nodes)
    each = max(d for d in range(1, most + 1) if gpus % d == 0)
    pods = gpus // each
    level = "host"
    if pods > 1:
        level = next((x for x in LEVELS
                      if max(by_domain(nodes, x, lambda n: n.all // each).values()) >= pods),
                     "cluster")
    free = sum(n.free() for n in nodes)
    placed = sum(v // pods for v in by_domain(nodes, level, lambda n: n.free() // each).values())
    start = by_domain(nodes, level, lambda n: 0 if n.tainted else
                      min(n.free() // each, n.slots - n.pods))
    return {"gpus_per_pod": each, "level": level, "free": free, "placements": placed,
            "startable": sum(v // pods for v in start.values()),
            "stranded": 1 - gpus * placed / free if free else None}


def gangs(nodes, pods):
    jobs = {}
    for p in pods:
        if p["status"]["phase"] == "Running" and ask(p)[0]:
            owner = p["metadata"]["ownerReferences"][0]["name"]
            jobs.setdefault((p["metadata"]["namespace"], owner), []).append(p)
    for (space, owner), members in jobs.items():
        where = [nodes[p["spec"]["nodeName"]] for p in members]
        gpus, cpu, mem = ask(members[0])
        if gpus * len(members) < 2:
            continue
        spans = next(x for x in ["host"] + LEVELS + ["cluster"]
                     if len({n.domain[x] for n in where}) == 1)

        def holds(n, model=where[0].model):
            if n.model != model:
                return 0
            rooms = [n.all // gpus, n.empty_slots]
            rooms += [n.empty_cpu // cpu] if cpu else []
            rooms += [n.empty_mem // mem] if mem else []
            return min(rooms)
        possible = next((x for x in ["host"] + LEVELS + ["cluster"]
                         if max(by_domain(nodes.values(), x, holds).values()) >= len(members)),
                        "cluster")
        yield f"{space}/TrainingJob/{owner}", gpus * len(members), spans, possible


def main():
    nodes, pods = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        report = json.load(f)
    wrong = []

    def same(what, mine, theirs):
        close = (isinstance(mine, float) and isinstance(theirs, (int, float))
                 and abs(mine - theirs) < 2e-6)
        if mine != theirs and not close:
            wrong.append(f"{what}: {theirs} reported, {mine} recomputed")

    rows = list(nodes.values())
    for key, value in capacity(rows).items():
        same("all " + key, value, report["capacity"]["all"][key])
    for row in report["capacity"]["models"]:
        for key, value in capacity([n for n in rows if n.model == row["model"]]).items():
            same(f"{row['model']} {key}", value, row[key])
    standard = [s for s in report["fragmentation"] if not s["asked_by_pods"]]
    same("standard shapes", True, len(standard) >= 4)
    for s in report["fragmentation"]:
        if s["possible"]:
            same(f"causes of {s['gpus']}", s["free"] - s["gpus"] * s["startable"],
                 sum(s["causes"].values()))
    for s in standard:
        for key, value in shape(rows, s["gpus"]).items():
            same(f"shape {s['gpus']} {key}", value, s[key])
    missed = {}
    sizes = {"2-7": [0, 0], "8": [0, 0], "9-15": [0, 0], "16-63": [0, 0], "64+": [0, 0]}
    rank = {x: i for i, x in enumerate(["host"] + LEVELS + ["cluster"])}
    for name, gpus, spans, possible in gangs(nodes, pods):
        size = ("2-7" if gpus < 8 else "8" if gpus == 8 else "9-15" if gpus < 16 else
                "16-63" if gpus < 64 else "64+")
        sizes[size][0] += 1
        if rank[spans] <= rank[possible]:
            sizes[size][1] += 1
        else:
            missed[name] = (spans, possible)
    for row in report["topology"]["sizes"]:
        same(f"gangs of {row['gpus']}", sizes[row["gpus"]], [row["jobs"], row["hits"]])
    same("misses", missed, {m["job"]: (m["spans"], m["possible"])
                            for m in report["topology"]["misses"]})
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
