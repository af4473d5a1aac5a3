"""Promises of a start: when a later one, or a late start, has an excuse."""

import heapq
from bisect import bisect_right

from .model import SLACK_US


class Promises:
    def __init__(self, replay):
        self.replay = replay
        self.counts = {"promises": 0, "promises_kept": 0, "promises_excused": 0}
        self.last_fact = 0
        self.tops = []
        self.blind = set()
        self.last_blind = 0
        self.due = []
        self.over = set()
        self.last_over = 0
        self.order = 0

    # ---- what may excuse --------------------------------------------------------------------

    def excuse(self):
        """A fail, down, drain, leave or team event."""
        self.last_fact = self.replay.number

    def submitted(self, job):
        while self.tops and self.tops[-1][1] <= job.priority:
            self.tops.pop()
        self.tops.append((self.replay.number, job.priority))

    def ran(self, life):
        if life.job.est is None:
            self.blind.add(life)
        else:
            self.order += 1
            heapq.heappush(self.due, (life.run.start + life.job.est, self.order, life.run, life))

    def rested(self, life):
        if life in self.blind:
            self.blind.discard(life)
            self.last_blind = self.replay.number
        if life in self.over:
            self.over.discard(life)
            self.last_over = self.replay.number

    def overruns(self, now):
        while self.due and self.due[0][0] < now - SLACK_US:
            _, _, run, life = heapq.heappop(self.due)
            if life.run is run:
                self.over.add(life)

    def excused(self, life, since):
        if self.blind or self.over:
            return True
        if max(self.last_fact, self.last_blind, self.last_over) > since:
            return True
        at = bisect_right(self.tops, since, key=lambda top: top[0])
        return at < len(self.tops) and self.tops[at][1] > life.job.priority

    # ---- the promises -----------------------------------------------------------------------

    def promise(self, life, by):
        last = life.promise
        if last is None:
            self.counts["promises"] += 1
        elif by > last[0] + SLACK_US and not self.excused(life, last[1]):
            self.replay.error(f"{life.job.name} is promised later than before "
                              f"({by / 1e6:g} after {last[0] / 1e6:g}) without an excuse")
        life.promise = (by, self.replay.number)

    def started(self, life):
        if life.promise is None:
            return
        by, since = life.promise
        life.promise = None
        if self.replay.now <= by + SLACK_US:
            self.counts["promises_kept"] += 1
        elif self.excused(life, since):
            self.counts["promises_excused"] += 1
        else:
            self.replay.error(f"{life.job.name} starts at {self.replay.now / 1e6:g}, promised by "
                              f"{by / 1e6:g}, without an excuse")

    def close(self):
        for life in self.replay.lives.values():
            if life.status == "waiting" and life.promise is not None:
                by, since = life.promise
                if by < self.replay.now - SLACK_US and not self.excused(life, since):
                    self.replay.error(f"{life.job.name} was promised by {by / 1e6:g} and never "
                                      "started")
