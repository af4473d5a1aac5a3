"""Self-test: lines, placements, progress, stops."""

from .selftest_base import (World, echo, event, finish, job, move, pods, preempt, refuse, start,
                            submit)

RUN = [submit("j"), start("j", ("n0", [0])), finish("j", 100)]


class Lines(World):
    def test_right(self):
        self.right([job("j", gpus=1)], RUN)

    def test_wrong_digest(self):
        self.only("digest is", [job("j", gpus=1)], RUN, end={"digest": "00"})

    def test_wrong_workload(self):
        self.only("workload is 'x'", [job("j", gpus=1)], RUN, header={"workload": "x"})

    def test_unknown_kind(self):
        self.only("unknown kind 'note'", [job("j", gpus=1)], RUN + [{"kind": "note", "t": 100}])

    def test_time_falls(self):
        self.wrong("time falls", [job("j", gpus=1)],
                   RUN + [{"kind": "finish", "t": 50, "job": "j", "status": "ok"}])

    def test_finish_twice(self):
        self.only("which is finished, not running", [job("j", gpus=1)], RUN + [RUN[2]])

    def test_unknown_job(self):
        self.only("unknown job 'k'", [job("j", gpus=1)], RUN + [finish("k", 100)])

    def test_submit_missing(self):
        self.wrong("before its submit line", [job("j", gpus=1)], RUN[1:])

    def test_submit_never(self):
        self.only("k was not submitted", [job("j", gpus=1), job("k", 5)], RUN)

    def test_submit_late(self):
        lines = [submit("j", 1), start("j", ("n0", [0]), t=1), finish("j", 101)]
        self.wrong("was not submitted at 0", [job("j", gpus=1)], lines)

    def test_submit_twice(self):
        self.only("is submitted twice", [job("j", gpus=1)], RUN[:1] + RUN)

    def test_submit_other_ask(self):
        self.only("gpus of j is 2", [job("j", gpus=1)], [submit("j", gpus=2)] + RUN[1:])

    def test_submit_same_ask(self):
        self.right([job("j", gpus=1)], [submit("j", gpus=1, pods=1, run_s=100)] + RUN[1:])

    def test_event_missing(self):
        self.only("is not echoed", [job("j", gpus=1)], RUN, [event(5, node="n1", state="drain")])

    def test_event_other(self):
        raw = event(5, node="n1", state="drain")
        lines = RUN[:2] + [{**echo(raw), "node": "n2"}, RUN[2]]
        self.only("the event's node is 'n2'", [job("j", gpus=1)], lines, [raw])

    def test_passed_over(self):
        jobs = [job("j", gpus=1), job("k", 1, gpus=1), job("l", 2, gpus=1, run=98)]
        lines = RUN[:2] + [submit("k", 1), submit("l", 2), start("l", ("n0", [1]), t=2),
                           finish("j", 100), finish("l", 100)]
        self.only("k is passed over", jobs, lines)

    def test_end_missing_line_after(self):
        self.wrong("a line after the end line", [job("j", gpus=1)],
                   RUN + [{"kind": "end", "t": 100, "digest": "", "summary": {}}])


