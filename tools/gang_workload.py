#!/usr/bin/env python3
"""Draws workloads and clusters for gang runs, in the formats of docs/reference/formats.md.

    gang_workload.py jobs kalos --seed 101 --out kalos-101.jsonl.gz
    gang_workload.py jobs unlike --seed 101 --gpus 576 --days 3 --est exact
    gang_workload.py cluster hosts --hosts 256 --leaf 8 --spines 4
    gang_workload.py cluster lingjun --hosts 256 --seed 3
    gang_workload.py cluster nvl72 --racks 16

Families of jobs:
  kalos, seren  sizes and run times drawn from the published curves of two clusters of Acme
  helios        a mix heavy in 8, 16 and 32 GPUs, log-normal run times
  unlike        Kalos on NVL72 racks: gangs with a CPU leader, cut into sub-gangs, or elastic
Run times of Acme are scaled per band of sizes so that the bands' shares of GPU time and the mean
work of a job are the published ones. The same options give the same lines; --est and --load do not
change how a job is drawn, only what is told about it and how many there are. Curves and the real
topology come from DOVETAIL_DATA (--data), in traces/acme-cdf and traces/lingjun-topo; each folder
says where its data come from and under which licence.
"""

import argparse
import bisect
import csv
import gzip
import itertools
import json
import math
import os
import random
import sys
from pathlib import Path

DAY_S = 86400
BAND_ENDS = (8, 64, 511, 1 << 20)  # GPUs; run times are scaled within one
LARGE_GPUS = 64
QUANTILES = 4000  # points at which a mean of a curve is taken
TEAMS = 8
FAIL_SHARE = {"kalos": 0.40, "seren": 0.40, "unlike": 0.40, "helios": 0.20}
# Helios, share of GPU time by GPUs; the mean run of a size is 7,200 s x GPUs^0.36, so that the mean
# over jobs is of the published order (6,652 s); no run is longer than half of the horizon.
HELIOS_TIME = {1: 8.0, 2: 5.0, 4: 8.0, 8: 28.8, 16: 20.0, 32: 23.3, 64: 6.9}
HELIOS_SIGMA, HELIOS_RUN_S, HELIOS_GROWTH = 1.6, 7200.0, 0.36
LEADER_SHARE, STAGES_SHARE, ELASTIC_SHARE = 0.40, 0.30, 0.20
SLOW = {
    "leaf": {"leaf": 1, "spine": 1.1, "cluster": 1.3},
    "supernode": {"supernode": 1, "leaf": 1.1, "cluster": 1.3},
}


# ---- curves ----


class Curve:
    """A published cumulative curve: points (value, percent at most that value)."""

    def __init__(self, points):
        self.values = [v for v, _ in points]
        self.percents = [p for _, p in points]

    def step(self, u):
        """The value at quantile u, for quantities that come in steps (GPUs)."""
        at = bisect.bisect_left(self.percents, u * self.percents[-1])
        return self.values[min(at, len(self.values) - 1)]

    def smooth(self, u):
        """The value at quantile u, geometric between the points (times)."""
        percent = u * self.percents[-1]
        at = bisect.bisect_left(self.percents, percent)
        if at == 0:
            return self.values[0] * max(0.1, percent / max(self.percents[0], 1e-9))
        low, high = self.percents[at - 1], self.percents[at]
        share = (percent - low) / (high - low)
        return self.values[at - 1] * (self.values[at] / self.values[at - 1]) ** share

    def at(self, value):
        """Percent at most value."""
        at = bisect.bisect_right(self.values, value)
        return self.percents[at - 1] if at else 0.0


def read_curve(path, value, **wanted):
    with open(path, newline="", encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f) if all(r[k] == v for k, v in wanted.items())]
    if not rows:
        sys.exit(f"gang_workload.py: {path}: no rows of {wanted}")
    return Curve([(float(r[value]), float(r["cdf_pct"])) for r in rows])


