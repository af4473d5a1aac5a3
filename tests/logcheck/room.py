"""Room for equal pods: how many a host, a region, a domain can hold. Exact counting.

A Room looks at the state with some constraints dropped (the words of `binding`):
busy, health, cpu, mem, pods, model, topology.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import product

from .model import BELOW, bits, exact

ENDLESS = 1 << 60
CONSTRAINTS = ("busy", "health", "cpu", "mem", "pods", "model", "topology")
EMPTY = frozenset(("busy", "health"))


@lru_cache(maxsize=None)
def mig_most(slots, length, starts, taken):
    """Most instances of one profile in the free slots, by trying every start."""
    best = 0
    window = (1 << length) - 1
    for start in starts:
        if start + length <= slots and not taken & (window << start):
            later = tuple(s for s in starts if s >= start + length)
            best = max(best, 1 + mig_most(slots, length, later, taken | window << start))
    return best


class Room:
    """What is open to a job now, under dropped constraints."""

    def __init__(self, state, job, now, drop=frozenset()):
        self.state = state
        self.cluster = state.cluster
        self.job = job
        self.now = now
        self.drop = frozenset(drop)
        self.share_card = job.share_card or "topology" in self.drop

    # ---- one host -------------------------------------------------------------------------

    def open(self, host):
        if "health" in self.drop:
            return True
        if host.down or host.drain:
            return False
        if host.leave_at is None:
            return True
        return self.job.est is not None and self.now + self.job.est <= host.leave_at

    def usable(self, host):
        if "health" in self.drop:
            return host.all
        return host.all & ~(host.gpu_down | host.gpu_drain)

    def allowed(self, host, podset):
        if podset.models is None or "model" in self.drop:
            return True
        return host.node.model in podset.models

    def most_pods(self, host, podset):
        """Pods that cpu, memory and the pod limit leave room for."""
        busy = "busy" not in self.drop
        node = host.node
        most = ENDLESS
        if podset.cpu and node.cpu is not None and "cpu" not in self.drop:
            most = min(most, (node.cpu - (host.cpu if busy else 0)) // podset.cpu)
        if podset.mem and node.mem is not None and "mem" not in self.drop:
            most = min(most, (node.mem - (host.mem if busy else 0)) // podset.mem)
        if node.pods is not None and "pods" not in self.drop:
            most = min(most, node.pods - (host.pods if busy else 0))
        return max(0, int(most))

    def most_on_devices(self, host, podset, mask):
        """Pods that the devices in mask (None: all) leave room for."""
        if podset.gpus == 0:
            return ENDLESS
        usable = self.usable(host)
        if mask is not None:
            usable &= mask
        busy = "busy" not in self.drop
        free = usable & host.free if busy else usable
        if podset.ask == "whole":
            return free.bit_count() // podset.gpus
        if podset.ask == "mig":
            return self.most_mig(host, podset, usable, free)
        if podset.ask == "mem":
            if host.node.gpu_mem is None:
                return 0
            share = podset.mem_share / exact(host.node.gpu_mem)
        else:
            share = podset.milli / 1000
        if share > 1:
            return 0
        most = free.bit_count() * (int(1 / share) if self.share_card else 1)
        for index in bits(usable & host.shared) if busy else ():
            if host.devices[index].kind() == "share":
                fit = int(max(Fraction(0), 1 - host.devices[index].used()) / share)
                most += fit if self.share_card else min(fit, 1)
        return most

    def most_mig(self, host, podset, usable, free):
        profile = self.cluster.profile(host.node.model, podset.mig)
        if profile is None:
            return 0
        slots, length, starts = profile
        starts = tuple(starts)
        most = 0
        for index in bits(usable):
            if free >> index & 1:
                taken = 0
            elif host.devices[index].kind() == "mig":
                taken = host.devices[index].taken_slots()
            else:
                continue
            fit = mig_most(slots, length, starts, taken)
            most += fit if self.share_card else min(fit, 1)
        return most

    def on_host(self, host, podset, mask=None):
        if not self.open(host) or not self.allowed(host, podset):
            return 0
        most = self.most_pods(host, podset)
        return min(most, self.most_on_devices(host, podset, mask)) if most else 0

    def on_hosts(self, podset, mask=None):
        """A function host -> pods, remembering what did not change."""
        if mask is not None:
            return lambda host: self.on_host(host, podset, mask)
        key = (podset.gpus, podset.cpu, podset.mem, podset.models, podset.ask,
               podset.milli, podset.mem_share, podset.mig, self.share_card, self.drop)
        caps = self.state.caps
        memo = caps.get(key)
        if memo is None:
            if len(caps) > 5000:
                caps.clear()
            memo = caps[key] = [(-1, 0)] * len(self.state.hosts)

        def count(host):
            index = host.node.index
            version, most = memo[index]
            if version == host.version and host.leave_at is None:
                return most
            most = self.on_host(host, podset)
            memo[index] = (host.version if host.leave_at is None else -1, most)
            return most
        return count

    # ---- regions: the meeting of one domain of each level ----------------------------------

    def regions(self, levels):
        """[(hosts, mask)], the places in which one domain of each level contains a pod."""
        if "topology" in self.drop:
            levels = ()
        key = tuple(sorted(set(levels)))
        found = self.state.groups.get(key)
        if found is None:
            found = self.state.groups[key] = self.build_regions(key)
        return found

    def build_regions(self, levels):
        below = [level for level in levels if level in BELOW]
        above = [level for level in levels if level not in BELOW]
        if below:
            above.append("node")
        groups = {}
        for host in self.state.hosts:
            key = tuple(self.cluster.domain(host.node, level) for level in above)
            if None not in key:
                groups.setdefault(key, []).append(host)
        if not below:
            return [(hosts, None) for hosts in groups.values()]
        found = []
        for hosts in groups.values():
            parts = [hosts[0].node.parts[level] for level in below]
            for masks in product(*parts):
                mask = hosts[0].all
                for part in masks:
                    mask &= part
                found.append((hosts, mask))
        return found

    def in_region(self, podset, region, enough=ENDLESS):
        """Most pods of the podset, in whole slices, that the region holds (may stop early)."""
        hosts, mask = region
        size = podset.slice_pods if "topology" not in self.drop else 0
        count = self.on_hosts(podset, mask)
        if not size:
            total = 0
            for host in hosts:
                total += count(host)
                if total >= enough:
                    break
            return total
        if podset.slice_level in BELOW:
            return sum(self.slices_on(host, podset, mask) for host in hosts) * size
        sums = {}
        for host in hosts:
            domain = self.cluster.domain(host.node, podset.slice_level)
            if domain is not None:
                sums[domain] = sums.get(domain, 0) + count(host)
        return sum(total // size for total in sums.values()) * size

    def slices_on(self, host, podset, mask):
        """Slices below the host: parts are apart, cpu, memory and pods are common."""
        if not self.open(host) or not self.allowed(host, podset):
            return 0
        size = podset.slice_pods
        slices = 0
        for part in host.node.parts[podset.slice_level]:
            part = part if mask is None else part & mask
            slices += self.most_on_devices(host, podset, part) // size
        return min(slices, self.most_pods(host, podset) // size)

    def best(self, podset, levels, enough=ENDLESS):
        """Most pods that one region of the levels holds."""
        best = 0
        for region in self.regions(levels):
            best = max(best, self.in_region(podset, region, enough))
            if best >= enough:
                break
        return best

    def need(self, podset, full=False):
        if full:
            return podset.pods
        return podset.min_pods if "topology" in self.drop else podset.need()

    def free_gpus(self, podsets):
        """(wholly free, sum of free parts) on healthy, undrained nodes of allowed models."""
        whole, parts = 0, 0
        for host in self.state.hosts:
            if host.closed() or not any(self.allowed(host, p) for p in podsets):
                continue
            host_whole, host_parts = host.worth()
            whole += host_whole
            parts += host_parts
        return whole, parts
