"""Replays a decision log line by line and reports every line that breaks a rule."""

import hashlib
import heapq

from .figures import Figures
from .life import Life
from .model import CAUSES, SLACK_US, decode, exact, is_int, is_number, named, to_us
from .refusal import check_refusal
from .rules import closed_errors, gang_errors, read_pods
from .state import State
from .work import JOB_DEFAULTS, PODSET_DEFAULTS

KINDS = ("header", "submit", "start", "grow", "shrink", "refuse", "promise", "preempt", "move",
         "event", "fail", "finish", "end")
EVENT_FIELDS = ("node", "gpu", "state", "leave_at", "team", "weight", "limit_gpus", "guarantee",
                "job")
DECISIONS = ("start", "grow", "shrink", "refuse", "promise", "preempt", "move")


class Replay:
    def __init__(self, cluster, work, name, sample=1, budget=20000):
        self.cluster, self.work, self.name = cluster, work, name
        self.sample, self.budget = sample, budget
        self.state = State(cluster)
        self.lives = {job.name: Life(job, cluster) for job in work.jobs}
        self.errors = []
        self.number = 0
        self.now = 0
        self.next_event = 0
        self.next_submit = 0
        self.finishes = []
        self.pushed = 0
        self.down = {}
        self.fresh = {}
        self.ended = False
        self.begun = False
        self.unproven = {"fits": 0, "binding": 0, "best_pods": 0, "final": 0, "guarantee": 0}
        self.checked = 0
        self.figures = Figures(self)

    def error(self, text, number=None):
        self.errors.append((number or self.number, text))

    # ---- the file --------------------------------------------------------------------------

    def run(self, stream):
        digest = hashlib.sha256()
        for raw in stream:
            self.number += 1
            if self.ended:
                self.error("a line after the end line")
                break
            self.line(raw, digest)
            digest.update(raw)
        if not self.ended:
            self.error("the log has no end line")
        self.errors.sort(key=lambda item: item[0])
        return self.errors

    def line(self, raw, digest):
        if not raw.endswith(b"\n") or raw.endswith(b"\r\n"):
            self.error("the line does not end with a single LF")
        try:
            line = decode(raw)
        except ValueError as error:
            self.error(f"not a line of JSON: {error}")
            return
        kind = line.get("kind") if isinstance(line, dict) else None
        if kind not in KINDS:
            self.error(f"unknown kind {kind!r}")
            return
        if (self.number == 1) != (kind == "header"):
            self.error(f"found {kind}, expected the header first and once")
        if kind == "header":
            self.header(line)
            return
        now = line.get("t")
        if not is_number(now):
            self.error(f"t is {now!r}, not a time")
            return
        if abs(now * 1000000 - round(now * 1000000)) > 0.05:
            self.error(f"t {now} has more than 6 decimals")
        now = to_us(now)
        if now < self.now:
            self.error(f"time falls from {self.now / 1e6:g} to {now / 1e6:g}")
            now = self.now
        if now > self.now:
            self.advance(now)
        if kind == "end":
            self.end(line, digest.hexdigest())
        elif kind == "event":
            self.event(line)
        else:
            self.about_job(kind, line)

    def header(self, line):
        wants = {"format": "dovetail-decisions/2", "cluster": self.cluster.name,
                 "workload": self.work.name}
        for key, want in wants.items():
            if line.get(key) != want:
                self.error(f"{key} is {line.get(key)!r}, expected {want!r}")
        for key in ("policy", "version"):
            if not isinstance(line.get(key), str):
                self.error(f"the header names no {key}")
        if line.get("seed") is not None and not is_int(line["seed"]):
            self.error(f"seed is {line['seed']!r}, not a whole number")

    def advance(self, now):
        self.figures.advance(now)
        self.now = now
        late = now - SLACK_US
        while self.finishes and self.finishes[0][0] < late:
            due, _, run, life = heapq.heappop(self.finishes)
            if life.run is run and life.finish_due() is not None and life.finish_due() < late:
                self.error(f"{life.job.name} should have finished at {float(due) / 1e6:.6f}")
        self.missed(late)
        for name, (when, run) in list(self.down.items()):
            if when < late:
                del self.down[name]
                if self.lives[name].run is run:
                    self.error(f"{name} still runs on what went down at {when / 1e6:g}")
        self.figures.promises.overruns(now)

    def missed(self, late):
        jobs = self.work.jobs
        while self.next_submit < len(jobs) and jobs[self.next_submit].submit < late:
            job = jobs[self.next_submit]
            if self.lives[job.name].status == "unborn":
                self.error(f"{job.name} was not submitted at {job.submit / 1e6:g}")
                self.born(self.lives[job.name])
                self.fresh.pop(job.name, None)
            self.next_submit += 1
        events = self.work.events
        while self.next_event < len(events) and events[self.next_event][0] < late:
            when, raw = events[self.next_event]
            self.error(f"the event at {when / 1e6:g} is not echoed")
            self.apply_event(raw)
            self.next_event += 1

    # ---- lines about a job -----------------------------------------------------------------

    def about_job(self, kind, line):
        life = named(self.lives, line.get("job"))
        if life is None:
            self.error(f"unknown job {line.get('job')!r}")
            return
        if kind == "submit":
            self.submit(life, line)
            return
        if life.status == "unborn":
            self.error(f"{kind} of {life.job.name} before its submit line")
            self.born(life)
        if kind in DECISIONS:
            self.passed_over(life, kind)
        if "reason" in line and not isinstance(line["reason"], dict):
            self.error("reason is not an object")
        needs = "waiting" if kind in ("start", "refuse", "promise") else "running"
        if life.status != needs:
            self.error(f"{kind} of {life.job.name}, which is {life.status}, not {needs}")
            return
        getattr(self, kind)(life, line)
        self.figures.count(kind)

    def passed_over(self, life, kind):
        """A job waits past a decision of a later time without a word about it."""
        if kind in ("start", "refuse"):
            self.fresh.pop(life.job.name, None)
        while self.fresh:
            name, since = next(iter(self.fresh.items()))
            if since >= self.now - SLACK_US:
                break
            del self.fresh[name]
            if self.lives[name].status == "waiting":
                self.error(f"{name} is passed over since {since / 1e6:g} without a refusal")

    def submit(self, life, line):
        job = life.job
        if life.status != "unborn":
            self.error(f"{job.name} is submitted twice")
            return
        if abs(self.now - job.submit) > SLACK_US:
            self.error(f"{job.name} is submitted at {self.now / 1e6:g}, "
                       f"its submit_s is {job.submit / 1e6:g}")
        for key, value in line.items():
            if key in ("kind", "t", "job", "reason"):
                continue
            defaults = {**PODSET_DEFAULTS, **JOB_DEFAULTS}
            if key in job.raw:
                good = value == job.raw[key]
            elif key == "min_pods":
                good = "podsets" in job.raw or value == job.podsets[0].pods
            elif key in defaults:
                good = value == defaults[key] or value is None
            else:
                good = key not in ("team", "est_s", "ckpt_s", "required", "preferred",
                                   "podsets", "mig", "mem_share_mib") or value is None
            if not good:
                self.error(f"{key} of {job.name} is {value!r}, the workload says otherwise")
        self.born(life)

    def born(self, life):
        if life.cancelled:
            life.status = "cancelled"
            return
        life.status = "waiting"
        life.since = self.now
        self.fresh[life.job.name] = self.now
        self.figures.submit(life)

    def placed(self, life, line, keep, start):
        """Reads `pods`, takes the room, checks all hard rules of the gang kept + placed."""
        job = life.job
        errors = []
        pods = read_pods(self.cluster, job, line.get("pods"), errors)
        for number in [n for n in pods if n in keep]:
            errors.append(f"pod {number} of {job.name} already runs")
            del pods[number]
        for pod in pods.values():
            errors.extend(closed_errors(job, pod, self.state.hosts[pod.node.index], start))
            self.state.take(job, pod, errors)
        errors.extend(gang_errors(self.cluster, job, {**keep, **pods}))
        for text in errors:
            self.error(text)
        return pods

    def quota(self, life):
        """After more was given: no team above its limit."""
        if life.job.team is None or not life.run.gpus:
            return
        for name in self.work.line_of(life.job.team):
            limit = self.work.teams[name].limit
            held = self.figures.teams[name].held
            if limit is not None and held > limit:
                self.error(f"team {name} holds {float(held):g} GPUs, past its limit of "
                           f"{float(limit):g}")

    def start(self, life, line):
        self.begin(life, line, self.figures.packs())
        self.figures.started(life)

    def begin(self, life, line, safe):
        pods = self.placed(life, line, {}, self.now)
        life.begin(self.now, pods)
        self.figures.held(life)
        self.watch(life)
        self.quota(life)
        self.figures.unsafe(safe)

    def watch(self, life):
        due = life.finish_due()
        if due is not None:
            self.pushed += 1
            heapq.heappush(self.finishes, (int(due), self.pushed, life.run, life))
        self.figures.promises.ran(life)

    def grow(self, life, line):
        if not life.job.elastic:
            self.error(f"{life.job.name} is not elastic, it cannot grow")
        safe = self.figures.packs()
        pods = self.placed(life, line, life.run.pods, life.run.start)
        life.resize(self.now, {**life.run.pods, **pods})
        self.figures.held(life)
        self.watch(life)
        self.quota(life)
        self.figures.unsafe(safe)

    def shrink(self, life, line):
        job = life.job
        if not job.elastic:
            self.error(f"{job.name} is not elastic, it cannot shrink")
        self.justify("shrink", life, line)
        numbers = line.get("pods")
        if not isinstance(numbers, list) or not numbers or not all(map(is_int, numbers)):
            self.error("pods of a shrink is not a list of pod numbers")
            return
        left = dict(life.run.pods)
        for number in numbers:
            pod = left.pop(number, None)
            if pod is None:
                self.error(f"pod {number} of {job.name} does not run")
            else:
                self.state.give(job, pod)
        for text in gang_errors(self.cluster, job, left):
            self.error(text)
        life.resize(self.now, left)
        self.figures.held(life)
        self.watch(life)

    def justify(self, kind, life, line):
        """cause and by of a preempt, shrink or move."""
        job, cause = life.job, line.get("cause")
        name = line.get("by")
        by = named(self.lives, name)
        if name is not None and by is None:
            self.error(f"by names the unknown job {name!r}")
        if kind == "shrink" and cause == "self":
            return
        if cause not in CAUSES:
            self.error(f"cause {cause!r} of the {kind} is unknown")
            return
        if not job.preemptible:
            self.error(f"{kind} of {job.name}, which is not preemptible")
        self.figures.victim(kind, life, by, cause)
        if cause == "drain":
            self.leaving(kind, life)
        if cause not in ("priority", "reclaim"):
            return
        if by is None:
            self.error(f"{kind} for {cause} needs by")
            return
        if by.status != "waiting":
            self.error(f"{kind} for {name}, which is {by.status}, not waiting")
        if cause == "priority":
            if by.job.priority <= job.priority:
                self.error(f"{kind} of {job.name}: {name} has no higher priority")
            return
        self.reclaim(kind, life, by)

    def reclaim(self, kind, life, by):
        teams, held = self.work.teams, self.figures.teams
        if by.job.team is None or life.job.team is None:
            self.error(f"{kind} for reclaim between jobs without teams")
            return
        own = held[by.job.team].held + by.job.least
        if own > teams[by.job.team].guarantee():
            self.error(f"{kind} for reclaim: team {by.job.team} would hold {float(own):g} GPUs, "
                       "above its guarantee")
        if held[life.job.team].held <= teams[life.job.team].guarantee():
            self.error(f"{kind} for reclaim: team {life.job.team} of the victim is not above "
                       "its guarantee")

    def leaving(self, kind, life):
        for pod in life.run.pods.values():
            host = self.state.hosts[pod.node.index]
            if host.closed() or host.leave_at is not None or host.sick() & pod.mask:
                return
        self.error(f"{kind} for drain: {life.job.name} is on nothing drained or leaving")

    def saved(self, life, line):
        saved = line.get("saved", False)
        if not isinstance(saved, bool):
            self.error(f"saved is {saved!r}")
            saved = False
        if saved and not life.job.signal_save:
            self.error(f"saved of {life.job.name}, which has no signal_save")
        return saved

    def stop(self, life, saved):
        for pod in life.run.pods.values():
            self.state.give(life.job, pod)
        life.stop(self.now, saved)
        self.down.pop(life.job.name, None)
        self.figures.stopped(life)

    def preempt(self, life, line):
        self.justify("preempt", life, line)
        self.stop(life, self.saved(life, line))
        self.figures.waits(life)

    def move(self, life, line):
        self.justify("move", life, line)
        safe = self.figures.packs()
        self.stop(life, self.saved(life, line))
        self.begin(life, line, safe)

    def fail(self, life, line):
        if life.job.name not in self.down or self.down[life.job.name][1] is not life.run:
            self.error(f"{life.job.name} fails, but nothing it holds went down at this time")
        self.figures.promises.excuse()
        self.stop(life, False)
        self.figures.waits(life)

    def finish(self, life, line):
        due = life.finish_due()
        if due is None or abs(due - self.now) > SLACK_US:
            when = "never" if due is None else f"at {float(due) / 1e6:.6f}"
            self.error(f"{life.job.name} finishes at {self.now / 1e6:g}, its work is done {when}")
        if line.get("status") != life.job.end:
            self.error(f"status is {line.get('status')!r}, the end of {life.job.name} is "
                       f"{life.job.end!r}")
        self.leave(life, "finished")

    def leave(self, life, status):
        """A running job ends for good."""
        for pod in life.run.pods.values():
            self.state.give(life.job, pod)
        life.end(self.now)
        life.status = status
        life.finish = self.now if status == "finished" else None
        self.down.pop(life.job.name, None)
        self.figures.stopped(life)
        self.figures.gone(life, False)

    def refuse(self, life, line):
        check_refusal(self, life, line)
        if line.get("final") is True and life.status == "waiting":
            life.status = "dropped"
            self.figures.gone(life, True)

    def promise(self, life, line):
        if not is_number(line.get("by")):
            self.error(f"by is {line.get('by')!r}, not a time")
            return
        by = to_us(line["by"])
        if by < self.now - SLACK_US:
            self.error(f"{life.job.name} is promised for {by / 1e6:g}, which is past")
        if line.get("pods") is not None:
            errors = []
            pods = read_pods(self.cluster, life.job, line["pods"], errors)
            errors.extend(gang_errors(self.cluster, life.job, pods))
            for text in errors:
                self.error(f"promise: {text}")
        self.figures.promises.promise(life, by)

    # ---- events and the end ----------------------------------------------------------------

    def event(self, line):
        if self.next_event >= len(self.work.events):
            self.error("an event that the workload does not have")
            return
        when, raw = self.work.events[self.next_event]
        fields = set(raw) | {key for key in EVENT_FIELDS if key in line}
        for key in sorted(fields - {"kind", "t_s"}):
            if line.get(key) != raw.get(key):
                self.error(f"the event's {key} is {line.get(key)!r}, the workload's next event "
                           f"has {raw.get(key)!r}")
        if abs(when - self.now) > SLACK_US:
            self.error(f"the event is echoed at {self.now / 1e6:g}, it is at {when / 1e6:g}")
        self.next_event += 1
        self.apply_event(raw)

    def apply_event(self, raw):
        if "node" in raw:
            self.state.health(raw)
            self.figures.service()
            if raw["state"] == "down":
                self.went_down(raw)
            if raw["state"] in ("down", "drain", "leave"):
                self.figures.promises.excuse()
        elif "team" in raw:
            team = self.work.teams[raw["team"]]
            self.figures.team_changes(team.name)
            if "weight" in raw:
                team.weight = raw["weight"]
            if "limit_gpus" in raw:
                limit = raw["limit_gpus"]
                team.limit = None if limit is None else exact(limit)
            if "guarantee" in raw:
                team.give("event", raw["guarantee"], self.cluster)
            self.figures.promises.excuse()
        else:
            self.cancel(self.lives[raw["job"]])

    def went_down(self, raw):
        host = self.state.host(raw["node"])
        gpu = raw.get("gpu")
        if gpu is None:
            names = {name for name, _ in host.residents}
        else:
            names = {name for name, _ in host.devices[gpu].holders}
        for name in names:
            self.down[name] = (self.now, self.lives[name].run)

    def cancel(self, life):
        if life.status == "running":
            self.leave(life, "cancelled")
            self.figures.count("cancel")
        elif life.status == "waiting":
            life.status = "cancelled"
            self.figures.gone(life, True)
            self.figures.count("cancel")
        elif life.status == "unborn":
            life.cancelled = True
            self.figures.count("cancel")

    def end(self, line, digest):
        self.ended = True
        if line.get("digest") != digest:
            self.error(f"digest is {line.get('digest')!r}, the bytes before give {digest}")
        self.missed(float("inf"))
        for name, since in self.fresh.items():
            if self.lives[name].status == "waiting":
                self.error(f"{name} waits since {since / 1e6:g} without a start or a refusal")
        for name, (when, run) in self.down.items():
            if self.lives[name].run is run:
                self.error(f"{name} still runs on what went down at {when / 1e6:g}")
        self.figures.promises.close()
        self.figures.close(line.get("summary"))
