#!/usr/bin/env python3
"""Quality of gang placement and order beside baselines and bounds; what `make gang-quality` prints.

    gang_quality.py                                the whole grid
    gang_quality.py --quick                        three pairings, few settings, under 5 minutes
    gang_quality.py --pairings kalos-256x8 --ours dovetail/easy --baselines best-fit/easy
    gang_quality.py --generated 101-105            own draws of the same families, to tune on
    gang_quality.py --list                         pairings and settings, nothing is run

A setting is POLICY/ORDER[/option=value]... of `dovetail simulate`. Baselines are all policies of
--policies under all orders of --orders; each is taken at its best setting by each measure, and the
whole search is printed. Other policies (--shown) stand beside them and are not judged, but what
beats ours is said. The bound of a wait is the class alone on the cluster in FIFO, that of a hit
rate 100 %. docs/reference/quality.md says how to read the tables. Losses are printed as losses; the
exit is 1 only when a run fails or a log and its summary disagree.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True

import gang_workload  # noqa: E402 - beside this file
from gangs import causes, compare, outcomes, runs  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
ORDERS = ("fifo", "priority", "easy", "conservative")
BASELINES = ("best-fit", "kueue-like", "kai-like")
SHOWN = ("first-fit", "fgd")
OURS, OUR_ORDERS = "dovetail", ("easy", "priority")
BOUND_SETTINGS = ("dovetail/fifo", "best-fit/fifo")  # the lower one counts
WAIT = "wait_s_p99_class"
AIMS = (WAIT, "hit_pct", "hit_pct_class", "hit_gpuh_pct")
BESIDE = ("jct_s_mean", "goodput_pct", "useful_pct", "stranded_64", "stranded_8")
BESIDE += ("nnd_mean", "ngd_mean")
SEARCH = (*AIMS, *BESIDE, "gar_mean_pct")
HIT_BOUND = 100.0


@dataclass(frozen=True)
class Pairing:
    name: str
    cluster: str
    workloads: tuple
    size_class: str
    by_week: bool = False
    family: str = ""  # of gang_workload.py


def shared(family, cluster, workload, seeds, size_class):
    name = f"{family}-{cluster}"
    files = tuple(f"{workload}-{s}" for s in range(1, seeds + 1))
    return Pairing(name, f"cluster-{cluster}", files, size_class, family=family)


def philly(name, workload):
    return Pairing(name, "cluster-48x8", (workload,), outcomes.SMALL, by_week=True)


PAIRINGS = (
    philly("philly-light", "philly-48x8-light-exact"),
    philly("philly-exact", "philly-48x8-exact"),
    philly("philly-over", "philly-48x8-over"),
    philly("philly-missing", "philly-48x8-missing"),
    shared("kalos", "256x8", "acme-kalos", 5, outcomes.LARGE),
    shared("kalos", "lingjun-2048", "acme-kalos", 5, outcomes.LARGE),
    shared("seren", "256x8", "acme-seren", 5, outcomes.LARGE),
    shared("seren", "lingjun-2048", "acme-seren", 5, outcomes.LARGE),
    shared("helios", "256x8", "helios", 3, outcomes.LARGE),
    shared("helios", "lingjun-2048", "helios", 3, outcomes.LARGE),
    shared("unlike", "nvl72x8", "unlike-nvl72", 3, outcomes.LARGE),
)
QUICK = ("philly-light", "kalos-256x8", "unlike-nvl72x8")
GENERATED_CLUSTERS = {
    "cluster-256x8": ["cluster", "hosts"],
    "cluster-lingjun-2048": ["cluster", "lingjun"],
    "cluster-nvl72x8": ["cluster", "nvl72"],
}


# ---- what to run ----


def known_words(binary):
    """Policies and orders that the program's help names."""
    command = [binary, "simulate", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    for option in ("policy", "order"):
        part = re.search(rf"--{option} (.*?)\n  --", text, re.S).group(1)
        found.append(set(re.findall(r"[a-z][a-z0-9-]+", part)))
    return found


def named_policies(wanted, policies):
    """A policy with several published rules has one name per rule, all with the same beginning."""
    return [p for n in wanted for p in sorted(policies) if p == n or p.startswith(f"{n}-")]


def settings_of(options):
    """Ours, the baselines' and those only shown, from the options or what the program knows."""
    policies, orders = known_words(options.binary)
    wanted = options.orders.split(",") if options.orders else ORDERS
    wanted = [o for o in wanted if o in orders]
    if options.ours:
        ours = options.ours.split(",")
    else:
        ours = [f"{OURS}/{next(o for o in OUR_ORDERS if o in orders)}"]
    if options.quick:
        wanted = [o for o in wanted if o in ("priority", "easy")]
    beside = () if options.quick else SHOWN
    names = options.policies.split(",") if options.policies else BASELINES
    others = options.shown.split(",") if options.shown is not None else beside
    baselines = [f"{n}/{o}" for n in named_policies(names, policies) for o in wanted]
    baselines = options.baselines.split(",") if options.baselines else baselines
    shown = [f"{n}/{o}" for n in named_policies(others, policies) for o in wanted]
    shown = [s for s in shown if s not in baselines and s not in ours]
    return ours, baselines, shown


def numbers_of(text):
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


class Files:
    """Finds, draws or derives the files of a pairing."""

    def __init__(self, options):
        self.options, self.made = options, Path(options.out) / "made"
        self.made.mkdir(parents=True, exist_ok=True)
        self.shared = Path(options.data) / "workloads" if options.data else None

    def draw(self, name, arguments):
        path = self.made / f"{name}.jsonl.gz"
        where = ["--data", self.options.data] if self.options.data else []
        gang_workload.main([*arguments, *where, "--out", str(path)])
        return path

    def of(self, pairing):
        """The cluster and the workloads; None where they are not at hand."""
        if self.options.generated:
            return self.drawn(pairing)
        if not self.shared:
            return None
        names = pairing.workloads
        if self.options.seeds and not pairing.by_week:
            seeds = {str(s) for s in numbers_of(self.options.seeds)}
            names = [n for n in names if n.rsplit("-", 1)[1] in seeds]
        cluster = self.shared / f"{pairing.cluster}.jsonl.gz"
        paths = [self.shared / f"{n}.jsonl.gz" for n in names]
        return (cluster, paths) if cluster.exists() and all(p.exists() for p in paths) else None

    def drawn(self, pairing):
        if not pairing.family:
            return None
        seeds = numbers_of(self.options.generated)
        arguments = [*GENERATED_CLUSTERS[pairing.cluster], "--seed", str(seeds[0])]
        cluster = self.draw(f"{pairing.cluster}-{seeds[0]}", arguments)
        told = ["--est", self.options.est, "--load", str(self.options.load)]
        paths = []
        for seed in seeds:
            name = f"{pairing.family}-{seed}-{self.options.est}-{self.options.load}"
            paths.append(self.draw(name, ["jobs", pairing.family, "--seed", str(seed), *told]))
        return cluster, paths

    def alone(self, workload, size_class):
        """The class of interest without the others."""
        path = self.made / f"{workload.name.split('.jsonl')[0]}-alone-{size_class}.jsonl"
        outcomes.Workload(workload).write_class(path, outcomes.CLASS_LEAST[size_class])
        return path


# ---- tables ----


def text_of(value):
    if value is None:
        return "n/a"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}"


