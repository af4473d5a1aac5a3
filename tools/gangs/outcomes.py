"""What became of each job of a run, read from its cluster, workload and decision log.

A domain is (level, name); the levels of a job's scale go from small to large. Whole GPUs only: pods
of GPU shares and levels below the host are not judged for topology (the program's own summary
judges them), and the figures here are compared with that summary by the caller.
"""

import gzip
import itertools
import json
import math

SMALL, LARGE = "16+", "64+"
CLASS_LEAST = {SMALL: 16, LARGE: 64}
SIZE_CLASSES = (("1", 1), ("2-7", 2), ("8", 8), ("9-15", 9), ("16-63", 16), (LARGE, 64))


def open_text(path):
    opens = gzip.open if str(path).endswith(".gz") else open
    return opens(path, "rt", encoding="utf-8")


def read_lines(path):
    with open_text(path) as f:
        for line in f:
            if line.strip():
                yield json.loads(line)


def podsets_of(job):
    return job.get("podsets") or [job]


def pods_of(job):
    return sum(p.get("pods", 1) for p in podsets_of(job))


def gpus_of(job):
    """GPUs asked; a share counts as asked, in GPUs."""
    total = 0.0
    for p in podsets_of(job):
        each = p.get("gpus", 0) * p.get("milli", 1000) / 1000
        total += p.get("pods", 1) * each
    return total


def class_of(gpus):
    asked = math.ceil(gpus)
    return [name for name, least in SIZE_CLASSES if asked >= least][-1] if asked else "0"


def as_list(levels):
    return [] if not levels else [levels] if isinstance(levels, str) else list(levels)


