"""Self-test: what refusals and promises claim, and the figures of the summary."""

from fractions import Fraction

from .bounds import srpt
from .selftest_base import CLUSTER, World, echo, event, finish, job, preempt, refuse, start, submit
from .spread import fewest_shared, fewest_whole
from .summary import classes_of, rank


def promise(name, t, by, **more):
    return {"kind": "promise", "t": t, "job": name, "by": by, "why": "first", **more}


class Claims(World):
    def claim(self, words, asked, line, before=(), events=(), teams=()):
        """One refusal of job j, after the lines `before`; words None = right."""
        jobs = [job("j", **asked)] + [job(f"b{n}", gpus=4) for n in range(len(before))]
        lines = [submit("j"), *[echo(raw) for raw in events]]
        for number, node in enumerate(before):
            lines += [submit(f"b{number}"), start(f"b{number}", (node, [0, 1, 2, 3]))]
        lines.append(line)
        if words is None:
            self.right(jobs, lines, events, teams)
        else:
            self.only(words, jobs, lines, events, teams)

    def test_false_but_fits(self):
        self.claim("fits is false, but the minimum", {"gpus": 1}, refuse("j", False))

    def test_true_but_does_not(self):
        self.claim("fits is true, but", {"gpus": 5}, refuse("j", True))

    def test_true(self):
        self.claim(None, {"gpus": 4}, refuse("j", True, binding=[]), ["n0", "n1"])

    def test_null_for_one_podset(self):
        self.wrong("a gang of one podset", [job("j", gpus=1)], [submit("j"), refuse("j", None)])

    def test_too_many_nulls(self):
        self.claim("beyond 0.1 %", {"podsets": [{"gpus": 1}, {"gpus": 2}]}, refuse("j", None))

    def test_no_reason(self):
        self.claim("needs a reason", {"gpus": 5}, {**refuse("j", False), "reason": {}})

    def test_free_gpus(self):
        self.claim(None, {"gpus": 5}, refuse("j", False, free_gpus=10), ["n0"])
        self.claim("free_gpus is 14", {"gpus": 5}, refuse("j", False, free_gpus=14), ["n0"])
        self.claim(None, {"gpus": 5, "models": ["A"]}, refuse("j", False, free_gpus=8), ["n0"])

    def test_best_pods(self):
        asked = {"pods": 3, "gpus": 4, "required": "leaf"}
        self.claim(None, asked, refuse("j", False, best_pods=2))
        self.claim("best_pods is 3, one domain holds 2", asked, refuse("j", False, best_pods=3))
        self.claim(None, {"pods": 4, "gpus": 4}, refuse("j", False, best_pods=3))

    def test_binding_busy(self):
        asked = {"pods": 2, "gpus": 4, "required": "leaf"}
        self.claim(None, asked, refuse("j", False, binding=["topology", "busy"]), ["n0"])
        self.claim("binding lacks busy", asked, refuse("j", False, binding=["topology"]), ["n0"])
        self.claim("binding names cpu", asked,
                   refuse("j", False, binding=["topology", "busy", "cpu"]), ["n0"])

    def test_binding_cpu_mem_pods_model(self):
        self.claim(None, {"gpus": 4, "cpu_milli": 17000}, refuse("j", False, binding=["cpu"]))
        self.claim(None, {"gpus": 4, "mem_mib": 70000}, refuse("j", False, binding=["mem"]))
        self.claim(None, {"gpus": 4, "models": ["M"]}, refuse("j", False, binding=["model"]))
        self.claim(None, {"pods": 4, "models": ["M"], "mem_mib": 40000,
                          "required": "node"},
                   refuse("j", False, binding=["pods"]))

    def test_binding_health(self):
        raw = [event(0, node=n, state=s) for n, s in (("n0", "down"), ("n1", "drain"))]
        raw.append(event(0, node="n2", state="leave", leave_at=50))
        self.claim(None, {"gpus": 4}, refuse("j", False, binding=["health"]), events=raw)

    def test_empty_binding(self):
        self.claim(None, {"gpus": 5, "cpu_milli": 17000}, refuse("j", False, binding=[]))

    def test_unknown_binding(self):
        self.claim("not a list of known constraints", {"gpus": 5},
                   refuse("j", False, binding=["luck"]))

    def test_unlike_pods(self):
        sets = [{"name": "lead", "cpu_milli": 9000}, {"name": "work", "pods": 2, "gpus": 4,
                                                      "cpu_milli": 8000, "required": "leaf"}]
        asked = {"podsets": sets, "required": "leaf"}
        self.claim(None, asked, refuse("j", False, binding=["cpu", "topology"]))
        self.claim("binding lacks cpu", asked, refuse("j", False, binding=["topology"]))

    def test_slices_and_islands(self):
        asked = {"pods": 2, "gpus": 3, "slice_pods": 1, "slice_level": "island"}
        self.claim(None, asked, refuse("j", False, final=True, binding=["topology"]))

    def test_final(self):
        self.claim("final, but", {"gpus": 4, "pods": 2, "required": "leaf"},
                   refuse("j", False, final=True), ["n0"])
        teams = [{"kind": "team", "team": "a", "limit_gpus": 1}]
        self.claim(None, {"gpus": 2, "team": "a"}, refuse("j", True, final=True), teams=teams)

    def promised(self, words, *lines, **more):
        jobs = [job("j", gpus=4, est_s=100), job("k", gpus=4, est_s=100)]
        base = [submit("j"), submit("k"), start("j", ("n0", [0, 1, 2, 3])),
                refuse("k", True), promise("k", 0, 20)]
        args = jobs, [*base, *lines]
        if words is None:
            return self.right(*args, **more)
        return self.only(words, *args, **more)

    def test_promise_kept(self):
        metrics = self.promised(None, start("k", ("n1", [0, 1, 2, 3]), t=20))
        self.assertEqual((1, 1, 0), tuple(metrics[name] for name in (
            "promises", "promises_kept", "promises_excused")))

    def test_promise_broken(self):
        self.promised("promised by 20, without an excuse",
                      start("k", ("n1", [0, 1, 2, 3]), t=30))

    def test_promise_later(self):
        self.promised("is promised later than before", promise("k", 10, 25))
        raw = event(9, node="n2", state="drain")
        self.promised(None, echo(raw), promise("k", 10, 25), events=[raw])

    def test_promise_never(self):
        self.promised("and never started", finish("j", 100))

    def test_promise_room(self):
        self.promised("promise: ", promise("k", 1, 20, pods=[
            {"pod": 0, "node": "n0", "gpus": [0]}]))


