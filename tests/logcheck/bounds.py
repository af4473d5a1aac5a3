"""Lower bounds of makespan and mean completion time."""

import heapq
from fractions import Fraction


def srpt(jobs, speed):
    """Shortest remaining work first on one machine; (mean flow time, last completion) in us.

    jobs: [(submit_us, work in GPU-us)] by time.
    """
    queue = []
    now = Fraction(0)
    flow = Fraction(0)
    number = 0
    while number < len(jobs) or queue:
        if not queue:
            now = max(now, Fraction(jobs[number][0]))
        while number < len(jobs) and jobs[number][0] <= now:
            heapq.heappush(queue, (jobs[number][1], number, jobs[number][0]))
            number += 1
        left, order, submit = heapq.heappop(queue)
        until = now + Fraction(left) / speed
        if number < len(jobs) and jobs[number][0] < until:
            done = (jobs[number][0] - now) * speed
            now = Fraction(jobs[number][0])
            heapq.heappush(queue, (left - done, order, submit))
        else:
            now = until
            flow += now - submit
    return flow / len(jobs), now


def bounds(lives, gpus, first):
    """The bound_* metrics in seconds, of finished jobs with GPUs."""
    jobs = sorted((life.job.submit, life.job.asked * life.job.run) for life in lives)
    if not jobs or not gpus:
        return {}
    mean, last = srpt(jobs, gpus)
    longest = max(life.job.submit + life.job.run for life in lives)
    volume = sum(work for _, work in jobs) / gpus
    return {"bound_volume_s": float(volume) / 1e6,
            "bound_longest_s": (longest - first) / 1e6,
            "bound_srpt_jct_s": float(mean) / 1e6,
            "bound_srpt_makespan_s": float(last - first) / 1e6}
