"""The stranded ratio: free GPUs that form no whole placement of k, as a mean over time."""


class Stranded:
    """k GPUs as equal pods of `size` GPUs, in one domain of `level`."""

    def __init__(self, replay, k):
        self.replay, self.k = replay, k
        self.state, self.cluster = replay.state, replay.cluster
        largest = max(node.gpus for node in self.cluster.nodes)
        self.size = max((d for d in range(1, min(k, largest) + 1) if k % d == 0), default=1)
        self.pods = k // self.size
        self.level = self.smallest_level()
        self.per_host = {}
        self.sums = {}
        self.placements = 0
        self.free = 0
        self.total = 0.0
        self.time = 0
        for host in self.state.hosts:
            self.refresh(host)

    def smallest_level(self):
        chain = next(iter(self.cluster.chains.values()), [])
        for level in ["node"] + chain + ["cluster"]:
            sums = {}
            for node in self.cluster.nodes:
                domain = self.cluster.domain(node, level)
                if domain is not None:
                    sums[domain] = sums.get(domain, 0) + node.gpus // self.size
            if max(sums.values(), default=0) >= self.pods:
                return level
        return None

    def refresh(self, host):
        """Brings the sums up to date with a host that changed."""
        whole, free = (0, 0) if host.closed() else host.worth()
        whole //= self.size
        old_whole, old_free = self.per_host.get(host.node.index, (0, 0))
        self.per_host[host.node.index] = (whole, free)
        self.free += free - old_free
        domain = self.cluster.domain(host.node, self.level) if self.level else None
        if domain is not None and whole != old_whole:
            before = self.sums.get(domain, 0)
            self.sums[domain] = before + whole - old_whole
            self.placements += self.sums[domain] // self.pods - before // self.pods

    def advance(self, begin, end):
        for host in self.state.dirty:
            self.refresh(host)
        if end > begin and self.free > 0:
            self.total += (1 - self.k * self.placements / float(self.free)) * (end - begin)
            self.time += end - begin

    def mean(self):
        return self.total / self.time if self.time else None
