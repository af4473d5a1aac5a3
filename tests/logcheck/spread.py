"""Topology metrics: hits, node and group deviation of finished and other runs."""

from fractions import Fraction

from .model import BELOW
from .room import EMPTY, Room
from .rules import contained
from .search import fits


def scale_of(cluster, job):
    """Levels from small to large among which the hit is judged."""
    wishes = job.preferred or job.required
    scale = [level for level in wishes if level in BELOW][:1] + ["node"]
    chain = cluster.chain_of.get(wishes[0]) if wishes else None
    if chain is not None:
        scale += cluster.chains[chain]
    return scale + ["cluster"]


class Spread:
    def __init__(self, figures):
        self.figures = figures
        self.cluster = figures.cluster
        self.state = figures.replay.state
        self.levels = {}
        self.fewest = {}

    def key(self, job):
        """Jobs that differ in nothing that bears on the empty cluster."""
        sets = tuple((p.pods, p.gpus, p.cpu, p.mem, p.models, p.ask, p.milli, p.mem_share, p.mig,
                      p.required, p.slice_pods, p.slice_level) for p in job.podsets)
        return (sets, job.required, job.preferred, job.share_card)

    def hit_level(self, job):
        key = self.key(job)
        if key not in self.levels:
            self.levels[key] = next(
                (level for level in scale_of(self.cluster, job)
                 if fits(self.state, job, 0, EMPTY, True, (level,))), None)
        return self.levels[key]

    def hits(self, lives, end):
        jobs, hit = 0, 0
        time, hit_time = Fraction(0), Fraction(0)
        for life in lives:
            if life.job.asked < 2 or not life.job.wants_locality:
                continue
            level = self.hit_level(life.job)
            jobs += 1
            good = True
            for run in life.runs:
                sat = level is not None and all(contained(self.cluster, gang, level)
                                                for gang in run.gangs if gang)
                spent = run.gpu_time(run.start, end if run.stop is None else run.stop)
                time += spent
                hit_time += spent if sat else 0
                good = good and sat
            hit += good
        return {"hit_jobs": jobs, "hit_pct": 100 * hit / jobs if jobs else None,
                "hit_gpuh_pct": float(100 * hit_time / time) if time else None}

    # ---- fewest nodes and groups -----------------------------------------------------------

    def deviations(self, lives, end):
        chain = next(iter(self.cluster.chains.values()), [])
        figures = {}
        for name, level in (("nnd", "node"), ("ngd", chain[0] if chain else None)):
            ratios, weights = [], []
            for life in lives if level is not None else ():
                job = life.job
                if len(job.podsets) != 1 or job.asked < 2:
                    continue
                for run in life.runs:
                    gang = run.gangs[0]
                    domains = {self.cluster.domain(pod.node, level) for pod in gang}
                    if len(gang) < job.pods or None in domains:
                        continue
                    least = self.fewest_of(job, level)
                    if least:
                        ratios.append(Fraction(len(domains), least))
                        stop = end if run.stop is None else run.stop
                        weights.append(run.gpu_time(run.start, stop))
            figures[name + "_mean"] = float(sum(ratios) / len(ratios)) if ratios else None
            total = sum(weights)
            figures[name + "_gpuh"] = (
                float(sum(r * w for r, w in zip(ratios, weights)) / total) if total else None)
        return figures

    def fewest_of(self, job, level):
        key = (self.key(job), level)
        if key not in self.fewest:
            room = Room(self.state, job, 0, EMPTY)
            podset = job.podsets[0]
            counts = [self.fewest_in(room, podset, region, level)
                      for region in room.regions(tuple(job.required) + podset.required)]
            self.fewest[key] = min((c for c in counts if c is not None), default=None)
        return self.fewest[key]

    def fewest_in(self, room, podset, region, level):
        """Fewest domains of the level inside one region that hold all pods, in whole slices."""
        hosts, mask = region
        size = podset.slice_pods or 1
        below = podset.slice_pods and podset.slice_level in BELOW
        groups = {}
        for host in hosts:
            if below:
                most = room.slices_on(host, podset, mask) * size
            else:
                most = room.on_host(host, podset, mask)
            unit = self.cluster.domain(host.node, level)
            part = host.node.name
            if podset.slice_pods and not below:
                part = self.cluster.domain(host.node, podset.slice_level)
            if most and unit is not None and part is not None:
                units = groups.setdefault(part, {})
                units[unit] = units.get(unit, 0) + min(most, podset.pods)
        if size == 1 or all(len(units) == 1 for units in groups.values()):
            return fewest_whole(groups.values(), podset.pods, size)
        owners = [unit for units in groups.values() for unit in units]
        if len(set(owners)) < len(owners):
            return None
        return fewest_shared(groups.values(), podset.pods, size)


def fewest_whole(groups, pods, size):
    """Slices lie inside units (or there are none): the largest units first."""
    caps = {}
    for units in groups:
        for unit, most in units.items():
            caps[unit] = caps.get(unit, 0) + most // size * size
    held = 0
    for used, cap in enumerate(sorted(caps.values(), reverse=True), 1):
        held += cap
        if held >= pods:
            return used
    return None


def fewest_shared(groups, pods, size):
    """Units lie inside slice domains: each gives multiples of size from its largest units."""
    best = {0: 0}
    for units in groups:
        costs, held = {0: 0}, 0
        for used, cap in enumerate(sorted(units.values(), reverse=True), 1):
            for slices in range(held // size + 1, (held + cap) // size + 1):
                costs[slices] = used
            held += cap
        after = dict(best)
        for have, spent in best.items():
            for slices, cost in costs.items():
                total = min(pods, have + slices * size)
                after[total] = min(after.get(total, spent + cost), spent + cost)
        best = after
    return best.get(pods)