class Cluster:
    def __init__(self, path):
        self.chains, self.nodes = {}, {}
        for line in read_lines(path):
            if line["kind"] == "cluster":
                self.chains = line.get("chains", {})
            elif line["kind"] == "node":
                self.nodes[line["node"]] = (line.get("gpus", 0), line.get("domains", {}))
        self.members = {}
        for node in self.nodes:
            for level in self.levels():
                self.members.setdefault((level, self.domain(node, level)), []).append(node)

    def levels(self):
        return ["node", *itertools.chain(*self.chains.values()), "cluster"]

    def domain(self, node, level):
        """The name of the node's domain; None where it lacks one."""
        if level == "node":
            return node
        return "" if level == "cluster" else self.nodes[node][1].get(level)

    def domains(self, level):
        return [name for at, name in self.members if at == level and name is not None]

    def gpus(self):
        return sum(g for g, _ in self.nodes.values())

    def slots(self, nodes, gpus):
        """Pods of so many GPUs that empty nodes hold."""
        return sum(self.nodes[n][0] // gpus for n in nodes)

    def holds(self, level, name, job):
        """Whether an empty domain holds the full gang; sub-gangs stay in domains of their own."""
        nodes = self.members[level, name]
        sets = [p for p in podsets_of(job) if p.get("gpus", 0)]
        wished = {len(as_list(p.get("required"))) for p in sets if p is not job}
        if not wished - {0}:
            width = max((p["gpus"] for p in sets), default=1)
            # Pods of unlike sizes are judged by whole hosts' worth of the largest.
            asked = sum(p.get("pods", 1) * p["gpus"] for p in sets)
            return asked <= self.slots(nodes, width) * width
        inner = as_list(next(p["required"] for p in sets if p.get("required")))[0]
        rooms = {}
        for node in nodes:
            rooms.setdefault(self.domain(node, inner), []).append(node)
        room = [self.slots(part, sets[0]["gpus"]) for part in rooms.values()]
        asks = [p.get("pods", 1) for p in sets]
        return any(self._packs(room, asks, where) for where in rooms_of(len(room), len(asks)))

    @staticmethod
    def _packs(room, asks, where):
        left = list(room)
        for at, pods in zip(where, asks):
            left[at] -= pods
        return min(left) >= 0

    def aim(self, job):
        """The smallest level of the job's scale with a domain that holds the gang when empty."""
        wishes = as_list(job.get("preferred")) or as_list(job.get("required"))
        chain = next((c for c in self.chains.values() if wishes and wishes[0] in c), [])
        for level in ["node", *chain]:
            if any(self.holds(level, name, job) for name in self.domains(level)):
                return level
        return "cluster"


def rooms_of(count, sets):
    """All ways to give each of the sets one of the rooms; equal rooms make most of them alike."""
    return itertools.product(range(count), repeat=sets) if count**sets <= 5000 else ()


def wants_locality(job):
    wishes = [job, *podsets_of(job)]
    return any(p.get("required") or p.get("preferred") for p in wishes)


class Workload:
    def __init__(self, path):
        lines = list(read_lines(path))
        self.jobs = {line["job"]: line for line in lines if line["kind"] == "job"}
        self.rest = [line for line in lines if line["kind"] != "job"]

    def write_class(self, path, least_gpus):
        """The workload of the jobs of at least so many GPUs, all else equal."""
        keep = [j for j in self.jobs.values() if math.ceil(gpus_of(j)) >= least_gpus]
        head, rest = self.rest[0], self.rest[1:]
        head = {**head, "name": f"{head['name']}-alone-{least_gpus}"}
        gone = self.jobs.keys() - {j["job"] for j in keep}
        rest = [line for line in rest if line.get("job") not in gone]
        text = "".join(json.dumps(x, separators=(",", ":")) + "\n" for x in [head, *rest, *keep])
        path.write_text(text, encoding="utf-8")


class Aims:
    """The level aimed at per shape of gang; most jobs share a few shapes."""

    def __init__(self, cluster):
        self.cluster, self.known = cluster, {}

    def level(self, job):
        sets = [(p.get("pods", 1), p.get("gpus", 0), p.get("required")) for p in podsets_of(job)]
        key = json.dumps([job.get("preferred"), job.get("required"), sets])
        if key not in self.known:
            self.known[key] = self.cluster.aim(job)
        return self.known[key]


class Runs:
    """Follows the lines of a log that start, change and end runs."""

    def __init__(self, cluster, workload):
        self.cluster, self.jobs, self.aims = cluster, workload.jobs, Aims(cluster)
        self.live, self.first, self.done = {}, {}, {}

    def line(self, line):
        kind = line["kind"]
        if kind == "start":
            self.begin(line["t"], line["job"], line["pods"])
        elif kind == "move":
            self.end(line["t"], line["job"])
            self.begin(line["t"], line["job"], line["pods"])
        elif kind in ("preempt", "fail"):
            self.end(line["t"], line["job"])
        elif kind == "finish":
            self.end(line["t"], line["job"])
            self.done[line["job"]] = line["t"]
        elif kind in ("grow", "shrink"):
            self.change(line)
        elif kind == "event" and line.get("state") == "cancel" and line.get("job") in self.live:
            self.end(line["t"], line["job"])

    def begin(self, t, job, pods):
        self.first.setdefault(job, t)
        where = {p["pod"]: (p["node"], len(p.get("gpus", []))) for p in pods}
        nodes = {node for node, _ in where.values()}
        self.live[job] = {"since": t, "where": where, "nodes": nodes, "gpu_s": 0.0}

    def account(self, t, run):
        run["gpu_s"] += (t - run["since"]) * sum(g for _, g in run["where"].values())
        run["since"] = t

    def change(self, line):
        run = self.live[line["job"]]
        self.account(line["t"], run)
        for pod in line["pods"]:
            if line["kind"] == "grow":
                run["where"][pod["pod"]] = (pod["node"], len(pod.get("gpus", [])))
                run["nodes"].add(pod["node"])
            else:
                del run["where"][pod]

    def end(self, t, name):
        run, job = self.live.pop(name), self.jobs[name]
        self.account(t, run)
        if not wants_locality(job) or gpus_of(job) < 2:
            return
        level = self.aims.level(job)
        names = {self.cluster.domain(n, level) for n in run["nodes"]}
        is_hit = len(names) == 1 and None not in names
        job.setdefault("hits", []).append((is_hit, run["gpu_s"]))

    def rows(self):
        """One row per finished job with GPUs, in the order of submission."""
        found = []
        for name, job in self.jobs.items():
            if name not in self.done or not gpus_of(job):
                continue
            hits = job.get("hits", [])
            row = {"job": name, "gpus": gpus_of(job), "submit_s": job["submit_s"]}
            row["wait_s"] = self.first[name] - job["submit_s"]
            row["jct_s"] = self.done[name] - job["submit_s"]
            if hits:
                row["hit"] = all(h for h, _ in hits)
                row["gpu_h"] = sum(s for _, s in hits) / 3600
                row["hit_gpu_h"] = sum(s for h, s in hits if h) / 3600
            found.append(row)
        return found


SKIPPED = ('{"kind":"submit"', '{"kind":"refuse"', '{"kind":"promise"', '{"kind":"header"')


def decisions(path):
    """Lines that change what runs where, and the last one."""
    with open_text(path) as f:
        for line in f:
            if not line.startswith(SKIPPED):
                yield json.loads(line)


def read_rows(cluster, workload, log):
    runs = Runs(cluster, workload)
    for line in decisions(log):
        runs.line(line)
    return runs.rows()
