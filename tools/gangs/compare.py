"""Measures of a setting over groups of jobs, their bootstrap intervals and verdicts.

A group is a seed, or a week of submission where there is one workload only. The bootstrap draws
groups with replacement, the same draws for both settings (paired), and measures the difference; its
interval is between the 2.5th and the 97.5th percentile. With three seeds it is coarse, and says so
by its width.
"""

import math
import random
from dataclasses import dataclass

from gangs import outcomes

WEEK_S = 7 * 86400
DRAWS, BOOTSTRAP_SEED = 2000, 20261130
WITHIN = 0.005  # figures of a summary agree to this


@dataclass
class Sample:
    """What one setting did, cut into groups; every part is a list with an entry per group."""

    waits: list  # s of the class of interest
    sums: dict  # name -> [(numerator, denominator)]
    runs: dict  # name of a summary's figure -> [value per seed]


def nearest_rank(values, percent):
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)] if ordered else None


def is_large(row, least):
    return math.ceil(row["gpus"]) >= least


def sums_of(rows, least):
    """Numerators and denominators of the means over jobs."""
    gangs = [r for r in rows if "hit" in r]
    large = [r for r in gangs if is_large(r, least)]
    return {
        "jct_s_mean": (sum(r["jct_s"] for r in rows), len(rows)),
        "hit_pct": (100 * sum(r["hit"] for r in gangs), len(gangs)),
        "hit_pct_class": (100 * sum(r["hit"] for r in large), len(large)),
        "hit_gpuh_pct": (100 * sum(r["hit_gpu_h"] for r in gangs), sum(r["gpu_h"] for r in gangs)),
    }


def groups_of(results, by_week):
    """Rows per group: per result, or per week of the one result."""
    if not by_week:
        return [r["rows"] for r in results]
    rows = [row for r in results for row in r["rows"]]
    first = min((r["submit_s"] for r in rows), default=0)
    weeks = {}
    for row in rows:
        weeks.setdefault(int((row["submit_s"] - first) // WEEK_S), []).append(row)
    return [weeks.get(w, []) for w in range(max(weeks, default=-1) + 1)]


def sample_of(results, least, by_week):
    groups = groups_of(results, by_week)
    waits = [[r["wait_s"] for r in g if is_large(r, least)] for g in groups]
    parts = [sums_of(g, least) for g in groups]
    sums = {name: [p[name] for p in parts] for name in parts[0]} if parts else {}
    names = set().union(*(r["metrics"] for r in results))
    runs = {n: [r["metrics"].get(n) for r in results] for n in sorted(names)}
    return Sample(waits, sums, runs)


# ---- figures ----


def figure(sample, measure, counts=None):
    """A measure over all groups, or over a draw that takes group g counts[g] times."""
    if measure == "wait_s_p99_class":
        return weighted_p99(sample.waits, counts)
    if measure in sample.sums:
        pairs = sample.sums[measure]
        weights = counts or [1] * len(pairs)
        over = sum(w * n for w, (_, n) in zip(weights, pairs))
        return sum(w * s for w, (s, _) in zip(weights, pairs)) / over if over else None
    values = sample.runs.get(measure, [])
    weights = counts or [1] * len(values)
    if len(weights) != len(values) or None in values or not values:
        return None
    return sum(w * v for w, v in zip(weights, values)) / sum(weights)


def weighted_p99(groups, counts=None):
    counts = counts or [1] * len(groups)
    total = sum(c * len(g) for c, g in zip(counts, groups))
    if not total:
        return None
    above = total - math.ceil(0.99 * total)  # values that stand over the nearest rank
    cached = ORDERED.get(id(groups))
    if cached is None or cached[0] is not groups:
        ordered = sorted(((v, n) for n, g in enumerate(groups) for v in g), reverse=True)
        cached = ORDERED[id(groups)] = (groups, ordered)
    for value, group in cached[1]:
        above -= counts[group]
        if above < 0:
            return value
    return None


ORDERED = {}  # id of the groups -> (the groups, their values from large to small with the group)


def draws(groups):
    rng = random.Random(BOOTSTRAP_SEED)
    found = []
    for _ in range(DRAWS):
        counts = [0] * groups
        for _ in range(groups):
            counts[int(rng.random() * groups)] += 1
        found.append(counts)
    return found


def interval(ours, base, measure, drawn):
    """The 95 % interval of ours - base; None where a run figure has no groups."""
    found = []
    for counts in drawn:
        a, b = figure(ours, measure, counts), figure(base, measure, counts)
        if a is not None and b is not None:
            found.append(a - b)
    if not found:
        return None
    found.sort()
    return found[int(0.025 * len(found))], found[min(len(found) - 1, int(0.975 * len(found)))]


# ---- verdicts ----


@dataclass
class Verdict:
    measure: str
    ours: float
    baseline: str
    theirs: float
    bound: float
    gap_pct: float
    between: tuple
    word: str  # better, equal, worse; no interval where there are no groups
    is_met: bool  # better, and at least half of the gap closed


LESS_IS_BETTER = ("wait_s_p99_class", "jct_s_mean", "stranded_8", "stranded_64")
LESS_IS_BETTER += ("nnd_mean", "ngd_mean")
HALF = 50.0


def gain(measure, ours, theirs):
    return theirs - ours if measure in LESS_IS_BETTER else ours - theirs


def best_of(samples, measure):
    """The setting that is best by a measure; of equals the first."""
    known = [(s, figure(samples[s], measure)) for s in samples]
    known = [(s, v) for s, v in known if v is not None]
    if not known:
        return None
    return min(known, key=lambda k: k[1] if measure in LESS_IS_BETTER else -k[1])[0]


def judge(measure, ours, baseline, theirs, bound, drawn):
    """ours and theirs are samples, bound a figure or None."""
    a, b = figure(ours, measure), figure(theirs, measure)
    between = interval(ours, theirs, measure, drawn)
    word = "equal" if between else "no interval"
    if between and (between[0] > 0 or between[1] < 0):
        word = "better" if gain(measure, a, b) > 0 else "worse"
    gap = None if bound is None else gain(measure, bound, b)
    closed = 100 * gain(measure, a, b) / gap if gap and gap > WITHIN else None
    is_met = word == "better" and closed is not None and closed >= HALF
    return Verdict(measure, a, baseline, b, bound, closed, between, word, is_met)


def side_conditions(ours, theirs):
    """Goodput not lower, mean completion at most 1 % higher: (difference, kept) of each."""
    a, b = figure(ours, "goodput_pct"), figure(theirs, "goodput_pct")
    goodput = None if a is None or b is None else a - b
    a, b = figure(ours, "jct_s_mean"), figure(theirs, "jct_s_mean")
    later_pct = None if a is None or not b else 100 * (a / b - 1)
    return {
        "goodput_points": (goodput, goodput is not None and goodput >= -WITHIN),
        "jct_pct": (later_pct, later_pct is not None and later_pct <= 1.0),
    }