class Acme:
    """Curves of one cluster of Acme and the scale of run times per band of sizes."""

    def __init__(self, folder, cluster, horizon_s, largest, pod_gpus):
        self.largest, self.pod_gpus = largest, pod_gpus
        sizes = folder / "gpu_num_cdf.csv"
        self.jobs = read_curve(sizes, "gpu_num_le", cluster=cluster, weight="jobs")
        self.time = read_curve(sizes, "gpu_num_le", cluster=cluster, weight="gpu_time")
        kinds = {"cluster": cluster, "quantity": "duration"}
        by_type = folder / "by_type_cdf.csv"
        self.small = read_curve(by_type, "seconds_le", type="Eval", **kinds)
        self.large = read_curve(by_type, "seconds_le", type="Pretrain", **kinds)
        self.other = read_curve(folder / "duration_cdf.csv", "duration_s_le", cluster=cluster)
        with open(folder / "cluster_summary.csv", newline="", encoding="utf-8") as f:
            row = next(r for r in csv.DictReader(f) if r["id"] == cluster)
        times = ("complete_gpu_time", "cancel_gpu_time", "fail_gpu_time")
        self.mean_work = sum(float(row[t]) for t in times) / float(row["gpu_job_num"])
        self.longest_s = min(float(row["max_run_time_gpu"]), horizon_s)
        self.scales = [self.scale_of(band) for band in range(len(BAND_ENDS))]

    def run_curve(self, gpus):
        return self.small if gpus == 1 else self.large if gpus >= LARGE_GPUS else self.other

    def sizes_of(self, band):
        """(published GPUs, share of all jobs) of a band."""
        low = BAND_ENDS[band - 1] if band else 0
        before, found = self.jobs.at(low), []
        for gpus, percent in zip(self.jobs.values, self.jobs.percents):
            if low < gpus <= BAND_ENDS[band] and percent > before:
                found.append((gpus, (percent - before) / 100))
                before = percent
        return found

    def scale_of(self, band):
        """The factor on run times with which the band's work is the published one."""
        low = BAND_ENDS[band - 1] if band else 0
        share = (self.time.at(BAND_ENDS[band]) - self.time.at(low)) / 100
        aim, sizes = share * self.mean_work, self.sizes_of(band)
        curves = {id(c): c for c in (self.run_curve(g) for g, _ in sizes)}
        weights = {key: 0.0 for key in curves}
        for gpus, jobs in sizes:
            weights[id(self.run_curve(gpus))] += gpus * jobs
        runs = [
            (weights[key], [c.smooth((n + 0.5) / QUANTILES) for n in range(QUANTILES)])
            for key, c in curves.items()
        ]

        def work(scale):
            means = ((w, sum(min(scale * r, self.longest_s) for r in rs)) for w, rs in runs)
            return sum(w * total / QUANTILES for w, total in means)

        low, high = 1e-3, 1e3
        for _ in range(40):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if work(middle) < aim else (low, middle)
        return low

    def draw(self, rng):
        """GPUs asked and run time of one job."""
        published = self.jobs.step(rng.random())
        band = bisect.bisect_left(BAND_ENDS, published)
        run_s = self.scales[band] * self.run_curve(published).smooth(rng.random())
        gpus = int(min(published, self.largest))
        if gpus > 8:
            gpus -= gpus % 8
        elif gpus > self.pod_gpus:
            gpus -= gpus % self.pod_gpus
        return gpus, min(run_s, self.longest_s)