class Placements(World):
    def one(self, words, asked, *places):
        fields = dict(asked)
        lines = [submit("j"), start("j", *places), finish("j", 100)]
        if words is None:
            self.right([job("j", **fields)], lines)
        else:
            self.wrong(words, [job("j", **fields)], lines)

    def two(self, words, first, second, place, other):
        jobs = [job("j", **first), job("k", **second)]
        lines = [submit("j"), submit("k"), start("j", place), start("k", other),
                 finish("j", 100), finish("k", 100)]
        if words is None:
            self.right(jobs, lines)
        else:
            self.only(words, jobs, lines)

    def test_double_device(self):
        self.two("device 0 of n0 is given twice", {"gpus": 1}, {"gpus": 1},
                 ("n0", [0]), ("n0", [0]))

    def test_double_in_one_pod(self):
        self.one("a device is given twice in one pod", {"gpus": 2}, ("n0", [0, 0]))

    def test_device_count(self):
        self.one("holds 1 devices, it asks for 2", {"gpus": 2}, ("n0", [0]))

    def test_unknown_device(self):
        self.one("are not devices of m0", {"gpus": 1}, ("m0", [2]))

    def test_shares_fit(self):
        self.two(None, {"gpus": 1, "milli": 470}, {"gpus": 1, "milli": 530},
                 ("n0", [0], {"milli": 470}), ("n0", [0], {"milli": 530}))

    def test_shares_over(self):
        self.two("shares of 1010 milli, beyond 1000", {"gpus": 1, "milli": 470},
                 {"gpus": 1, "milli": 540},
                 ("n0", [0], {"milli": 470}), ("n0", [0], {"milli": 540}))

    def test_third_shares_are_exact(self):
        asked = {"pods": 3, "gpus": 1, "mem_share_mib": 8000}
        place = ("n0", [0], {"mem_share_mib": 8000})
        self.one(None, asked, place, place, place)
        asked["podsets"] = [{"pods": 3, "gpus": 1, "mem_share_mib": 8000},
                            {"gpus": 1, "milli": 1}]
        self.one("beyond 1000", asked, place, place, place, ("n0", [0], {"milli": 1}))

    def test_share_not_repeated(self):
        self.one("milli is None", {"gpus": 1, "milli": 470}, ("n0", [0]))

    def test_share_without_device_memory(self):
        self.one("takes no memory shares", {"gpus": 1, "mem_share_mib": 8000},
                 ("n2", [0], {"mem_share_mib": 8000}))

    def test_mig(self):
        ask = {"pods": 2, "gpus": 1, "mig": "half"}
        self.one(None, ask, ("m0", [0], {"mig": "half", "slot": 0}),
                 ("m0", [0], {"mig": "half", "slot": 4}))

    def test_mig_slot(self):
        self.one("is no legal first slot", {"gpus": 1, "mig": "half"},
                 ("m0", [0], {"mig": "half", "slot": 2}))

    def test_mig_overlap(self):
        self.two("MIG slots from 3 are given twice", {"gpus": 1, "mig": "half"},
                 {"gpus": 1, "mig": "small"}, ("m0", [0], {"mig": "half", "slot": 0}),
                 ("m0", [0], {"mig": "small", "slot": 3}))

    def test_mig_and_share(self):
        self.two("MIG instances and something else", {"gpus": 1, "mig": "half"},
                 {"gpus": 1, "milli": 100}, ("m0", [0], {"mig": "half", "slot": 0}),
                 ("m0", [0], {"milli": 100}))

    def test_cpu(self):
        self.one("n0 has 16000 cpu_milli, 18000 are used", {"pods": 2, "cpu_milli": 9000},
                 ("n0", []), ("n0", []))

    def test_mem(self):
        self.one("mem_mib", {"mem_mib": 70000}, ("n0", []))

    def test_pod_limit(self):
        self.one("m0 has 3 pods, 4 are used", {"pods": 4}, *[("m0", [])] * 4)

    def test_model(self):
        self.one("model 'A' of n0 is not allowed", {"gpus": 1, "models": ["M"]}, ("n0", [0]))

    def test_required_leaf(self):
        ask = {"pods": 2, "gpus": 4, "required": "leaf"}
        self.one(None, ask, ("n0", [0, 1, 2, 3]), ("n1", [0, 1, 2, 3]))
        self.one("no leaf contains the gang", ask, ("n0", [0, 1, 2, 3]), ("n2", [0, 1, 2, 3]))

    def test_required_leaf_of_a_host_without_one(self):
        self.one("no leaf contains the gang", {"gpus": 1, "required": "leaf"}, ("m0", [0]))

    def test_required_island(self):
        ask = {"pods": 2, "gpus": 1, "required": ["leaf", "island"]}
        self.one(None, ask, ("n0", [2]), ("n0", [3]))
        self.one("no island contains the gang", ask, ("n0", [1]), ("n0", [2]))

    def test_required_of_a_podset(self):
        sets = [{"gpus": 4}, {"name": "w", "pods": 2, "gpus": 4, "required": "leaf"}]
        self.one(None, {"podsets": sets}, ("n2", [0, 1, 2, 3]), ("n0", [0, 1, 2, 3]),
                 ("n1", [0, 1, 2, 3]))
        self.one("podset 'w' of j: no leaf", {"podsets": sets}, ("n0", [0, 1, 2, 3]),
                 ("n1", [0, 1, 2, 3]), ("n2", [0, 1, 2, 3]))

    def test_slices(self):
        ask = {"pods": 4, "gpus": 2, "slice_pods": 2, "slice_level": "node"}
        self.one(None, ask, ("n0", [0, 1]), ("n0", [2, 3]), ("n1", [0, 1]), ("n1", [2, 3]))
        self.one("slices of 2 are split over node", ask, ("n0", [0, 1]), ("n0", [2, 3]),
                 ("n1", [0, 1]), ("n2", [0, 1]))

    def test_slices_below_the_host(self):
        ask = {"pods": 2, "gpus": 1, "slice_pods": 2, "slice_level": "island"}
        self.one(None, ask, ("n0", [0]), ("n0", [1]))
        self.one("are split over island", ask, ("n0", [0]), ("n0", [2]))

    def test_share_card(self):
        ask = {"pods": 2, "gpus": 1, "milli": 300, "share_card": False}
        self.one("share_card is false", ask, ("n0", [0], {"milli": 300}),
                 ("n0", [0], {"milli": 300}))

    def test_minimum(self):
        self.wrong("below the minimum of 2", [job("j", pods=2, gpus=1)],
                   [submit("j"), start("j", ("n0", [0]))])

    def test_pod_twice(self):
        lines = [submit("j"), start("j", ("n0", [0]), ("n0", [1]))]
        lines[1]["pods"][1]["pod"] = 0
        self.wrong("is placed twice in one line", [job("j", pods=2, gpus=1)], lines)

    def test_down_node(self):
        raw = event(0, node="n0", state="down")
        self.only("n0 is down", [job("j", gpus=1)], [submit("j"), echo(raw), *RUN[1:]], [raw])

    def test_drained_device(self):
        raw = event(0, node="n0", gpu=0, state="drain")
        self.only("device 0 of n0 is drained", [job("j", gpus=1)],
                  [submit("j"), echo(raw), *RUN[1:]], [raw])

    def test_leaving_node(self):
        for est, words in ((None, "the job has no est_s"), (150, "leaves before the run can end"),
                           (120, None)):
            raw = event(0, node="n0", state="leave", leave_at=120)
            more = {} if est is None else {"est_s": est}
            args = [job("j", gpus=1, **more)], [submit("j"), echo(raw), *RUN[1:]], [raw]
            if words:
                self.only(words, *args)
            else:
                self.right(*args)

    def test_limit_with_parent(self):
        teams = [{"kind": "team", "team": "org", "limit_gpus": 3},
                 {"kind": "team", "team": "a", "parent": "org"},
                 {"kind": "team", "team": "b", "parent": "org", "limit_gpus": 4}]
        jobs = [job("j", gpus=2, team="a"), job("k", gpus=2, team="b")]
        lines = [submit("j"), submit("k"), start("j", ("n0", [0, 1])),
                 start("k", ("n0", [2, 3])), finish("j", 100), finish("k", 100)]
        self.only("team org holds 4 GPUs, past its limit of 3", jobs, lines, teams=teams)


