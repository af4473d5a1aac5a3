"""Small worlds for the self-test: logs are written by hand, header and end are added here."""

import hashlib
import io
import json
import unittest

from .model import is_number, read_cluster
from .replay import Replay
from .work import read_workload

CLUSTER = [
    {"kind": "cluster", "format": "dovetail-cluster/2", "name": "c",
     "chains": {"network": ["leaf", "spine"]}},
    {"kind": "shape", "shape": "two", "gpus": 4, "islands": [[0, 1], [2, 3]]},
    {"kind": "mig", "model": "M", "slots": 8,
     "profiles": {"small": {"slots": 1, "at": [0, 1, 2, 3, 4, 5, 6]},
                  "half": {"slots": 4, "at": [0, 4]}}},
    {"kind": "node", "node": "n0", "gpus": 4, "model": "A", "shape": "two", "cpu_milli": 16000,
     "mem_mib": 65536, "gpu_mem_mib": 24000, "domains": {"leaf": "a", "spine": "s"}},
    {"kind": "node", "node": "n1", "gpus": 4, "model": "A", "shape": "two", "cpu_milli": 16000,
     "mem_mib": 65536, "gpu_mem_mib": 24000, "domains": {"leaf": "a", "spine": "s"}},
    {"kind": "node", "node": "n2", "gpus": 4, "model": "A", "shape": "two", "cpu_milli": 16000,
     "mem_mib": 65536, "domains": {"leaf": "b", "spine": "s"}},
    {"kind": "node", "node": "m0", "gpus": 2, "model": "M", "pods": 3},
]


def job(name, submit=0, run=100, **more):
    return {"kind": "job", "job": name, "submit_s": submit, "run_s": run, **more}


def submit(name, t=0, **more):
    return {"kind": "submit", "t": t, "job": name, **more}


def pods(*places):
    """(node, gpus) or (node, gpus, extra fields), numbered from 0."""
    found = []
    for number, place in enumerate(places):
        entry = {"pod": number, "node": place[0]}
        if place[1]:
            entry["gpus"] = list(place[1])
        entry.update(place[2] if len(place) > 2 else {})
        found.append(entry)
    return found


def start(name, *places, t=0):
    return {"kind": "start", "t": t, "job": name, "pods": pods(*places)}


def move(name, *places, t=0, **more):
    return {"kind": "move", "t": t, "job": name, "cause": "defrag", "pods": pods(*places), **more}


def finish(name, t, status="ok"):
    return {"kind": "finish", "t": t, "job": name, "status": status}


def preempt(name, t, **more):
    return {"kind": "preempt", "t": t, "job": name, **more}


def refuse(name, fits, t=0, final=None, **reason):
    line = {"kind": "refuse", "t": t, "job": name, "fits": fits,
            "reason": {"code": "c", "text": "words", **reason}}
    if final is not None:
        line["final"] = final
    return line


def event(t, **fields):
    return {"kind": "event", "t_s": t, **fields}


def echo(raw):
    fields = {key: value for key, value in raw.items() if key != "t_s"}
    return {**fields, "t": raw["t_s"]}


def encode(lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


class World(unittest.TestCase):
    """run() checks a log given as its lines between header and end line."""

    def replay(self, jobs, lines, events=(), teams=(), summary=None, end=None, header=None,
               cluster=None):
        table = read_cluster((f"c:{n}", x) for n, x in enumerate(cluster or CLUSTER))
        head = {"kind": "workload", "format": "dovetail-workload/2", "name": "w", "seed": 1}
        rows = [head, *teams, *jobs, *events]
        work = read_workload(((f"w:{n}", x) for n, x in enumerate(rows)), table)
        first = {"kind": "header", "format": "dovetail-decisions/2", "cluster": "c",
                 "workload": "w", "policy": "p", "seed": 1, "version": "0"}
        first.update(header or {})
        body = encode([first, *lines])
        times = [line.get("t") for line in lines if isinstance(line, dict)]
        last = {"kind": "end", "t": max([t for t in times if is_number(t)], default=0),
                "digest": hashlib.sha256(body).hexdigest(), "summary": summary or {}}
        last.update(end or {})
        replay = Replay(table, work, "log")
        replay.run(io.BytesIO(body + encode([last])))
        return replay

    def texts(self, *args, **more):
        return [text for _, text in self.replay(*args, **more).errors]

    def right(self, *args, **more):
        replay = self.replay(*args, **more)
        self.assertEqual([], replay.errors)
        return replay.figures.metrics

    def wrong(self, words, *args, **more):
        """At least one violation, and one of them says these words."""
        texts = self.texts(*args, **more)
        self.assertTrue(any(words in text for text in texts), (words, texts))
        return texts

    def only(self, words, *args, **more):
        """Exactly one violation, and it says these words."""
        texts = self.texts(*args, **more)
        self.assertEqual(1, len(texts), texts)
        self.assertIn(words, texts[0])
