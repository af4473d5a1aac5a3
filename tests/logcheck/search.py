"""Whether the minimum of a gang fits: by counting for one podset, else by a complete search.

The search places pods of one podset on hosts in rising order and skips hosts that look the same
as one already tried, so that what it leaves out are only mirror images. It ends with True, False
or, when its steps run out, None.
"""

from fractions import Fraction

from .model import BELOW, bits, exact, mask_of
from .room import ENDLESS, Room


class Spent(Exception):
    """The steps of a search ran out."""


class Spot:
    """What is left of one host during the search."""

    def __init__(self, room, host):
        node = host.node
        busy = "busy" not in room.drop
        self.host = host
        self.cpu = self.left(node.cpu, host.cpu, busy, "cpu" in room.drop)
        self.mem = self.left(node.mem, host.mem, busy, "mem" in room.drop)
        self.pods = self.left(node.pods, host.pods, busy, "pods" in room.drop)
        usable = room.usable(host) if room.open(host) else 0
        self.open = room.open(host)
        self.free = usable & host.free if busy else usable
        self.shares = {}
        self.migs = {}
        self.own = 0
        if busy:
            for index in bits(usable & host.shared):
                kind = host.devices[index].kind()
                if kind == "share":
                    self.shares[index] = max(Fraction(0), 1 - host.devices[index].used())
                elif kind == "mig":
                    self.migs[index] = host.devices[index].taken_slots()

    @staticmethod
    def left(limit, used, busy, dropped):
        if limit is None or dropped:
            return ENDLESS
        return limit - (used if busy else 0)

    def look(self):
        node = self.host.node
        return (self.open, self.cpu, self.mem, self.pods, self.free, self.own,
                tuple(sorted(self.shares.items())), tuple(sorted(self.migs.items())),
                node.model, node.gpu_mem, id(node.parts))


