#!/usr/bin/env python3
"""Upper bound on the GPU allocation any scheduler can reach on the openb lists.

The bound is a linear program over one-GPU patterns. Devices are pooled by what the list can tell
apart: the model set a pod may name and the number of GPUs in the host. In every pool, each device
is cut into shares or holds one whole GPU of a pod. The cuts are an arc flow from 0 to 1000 milli,
whose value equals that of the program with one variable per pattern. Pods may be served in part,
in any order, knowing all arrivals; CPU, memory and the ban on splitting a pod over hosts are left
out, except that a pod asking k GPUs needs a host with k devices. So no real scheduler can exceed
it, and a gap to it need not be closable.

The arrivals counted are those of the protocol: the last arrival with which the GPUs asked are at
most X percent of all GPUs. A list without an arrival order is scaled to X percent as a whole.
"""

import argparse
import csv
import gzip
import os
import sys
from collections import Counter

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

PUBLISHED = (
    "default cpu050 cpu100 cpu200 cpu250 gpushare40 gpushare60 gpushare80 gpushare100 "
    "gpuspec10 gpuspec20 gpuspec25 gpuspec33 multigpu20 multigpu30 multigpu40 multigpu50"
).split()
FULL_MILLI = 1000


def open_text(path):
    if os.path.exists(path):
        return open(path, newline="", encoding="utf-8")
    return gzip.open(path + ".gz", "rt", newline="", encoding="utf-8")


def read_hosts(directory):
    """Counter of (model, GPUs per host) -> hosts."""
    hosts = Counter()
    with open_text(os.path.join(directory, "openb_node_list_gpu_node.csv")) as f:
        for row in csv.DictReader(f):
            hosts[(row["model"], int(row["gpu"]))] += 1
    return hosts


def read_pods(directory, name):
    """List of (GPUs, milli per GPU, frozenset of models), in file order; an empty set is any."""
    pods = []
    with open_text(os.path.join(directory, f"openb_pod_list_{name}.csv")) as f:
        for row in csv.DictReader(f):
            spec = frozenset(s for s in (row.get("gpu_spec") or "").split("|") if s)
            gpus = int(row["num_gpu"])
            pods.append((gpus, int(row["gpu_milli"]) if gpus else 0, spec))
    return pods


def read_order(directory, name, seed):
    """Row numbers in order of arrival, or None where the list has no order of its own."""
    # The gpuspec lists differ from default in gpu_spec only and arrive in its order.
    for candidate in [name] + (["default"] if name.startswith("gpuspec") else []):
        path = os.path.join(directory, "arrival-order", f"{candidate}.csv")
        if os.path.exists(path) or os.path.exists(path + ".gz"):
            with open_text(path) as f:
                return [int(row[f"s{seed}"]) for row in csv.DictReader(f) if row[f"s{seed}"]]
    return None


def demand_of_prefix(pods, order, limit_milli):
    """Pods by class among the arrivals up to the last one within the limit."""
    demand, asked, kept = Counter(), 0, 0
    for position, row in enumerate(order):
        asked += pods[row][0] * pods[row][1]
        if asked <= limit_milli:
            kept = position + 1
    for row in order[:kept]:
        if pods[row][0]:
            demand[pods[row]] += 1
    return demand


def demand_of_list(pods, limit_milli):
    """The whole list, scaled so that it asks exactly the limit."""
    factor = limit_milli / sum(gpus * milli for gpus, milli, _ in pods)
    return {pod: n * factor for pod, n in Counter(p for p in pods if p[0]).items()}


def pools_of(hosts, classes):
    """Merge host kinds that no class tells apart: {(classes allowed)} -> devices."""
    pools = Counter()
    for (model, gpus), count in sorted(hosts.items()):
        allowed = tuple(
            i for i, (k, _, spec) in enumerate(classes) if k <= gpus and (not spec or model in spec)
        )
        pools[allowed] += count * gpus
    return sorted(pools.items())


