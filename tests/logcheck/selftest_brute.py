"""Self-test: fits under every dropped constraint against trying all placements, on random worlds.

The enumeration knows only the rules of a placement (state, rules); it drops a constraint by
taking it out of the files. Counting and search (room, search) never see the changed files.
"""

import random
from itertools import combinations

from .model import read_cluster
from .room import CONSTRAINTS
from .rules import Placed, closed_errors, gang_errors
from .search import fits
from .selftest_base import World
from .state import State
from .work import read_workload

WORLDS = 250


def random_ask(rng):
    ask = {"pods": rng.randint(1, 3), "gpus": rng.choice([0, 1, 1, 1, 2])}
    if ask["gpus"] == 1:
        kind = rng.random()
        if kind < 0.3:
            ask["milli"] = rng.choice([250, 500, 700])
        elif kind < 0.4:
            ask["mem_share_mib"] = rng.choice([8000, 16000])
        elif kind < 0.5:
            ask["mig"] = rng.choice(["p1", "p2"])
    if rng.random() < 0.4:
        ask["cpu_milli"] = rng.choice([1000, 3000])
    if rng.random() < 0.3:
        ask["mem_mib"] = 4000
    if rng.random() < 0.3:
        ask["models"] = [rng.choice("AB")]
    if rng.random() < 0.3:
        ask["required"] = rng.choice(["island", "node", "leaf", ["leaf", "numa"]])
    if rng.random() < 0.25:
        below = ["island"] if ask["gpus"] else []
        ask.update(slice_pods=rng.randint(1, 2),
                   slice_level=rng.choice(["node", "leaf"] + below))
    if rng.random() < 0.3:
        ask["min_pods"] = rng.randint(0, ask["pods"])
    return ask


def random_world(rng):
    """Raw lines: cluster, job, what runs already, health events."""
    cluster = [
        {"kind": "cluster", "format": "dovetail-cluster/2", "name": "c",
         "chains": {"network": ["leaf"]}},
        {"kind": "mig", "model": "B", "slots": 4,
         "profiles": {"p1": {"slots": 1, "at": [0, 1, 2]}, "p2": {"slots": 2, "at": [0, 2]}}}]
    for gpus in (1, 2, 3):
        cluster.append({"kind": "shape", "shape": str(gpus), "gpus": gpus,
                        "islands": [list(range(gpus))[:2], list(range(gpus))[2:]],
                        "numa": [list(range(gpus))[1:]]})
    for number in range(2):
        node = {"kind": "node", "node": f"n{number}", "gpus": rng.randint(1, 3),
                "model": rng.choice("AB"), "cpu_milli": rng.choice([4000, 8000]),
                "mem_mib": rng.choice([6000, 12000]), "gpu_mem_mib": 24000}
        if rng.random() < 0.4:
            node["pods"] = rng.randint(1, 3)
        if rng.random() < 0.8:
            node["shape"] = str(node["gpus"])
        if rng.random() < 0.8:
            node["domains"] = {"leaf": rng.choice("xy")}
        cluster.append(node)
    job = {"kind": "job", "job": "j", "submit_s": 0, "run_s": 1, "share_card": rng.random() < 0.7}
    if rng.random() < 0.4:
        job["podsets"] = [random_ask(rng), {**random_ask(rng), "pods": 1, "min_pods": 1,
                                            "slice_pods": 0}]
        if rng.random() < 0.4:
            job["required"] = rng.choice(["node", "leaf"])
    else:
        job.update(random_ask(rng))
    if rng.random() < 0.5:
        job["est_s"] = 10
    health = [{"node": f"n{n}", "state": rng.choice(["down", "drain", "leave"]), "leave_at": 9}
              for n in range(2) if rng.random() < 0.15]
    return cluster, job, health


def load(cluster, job):
    table = read_cluster((f"c:{n}", x) for n, x in enumerate(cluster))
    head = {"kind": "workload", "format": "dovetail-workload/2", "name": "w"}
    other = {"kind": "job", "job": "b", "submit_s": 0, "run_s": 1}
    rows = [head, job] + [{**other, "job": f"b{n}", **ask} for n, ask in enumerate(
        ({"gpus": 1}, {"gpus": 1, "milli": 500}, {"cpu_milli": 3000, "mem_mib": 4000}))]
    return table, read_workload(((f"w:{n}", x) for n, x in enumerate(rows)), table)


