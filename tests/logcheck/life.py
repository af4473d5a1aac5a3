"""The life of one job: its runs, its progress, what a stop keeps and what is lost.

Progress is in microseconds of work at full size without slowness, as exact fractions.
"""

from fractions import Fraction

from .rules import factor_of


class Run:
    """One run. steps: [(time, progress, rate, GPUs)] from each change on."""

    def __init__(self, start, restart, kept):
        self.start = start
        self.ready = start + restart
        self.kept = kept
        self.stop = None
        self.pods = {}
        self.gpus = 0
        self.steps = []
        self.gangs = []
        self.lost = 0

    def progress(self, when):
        for at, done, rate, _ in reversed(self.steps):
            if when >= at or at == self.start:
                return done + rate * max(0, when - max(at, self.ready))
        return self.kept

    def gpu_time(self, begin, end):
        """GPU-microseconds held between two times."""
        total = 0
        for number, (at, _, _, gpus) in enumerate(self.steps):
            last = self.steps[number + 1][0] if number + 1 < len(self.steps) else end
            total += gpus * max(0, min(last, end) - max(at, begin))
        return total


class Life:
    def __init__(self, job, cluster):
        self.job = job
        self.cluster = cluster
        self.status = "unborn"
        self.cancelled = False
        self.since = None
        self.first_start = None
        self.finish = None
        self.kept = Fraction(0)
        self.run = None
        self.runs = []
        self.promise = None
        self.reclaimed = False
        self.victims = []

    def rate(self, pods):
        job = self.job
        if job.asked:
            held = sum(pod.podset.value for pod in pods.values())
            speed = Fraction(held) / job.asked
        else:
            speed = Fraction(len(pods), job.pods) if job.pods else Fraction(1)
        return speed / factor_of(self.cluster, job, pods.values())

    def set_pods(self, now, pods, done):
        run = self.run
        run.pods = pods
        run.gpus = sum(pod.podset.value for pod in pods.values())
        run.steps.append((now, done, self.rate(pods), run.gpus))
        run.gangs.append(list(pods.values()))

    def begin(self, now, pods):
        restart = self.job.restart if self.runs else 0
        self.run = Run(now, restart, self.kept)
        self.runs.append(self.run)
        self.status = "running"
        if self.first_start is None:
            self.first_start = now
        self.set_pods(now, pods, self.kept)

    def resize(self, now, pods):
        self.set_pods(now, pods, self.run.progress(now))

    def finish_due(self):
        """When the run's work is done (a fraction), None if never."""
        if self.run is None:
            return None
        at, done, rate, _ = self.run.steps[-1]
        if done >= self.job.run:
            return max(at, self.run.ready) if done == self.run.kept else at
        return max(at, self.run.ready) + (self.job.run - done) / rate if rate else None

    def end(self, now):
        """The run ends with the job: only the restart it served was no work."""
        run, self.run = self.run, None
        run.stop = now
        run.lost = run.gpu_time(run.start, min(now, run.ready))

    def stop(self, now, saved):
        run, ckpt = self.run, self.job.ckpt
        point = run.ready
        if saved or ckpt == 0:
            point = now
            self.kept = max(run.kept, run.progress(now))
        elif ckpt is not None and now > run.ready:
            count = (now - run.ready + 1) // ckpt
            if count:
                point = min(now, run.ready + count * ckpt)
                self.kept = max(run.kept, run.progress(point))
        run.stop = now
        run.lost = run.gpu_time(run.start, min(now, run.ready))
        run.lost += run.gpu_time(max(point, run.ready), now)
        self.run = None
        self.status = "waiting"