class Program:
    """Maximise gain x, rows x <= bounds, x >= 0; built column by column."""

    def __init__(self):
        self.gain, self.rows, self.bounds = [], [], []

    def column(self, gain):
        self.gain.append(gain)
        return len(self.gain) - 1

    def row(self, terms, bound):
        self.rows.append(terms)
        self.bounds.append(bound)

    def solve(self):
        i = [r for r, terms in enumerate(self.rows) for _ in terms]
        j = [c for terms in self.rows for c, _ in terms]
        v = [x for terms in self.rows for _, x in terms]
        matrix = coo_matrix((v, (i, j)), shape=(len(self.rows), len(self.gain))).tocsr()
        gain, bounds = np.array(self.gain), np.array(self.bounds)
        result = linprog(-gain, A_ub=matrix, b_ub=bounds, method="highs")
        if result.status != 0:
            raise RuntimeError(f"linear program not solved: {result.message}")
        return -result.fun


def add_pool(lp, allowed, devices, classes, served):
    """Columns and rows of one pool: whole GPUs, and an arc flow over the cuts of shared ones."""
    whole, by_size = [], {}
    for i in allowed:
        gpus, milli, _ = classes[i]
        column = lp.column(gpus * milli)
        served[i].append((column, 1.0))
        if milli == FULL_MILLI:
            whole.append((column, float(gpus)))
        else:
            by_size.setdefault(milli, []).append(column)
    start = lp.column(0.0)  # devices cut into shares
    lp.row(whole + [(start, 1.0)], float(devices))
    into = {0: [(start, 1.0)]}
    out, cuts = {}, {}
    reachable = {0}
    # Larger cuts first: every pattern has one path only, which keeps the graph small.
    for milli in sorted(by_size, reverse=True):
        steps = set()
        for at in sorted(reachable):
            while at + milli <= FULL_MILLI and at not in steps:
                steps.add(at)
                at += milli
        for at in sorted(steps):
            column = lp.column(0.0)
            out.setdefault(at, []).append((column, -1.0))
            into.setdefault(at + milli, []).append((column, 1.0))
            cuts.setdefault(milli, []).append((column, -1.0))
            reachable.add(at + milli)
    for at in sorted(into):  # what leaves a point of the device came into it; the rest is idle
        lp.row([(c, -x) for c, x in into[at]] + [(c, -x) for c, x in out.get(at, [])], 0.0)
    for milli in sorted(by_size):
        lp.row([(c, 1.0) for c in by_size[milli]] + cuts.get(milli, []), 0.0)


def bound_milli(hosts, demand):
    """Most milli GPU that can be allocated to this demand on these hosts."""
    classes = sorted(demand, key=lambda c: (c[0], c[1], sorted(c[2])))
    lp = Program()
    served = [[] for _ in classes]
    for allowed, devices in pools_of(hosts, classes):
        if allowed:
            add_pool(lp, allowed, devices, classes, served)
    for i, terms in enumerate(served):
        if terms:
            lp.row(terms, float(demand[classes[i]]))
    return lp.solve()


def seeds_of(text):
    seeds = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="folder with the openb CSV files")
    parser.add_argument("--lists", default=",".join(PUBLISHED), help="comma separated short names")
    parser.add_argument("--seeds", default="42-51", help="A-B or A,B; the bounds are averaged")
    parser.add_argument("--arrived", default="100,130", help="percent of all GPUs asked")
    parser.add_argument("--out", help="CSV file to write (standard output if absent)")
    args = parser.parse_args()

    hosts = read_hosts(args.data)
    total_milli = FULL_MILLI * sum(gpus * count for (_, gpus), count in hosts.items())
    lines = ["list,arrived_pct,bound_pct,method"]
    for name in args.lists.split(","):
        pods = read_pods(args.data, name)
        orders = [read_order(args.data, name, seed) for seed in seeds_of(args.seeds)]
        for arrived in map(int, args.arrived.split(",")):
            limit = total_milli * arrived // 100
            if orders[0] is None:
                demands, method = [demand_of_list(pods, limit)], "config-lp list"
            else:
                demands = [demand_of_prefix(pods, order, limit) for order in orders]
                method = f"config-lp seeds {args.seeds}"
            values = [bound_milli(hosts, demand) for demand in demands]
            bound = 100.0 * sum(values) / len(values) / total_milli
            lines.append(f"{name},{arrived},{bound:.2f},{method}")
            print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