def without(word, cluster, job, health):
    """The same files, one constraint taken out."""
    cluster = [dict(line) for line in cluster]
    job = {**job, "podsets": [dict(p) for p in job["podsets"]]} if "podsets" in job else dict(job)
    key = {"cpu": "cpu_milli", "mem": "mem_mib", "pods": "pods"}.get(word)
    if key:
        for line in cluster:
            if line["kind"] == "node":
                line.pop(key, None)
    for ask in [job, *job.get("podsets", [])]:
        if word == "model":
            ask.pop("models", None)
        if word == "topology":
            for name in ("required", "slice_pods", "slice_level"):
                ask.pop(name, None)
    if word == "topology":
        job["share_card"] = True
    return cluster, job, [] if word == "health" else health


def build(cluster, job, health, running):
    table, work = load(cluster, job)
    state = State(table)
    for event in health:
        state.health(event)
    for number, (name, node, gpus) in enumerate(running):
        one = work.by_name[name]
        pod = Placed(number, one.podsets[0], table.by_name[node], gpus, None)
        state.take(one, pod, [])
    return state, work.by_name["j"]


def run_already(rng, cluster, job):
    """Pods of other jobs at random places where they are allowed."""
    state, _ = build(cluster, job, [], [])
    _, work = load(cluster, job)
    running = []
    for number in range(rng.randint(0, 4)):
        one = work.by_name[f"b{rng.randint(0, 2)}"]
        node = rng.choice(state.cluster.nodes)
        gpus = tuple(rng.sample(range(node.gpus), one.podsets[0].gpus))
        pod = Placed(number, one.podsets[0], node, gpus, None)
        errors = []
        state.take(one, pod, errors)
        if errors:
            state.give(one, pod)
        else:
            running.append((one.name, node.name, gpus))
    # numbers are given again in order by build(), so only the list matters
    return running


def ways(state, podset, host):
    for gpus in combinations(range(host.node.gpus), podset.gpus):
        if podset.ask != "mig":
            yield gpus, None
            continue
        profile = state.cluster.profile(host.node.model, podset.mig)
        for slot in profile[2] if profile else ():
            yield gpus, slot


def exists(state, job):
    """Tries every placement of every allowed number of pods of each podset up to the least."""
    wanted = [(podset, podset.first + n) for podset in job.podsets
              for n in range(podset.need())]
    if any(podset.need() > podset.pods for podset in job.podsets):
        return False
    placed = {}

    def place(at):
        if at == len(wanted):
            return not gang_errors(state.cluster, job, placed)
        podset, number = wanted[at]
        for host in state.hosts:
            if podset.models is not None and host.node.model not in podset.models:
                continue
            for gpus, slot in ways(state, podset, host):
                pod = Placed(number, podset, host.node, gpus, slot)
                errors = closed_errors(job, pod, host, 0)
                if errors:
                    continue
                state.take(job, pod, errors)
                if not errors:
                    placed[number] = pod
                    if place(at + 1):
                        return True
                    del placed[number]
                state.give(job, pod)
        return False
    return place(0)


class Brute(World):
    def test_fits_and_binding(self):
        seen = dict.fromkeys(("", *CONSTRAINTS), 0)
        for seed in range(WORLDS):
            rng = random.Random(seed)
            cluster, job, health = random_world(rng)
            running = run_already(rng, cluster, job)
            state, live = build(cluster, job, health, running)
            for word in ("", *CONSTRAINTS):
                drop = frozenset([word]) if word else frozenset()
                changed = without(word, cluster, job, health)
                truth = exists(*build(*changed, [] if word == "busy" else running))
                claim = fits(state, live, 0, drop, budget=10**9)
                self.assertEqual(truth, claim, (seed, word, job))
                seen[word] += truth
        # each constraint was the deciding one, or the comparison would say little
        base = seen.pop("")
        self.assertTrue(20 < base < WORLDS - 20, base)
        self.assertTrue(all(count >= base for count in seen.values()), (base, seen))
