"""The metrics of gang runs: what is summed while the log is replayed."""

from .pack import Pack
from .promises import Promises
from .stranded import Stranded
from .summary import compare, gang_metrics


class TeamBooks:
    """What a team and the teams below it hold and ask, and the time it had too little."""

    def __init__(self, team):
        self.team = team
        self.held = 0
        self.asked = 0
        self.since = 0
        self.violation = 0

    def settle(self, now):
        if now > self.since:
            short = min(self.team.guarantee(), self.asked) - self.held
            if short > 0:
                self.violation += short * (now - self.since)
            self.since = now


class Figures:
    def __init__(self, replay):
        self.replay = replay
        self.work, self.cluster = replay.work, replay.cluster
        jobs = self.work.jobs
        self.first = jobs[0].submit if jobs else 0
        self.last = jobs[-1].submit if jobs else 0
        self.counts = dict.fromkeys(
            ("submit", "start", "grow", "shrink", "refuse", "promise", "preempt", "move", "fail",
             "finish", "cancel", "null", "false_refusal"), 0)
        self.teams = {name: TeamBooks(team) for name, team in self.work.teams.items()}
        self.promises = Promises(replay)
        self.stranded = [Stranded(replay, 8), Stranded(replay, 64)]
        self.allocated = 0
        self.in_service = self.cluster.gpus
        self.waiting = 0
        self.shares = {}
        self.spans = {"gar": [0.0, 0], "backlog": [0.0, 0], "sor": [0.0, 0]}
        self.service_time = 0
        self.victims = []
        self.reclaims = []
        self.unsafe_count = 0
        self.pack = Pack(replay)
        self.metrics = {}

    def count(self, kind):
        self.counts[kind] += 1

    # ---- time -------------------------------------------------------------------------------

    def advance(self, now):
        before = self.replay.now
        for stranded in self.stranded:
            stranded.advance(max(before, self.first), now)
        self.replay.state.dirty.clear()
        share = float(self.allocated) / self.in_service if self.in_service else 0.0
        self.span("sor", share, max(before, self.first), now)
        self.span("gar", share, max(before, self.first), min(now, self.last))
        if self.waiting:
            self.span("backlog", share, before, now)
        self.service_time += self.in_service * max(0, now - max(before, self.first))

    def span(self, name, share, begin, end):
        if end > begin:
            self.spans[name][0] += share * (end - begin)
            self.spans[name][1] += end - begin

    def service(self):
        self.in_service = sum(host.in_service().bit_count()
                              for host in self.replay.state.hosts)

    # ---- teams ------------------------------------------------------------------------------

    def team_changes(self, name, held=0, asked=0):
        if name is None:
            return
        for above in self.work.line_of(name):
            books = self.teams[above]
            books.settle(self.replay.now)
            books.held += held
            books.asked += asked

    def held(self, life):
        """Books what the job holds now."""
        gpus = life.run.gpus if life.run is not None else 0
        change = gpus - self.shares.get(life.job.name, 0)
        if change:
            self.shares[life.job.name] = gpus
            self.allocated += change
            self.team_changes(life.job.team, held=change)

    # ---- lives ------------------------------------------------------------------------------

    def submit(self, life):
        self.count("submit")
        self.waiting += 1
        self.team_changes(life.job.team, asked=life.job.asked)
        self.promises.submitted(life.job)

    def started(self, life):
        """After a start line: the wait is over."""
        self.waiting -= 1
        self.promises.started(life)
        if life.reclaimed:
            self.reclaims.append(self.replay.now - life.since)
            life.reclaimed = False
        for victim in life.victims:
            victim[1] = self.replay.now
        life.victims = []

    def stopped(self, life):
        self.held(life)
        self.promises.rested(life)

    def waits(self, life):
        """A stopped job waits again."""
        self.waiting += 1
        life.since = self.replay.now
        life.promise = None

    def gone(self, life, waited):
        """Finished, dropped or cancelled."""
        if waited:
            self.waiting -= 1
        self.team_changes(life.job.team, asked=-life.job.asked)

    def victim(self, kind, life, by, cause):
        if by is None:
            return
        if kind == "preempt":
            victim = [self.replay.now, None]
            self.victims.append(victim)
            by.victims.append(victim)
        if cause == "reclaim":
            by.reclaimed = True

    # ---- guarantees -------------------------------------------------------------------------

    def packs(self):
        return self.pack.holds()

    def unsafe(self, before):
        if before and self.pack.holds() is False:
            self.unsafe_count += 1

    # ---- the end ----------------------------------------------------------------------------

    def close(self, summary):
        for books in self.teams.values():
            books.settle(self.replay.now)
        nulls, refusals = self.counts["null"], self.counts["refuse"]
        if nulls * 1000 > refusals:
            self.replay.error(f"{nulls} of {refusals} refusals are not proven, beyond 0.1 %")
        self.metrics = gang_metrics(self)
        compare(self.replay.error, summary, self.metrics)
