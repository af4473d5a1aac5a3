#!/usr/bin/env python3
"""audit against figures worked out again from the dumps alone, and against dumps of real clusters.

Twenty made-up clusters are recomputed by tests/audit/recompute.py, which shares no line with the
program. Where DOVETAIL_DATA=DIR has a folder dumps, the real ones are read too, each with the
reading that a person gave it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DOVETAIL = os.environ.get("DOVETAIL", "build/dovetail")
DUMPS = pathlib.Path(os.environ.get("DOVETAIL_DATA", "/nowhere")) / "dumps"


def audit(*arguments, text=None):
    return subprocess.run([DOVETAIL, "audit", *map(str, arguments)], input=text,
                          capture_output=True, text=True, check=False)


class Recomputed(unittest.TestCase):
    def test_twenty_clusters(self):
        for seed in range(1, 21):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                dump, report = pathlib.Path(folder, "dump.json"), pathlib.Path(folder, "out.json")
                made = subprocess.run(
                    [sys.executable, HERE / "audit/make_dump.py", "--nodes", str(5 + seed * 3),
                     "--pods", str(seed * 40), "--seed", str(seed), "--load",
                     f"0.{4 + seed % 6}"], capture_output=True, text=True, check=True)
                dump.write_text(made.stdout, encoding="utf-8")
                said = audit("--json", dump)
                self.assertEqual(said.returncode, 0, said.stderr)
                report.write_text(said.stdout, encoding="utf-8")
                judged = subprocess.run([sys.executable, HERE / "audit/recompute.py", dump, report],
                                        capture_output=True, text=True, check=False)
                self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)
                if seed == 1:  # and it would see a wrong figure
                    wrong = json.loads(said.stdout)
                    wrong["fragmentation"][3]["placements"] += 1
                    report.write_text(json.dumps(wrong), encoding="utf-8")
                    judged = subprocess.run(
                        [sys.executable, HERE / "audit/recompute.py", dump, report],
                        capture_output=True, text=True, check=False)
                    self.assertEqual(judged.returncode, 1)


class Contradictions(unittest.TestCase):
    """tests/corpus/audit/contradictions.yaml, which a person has read."""

    def setUp(self):
        said = audit("--json", HERE / "corpus/audit/contradictions.yaml")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.report = json.loads(said.stdout)

    def test_reading(self):
        r = self.report
        self.assertEqual(r["capacity"]["all"]["held"], 12)
        self.assertEqual(r["capacity"]["all"]["free"], 4)
        self.assertEqual(r["capacity"]["all"]["terminating"], 4)
        self.assertEqual(r["capacity"]["gone_gpus"], 8)
        self.assertEqual(r["waiting"][0]["verdict"], "something_else")
        odd = {o["what"]: o["gpus"] for o in r["quality"]["odd"]}
        self.assertEqual((odd["OVERBOOKED"], odd["STALE"]), (4, 4))

    def test_fail_if(self):
        path = HERE / "corpus/audit/contradictions.yaml"
        self.assertEqual(audit("--fail-if", "free>3", path).returncode, 1)
        self.assertEqual(audit("--fail-if", "free<4", path).returncode, 0)
        self.assertEqual(audit("--fail-if", "stranded8>0.99", path).returncode, 1)
        self.assertEqual(audit("--fail-if", "nonsense>1", path).returncode, 2)


@unittest.skipUnless(DUMPS.is_dir(), "DOVETAIL_DATA names no folder dumps")
class Real(unittest.TestCase):
    def test_readings(self):
        # file: GPUs, free, nodes with GPUs, odd things that must be named
        table = {
            "nodes-7-mixed-one-t4.json": (1, 1, 1, ()),
            "nodes-3-gpushare.yaml": (8, 8, 3, ("OVER_CAPACITY",)),
            "nodes-kueue-block-rack.yaml": (64, 64, 8, ()),
            "nodes-kai-two-label-trees.yaml": (48, 48, 6, ()),
            "node-mig-mixed-h20.yaml": (7, 7, 1, ("MIG_NODE",)),
            "hami-nodes-register-three-forms.yaml": (5, 5, 3, ("SHARED_NODE",)),
        }
        for name, (gpus, free, nodes, odd) in table.items():
            with self.subTest(name):
                said = audit("--json", DUMPS / name)
                self.assertEqual(said.returncode, 0, said.stderr)
                r = json.loads(said.stdout)
                self.assertEqual((r["capacity"]["all"]["gpus"], r["capacity"]["all"]["free"],
                                  r["quality"]["gpu_nodes"]), (gpus, free, nodes))
                self.assertLessEqual(set(odd), {o["what"] for o in r["quality"]["odd"]})

    def test_racks_repeat_in_blocks(self):
        r = json.loads(audit("--json", DUMPS / "nodes-kueue-block-rack.yaml").stdout)
        self.assertEqual([x["domains"] for x in r["quality"]["levels"]], [4, 2])

    def test_crossing_trees_are_two_chains(self):
        r = json.loads(audit("--json", "--levels",
                             "topology.test/rack-domain;topology.test/zone-domain",
                             DUMPS / "nodes-kai-two-label-trees.yaml").stdout)
        self.assertEqual([(x["domains"], x["chain"]) for x in r["quality"]["levels"]],
                         [(3, 0), (2, 1)])

    def test_pending_without_nodes(self):
        r = json.loads(audit("--json", DUMPS / "pods-pending-5-gpus.json").stdout)
        self.assertEqual((r["waiting"][0]["gpus"], r["waiting"][0]["verdict"]), (5, "shortage"))

    def test_finished_pods_hold_nothing(self):
        r = json.loads(audit("--json", DUMPS / "hami-pod-pytorchjob-succeeded.yaml").stdout)
        self.assertEqual((r["waiting"], r["capacity"]["gone_gpus"]), ([], 0))

    def test_every_other_file_is_a_report_or_a_sentence(self):
        for path in sorted(DUMPS.iterdir()):
            with self.subTest(path.name):
                said = audit(path)
                self.assertIn(said.returncode, (0, 2), said.stderr)
                if said.returncode:
                    self.assertRegex(said.stderr, r"^dovetail: .+\n$")


if __name__ == "__main__":
    unittest.main()
