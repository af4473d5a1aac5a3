#!/usr/bin/env python3
"""Tests of tools/gang_quality.py and tools/gang_workload.py: draws, reading of logs, intervals."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import gang_workload  # noqa: E402 - found through the path above
from gangs import causes, compare, outcomes, runs  # noqa: E402

DOVETAIL = os.environ.get("DOVETAIL", str(ROOT / "build" / "dovetail"))


def drawn(folder, *arguments):
    path = Path(folder) / "-".join(a.strip("-") for a in arguments)
    gang_workload.main([*arguments, "--out", str(path)])
    return path


class Draws(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def jobs(self, *more):
        path = drawn(self.folder.name, "jobs", "helios", "--gpus", "256", "--days", "1", *more)
        return outcomes.Workload(path).jobs

    def test_same_seed_same_bytes_and_another_seed_other_bytes(self):
        arguments = ["jobs", "helios", "--gpus", "256", "--days", "1"]
        first = drawn(self.folder.name, *arguments, "--seed", "7").read_bytes()
        again = drawn(self.folder.name, *arguments, "--seed", "7").read_bytes()
        other = drawn(self.folder.name, *arguments, "--seed", "8").read_bytes()
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_estimates_differ_and_nothing_else(self):
        kinds = {k: self.jobs("--est", k) for k in ("exact", "over", "missing")}
        estimates = {k: {n: j.pop("est_s", None) for n, j in v.items()} for k, v in kinds.items()}
        self.assertEqual(kinds["exact"], kinds["over"])
        self.assertEqual(kinds["exact"], kinds["missing"])
        for name, exact in estimates["exact"].items():
            job = kinds["exact"][name]
            self.assertGreaterEqual(exact, job["run_s"] * max(job.get("slow", {"": 1}).values()))
            self.assertLessEqual(1.99, estimates["over"][name] / exact)
            self.assertLessEqual(estimates["over"][name] / exact, 10.01)
        told = [e for e in estimates["missing"].values() if e is not None]
        self.assertTrue(0.4 < len(told) / len(estimates["missing"]) < 0.6)

    def test_the_load_is_reached_by_the_last_job(self):
        jobs = self.jobs("--load", "0.8")
        work = [outcomes.gpus_of(j) * j["run_s"] for _, j in sorted(jobs.items())]
        self.assertGreaterEqual(sum(work), 0.8 * 256 * 86400)
        self.assertLess(sum(work[:-1]), 0.8 * 256 * 86400)

    def test_clusters_have_the_hosts_asked(self):
        for arguments, gpus in (
            (["cluster", "hosts", "--hosts", "20", "--leaf", "8"], 160),
            (["cluster", "nvl72", "--racks", "5"], 360),
        ):
            cluster = outcomes.Cluster(drawn(self.folder.name, *arguments))
            self.assertEqual(cluster.gpus(), gpus)


class Aims(unittest.TestCase):
    """The smallest domain that holds a gang: 9 trays of each of 4 racks share a leaf."""

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            self.cluster = outcomes.Cluster(drawn(folder, "cluster", "nvl72", "--racks", "4"))

    def aim(self, **job):
        return self.cluster.aim({"preferred": "supernode", **job})

    def test_plain_gangs(self):
        self.assertEqual(self.aim(pods=4, gpus=1), "node")
        self.assertEqual(self.aim(pods=18, gpus=4), "supernode")
        self.assertEqual(self.aim(pods=19, gpus=4), "cluster")

    def test_sub_gangs_stay_in_leaves_of_their_own(self):
        def stages(count, pods):
            return [{"pods": pods, "gpus": 4, "required": "leaf"} for _ in range(count)]

        self.assertEqual(self.aim(podsets=stages(2, 9)), "supernode")
        self.assertEqual(self.aim(podsets=stages(3, 6)), "cluster")  # two do not fit beside in 9

    def test_a_leader_without_gpus_takes_no_room(self):
        worker = {"pods": 18, "gpus": 4}
        self.assertEqual(self.aim(podsets=[{"cpu_milli": 4000}, worker]), "supernode")


class Figures(unittest.TestCase):
    def sample(self, waits):
        return compare.Sample(waits, {"hit_pct": [(100 * len(w), len(w)) for w in waits]}, {})

    def test_p99_is_nearest_rank_over_all_groups(self):
        groups = [list(range(1, 101)), list(range(101, 201))]
        expected = compare.nearest_rank(groups[0] + groups[1], 99)
        self.assertEqual(compare.weighted_p99(groups), expected)
        self.assertEqual(compare.weighted_p99(groups, [2, 0]), 99)
        self.assertEqual(compare.weighted_p99([[5.0], []]), 5.0)
        self.assertIsNone(compare.weighted_p99([[], []]))

    def test_p99_of_draws_equals_the_plain_one(self):
        groups = [[3, 9, 4], [1], [8, 2, 2, 7]]
        for counts in compare.draws(3)[:50]:
            flat = [v for c, g in zip(counts, groups) for v in g * c]
            self.assertEqual(compare.weighted_p99(groups, counts), compare.nearest_rank(flat, 99))

    def test_a_clear_difference_is_better_and_a_loss_is_worse(self):
        fast, slow = self.sample([[1, 2]] * 4), self.sample([[9, 10]] * 4)
        drawn_counts = compare.draws(4)
        won = compare.judge("wait_s_p99_class", fast, "b", slow, 0.0, drawn_counts)
        self.assertEqual((won.word, won.gap_pct, won.is_met), ("better", 80.0, True))
        lost = compare.judge("wait_s_p99_class", slow, "b", fast, 0.0, drawn_counts)
        self.assertEqual((lost.word, lost.is_met), ("worse", False))
        same = compare.judge("wait_s_p99_class", fast, "b", fast, 0.0, drawn_counts)
        self.assertEqual((same.word, same.gap_pct), ("equal", 0.0))

    def test_a_bound_that_the_baseline_has_reached_leaves_no_gap(self):
        fast = self.sample([[1, 2]] * 4)
        verdict = compare.judge("wait_s_p99_class", fast, "b", fast, 2.0, compare.draws(4))
        self.assertIsNone(verdict.gap_pct)
        self.assertFalse(verdict.is_met)

    def test_weeks_are_cut_from_the_first_submission(self):
        rows = [{"submit_s": 100.0 + d * 86400} for d in (0, 6.9, 7, 20)]
        groups = compare.groups_of([{"rows": rows}], True)
        self.assertEqual([len(g) for g in groups], [2, 1, 1])


class WholeRun(unittest.TestCase):
    """Six hosts of 8 GPUs, two in a leaf: gangs wait for one another, and miss."""

    CLUSTER = [
        {"kind": "cluster", "name": "c", "chains": {"network": ["leaf"]}},
        *(
            {"kind": "node", "node": f"n{n}", "gpus": 8, "domains": {"leaf": f"l{n // 2}"}}
            for n in range(6)
        ),
    ]

    def job(self, name, submit_s, pods, gpus, run_s, **more):
        line = {"kind": "job", "job": name, "submit_s": submit_s, "run_s": run_s}
        return {**line, "pods": pods, "gpus": gpus, **more}

    def run_jobs(self, jobs):
        folder = Path(self.scratch.name)
        head = {"kind": "cluster", "format": "dovetail-cluster/2", **self.CLUSTER[0]}
        lines = [head, *self.CLUSTER[1:]]
        (folder / "c.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
        head = {"kind": "workload", "format": "dovetail-workload/2", "name": "w", "seed": 1}
        (folder / "w.jsonl").write_text("".join(json.dumps(x) + "\n" for x in [head, *jobs]))
        cell = runs.Cell(folder / "c.jsonl", folder / "w.jsonl", "first-fit/fifo", True)
        runner = runs.Runner(DOVETAIL, folder / "out", 1, 60, 0)
        runner.run([cell])
        self.assertEqual(runner.failed, {})
        return runner.result(cell)

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        runs.say = lambda text: None

    def test_rows_and_causes_of_a_gang_that_misses(self):
        gang = {"preferred": "leaf", "slow": {"leaf": 1, "cluster": 2}}
        found = self.run_jobs(
            [
                self.job("a", 0, 1, 8, 100),  # n0
                self.job("b", 0, 1, 8, 400),  # n1
                self.job("c", 0, 1, 8, 300),  # n2
                self.job("d", 0, 1, 4, 1000),  # half of n3
                self.job("e", 0, 2, 8, 1000),  # n4, n5
                self.job("gang", 50, 2, 8, 500, **gang),
            ]
        )
        self.assertTrue(found["agree"])
        row = next(r for r in found["rows"] if r["job"] == "gang")
        # a frees n0 at 100, c frees n2 at 300: two leaves. b frees n1 beside n0 100 s later.
        self.assertEqual((row["wait_s"], row["hit"]), (250, False))
        self.assertEqual(row["jct_s"], 1250)
        spent = found["causes"]["16+"]["all"]
        self.assertAlmostEqual(spent["shortage"], 250 / 3600)
        (miss,) = found["causes"]["16+"]["misses"]
        self.assertEqual((miss["level"], miss["chosen"], miss["later_s"]), ("leaf", False, 100))
        self.assertEqual(miss["in_way"], {"8": 8})

    def test_whole_hosts_are_scattered_though_enough_is_free(self):
        small = [self.job(f"s{n}", 0, 1, 5, 300 + n) for n in range(6)]
        found = self.run_jobs([*small, self.job("gang", 10, 2, 8, 10)])
        self.assertTrue(found["agree"])
        # 18 GPUs are free, 3 on each host; two whole hosts are free when s1 ends.
        spent = found["causes"]["16+"]["all"]
        self.assertAlmostEqual(spent["scattered"], 291 / 3600)
        self.assertEqual((spent["shortage"], spent["held"]), (0, 0))

    def test_a_kept_cell_is_not_run_again_and_a_broken_one_is_said(self):
        folder = Path(self.scratch.name)
        self.run_jobs([self.job("a", 0, 1, 8, 100)])
        cell = runs.Cell(folder / "c.jsonl", folder / "w.jsonl", "first-fit/fifo", True)
        runner = runs.Runner(DOVETAIL, folder / "out", 1, 60, 0)
        kept = runner.path(cell)
        before = kept.stat().st_mtime_ns
        runner.run([cell])
        self.assertEqual(kept.stat().st_mtime_ns, before)
        broken = runs.Cell(folder / "c.jsonl", folder / "w.jsonl", "no-such/fifo")
        runner.run([broken])
        self.assertIn("simulate ended with 2", runner.failed[broken.name()])
        self.assertIsNone(runner.result(broken))


class Causes(unittest.TestCase):
    def test_the_text_adds_up(self):
        part = {"shortage": 3.0, "scattered": 1.0, "held": 0.0}
        lines = causes.describe([{"all": part, "worst": part, "misses": []}])
        self.assertEqual(lines[0], "waits of all gangs: 4 h; shortage 75 %, scattered 25 %, held 0 %")


if __name__ == "__main__":
    subprocess.run([DOVETAIL, "--version"], check=True, stdout=subprocess.DEVNULL)
    unittest.main()
