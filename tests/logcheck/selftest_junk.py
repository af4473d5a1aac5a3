"""Self-test: whatever stands in a log, the checker reports it and goes on."""

import copy
import random

from .selftest_base import (World, echo, event, finish, job, move, preempt, refuse, start, submit)

JUNK = (None, True, 0, -1, 0.5, 10**30, 1e300, "", "x", [], {}, [1], ["a"], {"a": 1}, [[0]])
EVENTS = [event(20, node="n0", state="drain"), event(60, node="n1", gpu=3, state="down"),
          event(70, team="t", limit_gpus=4)]
TEAMS = [{"kind": "team", "team": "t", "guarantee": [{"gpus": 4, "level": "node"}]}]
JOBS = [job("e", pods=2, min_pods=1, gpus=1, team="t"), job("j", gpus=1, milli=500, ckpt_s=5),
        job("k", gpus=1, priority=1, run=10), job("m", gpus=1, mig="half"),
        job("x", podsets=[{"name": "lead"}, {"pods": 9, "gpus": 4}])]
LINES = [
    *[submit(row["job"]) for row in JOBS],
    start("e", ("n0", [0])), start("j", ("n0", [1], {"milli": 500})),
    start("m", ("m0", [0], {"mig": "half", "slot": 4})),
    refuse("x", False, free_gpus=12, binding=[], final=True),
    {"kind": "promise", "t": 0, "job": "k", "by": 30, "why": "w"},
    refuse("k", True, binding=[], best_pods=1),
    preempt("j", 10, by="k", cause="priority"), start("k", ("n0", [1]), t=10),
    start("j", ("n1", [3], {"milli": 500}), t=10),
    {"kind": "grow", "t": 10, "job": "e", "pods": [{"pod": 1, "node": "n1", "gpus": [0]}]},
    echo(EVENTS[0]), finish("k", 20),
    {"kind": "shrink", "t": 20, "job": "e", "cause": "drain", "pods": [0]},
    move("e", ("n1", [1]), t=30), echo(EVENTS[1]), {"kind": "fail", "t": 60, "job": "j"},
    refuse("j", True, 60), echo(EVENTS[2])]


def paths(value, at=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*at, key)
        if isinstance(inner, (dict, list)):
            yield from paths(inner, (*at, key))


class Junk(World):
    def test_the_log_is_right(self):
        self.right(JOBS, LINES, EVENTS, TEAMS)

    def test_junk(self):
        rng = random.Random(1)
        for path in list(paths(LINES)):
            for junk in [None, *rng.sample(JUNK, 2)]:
                lines = copy.deepcopy(LINES)
                inner = lines
                for key in path[:-1]:
                    inner = inner[key]
                inner[path[-1]] = junk
                with self.subTest(path=path, junk=junk):
                    self.replay(JOBS, [x for x in lines if x is not None], EVENTS, TEAMS,
                                end={"t": 70})

    def test_every_line_is_needed(self):
        # without a promise, shrink, move or a second refusal the rest is still right
        harmless = {9, 17, 18, 21}
        for index in range(len(LINES) - 1):
            if index not in harmless:
                lines = LINES[:index] + LINES[index + 1:]
                with self.subTest(index=index, line=LINES[index]):
                    self.assertTrue(self.texts(JOBS, lines, EVENTS, TEAMS))
