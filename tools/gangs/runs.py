"""Runs cells: one workload on one cluster under one setting, kept by a hash of all inputs.

A setting is text: POLICY/ORDER, then options of simulate as /name=value, for example
"dovetail/easy/budget=50000". A cell that was kept is not run again; its key covers the program,
both files and the setting, so an old figure never stands for a new program.
"""

import concurrent.futures
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gangs import causes, outcomes

VERSION = 4  # of what a kept cell holds


def say(text):
    print(text, file=sys.stderr, flush=True)


def digest(path, known={}):  # noqa: B006 - one table for the whole run
    key = str(path)
    if key not in known:
        known[key] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return known[key]


def arguments_of(setting):
    policy, order, *rest = setting.split("/")
    found = ["--policy", policy, "--order", order]
    for option in rest:
        name, _, value = option.partition("=")
        found += [f"--{name}", *([value] if value else [])]
    return found


class Cell:
    def __init__(self, cluster, workload, setting, is_traced=False):
        self.cluster, self.workload, self.setting = Path(cluster), Path(workload), setting
        self.is_traced = is_traced

    def key(self, binary):
        parts = [VERSION, digest(binary), digest(self.cluster), digest(self.workload)]
        text = json.dumps([*parts, self.setting, self.is_traced])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def name(self):
        return f"{self.workload.name.split('.')[0]} {self.setting}"


def agree(rows, metrics):
    """Whether our reading of the log gives the figures of the program's summary."""
    hits = [r for r in rows if "hit" in r]
    pairs = [(len(rows), metrics.get("finished"))]
    if hits and "hit_pct" in metrics:
        pairs.append((100 * sum(r["hit"] for r in hits) / len(hits), metrics["hit_pct"]))
    if rows and "jct_s_mean" in metrics:
        pairs.append((sum(r["jct_s"] for r in rows) / len(rows), metrics["jct_s_mean"]))
    return all(b is not None and abs(a - b) <= max(0.005, 1e-4 * abs(b)) for a, b in pairs)


def useful_pct(cluster, workload, rows):
    """Work of the finished jobs over GPU time, without what a slow placement adds to a run.

    goodput_pct counts the time held, so that a worse placement raises it; this one does not.
    """
    work = sum(r["gpus"] * workload.jobs[r["job"]]["run_s"] for r in rows)
    end = max((r["submit_s"] + r["jct_s"] for r in rows), default=0)
    span = end - min((j["submit_s"] for j in workload.jobs.values()), default=0)
    return 100 * work / (cluster.gpus() * span) if span else None


def run_cell(binary, cell, folder, timeout_s):
    """Runs one cell and writes what is kept of it; returns a word of trouble, or None."""
    started = time.monotonic()
    scratch = Path(tempfile.mkdtemp(dir=folder))
    try:
        command = [binary, "simulate", "--cluster", str(cell.cluster)]
        command += ["--workload", str(cell.workload), *arguments_of(cell.setting)]
        command += ["--jobs", "1", "--json", "--quiet", "--out", str(scratch / "run")]
        limit = {"timeout": timeout_s, "check": False, "text": True, "capture_output": True}
        try:
            result = subprocess.run(command, **limit)
        except subprocess.TimeoutExpired:
            return f"stopped after {timeout_s} s"
        if result.returncode:
            last = " / ".join(result.stderr.strip().splitlines()[-2:]) or "no word"
            return f"simulate ended with {result.returncode}: {last}"
        wall_s = time.monotonic() - started
        metrics = json.loads(result.stdout)[0]["metrics"]
        log = next((scratch / "run").glob("*.log"))
        cluster, workload = outcomes.Cluster(cell.cluster), outcomes.Workload(cell.workload)
        rows = outcomes.read_rows(cluster, workload, log)
        metrics["useful_pct"] = useful_pct(cluster, workload, rows)
        kept = {"metrics": metrics, "rows": rows, "wall_s": wall_s, "agree": agree(rows, metrics)}
        if cell.is_traced:
            kept["causes"] = causes.read_causes(cluster, outcomes.Workload(cell.workload), log)
        part = scratch / "kept"
        part.write_bytes(gzip.compress(json.dumps(kept).encode(), compresslevel=3, mtime=0))
        part.replace(folder / f"{cell.key(binary)}.json.gz")
        return None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class Runner:
    def __init__(self, binary, folder, jobs, timeout_s, limit_s):
        self.binary, self.folder, self.jobs = str(binary), Path(folder) / "cells", jobs
        self.timeout_s, self.failed, self.known, self.late = timeout_s, {}, {}, 0
        self.deadline = time.monotonic() + limit_s if limit_s else None
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, cell):
        return self.folder / f"{cell.key(self.binary)}.json.gz"

    def run(self, cells):
        """Runs what is not kept yet, the shortest first; one bad cell never stops the others."""
        unique = {self.path(c): c for c in cells}
        missing = [c for path, c in unique.items() if not path.exists()]
        missing.sort(key=lambda c: (c.workload.stat().st_size, c.name()))
        say(f"{len(unique)} cells, {len(unique) - len(missing)} kept from earlier runs")
        started, total = time.monotonic(), len(missing)
        with concurrent.futures.ProcessPoolExecutor(self.jobs) as pool:
            waiting = {}
            done = 0
            while missing or waiting:
                while missing and len(waiting) < self.jobs and not self.is_late():
                    cell = missing.pop(0)
                    call = (self.binary, cell, self.folder, self.timeout_s)
                    waiting[pool.submit(run_cell, *call)] = cell
                if not waiting:
                    break
                ended, _ = concurrent.futures.wait(waiting, return_when="FIRST_COMPLETED")
                for future in ended:
                    cell, done = waiting.pop(future), done + 1
                    self.note(cell, future.result(), done, total, time.monotonic() - started)
        self.late += len(missing)
        if missing:
            say(f"{len(missing)} cells left out, the time is up; run again to go on")

    def is_late(self):
        return self.deadline is not None and time.monotonic() > self.deadline

    def note(self, cell, trouble, done, total, spent_s):
        if trouble:
            self.failed[cell.name()] = trouble
        left_s = spent_s / done * (total - done)
        word = trouble or "done"
        say(f"  {done}/{total} {cell.name()}: {word}; {spent_s:.0f} s, about {left_s:.0f} s to go")

    def result(self, cell):
        """What is kept of a cell; None where it failed or was left out."""
        path = self.path(cell)
        if path not in self.known:
            self.known[path] = None
            if path.exists():
                self.known[path] = json.loads(gzip.decompress(path.read_bytes()))
        return self.known[path]
