"""The metrics of gang runs by name, and their comparison with the end line's summary."""

from fractions import Fraction

from .bounds import bounds
from .model import is_number
from .spread import Spread

CLASSES = ("1", "2-7", "8", "9-15", "16-63", "64+", "16+")


def classes_of(gpus):
    """Size classes of a job by GPUs asked, rounded up."""
    count = -(-gpus // 1)
    if count <= 1:
        return ("1",)
    if count <= 7:
        return ("2-7",)
    if count == 8:
        return ("8",)
    if count <= 15:
        return ("9-15",)
    return ("16-63", "16+") if count <= 63 else ("64+", "16+")


def rank(values, percent):
    """Nearest rank of sorted values."""
    if not values:
        return None
    return values[max(0, -(-percent * len(values) // 100) - 1)]


def mean(values):
    return sum(values) / len(values) if values else None


def waits(finished):
    """wait_s_*, jobs_C."""
    rows = sorted((life.first_start - life.job.submit) / 1e6 for life in finished)
    found = {"wait_s_mean": mean(rows), "wait_s_max": rows[-1] if rows else None}
    for percent in (50, 90, 99):
        found[f"wait_s_p{percent}"] = rank(rows, percent)
    for name in CLASSES:
        some = sorted((life.first_start - life.job.submit) / 1e6 for life in finished
                      if name in classes_of(life.job.asked))
        found[f"jobs_{name}"] = len(some)
        for percent in (50, 90, 99):
            found[f"wait_s_p{percent}_{name}"] = rank(some, percent)
    return found


def completions(finished):
    rows = sorted((life.finish - life.job.submit) / 1e6 for life in finished)
    slow = sorted((life.finish - life.job.submit) / life.job.run for life in finished
                  if life.job.run)
    return {"jct_s_mean": mean(rows), "jct_s_p50": rank(rows, 50), "jct_s_p99": rank(rows, 99),
            "slowdown_mean": mean(slow), "slowdown_p99": rank(slow, 99)}


def counts_of(figures):
    counts = figures.counts
    names = {"finished": "finish", "cancelled": "cancel", "starts": "start", "grows": "grow",
             "shrinks": "shrink", "preemptions": "preempt", "moves": "move", "failures": "fail",
             "refusals": "refuse", "refusals_null": "null", "false_refusals": "false_refusal"}
    found = {name: counts[kind] for name, kind in names.items()}
    lives = figures.replay.lives.values()
    found["jobs"] = sum(life.status != "unborn" for life in lives)
    found["dropped"] = sum(life.status == "dropped" for life in lives)
    found["preemptions_per_1000"] = (1000 * counts["preempt"] / counts["start"]
                                     if counts["start"] else None)
    return found


def occupancy(figures, lives):
    now = figures.replay.now
    found = {}
    for name, key in (("gar_mean_pct", "gar"), ("gar_backlog_pct", "backlog"),
                      ("sor_pct", "sor")):
        total, time = figures.spans[key]
        found[name] = 100 * total / time if time else None
    lost = sum((run.lost for life in lives for run in life.runs), Fraction(0))
    useful = Fraction(0)
    for life in lives:
        if life.status == "finished":
            useful += sum(run.gpu_time(run.start, run.stop) - run.lost for run in life.runs)
    service = figures.service_time
    found["goodput_pct"] = float(100 * useful) / service if service else None
    found["lost_gpu_h"] = float(lost) / 3.6e9
    for stranded in figures.stranded:
        found[f"stranded_{stranded.k}"] = stranded.mean()
    found["preempt_unused"] = sum(
        1 for stop, start in figures.victims if start is None or start > stop + 60000000)
    reclaims = sorted(value / 1e6 for value in figures.reclaims)
    found["reclaim_s_p50"] = rank(reclaims, 50)
    found["reclaim_s_max"] = reclaims[-1] if reclaims else None
    for name, books in figures.teams.items():
        found[f"violation_gpu_h_{name}"] = float(books.violation) / 3.6e9
    found["violation_gpu_h"] = sum(
        float(books.violation) for books in figures.teams.values()) / 3.6e9
    found["guarantee_unsafe"] = figures.unsafe_count
    found["makespan_s"] = None
    ends = [life.finish for life in lives if life.status == "finished"]
    if ends:
        found["makespan_s"] = (max(ends) - figures.first) / 1e6
    found["_end"] = now
    return found


def ratio(value, bound):
    return value / bound if value is not None and bound else None


def gang_metrics(figures):
    """Every metric of "Metrics of gang runs"; None where nothing was there to measure."""
    lives = list(figures.replay.lives.values())
    finished = [life for life in lives if life.status == "finished" and life.job.has_gpus]
    found = counts_of(figures)
    found.update(occupancy(figures, lives))
    end = found.pop("_end")
    found.update(waits(finished))
    found.update(completions(finished))
    spread = Spread(figures)
    found.update(spread.hits(finished, end))
    found.update(spread.deviations(lives, end))
    found.update(figures.promises.counts)
    limits = {"bound_volume_s": None, "bound_longest_s": None, "bound_srpt_jct_s": None,
              "bound_srpt_makespan_s": None}
    limits.update(bounds(finished, figures.cluster.gpus, figures.first))
    found.update(limits)
    best = [limits[key] for key in ("bound_volume_s", "bound_longest_s", "bound_srpt_makespan_s")
            if limits[key] is not None]
    found["makespan_over_bound"] = ratio(found["makespan_s"], max(best, default=None))
    found["jct_over_bound"] = ratio(found["jct_s_mean"], limits["bound_srpt_jct_s"])
    return found


def compare(error, summary, metrics):
    """The end line's summary against what was recomputed."""
    if summary is None:
        return
    if not isinstance(summary, dict):
        error("summary is not an object")
        return
    for name, value in summary.items():
        if name not in metrics:
            error(f"summary names the unknown metric {name!r}")
            continue
        want = metrics[name]
        if want is None:
            if value not in (None, 0):
                error(f"summary has {name} {value!r}, there was nothing to measure")
        elif not is_number(value) or abs(value - want) > max(0.005, abs(want) * 1e-4):
            error(f"summary has {name} {value!r}, recomputed: {want:.6g}")
