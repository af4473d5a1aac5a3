"""Why large gangs waited and why gangs missed the domain that could have held them.

The log is replayed with the free GPUs of every node. While a large gang waits, each second is
  shortage   fewer GPUs are free than it asks
  scattered  enough are free, but not as so many pods
  held       its pods would fit now: order, reservation or patience holds it back
A miss is a run outside of the level that its gang aims at. It was `chosen` if a domain of that
level had room at its start; else we look how long it took until one had, counting what the gang
itself holds as free: what patience would have cost it at most, beside what its slow factor costs.
Gangs of unlike pods are judged by their largest pod.
"""

import math

from gangs import outcomes

WORST_SHARE = 0.05  # of the class, by wait


def shape_of(job):
    """(pods, GPUs of a pod) of a gang, by its largest pod."""
    sets = [p for p in outcomes.podsets_of(job) if p.get("gpus", 0)]
    width = max(p["gpus"] for p in sets)
    return math.ceil(sum(p.get("pods", 1) * p["gpus"] for p in sets) / width), width


class Room:
    """Free GPUs per node, and pods that fit per domain and width."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.free = {n: g for n, (g, _) in cluster.nodes.items()}
        self.total = sum(self.free.values())
        self.slots, self.users = {}, {n: {} for n in cluster.nodes}

    def of(self, level, width):
        """Pods of a width that fit, per domain of a level."""
        key = (level, width)
        if key not in self.slots:
            found = self.slots[key] = {}
            for node, free in self.free.items():
                name = self.cluster.domain(node, level)
                if name is not None:
                    found[name] = found.get(name, 0) + free // width
        return self.slots[key]

    def change(self, job, node, gpus):
        before = self.free[node]
        self.free[node] = after = before - gpus
        self.total -= gpus
        held = self.users[node].get(job, 0) + gpus
        self.users[node][job] = held
        if not held:
            del self.users[node][job]
        for (level, width), found in self.slots.items():
            moved = after // width - before // width
            if moved:
                name = self.cluster.domain(node, level)
                if name is not None:
                    found[name] += moved


class Trace:
    def __init__(self, cluster, workload, least_gpus):
        self.cluster, self.jobs, self.least = cluster, workload.jobs, least_gpus
        self.aims, self.room = outcomes.Aims(cluster), Room(cluster)
        self.waits, self.waiting, self.watched = {}, {}, {}
        self.holds, self.misses, self.t = {}, [], 0.0
        self.todo = sorted(
            (j["submit_s"], name)
            for name, j in workload.jobs.items()
            if math.ceil(outcomes.gpus_of(j)) >= least_gpus
        )
        self.next = 0

    # Between two lines nothing changes, so that each waiting gang has one cause.

    def state(self, pods, width):
        if self.room.total < pods * width:
            return "shortage"
        fits = self.room.of("cluster", width)[""] >= pods
        return "held" if fits else "scattered"

    def spend(self, until):
        while True:
            arrival = self.todo[self.next][0] if self.next < len(self.todo) else math.inf
            stop = min(until, arrival)
            if stop > self.t:
                states = {}
                for name, shape in self.waiting.items():
                    if shape not in states:
                        states[shape] = self.state(*shape)
                    spent = self.waits[name]
                    spent[states[shape]] = spent.get(states[shape], 0.0) + stop - self.t
                self.t = stop
            if arrival > until:
                return
            name = self.todo[self.next][1]
            self.waiting[name], self.waits[name] = shape_of(self.jobs[name]), {}
            self.next += 1

    def line(self, line):
        self.spend(line["t"])
        kind, name = line["kind"], line.get("job")
        if kind in ("start", "move"):
            self.release(name)
            self.start(line)
        elif kind in ("finish", "fail", "preempt"):
            self.release(name)
        elif kind in ("grow", "shrink"):
            self.resize(line)
        if kind != "start":
            self.look()

    def start(self, line):
        name = line["job"]
        job = self.jobs[name]
        self.waiting.pop(name, None)
        pods = {p["pod"]: (p["node"], len(p.get("gpus", []))) for p in line["pods"]}
        missed = None
        if outcomes.wants_locality(job) and outcomes.gpus_of(job) >= 2:
            level = self.aims.level(job)
            names = {self.cluster.domain(n, level) for n, _ in pods.values()}
            if len(names) > 1:
                missed = self.miss(name, level)
        self.holds[name] = pods
        for node, gpus in pods.values():
            self.room.change(name, node, gpus)
        if missed and not missed["chosen"]:
            self.watched[name] = missed

    def miss(self, name, level):
        count, width = shape_of(self.jobs[name])
        rooms = self.room.of(level, width)
        best = min(rooms, key=lambda d: (-rooms[d], d))
        found = {"job": name, "t": self.t, "level": level, "gpus": count * width}
        found["chosen"], found["best_share"] = rooms[best] >= count, rooms[best] / count
        found["free_share"] = self.room.of("cluster", width)[""] / count
        found["in_way"] = {}
        for node in self.cluster.members[level, best]:
            for other, gpus in self.room.users[node].items():
                size = outcomes.class_of(outcomes.gpus_of(self.jobs[other]))
                found["in_way"][size] = found["in_way"].get(size, 0) + gpus
        slow = self.jobs[name].get("slow", {})
        cost = max(slow.values(), default=1) - 1
        found["slow_cost_s"] = cost * self.jobs[name]["run_s"]
        self.misses.append(found)
        return found

    def release(self, name):
        for node, gpus in self.holds.pop(name, {}).values():
            self.room.change(name, node, -gpus)
        self.watched.pop(name, None)

    def resize(self, line):
        name = line["job"]
        for pod in line["pods"]:
            if line["kind"] == "grow":
                self.holds[name][pod["pod"]] = (pod["node"], len(pod.get("gpus", [])))
                self.room.change(name, pod["node"], len(pod.get("gpus", [])))
            else:
                node, gpus = self.holds[name].pop(pod)
                self.room.change(name, node, -gpus)

    def look(self):
        """Has a domain room by now for a gang that missed?"""
        for name, missed in list(self.watched.items()):
            pods, width = shape_of(self.jobs[name])
            own = {}
            for node, gpus in self.holds[name].values():
                at = self.cluster.domain(node, missed["level"])
                own[at] = own.get(at, 0) + gpus // width
            rooms = self.room.of(missed["level"], width)
            if any(free + own.get(at, 0) >= pods for at, free in rooms.items()):
                missed["later_s"] = self.t - missed["t"]
                del self.watched[name]

    def summary(self):
        spent = sorted(self.waits.values(), key=lambda w: -sum(w.values()))
        worst = spent[: max(1, math.ceil(len(spent) * WORST_SHARE))] if spent else []
        return {
            "least_gpus": self.least,
            "jobs": len(spent),
            "all": totals(spent),
            "worst": totals(worst),
            "misses": self.misses,
        }


def totals(waits):
    found = {"shortage": 0.0, "scattered": 0.0, "held": 0.0}
    for wait in waits:
        for cause, seconds in wait.items():
            found[cause] += seconds / 3600
    return found


def read_causes(cluster, workload, log):
    """Per class of interest, where its waits went and what its misses were."""
    found = {}
    for name, least in outcomes.CLASS_LEAST.items():
        trace = Trace(cluster, workload, least)
        for line in outcomes.decisions(log):
            trace.line(line)
        found[name] = trace.summary()
    return found


def percentile(values, share):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def describe(found):
    """Lines of text on the causes of one or more runs of a class, taken together."""
    lines = []
    for part, word in (("all", "all gangs"), ("worst", "the longest 5 %")):
        hours = {k: sum(f[part][k] for f in found) for k in ("shortage", "scattered", "held")}
        total = sum(hours.values())
        shares = ", ".join(f"{k} {100 * v / total if total else 0:.0f} %" for k, v in hours.items())
        lines.append(f"waits of {word}: {total:.0f} h; {shares}")
    misses = [m for f in found for m in f["misses"]]
    chosen = [m for m in misses if m["chosen"]]
    lines.append(f"misses {len(misses)}, of them {len(chosen)} with a domain that had room")
    rest = [m for m in misses if not m["chosen"]]
    if not rest:
        return lines
    later = [m["later_s"] for m in rest if "later_s" in m]
    cheap = [m for m in rest if m.get("later_s", math.inf) < m["slow_cost_s"]]
    after = ", ".join(f"p{100 * s:.0f} {percentile(later, s) or 0:.0f} s" for s in (0.5, 0.9))
    lines.append(
        f"  room came within the run for {len(later)}: after {after}; "
        f"for {len(cheap)} sooner than the slow factor costs"
    )
    aims = {}
    for m in rest:
        aims.setdefault((m["level"], m["gpus"]), []).append(m)
    for (level, gpus), some in sorted(aims.items(), key=lambda i: -len(i[1]))[:6]:
        share = sum(m["best_share"] for m in some) / len(some)
        free = percentile([m["free_share"] for m in some], 0.5)
        way = {}
        for m in some:
            for size, held in m["in_way"].items():
                way[size] = way.get(size, 0) + held
        order = [name for name, _ in outcomes.SIZE_CLASSES]
        total = sum(way.values())
        text = ", ".join(f"{s}: {100 * way[s] / total:.0f} %" for s in order if s in way)
        lines.append(
            f"  {gpus} GPUs in one {level}: {len(some)} misses; the best one had room for "
            f"{100 * share:.0f} % of it, the cluster for x{free:.1f}; in its way by size: {text}"
        )
    return lines
