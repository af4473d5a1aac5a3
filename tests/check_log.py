#!/usr/bin/env python3
"""Checks decision logs: every line against the rules, every figure against a recount.

    check_log.py --cluster C.jsonl[.gz] --workload W.jsonl[.gz] LOG...
    check_log.py --openb DIR --list default --seed 42 LOG
    check_log.py --worlds WORLDS.jsonl[.gz] LOG...      (the world named by each log's header)

Ends with 0 if all is right, 1 with every violation as LOG:LINE: text, 2 on bad usage or input.
"""

import argparse
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from logcheck.model import InputError, decode, json_lines, read_cluster  # noqa: E402
from logcheck.openb import OpenbReplay, read_openb  # noqa: E402
from logcheck.replay import Replay  # noqa: E402
from logcheck.work import read_workload  # noqa: E402

SHOWN = 20


def arguments(argv):
    parser = argparse.ArgumentParser(description="Checks decision logs.")
    parser.add_argument("--cluster", help="cluster file of the logs")
    parser.add_argument("--workload", help="workload file of the logs")
    parser.add_argument("--openb", help="directory of the openb lists")
    parser.add_argument("--list", help="short name of the openb list")
    parser.add_argument("--seed", type=int, help="seed of the openb arrival order")
    parser.add_argument("--worlds", help="file of small worlds, one a line")
    parser.add_argument("--sample", type=int, default=1, help="prove every Nth refusal only")
    parser.add_argument("--budget", type=int, default=20000, help="steps of one search")
    parser.add_argument("--metrics", action="store_true", help="print all figures as JSON")
    parser.add_argument("logs", nargs="+", metavar="LOG")
    options = parser.parse_args(argv)
    generic = options.cluster and options.workload
    openb = options.openb and options.list and options.seed is not None
    if [bool(generic), bool(openb), bool(options.worlds)].count(True) != 1:
        parser.error("give --cluster and --workload, or --openb, --list and --seed, or --worlds")
    if options.sample < 1 or options.budget < 1:
        parser.error("--sample and --budget are at least 1")
    return options


def build(options, path, cluster_lines, work_lines, log):
    try:
        cluster = read_cluster(cluster_lines)
        work = read_workload(work_lines, cluster)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: a field is not of its kind: {error}") from error
    return Replay(cluster, work, log, options.sample, options.budget)


def generic_check(options, log):
    return build(options, f"{options.cluster} or {options.workload}",
                 json_lines(options.cluster), json_lines(options.workload), log)


def worlds_check(options, log):
    try:
        with open(log, "rb") as stream:
            name = decode(stream.readline()).get("workload")
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{log}: no header can be read: {error}") from error
    for where, world in json_lines(options.worlds):
        if world["workload"][0]["name"] == name:
            parts = [[(f"{where}, {part} {n}", line) for n, line in enumerate(world[part])]
                     for part in ("cluster", "workload")]
            return build(options, options.worlds, *parts, log)
    raise InputError(f"{options.worlds}: no world has the workload {name!r}")


def openb_check(options, log):
    return OpenbReplay(read_openb(Path(options.openb), options.list, options.seed), log,
                       options.sample)


def timings(log, lines):
    """Breaks in the second file LOG.us, if it is there: rising line numbers, microseconds."""
    path = Path(log + ".us")
    if not path.exists():
        return []
    errors, last = [], 0
    for number, text in enumerate(path.read_text(errors="replace").splitlines(), 1):
        words = text.split(" ")
        if not re.fullmatch(r"[0-9]{1,15} [0-9]{1,15}(\.[0-9]+)?", text):
            errors.append(f"{path}:{number}: found {text!r}, expected a line number and "
                          "microseconds")
        elif not last < int(words[0]) <= lines:
            errors.append(f"{path}:{number}: line {words[0]} does not follow {last} or is none "
                          "of the log")
        else:
            last = int(words[0])
    return errors


def check(options, log):
    chosen = openb_check if options.openb else worlds_check if options.worlds else generic_check
    replay = chosen(options, log)
    try:
        with open(log, "rb") as stream:
            errors = replay.run(stream)
    except OSError as error:
        raise InputError(f"{log}: cannot be read: {error}") from error
    errors = [f"{log}:{number}: {text}" for number, text in errors]
    errors += timings(log, replay.number)
    for text in errors[:SHOWN]:
        print(text)
    if errors:
        print(f"{log}: {len(errors)} violations" +
              (f", {SHOWN} shown" if len(errors) > SHOWN else ""))
    else:
        open_ends = ", ".join(f"{k} {v}" for k, v in replay.unproven.items() if v)
        print(f"{log}: right, {replay.number} lines, {replay.checked} refusals proved" +
              (f"; unproven by checker: {open_ends}" if open_ends else ""))
    if options.metrics:
        print(json.dumps(replay.figures.metrics, indent=1, sort_keys=True))
    return not errors


def main(argv):
    options = arguments(argv)
    sys.setrecursionlimit(20000)
    try:
        results = [check(options, log) for log in options.logs]
    except InputError as error:
        print(f"check_log: {error}", file=sys.stderr)
        return 2
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
