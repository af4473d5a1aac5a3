"""Self-test: the command line, its output and its exit status."""

import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from .selftest_base import CLUSTER, World, encode, finish, job, start, submit

PROGRAM = Path(__file__).resolve().parent.parent / "check_log.py"


class Command(World):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        head = {"kind": "workload", "format": "dovetail-workload/2", "name": "w", "seed": 1}
        self.work = [head, job("j", gpus=1)]
        (self.root / "c.jsonl.gz").write_bytes(gzip.compress(encode(CLUSTER)))
        (self.root / "w.jsonl").write_bytes(encode(self.work))
        world = {"world": 1, "cluster": CLUSTER, "workload": self.work}
        (self.root / "worlds.jsonl").write_bytes(encode([world]))
        self.log([submit("j"), start("j", ("n0", [0])), finish("j", 100)])

    def log(self, lines):
        head = {"kind": "header", "format": "dovetail-decisions/2", "cluster": "c",
                "workload": "w", "policy": "p", "seed": 1, "version": "0"}
        body = encode([head, *lines])
        end = {"kind": "end", "t": 100, "digest": hashlib.sha256(body).hexdigest()}
        (self.root / "w.log").write_bytes(body + encode([end]))

    def call(self, *words):
        words = [sys.executable, str(PROGRAM), *words]
        done = subprocess.run(words, cwd=self.root, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def usual(self, *more):
        return self.call("--cluster", "c.jsonl.gz", "--workload", "w.jsonl", *more, "w.log")

    def test_right(self):
        status, out, _ = self.usual()
        self.assertEqual((0, True), (status, "w.log: right, 5 lines" in out))

    def test_metrics(self):
        status, out, _ = self.usual("--metrics")
        self.assertEqual(0, status)
        self.assertEqual(1, json.loads(out[out.index("{"):])["finished"])

    def test_wrong(self):
        self.log([submit("j"), start("j", ("n0", [0])), finish("j", 99)])
        status, out, _ = self.usual()
        self.assertEqual(1, status)
        self.assertIn("w.log:4: j finishes at 99, its work is done at 100", out)
        self.assertIn("1 violations", out)

    def test_at_most_twenty(self):
        self.log([submit("k")] * 30)
        status, out, _ = self.usual()
        self.assertEqual((1, 21), (status, len(out.splitlines())))
        self.assertIn("31 violations, 20 shown", out)

    def test_timings(self):
        (self.root / "w.log.us").write_text("3 12.5\n4 7\n")
        self.assertEqual(0, self.usual()[0])
        (self.root / "w.log.us").write_text("3 12\n3 7\n9 1\n4 x\n")
        status, out, _ = self.usual()
        self.assertEqual(1, status)
        for words in ("w.log.us:2: line 3 does not follow 3", "w.log.us:3: line 9",
                      "w.log.us:4: found '4 x'", "3 violations"):
            self.assertIn(words, out)

    def test_worlds(self):
        self.assertEqual(0, self.call("--worlds", "worlds.jsonl", "w.log")[0])
        (self.root / "worlds.jsonl").write_bytes(b"")
        self.assertEqual(2, self.call("--worlds", "worlds.jsonl", "w.log")[0])

    def test_bad_usage(self):
        self.assertEqual(2, self.call("w.log")[0])
        self.assertEqual(2, self.usual("--sample", "0")[0])

    def test_bad_input(self):
        self.assertEqual(2, self.usual("missing.log")[0])
        for text in (b"", b"{}\n", b"[1\n", encode(self.work + [{"kind": "job", "job": 5}]),
                     encode([self.work[0], {**self.work[1], "slow": [1]}])):
            (self.root / "w.jsonl").write_bytes(text)
            status, _, err = self.usual()
            self.assertEqual((2, 1), (status, len(err.splitlines())), err)