class Search:
    def __init__(self, room, full, extra, budget):
        self.room = room
        self.job = room.job
        self.full = full
        self.extra = tuple(extra)
        self.left = budget
        self.spots = {}
        job = room.job
        topology = "topology" not in room.drop
        self.levels = tuple(job.required) + self.extra if topology else self.extra
        self.podsets = sorted((p for p in job.podsets if self.need(p)),
                              key=lambda p: (-p.gpus * self.need(p), -self.need(p)))
        used = set(self.levels)
        for podset in job.podsets:
            used |= set(podset.required)
            if podset.slice_pods:
                used.add(podset.slice_level)
        self.part_levels = [level for level in BELOW if level in used] if topology else []
        self.host_levels = sorted(level for level in used if level not in BELOW)

    def need(self, podset):
        return self.room.need(podset, self.full)

    def spot(self, host):
        spot = self.spots.get(host.node.index)
        if spot is None:
            spot = self.spots[host.node.index] = Spot(self.room, host)
        return spot

    def step(self):
        self.left -= 1
        if self.left < 0:
            raise Spent

    # ---- the choice of regions ---------------------------------------------------------------

    def run(self):
        for podset in self.podsets:
            levels = self.levels + podset.required
            if self.room.best(podset, levels, self.need(podset)) < self.need(podset):
                return False
        try:
            for region in self.room.regions(self.levels):
                self.step()
                if self.whole_enough(region) and self.podset(0, region):
                    return True
        except Spent:
            return None
        return False

    def whole_enough(self, region):
        """Whole devices of the region cover those of all podsets together."""
        want = sum(self.need(p) * p.gpus for p in self.podsets if p.ask == "whole")
        hosts, mask = region
        have = 0
        for host in hosts:
            free = self.spot(host).free
            have += (free if mask is None else free & mask).bit_count()
            if have >= want:
                return True
        return have >= want

    def sub_regions(self, podset, region):
        """The places of the podset's own required levels inside the region of the job."""
        if not podset.required or "topology" in self.room.drop:
            return [region]
        hosts, mask = region
        inside = {host.node.index for host in hosts}
        found = []
        for own_hosts, own_mask in self.room.regions(podset.required):
            both = [host for host in own_hosts if host.node.index in inside]
            if both:
                if own_mask is None:
                    own_mask = mask
                elif mask is not None:
                    own_mask &= mask
                found.append((both, own_mask))
        return found

    def podset(self, number, region):
        if number == len(self.podsets):
            return True
        podset = self.podsets[number]
        sliced = podset.slice_pods and "topology" not in self.room.drop
        for own in self.sub_regions(podset, region):
            self.step()
            groups = self.slice_groups(podset, own) if sliced else [own]
            size = podset.slice_pods if sliced else self.need(podset)
            if self.slices(podset, groups, self.need(podset) // size, size, 0,
                           lambda: self.podset(number + 1, region)):
                return True
        return False

    def slice_groups(self, podset, region):
        hosts, mask = region
        if podset.slice_level in BELOW:
            return [([host], part if mask is None else part & mask)
                    for host in hosts for part in host.node.parts[podset.slice_level]]
        groups = {}
        for host in hosts:
            domain = self.room.cluster.domain(host.node, podset.slice_level)
            if domain is not None:
                groups.setdefault(domain, []).append(host)
        return [(hosts, mask) for hosts in groups.values()]

    def slices(self, podset, groups, count, size, start, rest):
        """Places count slices of size pods, each in one group, groups in rising order."""
        if count == 0:
            return rest()
        for index in range(start, len(groups)):
            hosts, mask = groups[index]
            caps = [self.cap(podset, host, mask) for host in hosts]
            keep = [(host, cap) for host, cap in zip(hosts, caps) if cap]
            tail = [0] * (len(keep) + 1)
            for at in range(len(keep) - 1, -1, -1):
                tail[at] = min(ENDLESS, tail[at + 1] + keep[at][1])
            if tail[0] < size:
                continue
            names = [host for host, _ in keep]
            if self.pods(podset, names, tail, mask, size, 0,
                         lambda at=index: self.slices(podset, groups, count - 1, size, at, rest)):
                return True
        return False

    # ---- the choice of hosts and devices -----------------------------------------------------

    def cap(self, podset, host, mask):
        """An upper bound of the pods a spot still takes."""
        spot = self.spot(host)
        if not spot.open or not self.room.allowed(host, podset):
            return 0
        most = spot.pods
        if podset.cpu:
            most = min(most, spot.cpu // podset.cpu)
        if podset.mem:
            most = min(most, spot.mem // podset.mem)
        if most > 0 and podset.gpus:
            free = spot.free if mask is None else spot.free & mask
            if podset.ask == "whole":
                most = min(most, free.bit_count() // podset.gpus)
            elif not free and not spot.shares and not spot.migs:
                most = 0
        return max(0, most)

    def look(self, host):
        domains = tuple(self.room.cluster.domain(host.node, level)
                        for level in self.host_levels if level != "node")
        return (domains, self.spot(host).look())

    def pods(self, podset, hosts, tail, mask, count, start, rest):
        if count == 0:
            return rest()
        tried = set()
        for index in range(start, len(hosts)):
            if tail[index] < count:
                return False
            host = hosts[index]
            if self.cap(podset, host, mask) < 1:
                continue
            look = self.look(host) if len(hosts) > 1 else None
            if look in tried:
                continue
            tried.add(look)
            spot = self.spot(host)
            for undo in self.choices(podset, spot, mask):
                self.step()
                if self.pods(podset, hosts, tail, mask, count - 1, index, rest):
                    return True
                undo()
        return False

    def part_of(self, spot, index):
        return tuple(next((n for n, part in enumerate(spot.host.node.parts[level])
                           if part >> index & 1), None) for level in self.part_levels)

    def choices(self, podset, spot, mask):
        """Takes the pod in each way that differs, yields what takes it back."""
        spot.cpu -= podset.cpu
        spot.mem -= podset.mem
        spot.pods -= 1
        if podset.gpus == 0:
            yield lambda: None
        elif podset.ask == "whole":
            yield from self.whole_choices(podset, spot, mask)
        else:
            yield from self.share_choices(podset, spot, mask)
        spot.cpu += podset.cpu
        spot.mem += podset.mem
        spot.pods += 1

    def whole_choices(self, podset, spot, mask):
        classes = {}
        for index in range(spot.host.node.gpus):
            if spot.free >> index & 1 and (mask is None or mask >> index & 1):
                classes.setdefault(self.part_of(spot, index), []).append(index)
        groups = list(classes.values())
        for chosen in self.subsets(groups, 0, podset.gpus):
            taken = mask_of(chosen)
            spot.free &= ~taken

            def undo(taken=taken):
                spot.free |= taken
            yield undo

    def subsets(self, groups, at, count):
        if count == 0:
            yield []
            return
        if at == len(groups):
            return
        for number in range(min(count, len(groups[at])), -1, -1):
            for more in self.subsets(groups, at + 1, count - number):
                yield groups[at][:number] + more

    def share_choices(self, podset, spot, mask):
        node = spot.host.node
        seen = set()
        for index in range(node.gpus):
            bit = 1 << index
            if mask is not None and not mask & bit:
                continue
            if spot.own & bit and not self.room.share_card:
                continue
            state = (self.part_of(spot, index), bool(spot.free & bit), spot.shares.get(index),
                     spot.migs.get(index), bool(spot.own & bit))
            if state in seen:
                continue
            seen.add(state)
            ways = self.mig_ways if podset.ask == "mig" else self.share_ways
            yield from ways(podset, spot, index, bit)

    def share_ways(self, podset, spot, index, bit):
        node = spot.host.node
        if podset.ask == "mem":
            if node.gpu_mem is None:
                return
            share = podset.mem_share / exact(node.gpu_mem)
        else:
            share = podset.milli / 1000
        before = (spot.free, spot.own)
        if spot.free & bit:
            room = Fraction(1)
        elif index in spot.shares:
            room = spot.shares[index]
        else:
            return
        if share > room:
            return
        had = spot.shares.get(index)
        spot.free &= ~bit
        spot.own |= bit
        spot.shares[index] = room - share

        def undo():
            spot.free, spot.own = before
            if had is None:
                del spot.shares[index]
            else:
                spot.shares[index] = had
        yield undo

    def mig_ways(self, podset, spot, index, bit):
        profile = self.room.cluster.profile(spot.host.node.model, podset.mig)
        if profile is None or not (spot.free & bit or index in spot.migs):
            return
        _, length, starts = profile
        for start in starts:
            window = ((1 << length) - 1) << start
            had = spot.migs.get(index)
            if (had or 0) & window:
                continue
            before = (spot.free, spot.own)
            spot.free &= ~bit
            spot.own |= bit
            spot.migs[index] = (had or 0) | window

            def undo(had=had, before=before):
                spot.free, spot.own = before
                if had is None:
                    del spot.migs[index]
                else:
                    spot.migs[index] = had
            yield undo


def fits(state, job, now, drop=(), full=False, extra=(), budget=20000):
    """True, False, or None when the steps ran out (never for a gang of one podset)."""
    room = Room(state, job, now, drop)
    for podset in job.podsets:
        need = room.need(podset, full)
        sliced = podset.slice_pods and "topology" not in room.drop
        if need > podset.pods or (sliced and need % podset.slice_pods):
            return False
    live = [p for p in job.podsets if room.need(p, full)]
    if not live:
        return True
    if len(live) == 1:
        podset = live[0]
        need = room.need(podset, full)
        levels = tuple(job.required) + podset.required
        if "topology" in room.drop:
            levels = ()
        return room.best(podset, levels + tuple(extra), need) >= need
    return Search(room, full, extra, budget).run()
