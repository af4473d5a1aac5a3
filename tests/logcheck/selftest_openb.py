"""Self-test: openb logs on three nodes and four arrivals."""

import gzip
import hashlib
import io
import tempfile
from pathlib import Path

from .openb import Frag, OpenbPod, OpenbReplay, read_openb
from .selftest_base import World, encode

NODES = ("sn,cpu_milli,memory_mib,gpu,model\n"
         "a,8000,8000,2,T4\nb,8000,8000,1,P100\nc,9000,9000,8,G2\n")
PODS = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
        "deletion_time,scheduled_time\n"
        "p0,4000,1000,1,500,,LS,Running,0,1,0\n"
        "p1,4000,1000,2,1000,T4|T4,LS,Running,0,1,0\n"
        "p2,1000,1000,0,0,,LS,Running,0,1,0\n"
        "p3,1000,1000,8,1000,,LS,Running,0,1,0\n")
ORDER = "s42,s43\n0,0\n1,1\n3,\n2,\n"


def directory(root, name="default"):
    (root / "openb_node_list_gpu_node.csv").write_text(NODES)
    (root / f"openb_pod_list_{name}.csv.gz").write_bytes(gzip.compress(PODS.encode()))
    (root / "arrival-order").mkdir()
    (root / "arrival-order" / "default.csv.gz").write_bytes(gzip.compress(ORDER.encode()))


def lines(change=None):
    found = []
    places = [{"pod": 0, "node": "a", "gpus": [0], "milli": 500}, None,
              {"pod": 0, "node": "c", "gpus": list(range(8))}, {"pod": 0, "node": "b"}]
    for k, name in enumerate(("p0", "p1", "p3", "p2")):
        found.append({"kind": "submit", "t": k, "job": f"{k}:{name}"})
        if places[k] is None:
            found.append({"kind": "refuse", "t": k, "job": f"{k}:{name}", "fits": False,
                          "reason": {"code": "c", "text": "x", "free_gpus": 1.5,
                                     "best_pods": 0, "binding": ["busy", "model"]}})
        else:
            found.append({"kind": "start", "t": k, "job": f"{k}:{name}", "pods": [places[k]]})
    if change:
        change(found)
    return found


class Openb(World):
    def check(self, rows, seed=42, name="default", summary=None):
        with tempfile.TemporaryDirectory() as root:
            directory(Path(root), name)
            replay = OpenbReplay(read_openb(Path(root), name, seed), "log")
        head = {"kind": "header", "format": "dovetail-decisions/2", "cluster": "openb",
                "workload": f"openb_pod_list_{name}.csv", "policy": "p", "seed": seed}
        body = encode([head, *rows])
        end = {"kind": "end", "t": 3, "digest": hashlib.sha256(body).hexdigest(),
               "summary": summary or {}}
        replay.run(io.BytesIO(body + encode([end])))
        return replay

    def reported(self, words, change):
        texts = [text for _, text in self.check(lines(change)).errors]
        self.assertTrue(any(words in text for text in texts), (words, texts))

    def test_right(self):
        replay = self.check(lines(), summary={"placed": 3, "refused_2": 1})
        self.assertEqual([], replay.errors)
        metrics = replay.figures.metrics
        self.assertEqual(4, metrics["arrivals"])
        self.assertAlmostEqual(100 * 8.5 / 11, metrics["gar_130_pct"])
        self.assertAlmostEqual(100 * 10.5 / 11, metrics["arrived_pct"])
        self.assertAlmostEqual(100 / 3, metrics["gfr_130_pct"])
        self.assertAlmostEqual(1 - 8 / 10.5, metrics["stranded8_50"])

    def test_shorter_seed_and_fallback(self):
        replay = self.check(lines()[:4], seed=43, name="gpuspec33")
        self.assertEqual([], replay.errors)

    def test_wrong_order(self):
        self.reported("the next arrival is 0:p0", lambda rows: rows[0].update(job="0:p1"))

    def test_double_device(self):
        self.reported("is given twice", lambda rows: rows[1]["pods"][0].update(
            node="c", gpus=[0]))

    def test_model(self):
        def change(rows):
            rows[3] = {"kind": "start", "t": 1, "job": "1:p1",
                       "pods": [{"pod": 0, "node": "c", "gpus": [0, 1]}]}
        self.reported("model 'G2' of c is not allowed", change)

    def test_false_refusal(self):
        def change(rows):
            rows[1] = {"kind": "refuse", "t": 0, "job": "0:p0", "fits": False}
        self.reported("but a has room", change)

    def test_binding(self):
        self.reported("binding lacks busy", lambda rows: rows[3]["reason"].update(binding=[]))

    def test_free_gpus(self):
        self.reported("free_gpus is 9", lambda rows: rows[3]["reason"].update(free_gpus=9))

    def test_cut(self):
        self.reported("the log ends after 3 of 4", lambda rows: rows.__delitem__(slice(6, 8)))

    def test_undecided(self):
        self.reported("neither started nor refused", lambda rows: rows.pop(3))

    def test_fragmentation(self):
        with tempfile.TemporaryDirectory() as root:
            directory(Path(root))
            data = read_openb(Path(root), "default", 42)
        frag = Frag(data.pods)
        self.assertEqual(3, frag.total)
        # p0, p1 and p2 (no GPU) make 95 % of four rows in whole numbers, p3 is left out
        node = data.nodes[0]
        node.free = [400, 1000]
        self.assertEqual(400 + 1400 + 1400, frag.of(node))
        node.free, node.cpu = [1000, 1000], 3999
        self.assertEqual(3 * 2000, frag.of(node))

    def test_a_model_named_twice_is_one_class(self):
        twice = [OpenbPod("x", 1, 1, 1, 1000, spec) for spec in ("T4|T4|G2", "G2|T4", "T4")]
        self.assertEqual([20, 10], [weight for *_, weight in Frag(twice * 10).classes])
