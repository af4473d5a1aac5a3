"""Self-test: metrics of gang runs against figures worked out by hand (14 GPUs in the cluster)."""

from .selftest_base import World, echo, event, finish, job, move, preempt, refuse, start, submit


class ByHand(World):
    def near(self, metrics, **want):
        for name, value in want.items():
            if value is None:
                self.assertIsNone(metrics[name], name)
            else:
                self.assertAlmostEqual(value, metrics[name], 9, name)

    def test_waiting_and_occupancy(self):
        jobs = [job("j", gpus=2, pods=7), job("k", 40, gpus=2, run=50),
                job("l", 40, gpus=4, pods=2, run=50)]
        sevens = [("n0", [0, 1]), ("n0", [2, 3]), ("n1", [0, 1]), ("n1", [2, 3]),
                  ("n2", [0, 1]), ("n2", [2, 3]), ("m0", [0, 1])]
        lines = [submit("j"), start("j", *sevens), submit("k", 40), submit("l", 40),
                 refuse("k", False, 40, free_gpus=0, best_pods=0, binding=["busy"]),
                 refuse("l", False, 40), finish("j", 100), start("k", ("n0", [0, 1]), t=100),
                 finish("k", 150), start("l", ("n0", [0, 1, 2, 3]), ("n1", [0, 1, 2, 3]), t=150),
                 finish("l", 200)]
        metrics = self.right(jobs, lines)
        # l waits while j (14 GPUs, 60 s) and k (2 GPUs, 50 s) run
        self.near(metrics, gar_mean_pct=100, gar_backlog_pct=(60 * 100 + 50 * 200 / 14) / 110,
                  sor_pct=(100 * 100 + 50 * 200 / 14 + 50 * 800 / 14) / 200,
                  goodput_pct=100 * (1400 + 100 + 400) / (14 * 200), lost_gpu_h=0,
                  wait_s_mean=(0 + 60 + 110) / 3, wait_s_max=110, wait_s_p50=60, wait_s_p90=110,
                  jct_s_mean=(100 + 110 + 160) / 3, jct_s_p50=110, slowdown_mean=(
                      1 + 110 / 50 + 160 / 50) / 3, makespan_s=200, refusals=2, jobs_8=1,
                  wait_s_p99_8=110, bound_volume_s=1900 / 14, bound_longest_s=100,
                  makespan_over_bound=200 / (1900 / 14))
        # srpt: k (100) goes first at 40 s, then l (400), then the rest of j (1400 - 560)
        self.near(metrics, bound_srpt_jct_s=(100 / 14 + 500 / 14 + 1900 / 14) / 3,
                  bound_srpt_makespan_s=1900 / 14)
        # while j runs nothing is free; then k breaks the first leaf, then l fills it
        self.near(metrics, stranded_8=(50 * 1 + 50 * 1) / 100)

    def test_fewest_nodes_and_groups(self):
        fields = {"pods": 2, "gpus": 2, "preferred": "node", "run": 100}
        jobs = [job("j", **fields), job("k", **fields)]
        lines = [submit("j"), submit("k"), start("j", ("n0", [0, 1]), ("n0", [2, 3])),
                 start("k", ("n1", [0, 1]), ("n2", [0, 1])), finish("j", 100), finish("k", 100)]
        self.near(self.right(jobs, lines), nnd_mean=1.5, nnd_gpuh=1.5, ngd_mean=1.5, hit_jobs=2,
                  hit_pct=50, hit_gpuh_pct=50)

    def test_fewest_with_spread_cards(self):
        ask = {"pods": 3, "gpus": 1, "milli": 700, "share_card": False}
        places = [("n0", [n], {"milli": 700}) for n in range(3)]
        self.near(self.right([job("j", **ask)], [submit("j"), start("j", *places),
                                                 finish("j", 100)]), nnd_mean=1)

    def test_moves_and_hits(self):
        jobs = [job("j", gpus=2, required="island", ckpt_s=0, restart_s=10)]
        lines = [submit("j"), start("j", ("n0", [0, 1])), move("j", ("m0", [0, 1]), t=40)]
        self.wrong("no island contains the gang", jobs, lines)
        lines[2] = move("j", ("n1", [2, 3]), t=40)
        metrics = self.right(jobs, lines + [finish("j", 110)])
        self.near(metrics, moves=1, starts=1, hit_pct=100, lost_gpu_h=20 / 3600, nnd_mean=1,
                  goodput_pct=100 * 200 / (14 * 110))

    def test_reclaim(self):
        teams = [{"kind": "team", "team": "a"},
                 {"kind": "team", "team": "b", "guarantee": [{"gpus": 4}]}]
        jobs = [job("j", gpus=4, team="a", ckpt_s=30), job("k", 10, gpus=4, run=10, team="b"),
                job("l", 90, gpus=1, team="a")]
        lines = [submit("j"), start("j", ("n0", [0, 1, 2, 3])), submit("k", 10),
                 refuse("k", True, 10), preempt("j", 70, by="k", cause="reclaim"),
                 start("k", ("n1", [0, 1, 2, 3]), t=70), start("j", ("n0", [0, 1, 2, 3]), t=70),
                 finish("k", 80), submit("l", 90), start("l", ("n2", [0]), t=90),
                 finish("j", 110), finish("l", 190)]
        self.near(self.right(jobs, lines, teams=teams), reclaim_s_p50=60, reclaim_s_max=60,
                  preempt_unused=0, lost_gpu_h=4 * 10 / 3600, violation_gpu_h_b=4 * 60 / 3600,
                  violation_gpu_h=4 * 60 / 3600, preemptions_per_1000=250)

    def test_service_shrinks_with_health(self):
        raw = [event(50, node="n2", state="down"), event(50, node="m0", gpu=1, state="down"),
               event(50, node="n1", state="drain")]
        lines = [submit("j"), start("j", ("n0", [0, 1])), *[echo(one) for one in raw],
                 finish("j", 100)]
        self.near(self.right([job("j", gpus=2)], lines, raw),
                  sor_pct=(200 / 14 + 200 / 9) / 2, goodput_pct=100 * 200 / (50 * 14 + 50 * 9),
                  gar_mean_pct=None)

    def test_dropped_and_cancelled(self):
        raw = event(5, job="k", state="cancel")
        lines = [submit("j"), submit("k"), refuse("j", False, final=True), refuse("k", True),
                 echo(raw)]
        self.near(self.right([job("j", gpus=5), job("k", gpus=1)], lines, [raw]), dropped=1,
                  cancelled=1, jobs=2, finished=0, wait_s_mean=None, makespan_s=None,
                  gar_backlog_pct=0)

    def test_shares_count_by_the_first_node(self):
        ask = {"gpus": 1, "mem_share_mib": 6000}
        lines = [submit("j"), start("j", ("n1", [0], {"mem_share_mib": 6000})), finish("j", 100)]
        self.near(self.right([job("j", **ask)], lines), sor_pct=25 / 14, jobs_1=1)
        ask = {"gpus": 1, "mig": "half"}
        lines = [submit("j"), start("j", ("m0", [0], {"mig": "half", "slot": 4})),
                 finish("j", 100)]
        self.near(self.right([job("j", **ask)], lines), sor_pct=50 / 14)
