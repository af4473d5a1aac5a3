"""Proves what a refuse line claims: fits, final, free_gpus, best_pods, binding."""

from .model import exact, is_number
from .room import CONSTRAINTS, EMPTY, ENDLESS, Room
from .search import fits


def check_refusal(replay, life, line):
    job, claim = life.job, line.get("fits", "missing")
    if claim is not None and not isinstance(claim, bool):
        replay.error(f"fits is {claim!r}, expected true, false or null")
        return
    if claim is None:
        if len(job.podsets) == 1:
            replay.error(f"fits is null for {job.name}, a gang of one podset")
        replay.figures.count("null")
    final = line.get("final", False)
    if not isinstance(final, bool):
        replay.error(f"final is {final!r}")
    reason = line.get("reason")
    if not isinstance(reason, dict) or not isinstance(reason.get("code"), str) \
            or not isinstance(reason.get("text"), str):
        replay.error("a refusal needs a reason with code and text")
        reason = reason if isinstance(reason, dict) else {}
    if final is True:
        check_final(replay, job)
    if replay.figures.counts["refuse"] % replay.sample == 0:
        replay.checked += 1
        prove(replay, job, claim, reason)


def ask(replay, job, drop):
    return fits(replay.state, job, replay.now, frozenset(drop), budget=replay.budget)


def prove(replay, job, claim, reason):
    truth = ask(replay, job, ())
    if truth is None:
        replay.unproven["fits"] += 1
    elif claim is False and truth:
        replay.figures.count("false_refusal")
        replay.error(f"fits is false, but the minimum of {job.name} fits")
    elif claim is True and not truth:
        replay.error(f"fits is true, but the minimum of {job.name} does not fit")
    room = Room(replay.state, job, replay.now)
    if "free_gpus" in reason:
        check_free(replay, job, room, reason["free_gpus"])
    if "best_pods" in reason:
        check_best(replay, job, room, reason["best_pods"])
    if "binding" in reason:
        check_binding(replay, job, truth, reason["binding"])


def check_final(replay, job):
    if job.team is not None:
        for name in replay.work.line_of(job.team):
            limit = replay.work.teams[name].limit
            if limit is not None and job.least > limit:
                return
    truth = ask(replay, job, EMPTY)
    if truth is None:
        replay.unproven["final"] += 1
    elif truth:
        replay.error(f"final, but the empty, healthy cluster and the limits hold the minimum "
                     f"of {job.name}")


def check_free(replay, job, room, claim):
    """The text leaves open whether parts of devices and podsets without GPUs count."""
    good = set()
    for podsets in (job.podsets, [p for p in job.podsets if p.gpus] or job.podsets):
        good.update(room.free_gpus(podsets))
    if not is_number(claim) or all(abs(exact(claim) - value) > exact(0.001) for value in good):
        texts = ", ".join(f"{float(value):g}" for value in sorted(good))
        replay.error(f"free_gpus is {claim!r}, recomputed: {texts}")


def check_best(replay, job, room, claim):
    podset = job.podsets[0]
    levels = tuple(sorted(set(job.required + podset.required)))
    if len(job.podsets) != 1 or len(levels) > 1:
        replay.error(f"best_pods is not defined for {job.name}: one podset and at most one level")
        return
    best = room.best(podset, levels)
    if claim not in (best, min(best, podset.pods)) or isinstance(claim, bool):
        shown = "endless" if best >= ENDLESS else best
        replay.error(f"best_pods is {claim!r}, one domain holds {shown}")


def check_binding(replay, job, truth, claim):
    if not isinstance(claim, list) or any(word not in CONSTRAINTS for word in claim):
        replay.error(f"binding {claim!r} is not a list of known constraints")
        return
    if len(set(claim)) != len(claim):
        replay.error(f"binding {claim!r} names a constraint twice")
    if truth is None:
        replay.unproven["binding"] += 1
        return
    for word in CONSTRAINTS:
        alone = False if truth else ask(replay, job, (word,))
        if alone is None:
            replay.unproven["binding"] += 1
        elif alone and word not in claim:
            replay.error(f"binding lacks {word}: without it {job.name} fits")
        elif not alone and word in claim:
            why = "it fits already" if truth else "without it the job still does not fit"
            replay.error(f"binding names {word}, but {why}")
