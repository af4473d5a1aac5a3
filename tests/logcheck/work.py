"""Workloads: teams, jobs with their podsets, events."""

from fractions import Fraction

from .model import BELOW, ENDS, PROFILES, exact, fail, is_int, is_number, to_us

PODSET_DEFAULTS = {"pods": 1, "gpus": 0, "cpu_milli": 0, "mem_mib": 0, "models": [], "name": "",
                   "slice_pods": 0, "milli": 1000}
JOB_DEFAULTS = {"priority": 0, "preemptible": True, "end": "ok", "profile": "none",
                "restart_s": 0, "signal_save": False, "share_card": True, "slow": {}}


class Podset:
    """Equal pods. ask: whole, milli, mem or mig; value: GPUs of one pod in metrics and quotas."""

    def __init__(self):
        self.name = ""
        self.first = 0
        self.pods = 1
        self.min_pods = 1
        self.gpus = 0
        self.cpu = 0
        self.mem = 0
        self.models = None
        self.ask = "none"
        self.milli = 1000
        self.mem_share = None
        self.mig = None
        self.required = ()
        self.slice_pods = 0
        self.slice_level = None
        self.value = 0

    def shares(self):
        return self.ask in ("milli", "mem", "mig")

    def need(self):
        """Fewest pods that may run: the minimum in whole slices (may exceed pods: then none)."""
        if not self.slice_pods:
            return self.min_pods
        return -(-self.min_pods // self.slice_pods) * self.slice_pods


class Job:
    def __init__(self, name):
        self.name = name
        self.index = 0
        self.raw = {}
        self.podsets = []
        self.pods = 0
        self.required = ()
        self.preferred = ()
        self.wants_locality = False
        self.asked = 0
        self.least = 0
        self.elastic = False

    def podset_of(self, pod):
        for podset in self.podsets:
            if podset.first <= pod < podset.first + podset.pods:
                return podset
        return None


class Team:
    def __init__(self, name):
        self.name = name
        self.parent = None
        self.weight = 1
        self.limit = None
        self.pieces = []
        self.shaped = False

    def give(self, where, raw, cluster):
        """A new guarantee; shaped if it speaks of a level or a model."""
        self.pieces = read_pieces(where, raw, cluster)
        self.shaped = any("level" in piece or "model" in piece for piece in raw or [])

    def guarantee(self):
        return sum((piece[2] * piece[3] for piece in self.pieces), Fraction(0))



class Workload:
    def __init__(self):
        self.name = ""
        self.seed = None
        self.teams = {}
        self.jobs = []
        self.by_name = {}
        self.events = []

    def line_of(self, team):
        """The team and all above it."""
        while team is not None:
            yield team
            team = self.teams[team].parent


def levels_of(where, raw, cluster, key):
    value = raw.get(key)
    if value is None:
        return ()
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list):
        fail(where, f"{key} is neither a level nor a list of levels")
    for level in value:
        if not isinstance(level, str) or not cluster.known_level(level):
            fail(where, f"{key} names the unknown level {level!r}")
    return tuple(value)


def read_pieces(where, raw, cluster):
    pieces = []
    for piece in raw or []:
        level = piece.get("level", "cluster")
        if not cluster.known_level(level):
            fail(where, f"guarantee names the unknown level {level!r}")
        gpus, count = piece.get("gpus"), piece.get("count", 1)
        if not is_number(gpus) or gpus < 0 or not is_int(count) or count < 0:
            fail(where, "guarantee needs counts of gpus and pieces")
        pieces.append((level, piece.get("model"), exact(gpus), count))
    return pieces


def count_of(where, raw, key, default):
    value = raw.get(key, default)
    if not is_int(value) or value < 0:
        fail(where, f"{key} is {value!r}, not a count")
    return value


def read_ask(where, raw, podset):
    asks = [key for key in ("mem_share_mib", "mig") if raw.get(key) is not None]
    if raw.get("milli", 1000) != 1000:
        asks.append("milli")
    if len(asks) > 1 or (asks and podset.gpus != 1):
        fail(where, "a share needs gpus 1 and only one of milli, mem_share_mib and mig")
    podset.ask = "whole" if podset.gpus else "none"
    if not asks:
        return
    value = raw[asks[0]]
    if asks[0] == "mig":
        podset.ask, podset.mig = "mig", value
    elif not is_number(value) or value <= 0:
        fail(where, f"{asks[0]} is {value!r}, not a share")
    elif asks[0] == "milli":
        if value > 1000:
            fail(where, f"milli is {value}, beyond one device")
        podset.ask, podset.milli = "milli", exact(value)
    else:
        podset.ask, podset.mem_share = "mem", exact(value)