class Helios:
    def __init__(self, horizon_s, largest):
        self.longest_s = horizon_s / 2
        self.sizes = [g for g in HELIOS_TIME if g <= largest]
        weights = [HELIOS_TIME[g] / (g * self.mean_run(g)) for g in self.sizes]
        self.ends = list(itertools.accumulate(w / sum(weights) for w in weights))

    @staticmethod
    def mean_run(gpus):
        return HELIOS_RUN_S * gpus**HELIOS_GROWTH

    def draw(self, rng):
        at = min(bisect.bisect_left(self.ends, rng.random()), len(self.sizes) - 1)
        gpus = self.sizes[at]
        # Box and Muller from two plain draws, which are the same on every version of Python.
        radius = math.sqrt(-2 * math.log(1 - rng.random()))
        normal = radius * math.cos(2 * math.pi * rng.random())
        median = self.mean_run(gpus) / math.exp(HELIOS_SIGMA**2 / 2)
        return gpus, min(max(1.0, median * math.exp(HELIOS_SIGMA * normal)), self.longest_s)


# ---- jobs ----


def podset_of(gpus, pod_gpus):
    return {"pods": max(1, gpus // pod_gpus), "gpus": min(gpus, pod_gpus)}


def make_unlike(rng, job, pods, pod_gpus):
    """Gives a gang a leader, sub-gangs or a minimum; the draws do not depend on each other."""
    has_leader, is_cut, is_elastic = (
        rng.random() < share for share in (LEADER_SHARE, STAGES_SHARE, ELASTIC_SHARE)
    )
    stages = [n for n in (2, 3, 4) if pods % n == 0 and pods // n > 1]
    sets = []
    if is_cut and stages:
        count = stages[int(rng.random() * len(stages))]
        size = {"pods": pods // count, "gpus": pod_gpus, "required": "leaf"}
        sets = [{"name": f"stage{n}", **size} for n in range(count)]
        job["profile"] = "pipeline"
    else:
        worker = {"pods": pods, "gpus": pod_gpus}
        if is_elastic:
            worker["min_pods"] = pods // 2
        if not has_leader:
            job.update(worker)
            return
        sets = [{"name": "worker", **worker}]
        job["profile"] = "allreduce"
    if has_leader:
        sets.insert(0, {"name": "leader", "cpu_milli": 4000, "mem_mib": 16384})
    job["podsets"] = sets


def draw_job(options, source, streams):
    sizes, traits = streams["sizes"], streams["traits"]
    gpus, run_s = source.draw(sizes)
    job = {"team": f"t{int(traits.random() * TEAMS)}", "run_s": round(run_s, 3)}
    job["end"] = "fail" if traits.random() < FAIL_SHARE[options.family] else "ok"
    is_urgent = traits.random() < 0.25
    job["priority"] = int(is_urgent if options.family == "helios" else gpus >= LARGE_GPUS)
    job.update(ckpt_s=1800, restart_s=60)
    is_gang = gpus > options.pod_gpus
    factor = 1.0
    if is_gang:
        job["preferred"], job["slow"] = options.wish, SLOW[options.wish]
        factor = max(SLOW[options.wish].values())
    if is_gang and options.family == "unlike":
        make_unlike(streams["gangs"], job, gpus // options.pod_gpus, options.pod_gpus)
    else:
        job.update(podset_of(gpus, options.pod_gpus))
    over, tells = streams["over"].random(), streams["missing"].random() >= 0.5
    exact_s = math.ceil(round(job["run_s"] * factor * 1000, 6)) / 1000
    if options.est == "over":
        job["est_s"] = round(exact_s * 2 * 5**over, 3)
    elif options.est == "exact" or tells:
        job["est_s"] = exact_s
    return job, gpus * job["run_s"]


def jobs_lines(options):
    horizon_s = options.days * DAY_S
    largest = max(8, options.gpus // 2 // 8 * 8)
    if options.family == "helios":
        source = Helios(horizon_s, largest)
    else:
        name = "Seren" if options.family == "seren" else "Kalos"
        folder = data_folder(options) / "traces" / "acme-cdf"
        source = Acme(folder, name, horizon_s, largest, options.pod_gpus)
    # A stream per trait: what one job needs of a trait never shifts what another one gets.
    streams = {
        trait: random.Random(f"{options.family}/{options.seed}/{trait}")
        for trait in ("sizes", "traits", "gangs", "over", "missing", "arrivals")
    }
    jobs, work, aim = [], 0.0, options.load * options.gpus * horizon_s
    while work < aim:
        job, job_work = draw_job(options, source, streams)
        submit_s = round(streams["arrivals"].random() * horizon_s, 3)
        jobs.append({"kind": "job", "job": f"j{len(jobs):06}", "submit_s": submit_s, **job})
        work += job_work
    jobs.sort(key=lambda j: (j["submit_s"], j["job"]))
    name = options.name or f"{options.family}-{options.seed}-{options.est}"
    yield {"kind": "workload", "format": "dovetail-workload/2", "name": name, "seed": options.seed}
    for team in range(TEAMS):
        guarantee = [{"gpus": options.gpus // TEAMS}]
        yield {"kind": "team", "team": f"t{team}", "guarantee": guarantee}
    yield from jobs


# ---- clusters ----


def pairs_pcie(gpus):
    return [{"gpus": [n, n + 1], "nics": 1} for n in range(0, gpus - 1, 2)]


def hgx_shape(gpus, islands):
    width, half = gpus // islands, gpus // 2
    devices = list(range(gpus))
    return {
        "kind": "shape",
        "shape": f"hgx-{gpus}-{islands}",
        "gpus": gpus,
        "islands": [devices[n : n + width] for n in range(0, gpus, width)],
        "numa": [devices[:half], devices[half:]],
        "pcie": pairs_pcie(gpus),
    }


def hgx_node(name, shape, domains):
    return {
        "kind": "node",
        "node": name,
        "gpus": shape["gpus"],
        "model": "H100",
        "gpu_mem_mib": 81559,
        "cpu_milli": 192000,
        "mem_mib": 2097152,
        "shape": shape["shape"],
        "domains": domains,
    }


def header(name, **chains):
    return {"kind": "cluster", "format": "dovetail-cluster/2", "name": name, "chains": chains}


def hosts_lines(options):
    """Equal hosts, equal leaves, leaves dealt to spines in blocks."""
    shape = hgx_shape(options.host_gpus, options.islands)
    leaves = -(-options.hosts // options.leaf)
    per_spine = -(-leaves // options.spines)
    name = options.name or f"hosts-{options.hosts}x{options.host_gpus}-leaf{options.leaf}"
    yield header(name, network=["leaf", "spine"])
    yield shape
    for host in range(options.hosts):
        leaf = host // options.leaf
        domains = {"leaf": f"l{leaf:04}", "spine": f"s{leaf // per_spine:03}"}
        yield hgx_node(f"n{host:05}", shape, domains)


def draw_leaves(leaves, hosts, rng):
    """Leaves in an order by lot, skipping what is too large; drawn again if hosts are left over."""
    for _ in range(100):
        drawn, left = [], hosts
        for key in sorted(sorted(leaves), key=lambda _: rng.random()):
            if leaves[key] <= left:
                drawn.append(key)
                left -= leaves[key]
        if not left:
            return drawn
    sys.exit(f"gang_workload.py: no whole leaves of the topology make {hosts} hosts")


def lingjun_lines(options):
    """Whole leaves of the published topology, each at most once, that make the hosts asked."""
    leaves = {}
    with open(data_folder(options) / "traces/lingjun-topo/topo.csv", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            key = (row["DSW"], row["PSW"], row["ASW"])
            leaves[key] = leaves.get(key, 0) + 1
    drawn = draw_leaves(leaves, options.hosts, random.Random(f"lingjun/{options.seed}"))
    shape = hgx_shape(8, 1)
    yield header(options.name or f"lingjun-{options.seed}", network=["leaf", "spine", "core"])
    yield shape
    hosts = ((key, n) for key in sorted(drawn) for n in range(leaves[key]))
    for host, (key, _) in enumerate(hosts):
        names = ["-".join(key[:n]) for n in (3, 2, 1)]
        yield hgx_node(f"n{host:05}", shape, dict(zip(("leaf", "spine", "core"), names)))


def nvl72_lines(options):
    """Racks of 18 trays x 4; a leaf holds half of each of 4 racks, so that the chains cross."""
    links = [[0 if a == b else 1800 for b in range(4)] for a in range(4)]
    shape = {"kind": "shape", "shape": "tray", "gpus": 4, "links": links, "unit": "GBps"}
    shape |= {"numa": [[0, 1], [2, 3]], "pcie": [{"gpus": [n], "nics": 1} for n in range(4)]}
    chains = {"network": ["leaf", "spine"], "accelerator": ["supernode"]}
    yield header(options.name or f"nvl72x{options.racks}", **chains)
    yield shape
    host = {"gpus": 4, "model": "GB200", "gpu_mem_mib": 189471, "cpu_milli": 144000}
    host |= {"mem_mib": 983040, "shape": "tray"}
    for rack in range(options.racks):
        for tray in range(18):
            leaf = rack // 4 * 2 + tray // 9
            domains = {"supernode": f"r{rack:03}", "leaf": f"l{leaf:03}"}
            domains["spine"] = f"s{leaf // 8:02}"
            yield {"kind": "node", "node": f"r{rack:03}-n{tray:02}", **host, "domains": domains}


# ---- the command ----


def data_folder(options):
    if not options.data:
        sys.exit("gang_workload.py: needs --data DIR or DOVETAIL_DATA for the published curves")
    return Path(options.data)


def write(lines, out):
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()
    if out in (None, "-"):
        sys.stdout.buffer.write(text)
    elif str(out).endswith(".gz"):
        Path(out).write_bytes(gzip.compress(text, mtime=0))
    else:
        Path(out).write_bytes(text)


def parser():
    top = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = top.add_subparsers(dest="what", required=True)
    jobs, cluster = parts.add_parser("jobs"), parts.add_parser("cluster")
    for part in (jobs, cluster):
        part.add_argument("--seed", type=int, default=1)
        part.add_argument("--out", help="a file, gzipped if it ends with .gz [standard output]")
        part.add_argument("--name", help="in the header")
        part.add_argument("--data", default=os.environ.get("DOVETAIL_DATA"), help="published data")
    jobs.add_argument("family", choices=("kalos", "seren", "helios", "unlike"))
    jobs.add_argument("--gpus", type=int, help="of the cluster [2048, unlike: 576]")
    jobs.add_argument("--days", type=float, help="of arrivals [7, unlike: 3]")
    jobs.add_argument("--load", type=float, default=0.9, help="GPU time asked / capacity [0.9]")
    jobs.add_argument("--est", choices=("exact", "over", "missing"), default="over")
    cluster.add_argument("shape", choices=("hosts", "lingjun", "nvl72"))
    cluster.add_argument("--hosts", type=int, default=256, help="[256]")
    cluster.add_argument("--host-gpus", type=int, default=8, help="[8]")
    cluster.add_argument("--islands", type=int, default=1, help="of a host [1]")
    cluster.add_argument("--leaf", type=int, default=8, help="hosts of a leaf [8]")
    cluster.add_argument("--spines", type=int, default=4, help="[4]")
    cluster.add_argument("--racks", type=int, default=8, help="of nvl72 [8]")
    return top


def main(argv=None):
    options = parser().parse_args(argv)
    if options.what == "jobs":
        is_unlike = options.family == "unlike"
        options.gpus = options.gpus or (576 if is_unlike else 2048)
        options.days = options.days or (3 if is_unlike else 7)
        options.pod_gpus, options.wish = (4, "supernode") if is_unlike else (8, "leaf")
        write(jobs_lines(options), options.out)
    else:
        kinds = {"hosts": hosts_lines, "lingjun": lingjun_lines, "nvl72": nvl72_lines}
        write(kinds[options.shape](options), options.out)


if __name__ == "__main__":
    main()