def table(title, columns, rows):
    cells = [[text_of(v) for v in row] for row in rows]
    width = [max(len(c), *(len(r[n]) for r in cells)) for n, c in enumerate(columns)]
    print(f"\n{title}")
    for row in [list(columns), *cells]:
        first = row[0].ljust(width[0])
        print("  " + "  ".join([first] + [v.rjust(w) for v, w in zip(row[1:], width[1:])]).rstrip())


def named(measure, pairing):
    return measure.replace("class", pairing.size_class)


def search_table(pairing, samples):
    columns = ["setting", *(named(m, pairing) for m in SEARCH)]
    rows = [[s, *(compare.figure(x, m) for m in SEARCH)] for s, x in samples.items()]
    table(f"{pairing.name}: every setting", columns, rows)


def waits_table(pairing, samples):
    names = [n for n, _ in outcomes.SIZE_CLASSES] + [outcomes.SMALL]
    figures = [f"wait_s_{p}_{n}" for n in names for p in ("p50", "p90", "p99")]
    known = [f for f in figures if any(compare.figure(x, f) is not None for x in samples.values())]
    rows = [[f, *(compare.figure(x, f) for x in samples.values())] for f in known]
    table(f"{pairing.name}: waits by class, mean over seeds", ["s", *samples], rows)


def verdict_rows(pairing, verdicts):
    rows = []
    for v in verdicts:
        between = " .. ".join(text_of(x) for x in v.between) if v.between else "n/a"
        met = "half met" if v.is_met else "half not met" if v.bound is not None else ""
        row = [named(v.measure, pairing), v.ours, v.theirs, v.baseline, v.bound, v.gap_pct]
        rows.append([*row, between, v.word, met])
    return rows