def read_podset(where, raw, first, cluster):
    podset = Podset()
    podset.name = raw.get("name", "")
    podset.first = first
    podset.pods = count_of(where, raw, "pods", 1)
    podset.min_pods = count_of(where, raw, "min_pods", podset.pods)
    podset.gpus = count_of(where, raw, "gpus", 0)
    podset.cpu = count_of(where, raw, "cpu_milli", 0)
    podset.mem = count_of(where, raw, "mem_mib", 0)
    if podset.min_pods > podset.pods:
        fail(where, "min_pods is larger than pods")
    models = raw.get("models")
    podset.models = frozenset(models) if models else None
    podset.required = levels_of(where, raw, cluster, "required")
    podset.slice_pods = count_of(where, raw, "slice_pods", 0)
    if podset.slice_pods:
        podset.slice_level = raw.get("slice_level", "cluster")
        if not cluster.known_level(podset.slice_level):
            fail(where, f"slice_level is the unknown level {podset.slice_level!r}")
    read_ask(where, raw, podset)
    if podset.slice_pods and podset.slice_level in BELOW and podset.gpus < 1:
        fail(where, "slices below the host need gpus")
    return podset


def holds_empty(cluster, node, podset):
    """Whether the empty, healthy node can hold one such pod, hard rules aside."""
    if podset.models is not None and node.model not in podset.models:
        return False
    if node.cpu is not None and podset.cpu > node.cpu:
        return False
    if node.mem is not None and podset.mem > node.mem:
        return False
    if (node.pods is not None and node.pods < 1) or podset.gpus > node.gpus:
        return False
    if podset.ask == "mem":
        return node.gpu_mem is not None and podset.mem_share <= node.gpu_mem
    if podset.ask == "mig":
        profile = cluster.profile(node.model, podset.mig)
        return profile is not None and bool(profile[2])
    return True


def value_of(cluster, podset):
    """GPUs of one pod in metrics and quotas, by the first node that can hold it empty."""
    if podset.ask in ("none", "whole"):
        return podset.gpus
    if podset.ask == "milli":
        return podset.milli / 1000
    for node in cluster.nodes:
        if holds_empty(cluster, node, podset):
            if podset.ask == "mem":
                return podset.mem_share / exact(node.gpu_mem)
            slots, length, _ = cluster.profile(node.model, podset.mig)
            return Fraction(length, slots)
    return 0


def time_of(where, raw, key, default=None):
    value = raw.get(key, default)
    if value is None:
        return None
    if not is_number(value) or value < 0:
        fail(where, f"{key} is {value!r}, not a time")
    return to_us(value)


def read_slow(where, raw, cluster):
    slow = {}
    for level, factor in (raw.get("slow") or {}).items():
        if not cluster.known_level(level) or not is_number(factor) or factor < 1:
            fail(where, f"slow {level!r}: {factor!r} is no known level or below 1")
        slow[level] = exact(factor)
    return slow


def read_job(where, raw, cluster, work):
    name = raw.get("job")
    if not isinstance(name, str) or name in work.by_name:
        fail(where, f"job {name!r} is no name or is given twice")
    job = Job(name)
    job.index, job.raw = len(work.jobs), raw
    job.submit = time_of(where, raw, "submit_s")
    job.run = time_of(where, raw, "run_s")
    if job.submit is None or job.run is None:
        fail(where, "a job needs submit_s and run_s")
    job.est = time_of(where, raw, "est_s")
    job.ckpt = time_of(where, raw, "ckpt_s")
    job.restart = time_of(where, raw, "restart_s", 0)
    job.team = raw.get("team")
    job.priority = raw.get("priority", 0)
    job.preemptible = raw.get("preemptible", True)
    job.signal_save = raw.get("signal_save", False)
    job.share_card = raw.get("share_card", True)
    job.end = raw.get("end", "ok")
    job.profile = raw.get("profile", "none")
    if job.end not in ENDS or job.profile not in PROFILES:
        fail(where, f"end {job.end!r} or profile {job.profile!r} is unknown")
    job.slow = read_slow(where, raw, cluster)
    rows = raw.get("podsets")
    short = rows is None
    for row in [raw] if short else rows:
        podset = read_podset(where, row, job.pods, cluster)
        podset.value = value_of(cluster, podset)
        if short:
            podset.required = ()
        job.podsets.append(podset)
        job.pods += podset.pods
    job.required = levels_of(where, raw, cluster, "required")
    job.preferred = levels_of(where, raw, cluster, "preferred")
    wishes = [job.required, job.preferred] + [p.required for p in job.podsets]
    job.wants_locality = any(wishes)
    job.elastic = any(p.min_pods < p.pods for p in job.podsets)
    job.asked = sum((p.value * p.pods for p in job.podsets))
    job.least = sum((p.value * p.need() for p in job.podsets))
    job.has_gpus = any(p.gpus and p.pods for p in job.podsets)
    work.jobs.append(job)
    work.by_name[name] = job