class Progress(World):
    def test_wrong_finish(self):
        self.only("its work is done at 100", [job("j", gpus=1)], RUN[:2] + [finish("j", 99)])

    def test_overdue(self):
        self.wrong("should have finished at 100", [job("j", gpus=1)],
                   RUN[:2] + [finish("j", 101)])

    def test_wrong_status(self):
        self.only("the end of j is 'fail'", [job("j", gpus=1, end="fail")], RUN)

    def test_slow_by_the_least_level(self):
        fields = {"pods": 2, "gpus": 1, "slow": {"leaf": 1, "spine": 1.1, "cluster": 1.3}}
        for other, when in (("n1", 100), ("n2", 110), ("m0", 130)):
            self.right([job("j", **fields)],
                       [submit("j"), start("j", ("n0", [0]), (other, [0])), finish("j", when)])

    def test_elastic_speed(self):
        fields = {"pods": 4, "min_pods": 1, "gpus": 1}
        lines = [submit("j"), start("j", ("n0", [0]), ("n0", [1])),
                 {"kind": "grow", "t": 50, "job": "j", "pods": [
                     {"pod": 2, "node": "n0", "gpus": [2]}, {"pod": 3, "node": "n0", "gpus": [3]}]},
                 {"kind": "shrink", "t": 100, "job": "j", "cause": "self", "pods": [0, 1, 2]},
                 finish("j", 200)]
        self.right([job("j", **fields)], lines)
        self.only("its work is done at 200", [job("j", **fields)], lines[:4] + [finish("j", 199)])
        self.wrong("is not elastic", [job("j", pods=2, gpus=1)], lines[:3])

    def test_shrink_below_minimum(self):
        lines = [submit("j"), start("j", ("n0", [0]), ("n0", [1])),
                 {"kind": "shrink", "t": 10, "job": "j", "cause": "self", "pods": [0, 1]}]
        self.only("below the minimum of 1", [job("j", pods=2, min_pods=1, gpus=1)], lines)

    def test_grow_past_a_required_level(self):
        lines = [submit("j"), start("j", ("n0", [0])),
                 {"kind": "grow", "t": 10, "job": "j",
                  "pods": [{"pod": 1, "node": "n2", "gpus": [0]}]}]
        self.only("no leaf contains the gang",
                  [job("j", pods=2, min_pods=1, gpus=1, required="leaf")], lines)

    def again(self, done, fields, stop=50, **more):
        """j is preempted at `stop`, starts again and ends at `done`."""
        jobs = [job("j", gpus=1, **fields), job("k", stop, gpus=1, run=1, priority=1)]
        line = preempt("j", stop, by="k", cause="priority", **more)
        lines = [*RUN[:2], submit("k", stop), line, start("k", ("n0", [0]), t=stop),
                 start("j", ("n0", [1]), t=stop), finish("k", stop + 1), finish("j", done)]
        return jobs, lines

    def test_no_checkpoint_loses_all(self):
        self.right(*self.again(150, {}))

    def test_checkpoint_and_restart(self):
        metrics = self.right(*self.again(50 + 7 + 60, {"ckpt_s": 20, "restart_s": 7}))
        self.assertAlmostEqual((10 + 7) / 3600, metrics["lost_gpu_h"])
        self.wrong("its work is done at 117", *self.again(116, {"ckpt_s": 20, "restart_s": 7}))

    def test_saved(self):
        fields = {"signal_save": True, "restart_s": 7}
        self.right(*self.again(107, fields, saved=True))
        self.wrong("which has no signal_save", *self.again(107, {"restart_s": 7}, saved=True))

    def test_nothing_is_lost_with_zero(self):
        self.right(*self.again(100, {"ckpt_s": 0}))


