"""sample.py - a cluster and a workload for the page, and who holds which GPU by the decision log"""

import json
import pathlib
import random
import subprocess

LEAVES = 6
HOSTS = 4
GPUS = 8


def cluster():
    yield {"kind": "cluster", "format": "dovetail-cluster/2", "name": "c",
           "chains": {"network": ["leaf", "spine"], "power": ["feed"]}}
    for n in range(LEAVES * HOSTS):
        yield {"kind": "node", "node": f"h{n:02}", "gpus": GPUS, "model": "A", "domains": {
            "leaf": f"l{n // HOSTS}", "spine": f"s{n // HOSTS // 3}", "feed": f"f{n % 2}"}}


def workload(seed):
    """Single pods, shares, gangs up to half of the cluster; hosts and devices come and go."""
    draw = random.Random(seed)
    teams = ["red", "green & blue", "<odd>"]
    yield {"kind": "workload", "format": "dovetail-workload/2", "name": "page", "seed": seed}
    for team in teams:
        yield {"kind": "team", "team": team}
    lines = []
    t = 0.0
    for n in range(240):
        t = round(t + draw.expovariate(1 / 240), 3)
        pods = draw.choice([1, 1, 1, 1, 2, 2, 3, 4, 8, 12])
        job = {"kind": "job", "job": f"j{n:03}", "submit_s": t, "team": draw.choice(teams),
               "pods": pods, "gpus": draw.choice([1, 4, 8]) if pods == 1 else 8,
               "run_s": round(draw.lognormvariate(8.6, 1.2), 3), "ckpt_s": 600, "restart_s": 30}
        job["est_s"] = job["run_s"]
        if pods > 1:
            job["preferred"] = "leaf"
        elif job["gpus"] == 1 and draw.random() < 0.5:
            job["gpu_milli"] = 500
        lines.append((t, job))
    for at, state in ((9000, "down"), (15000, "up"), (20000, "drain"), (32000, "up")):
        lines.append((at, {"kind": "event", "t_s": at, "node": "h05", "state": state}))
    lines.append((12000, {"kind": "event", "t_s": 12000, "node": "h11", "gpu": 3, "state": "down"}))
    for _, line in sorted(lines, key=lambda pair: pair[0]):
        yield line


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def simulate(dovetail, folder, policies):
    """Runs it into the folder; returns what --json says."""
    folder = pathlib.Path(folder)
    write(folder / "cluster", cluster())
    write(folder / "workload", workload(7))
    done = subprocess.run(
        [dovetail, "simulate", "--cluster", folder / "cluster", "--workload", folder / "workload",
         "--order", "easy", "--policy", ",".join(policies), "--out", folder / "out", "--json",
         "--quiet"],
        check=True, capture_output=True, timeout=120)
    return json.loads(done.stdout)


def arrivals(dovetail, folder):
    done = subprocess.run(
        [dovetail, "simulate", "--openb", "data/openb", "--list", "default", "--seeds", "42,43",
         "--policy", "dovetail,fgd", "--out", folder, "--json", "--quiet"],
        check=True, capture_output=True, timeout=300)
    return json.loads(done.stdout)


class Log:
    """Who sits where at a moment: the lines up to it, applied one by one."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        self.lines = [json.loads(line) for line in text.splitlines()]

    def end(self):
        return max(line.get("t", 0) for line in self.lines)

    def at(self, t):
        """({(host, GPU): [job, ...]}, failed, drained) after the lines up to t, in ns."""
        pods, down, drain = {}, set(), set()
        for line in self.lines:
            if round(line.get("t", 0) * 1e9) > t:
                break
            self.apply(line, pods, down, drain)
        holders = {}
        for job, seats in pods.items():
            for seat in seats.values():
                for gpu in seat.get("gpus", []):
                    holders.setdefault((seat["node"], gpu), []).append(job)
        return holders, down, drain - down

    @staticmethod
    def apply(line, pods, down, drain):
        kind = line["kind"]
        if kind in ("start", "move"):
            pods[line["job"]] = {seat["pod"]: seat for seat in line["pods"]}
        elif kind == "grow":
            pods[line["job"]].update({seat["pod"]: seat for seat in line["pods"]})
        elif kind == "shrink":
            for pod in line["pods"]:
                del pods[line["job"]][pod]
        elif kind in ("finish", "fail", "preempt"):
            pods.pop(line["job"], None)
        elif kind == "event" and "node" in line:
            gpus = [line["gpu"]] if "gpu" in line else range(GPUS)
            for place in ((line["node"], gpu) for gpu in gpus):
                for places, state in ((down, "down"), (drain, "drain")):
                    (places.add if line["state"] == state else places.discard)(place)