# ---- one pairing ----


class Bench:
    def __init__(self, options, runner, files):
        self.options, self.runner, self.files = options, runner, files
        self.ours, self.baselines, self.shown = settings_of(options)
        self.disagree, self.record = [], []

    def cells(self, pairing):
        """Cells by setting, and those of the bound."""
        found = self.files.of(pairing)
        if not found:
            runs.say(f"  skipped: the files of {pairing.name} are not there")
            return None
        cluster, workloads = found
        settings = list(dict.fromkeys([*self.ours, *self.baselines, *self.shown]))
        causes_of = self.options.causes
        traced = {*self.ours, *causes_of.split(",")} if causes_of is not None else set()
        alone = [self.files.alone(w, pairing.size_class) for w in workloads]

        def made(settings, files):
            return {s: [runs.Cell(cluster, w, s, s in traced) for w in files] for s in settings}

        return made(settings, workloads), made(BOUND_SETTINGS, alone)

    def results(self, cells):
        """Results of all cells of a setting; None unless all are there: means of some mislead."""
        found = [self.runner.result(c) for c in cells]
        if None in found:
            return None
        self.disagree += [c.name() for c, r in zip(cells, found) if not r["agree"]]
        return found

    def report(self, pairing, by_setting, bound_cells):
        least = outcomes.CLASS_LEAST[pairing.size_class]
        results = {s: self.results(c) for s, c in by_setting.items()}
        samples = {
            s: compare.sample_of(r, least, pairing.by_week) for s, r in results.items() if r
        }
        alone = {s: self.results(c) for s, c in bound_cells.items()}
        alone = {s: compare.sample_of(r, least, pairing.by_week) for s, r in alone.items() if r}
        lowest = compare.best_of(alone, WAIT)
        if not samples or lowest is None:
            print(f"\n{pairing.name}: no complete setting or no bound")
            return
        bounds = {m: HIT_BOUND for m in AIMS if m.startswith("hit")}
        bounds[WAIT] = compare.figure(alone[lowest], WAIT)
        groups = len(next(iter(samples.values())).waits)
        unit = "weeks" if pairing.by_week else "seeds"
        jobs = sum(len(g) for g in alone[lowest].waits)
        print(f"\n==== {pairing.name}: {jobs} jobs of {pairing.size_class} GPUs, {groups} {unit}")
        search_table(pairing, samples)
        for ours in [s for s in self.ours if s in samples]:
            self.judge(pairing, ours, samples, bounds, compare.draws(groups))
        self.print_causes(pairing, results)

    def judge(self, pairing, ours, samples, bounds, drawn):
        theirs = {s: x for s, x in samples.items() if s in self.baselines and s not in self.ours}
        verdicts, sides = [], {}
        for measure in (*AIMS, *BESIDE):
            best = compare.best_of(theirs, measure)
            if best is None:
                continue
            pair = (samples[ours], best, theirs[best])
            verdicts.append(compare.judge(measure, *pair, bounds.get(measure), drawn))
            sides[measure] = compare.side_conditions(samples[ours], theirs[best])
        columns = ["measure", ours, "best other", "which", "bound", "gap closed %"]
        title = f"{pairing.name}: {ours} against the best baseline by each measure"
        columns += ["95 % of difference", "", "aim"]
        table(title, columns, verdict_rows(pairing, verdicts))
        settings = dict.fromkeys([ours, *(v.baseline for v in verdicts)])
        waits_table(pairing, {s: samples[s] for s in settings})
        print(f"\n{pairing.name}: side conditions against the same baselines")
        for measure in AIMS:
            if measure in sides:
                (points, high), (pct, soon) = sides[measure].values()
                goodput = f"goodput {text_of(points)} points {'kept' if high else 'LOWER'}"
                completion = f"mean completion {text_of(pct)} % {'kept' if soon else 'OVER 1 %'}"
                print(f"  {named(measure, pairing)}: {goodput}, {completion}")
        words = [f"{named(v.measure, pairing)} {word_of(v, sides)}" for v in verdicts]
        print(f"VERDICT {pairing.name} {ours}: {'; '.join(words)}")
        self.print_losses(pairing, ours, samples, drawn)
        self.record.append(
            {"pairing": pairing.name, "ours": ours, "verdicts": [vars(v) for v in verdicts]}
            | {"sides": {m: {k: v[0] for k, v in s.items()} for m, s in sides.items()}}
        )

    def print_losses(self, pairing, ours, samples, drawn):
        """What is only shown, where it is clearly better than ours."""
        for setting in [s for s in self.shown if s in samples]:
            pair = (samples[ours], setting, samples[setting])
            found = [compare.judge(m, *pair, None, drawn) for m in (*AIMS, *BESIDE)]
            lost = [v for v in found if v.word == "worse"]
            if lost:
                words = (f"{named(v.measure, pairing)} {text_of(v.theirs)}" for v in lost)
                print(f"LOSS {pairing.name} {ours}: {setting} has {', '.join(words)}")

    def print_causes(self, pairing, results):
        for setting, found in results.items():
            if found and "causes" in found[0]:
                print(f"\n{pairing.name} {setting}: causes, class {pairing.size_class}")
                for line in causes.describe([r["causes"][pairing.size_class] for r in found]):
                    print(f"  {line}")