class Stops(World):
    def test_priority_needs_higher(self):
        jobs = [job("j", gpus=1), job("k", 50, gpus=1, run=1)]
        lines = [*RUN[:2], submit("k", 50), preempt("j", 50, by="k", cause="priority"),
                 refuse("k", True, 50), refuse("j", True, 50)]
        self.only("k has no higher priority", jobs, lines)

    def test_by_must_wait(self):
        jobs = [job("j", gpus=1), job("k", gpus=1, priority=1)]
        lines = [submit("j"), submit("k"), start("j", ("n0", [0])), start("k", ("n0", [1])),
                 preempt("j", 0, by="k", cause="priority")]
        self.wrong("which is running, not waiting", jobs, lines)

    def test_unknown_cause(self):
        self.only("cause 'whim'", [job("j", gpus=1)], [*RUN[:2], preempt("j", 5, cause="whim")])

    def test_not_preemptible(self):
        self.wrong("which is not preemptible", [job("j", gpus=1, preemptible=False)],
                   [*RUN[:2], preempt("j", 5, cause="defrag")])

    def test_drain_needs_a_drain(self):
        self.only("is on nothing drained or leaving", [job("j", gpus=1)],
                  [*RUN[:2], preempt("j", 5, cause="drain")])

    def reclaim(self, guarantee):
        teams = [{"kind": "team", "team": "a", "guarantee": [{"gpus": guarantee[0]}]},
                 {"kind": "team", "team": "b", "guarantee": [{"gpus": guarantee[1]}]}]
        jobs = [job("j", gpus=2, team="a"), job("k", 50, gpus=1, team="b", run=1)]
        lines = [submit("j"), start("j", ("n0", [0, 1])), submit("k", 50),
                 preempt("j", 50, by="k", cause="reclaim"), start("k", ("n0", [0]), t=50),
                 finish("k", 51)]
        return jobs, lines, (), teams

    def test_reclaim(self):
        self.right(*self.reclaim((1, 1)))
        self.only("team b would hold 1 GPUs, above its guarantee", *self.reclaim((1, 0)))
        self.only("team a of the victim is not above", *self.reclaim((2, 1)))

    def test_move(self):
        jobs = [job("j", gpus=1, restart_s=5, signal_save=True)]
        lines = [*RUN[:2], move("j", ("n1", [0]), t=40, saved=True), finish("j", 105)]
        self.right(jobs, lines)
        self.wrong("is not preemptible",
                   [job("j", gpus=1, restart_s=5, signal_save=True, preemptible=False)], lines)

    def test_move_onto_taken(self):
        jobs = [job("j", gpus=1, ckpt_s=0), job("k", gpus=1)]
        lines = [submit("j"), submit("k"), start("j", ("n0", [0])), start("k", ("n0", [1])),
                 move("j", ("n0", [1]), t=40), finish("j", 100), finish("k", 100)]
        self.wrong("device 1 of n0 is given twice", jobs, lines)

    def test_fail(self):
        raw = event(40, node="n0", gpu=0, state="down")
        lines = [*RUN[:2], echo(raw), {"kind": "fail", "t": 40, "job": "j"},
                 start("j", ("n0", [1]), t=40), finish("j", 140)]
        self.right([job("j", gpus=1)], lines, [raw])
        self.wrong("still runs on what went down at 40", [job("j", gpus=1)],
                   [*RUN[:2], echo(raw), RUN[2]], [raw])

    def test_fail_of_nothing(self):
        raw = event(40, node="n0", gpu=3, state="down")
        self.only("nothing it holds went down", [job("j", gpus=1)],
                  [*RUN[:2], echo(raw), {"kind": "fail", "t": 40, "job": "j"}], [raw])

    def test_cancel(self):
        raw = event(40, job="j", state="cancel")
        other = job("k", 40, gpus=4, run=10)
        lines = [*RUN[:2], echo(raw), submit("k", 40), start("k", ("n0", [0, 1, 2, 3]), t=40),
                 finish("k", 50)]
        self.right([job("j", gpus=1), other], lines, [raw])
        self.only("which is cancelled, not running", [job("j", gpus=1), other],
                  lines + [finish("j", 50)], [raw])

    def test_start_after_dropped(self):
        lines = [submit("j"), refuse("j", False, final=True), start("j", ("n0", [0]))]
        self.only("which is dropped, not waiting", [job("j", pods=9, gpus=4)], lines)

    def test_shrink_of_what_does_not_run(self):
        lines = [submit("j"), start("j", ("n0", [0])),
                 {"kind": "shrink", "t": 0, "job": "j", "cause": "self", "pods": [1]}]
        self.wrong("pod 1 of j does not run", [job("j", pods=2, min_pods=1, gpus=1)], lines)
        self.assertEqual(1, len(pods(("n0", [0]))))