class Bounds(World):
    def test_srpt(self):
        mean, last = srpt([(0, Fraction(10)), (2, Fraction(2))], 1)
        self.assertEqual((Fraction(12 + 2, 2), 12), (mean, last))

    def test_fewest(self):
        self.assertEqual(2, fewest_whole([{"x": 4}, {"y": 4}, {"z": 8}], 12, 1))
        self.assertEqual(3, fewest_whole([{"x": 5}, {"y": 5}, {"z": 5}], 12, 4))
        self.assertEqual(3, fewest_shared([{"x": 1, "y": 1}, {"z": 2}], 4, 2))
        self.assertIsNone(fewest_whole([{"x": 3}], 4, 1))

    def test_classes_and_ranks(self):
        self.assertEqual(("1",), classes_of(Fraction(1, 4)))
        self.assertEqual(("2-7",), classes_of(Fraction(5, 4)))
        self.assertEqual(("64+", "16+"), classes_of(Fraction(64)))
        self.assertEqual((1, 2, 4), tuple(rank([1, 2, 3, 4], p) for p in (25, 50, 99)))


class Figures(World):
    def run_two(self, summary=None, words=None):
        jobs = [job("j", gpus=4), job("k", 50, gpus=2, pods=2, preferred="island")]
        lines = [submit("j"), start("j", ("n0", [0, 1, 2, 3])), submit("k", 50),
                 start("k", ("n1", [0, 1]), ("n1", [2, 3]), t=50), finish("j", 100),
                 finish("k", 150)]
        if words:
            self.only(words, jobs, lines, summary=summary)
            return None
        return self.right(jobs, lines, summary=summary)

    def test_values(self):
        metrics = self.run_two({"finished": 2, "makespan_s": 150, "gar_mean_pct": 28.571})
        want = {"jobs": 2, "sor_pct": 100 * 800 / 14 / 150, "goodput_pct": 100 * 800 / 14 / 150,
                "jct_s_mean": 100, "slowdown_mean": 1, "jobs_2-7": 2, "hit_jobs": 1,
                "hit_pct": 100, "hit_gpuh_pct": 100, "nnd_mean": 1, "ngd_mean": 1,
                "bound_volume_s": 800 / 14, "bound_longest_s": 150,
                "makespan_over_bound": 1, "preemptions": 0, "stranded_8": 1 - 8 * (
                    50 * 0 + 50 * 0 + 50 * 0) / 10, "violation_gpu_h": 0}
        for name, value in want.items():
            self.assertAlmostEqual(value, metrics[name], 6, name)
        self.assertIsNone(metrics["gar_backlog_pct"])

    def test_wrong_value(self):
        self.run_two({"sor_pct": 39}, "summary has sor_pct 39, recomputed: 38.0952")

    def test_unknown_name(self):
        self.run_two({"luck_pct": 1}, "unknown metric 'luck_pct'")

    def test_nothing_measured(self):
        self.run_two({"wait_s_p50_8": 7}, "there was nothing to measure")

    def test_stranded(self):
        metrics = self.right([job("j", gpus=4)], [
            submit("j"), start("j", ("n0", [0, 1, 2, 3])), finish("j", 100)])
        # 8 = 2 pods of 4 in a leaf: the first leaf is broken, 10 GPUs are free
        self.assertAlmostEqual(1, metrics["stranded_8"])

    def test_violation(self):
        teams = [{"kind": "team", "team": "a", "guarantee": [{"gpus": 3}]}]
        metrics = self.right(
            [job("j", gpus=2, run=3600, team="a"), job("k", gpus=4, run=7200, team="a")],
            [submit("j"), submit("k"), start("j", ("n0", [0, 1])), refuse("k", True),
             finish("j", 3600)], teams=teams)
        self.assertAlmostEqual(1, metrics["violation_gpu_h_a"])

    def test_preempt_unused(self):
        jobs = [job("j", gpus=1), job("k", gpus=1, priority=1)]
        lines = [submit("j"), submit("k"), start("j", ("n0", [0])),
                 preempt("j", 0, by="k", cause="priority"),
                 start("j", ("n0", [0]), t=0), refuse("k", True), finish("j", 100)]
        self.assertEqual(1, self.right(jobs, lines)["preempt_unused"])

    def unsafe(self, place, drained=()):
        teams = [{"kind": "team", "team": "a",
                  "guarantee": [{"gpus": 4, "level": "node", "count": 2}]}]
        raw = [event(0, node=node, state="drain") for node in drained]
        jobs = [job("j", gpus=1, preemptible=False), job("k", gpus=1)]
        lines = [*[echo(one) for one in raw], submit("j"), submit("k"), start("k", ("n1", [0])),
                 start("j", place), finish("k", 100), finish("j", 100)]
        return self.right(jobs, lines, raw, teams)["guarantee_unsafe"]

    def test_guarantee(self):
        self.assertEqual(0, self.unsafe(("n0", [0])))
        self.assertEqual(1, self.unsafe(("n0", [0]), ["n2"]))
        self.assertEqual(0, self.unsafe(("m0", [0]), ["n2"]))

    def test_nesting_is_verified(self):
        cluster = [dict(line) for line in CLUSTER]
        cluster[4] = {**cluster[4], "domains": {"leaf": "a", "spine": "t"}}
        with self.assertRaisesRegex(Exception, "lie in different domains of spine"):
            self.replay([], [], cluster=cluster)