def word_of(verdict, sides):
    if verdict.measure not in AIMS:
        return verdict.word
    kept = all(k for _, k in sides[verdict.measure].values())
    if verdict.gap_pct is None:
        return f"{verdict.word} (no gap to close{'' if kept else ', side missed'})"
    met = ("half met" if verdict.is_met else "half not met") + ("" if kept else ", side missed")
    return f"{verdict.word} ({verdict.gap_pct:.0f} % of the gap, {met})"


# ---- the command ----


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build" / "dovetail"), help="the program")
    parser.add_argument("--data", default=os.environ.get("DOVETAIL_DATA"), help="larger data")
    parser.add_argument("--pairings", help="comma separated [all]")
    parser.add_argument("--ours", help="settings, comma separated [dovetail under its best order]")
    parser.add_argument("--baselines", help="settings, instead of --policies x --orders")
    parser.add_argument("--policies", help=f"of baselines [{','.join(BASELINES)}]")
    parser.add_argument("--shown", help=f"policies beside, not judged [{','.join(SHOWN)}]")
    parser.add_argument("--orders", help=f"of baselines [{','.join(ORDERS)}]")
    parser.add_argument("--seeds", help="of the shared workloads, A-B or A,B [all]")
    parser.add_argument("--generated", help="draw own workloads with these seeds instead")
    parser.add_argument("--est", default="over", help="of --generated: exact, over, missing")
    parser.add_argument("--load", type=float, default=0.9, help="of --generated [0.9]")
    parser.add_argument(
        "--causes", nargs="?", const="", help="why gangs waited and missed, for ours and for these"
    )
    parser.add_argument("--quick", action="store_true", help="a subset, under 5 minutes")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time [2]")
    parser.add_argument("--limit", type=int, default=0, help="start no run after so many seconds")
    parser.add_argument("--timeout", type=int, default=900, help="of one run, s [900]")
    parser.add_argument("--out", default=str(ROOT / "build" / "gang-quality"), help="kept cells")
    parser.add_argument("--json", help="a file for the verdicts")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    return parser.parse_args()


def chosen_pairings(options):
    if options.pairings:
        names = options.pairings.split(",")
        unknown = set(names) - {p.name for p in PAIRINGS}
        if unknown:
            sys.exit(f"gang_quality.py: no such pairing: {', '.join(sorted(unknown))}")
        return [p for p in PAIRINGS if p.name in names]
    return [p for p in PAIRINGS if not options.quick or p.name in QUICK]


def main():
    options = arguments()
    runner = runs.Runner(options.binary, options.out, options.jobs, options.timeout, options.limit)
    bench = Bench(options, runner, Files(options))
    pairings = chosen_pairings(options)
    runs.say(f"ours: {', '.join(bench.ours)}; baselines: {', '.join(bench.baselines)}")
    runs.say(f"shown beside: {', '.join(bench.shown) or 'none'}")
    if options.list:
        print("\n".join(f"{p.name}: {p.cluster}, {', '.join(p.workloads)}" for p in pairings))
        return 0
    cells = {p: c for p in pairings if (c := bench.cells(p))}
    parts = [part for pair in cells.values() for part in pair]
    runner.run([c for part in parts for found in part.values() for c in found])
    for pairing, (by_setting, bound) in cells.items():
        bench.report(pairing, by_setting, bound)
    if options.json:
        Path(options.json).write_text(json.dumps(bench.record, indent=2) + "\n", encoding="utf-8")
    for name, trouble in runner.failed.items():
        print(f"FAILED {name}: {trouble}")
    for name in sorted(set(bench.disagree)):
        print(f"DISAGREE {name}: the log does not give the summary's figures")
    return 1 if runner.failed or bench.disagree else 0


if __name__ == "__main__":
    sys.exit(main())