def read_event(where, raw, cluster, work):
    time_us = time_of(where, raw, "t_s")
    if time_us is None:
        fail(where, "an event needs t_s")
    if "node" in raw:
        node = cluster.by_name.get(raw["node"])
        gpu = raw.get("gpu")
        if node is None or (gpu is not None and not (is_int(gpu) and 0 <= gpu < node.gpus)):
            fail(where, f"the event speaks of an unknown node or device: {raw['node']!r}")
        if raw.get("state") not in ("down", "up", "drain", "leave"):
            fail(where, f"state {raw.get('state')!r} is unknown")
        if raw["state"] == "leave" and time_of(where, raw, "leave_at") is None:
            fail(where, "leave needs leave_at")
    elif "team" in raw:
        read_pieces(where, raw.get("guarantee"), cluster)
    elif "job" not in raw or raw.get("state") != "cancel":
        fail(where, "the event is about no node, team or cancelled job")
    work.events.append((time_us, raw))


def read_workload(lines, cluster):
    """A Workload from an iterable of (where, object)."""
    work = Workload()
    where = None
    last = {"job": 0, "event": 0}
    for number, (where, line) in enumerate(lines):
        kind = line.get("kind") if isinstance(line, dict) else None
        if (number == 0) != (kind == "workload"):
            fail(where, f"found {kind!r}, expected the header first and once")
        if kind == "workload":
            if line.get("format") != "dovetail-workload/2":
                fail(where, f"format is {line.get('format')!r}, expected dovetail-workload/2")
            work.name, work.seed = line.get("name", ""), line.get("seed")
        elif kind == "team":
            if not isinstance(line.get("team"), str) or line["team"] in work.teams:
                fail(where, f"team {line.get('team')!r} is no name or is given twice")
            team = Team(line["team"])
            team.parent = line.get("parent")
            team.weight = line.get("weight", 1)
            limit = line.get("limit_gpus")
            team.limit = None if limit is None else exact(limit)
            team.give(where, line.get("guarantee"), cluster)
            work.teams[team.name] = team
        elif kind in ("job", "event"):
            (read_job if kind == "job" else read_event)(where, line, cluster, work)
            now = work.jobs[-1].submit if kind == "job" else work.events[-1][0]
            if now < last[kind]:
                fail(where, f"time runs backwards among the {kind}s")
            last[kind] = now
        else:
            fail(where, f"unknown kind {kind!r}")
    if where is None:
        fail("workload", "the file is empty, expected a header")
    check_names(where, work)
    return work


def check_names(where, work):
    for team in work.teams.values():
        seen, at = set(), team.name
        while at is not None:
            if at not in work.teams:
                fail(where, f"team {team.name!r} has the unknown parent {at!r}")
            if at in seen:
                fail(where, f"team {team.name!r} is above itself")
            seen.add(at)
            at = work.teams[at].parent
    for job in work.jobs:
        if job.team is not None and job.team not in work.teams:
            fail(where, f"job {job.name!r} is of the unknown team {job.team!r}")
    for _, event in work.events:
        if "team" in event and event["team"] not in work.teams:
            fail(where, f"the event speaks of the unknown team {event['team']!r}")
        if "job" in event and event["job"] not in work.by_name:
            fail(where, f"the event cancels the unknown job {event['job']!r}")
