#!/usr/bin/env python3
"""Nobody looks into the future: a job's true run time changes no line before its end.

Made-up workloads are simulated in every order, and again with another run time, slowness and end of
one job. Up to the earlier of the job's two ends both logs must be equal, byte for byte.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

DOVETAIL = os.environ.get("DOVETAIL", "build/dovetail")
ORDERS = ("fifo", "priority", "easy", "conservative")
WORKLOADS = 8
JOBS = 40


def make_cluster(path):
    with open(path, "w", encoding="utf-8") as out:
        print(json.dumps({"kind": "cluster", "format": "dovetail-cluster/2", "name": "c",
                          "chains": {"network": ["leaf"]}}), file=out)
        for n in range(6):
            print(json.dumps({"kind": "node", "node": f"n{n}", "gpus": 4, "model": "A",
                              "cpu_milli": 32000, "domains": {"leaf": f"l{n // 3}"}}), file=out)


def make_jobs(rng):
    jobs, at = [], 0
    for n in range(JOBS):
        at += rng.randrange(0, 40)
        run = rng.randrange(10, 300)
        job = {"kind": "job", "job": f"j{n}", "submit_s": at, "pods": rng.choice((1, 1, 2, 4)),
               "gpus": rng.choice((1, 1, 2, 4)), "run_s": run, "priority": rng.choice((0, 0, 1)),
               "cpu_milli": rng.choice((0, 4000, 9000))}
        if rng.random() < 0.7:
            job["est_s"] = rng.choice((run, 2 * run, 5 * run, max(1, run // 2)))
        if rng.random() < 0.3:
            job["required"] = "leaf"
        if rng.random() < 0.3:
            job["preferred"] = ["node"]
        if rng.random() < 0.3 and job["pods"] > 1:
            job["min_pods"] = 1
        if rng.random() < 0.3:
            job["slow"] = {"leaf": 1.2, "cluster": 1.5}
        jobs.append(job)
    return jobs


def other_truth(rng, jobs, at):
    job = dict(jobs[at])
    job["run_s"] = rng.choice((1, job["run_s"] // 2 + 1, 3 * job["run_s"]))
    job["slow"] = {"leaf": 1.1, "cluster": 2.5}
    job["end"] = "fail"
    return jobs[:at] + [job] + jobs[at + 1:]


def simulate(folder, name, jobs, order):
    workload = os.path.join(folder, name + ".jsonl")
    with open(workload, "w", encoding="utf-8") as out:
        print(json.dumps({"kind": "workload", "format": "dovetail-workload/2", "name": "w",
                          "seed": 1}), file=out)
        for job in jobs:
            print(json.dumps(job), file=out)
    target = os.path.join(folder, name)
    done = subprocess.run([DOVETAIL, "simulate", "--cluster", os.path.join(folder, "c.jsonl"),
                           "--workload", workload, "--order", order, "--patience", "30",
                           "--out", target, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"simulate ended with {done.returncode}: {done.stderr}")
    log = [entry for entry in os.listdir(target) if entry.endswith(".log")]
    with open(os.path.join(target, log[0]), encoding="utf-8") as lines:
        return lines.read().splitlines()


def ends_at(log, job):
    for line in log:
        said = json.loads(line)
        if said["kind"] == "finish" and said["job"] == job:
            return said["t"]
    return None


def before(log, end):
    return [line for line in log
            if json.loads(line).get("t", 0) < end and json.loads(line)["kind"] != "end"]


def main():
    compared = differ = 0
    for seed in range(WORKLOADS):
        for order in ORDERS:
            rng = random.Random(seed)
            jobs = make_jobs(rng)
            with tempfile.TemporaryDirectory() as folder:
                make_cluster(os.path.join(folder, "c.jsonl"))
                first = simulate(folder, "a", jobs, order)
                for turn in range(2):
                    at = rng.randrange(JOBS)
                    second = simulate(folder, f"b{turn}", other_truth(rng, jobs, at), order)
                    ends = [ends_at(log, jobs[at]["job"]) for log in (first, second)]
                    if None in ends:
                        continue
                    one, two = before(first, min(ends)), before(second, min(ends))
                    compared += len(one)
                    for a, b in zip(one + [""], two + [""]):
                        if a != b:
                            differ += 1
                            print(f"seed {seed}, {order}, {jobs[at]['job']}:\n  {a}\n  {b}")
                            break
    if not compared:
        sys.exit("nothing was compared")
    print(f"{compared} lines before the end of a job compared, {differ} runs differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
