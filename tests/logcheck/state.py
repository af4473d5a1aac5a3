"""What is where: devices, cpu, memory and pods of every host, and its health."""

from fractions import Fraction

from .model import bits, exact


class Device:
    """holders: (job, pod) -> ("whole", 1) | ("share", fraction) | ("mig", first, length)."""

    __slots__ = ("holders",)

    def __init__(self):
        self.holders = {}

    def used(self):
        return sum((h[1] for h in self.holders.values() if h[0] == "share"), Fraction(0))

    def taken_slots(self):
        mask = 0
        for hold in self.holders.values():
            if hold[0] == "mig":
                mask |= ((1 << hold[2]) - 1) << hold[1]
        return mask

    def kind(self):
        """None when free, else what holds it; "mixed" only after a violation."""
        kinds = {hold[0] for hold in self.holders.values()}
        if not kinds:
            return None
        return kinds.pop() if len(kinds) == 1 else "mixed"


class Host:
    """The changing side of a node. Masks are over device indices."""

    def __init__(self, node):
        self.node = node
        self.devices = [Device() for _ in range(node.gpus)]
        self.free = (1 << node.gpus) - 1
        self.all = self.free
        self.shared = 0
        self.known_worth = None
        self.gpu_down = 0
        self.gpu_drain = 0
        self.down = False
        self.drain = False
        self.leave_at = None
        self.cpu = 0
        self.mem = 0
        self.pods = 0
        self.version = 0
        self.residents = {}

    def closed(self):
        return self.down or self.drain

    def sick(self):
        """Devices that take nothing new because of their own state."""
        return self.gpu_down | self.gpu_drain

    def in_service(self):
        """Devices that are not down; drained ones count."""
        return 0 if self.down else self.all & ~self.gpu_down

    def worth(self):
        """(wholly free devices, sum of free parts in GPUs), sick devices left out."""
        if self.known_worth is None or self.known_worth[0] != self.version:
            usable = self.all & ~self.sick()
            whole = (self.free & usable).bit_count()
            parts = whole
            for index in bits(self.shared & usable):
                parts += self.free_part(index)
            self.known_worth = (self.version, whole, parts)
        return self.known_worth[1:]

    def free_part(self, index):
        device = self.devices[index]
        kind = device.kind()
        if kind == "share":
            return max(Fraction(0), 1 - device.used())
        if kind == "mig":
            slots = self.mig_slots
            return Fraction(slots - device.taken_slots().bit_count(), slots)
        return Fraction(0)


class State:
    def __init__(self, cluster):
        self.cluster = cluster
        self.hosts = [Host(node) for node in cluster.nodes]
        for host in self.hosts:
            mig = cluster.migs.get(host.node.model)
            host.mig_slots = mig.slots if mig else 1
        self.clock = 0
        self.dirty = set()
        self.caps = {}
        self.groups = {}

    def host(self, name):
        return self.hosts[self.cluster.by_name[name].index]

    def touch(self, host):
        self.clock += 1
        self.dirty.add(host)
        host.version = self.clock

    def hold_of(self, node, podset, pod):
        """How a pod sits on its devices: the ask in exact parts of this node's device."""
        if podset.ask == "milli":
            return ("share", podset.milli / 1000)
        if podset.ask == "mem":
            if node.gpu_mem is None or podset.mem_share > node.gpu_mem:
                return None
            return ("share", podset.mem_share / exact(node.gpu_mem))
        if podset.ask == "mig":
            profile = self.cluster.profile(node.model, podset.mig)
            if profile is None or pod.slot not in profile[2]:
                return None
            return ("mig", pod.slot, profile[1])
        return ("whole", 1)

    def take(self, job, pod, errors):
        """Puts a pod in place whatever it breaks; adds a text to errors for each break."""
        podset = pod.podset
        host = self.hosts[pod.node.index]
        node = host.node
        self.touch(host)
        host.cpu += podset.cpu
        host.mem += podset.mem
        host.pods += 1
        host.residents[(job.name, pod.number)] = pod
        for used, limit, word in ((host.cpu, node.cpu, "cpu_milli"),
                                  (host.mem, node.mem, "mem_mib"),
                                  (host.pods, node.pods, "pods")):
            if limit is not None and used > limit:
                errors.append(f"{node.name} has {limit} {word}, {used} are used")
        hold = self.hold_of(node, podset, pod)
        if hold is None:
            errors.append(f"pod {pod.number} of {job.name}: {node.name} has no such share or slot")
            hold = ("share", Fraction(0))
        for index in pod.gpus:
            self.take_device(host, index, job, pod, hold, errors)

    def take_device(self, host, index, job, pod, hold, errors):
        device = host.devices[index]
        name = f"device {index} of {host.node.name}"
        kind = device.kind()
        if kind is not None:
            if hold[0] == "whole" or kind in ("whole", "mixed"):
                other = next(iter(device.holders))
                errors.append(f"{name} is given twice: to {job.name} and {other[0]}")
            elif hold[0] != kind:
                errors.append(f"{name} holds MIG instances and something else")
            elif hold[0] == "mig":
                if device.taken_slots() & ((1 << hold[2]) - 1) << hold[1]:
                    errors.append(f"{name}: MIG slots from {hold[1]} are given twice")
            elif device.used() + hold[1] > 1:
                milli = float(1000 * (device.used() + hold[1]))
                errors.append(f"{name} holds shares of {milli:g} milli, beyond 1000")
        elif hold[0] == "share" and hold[1] > 1:
            errors.append(f"{name} holds a share beyond 1000 milli")
        device.holders[(job.name, pod.number)] = hold
        host.free &= ~(1 << index)
        if hold[0] != "whole":
            host.shared |= 1 << index

    def give(self, job, pod):
        host = self.hosts[pod.node.index]
        self.touch(host)
        host.cpu -= pod.podset.cpu
        host.mem -= pod.podset.mem
        host.pods -= 1
        host.residents.pop((job.name, pod.number), None)
        for index in pod.gpus:
            device = host.devices[index]
            device.holders.pop((job.name, pod.number), None)
            if not device.holders:
                host.free |= 1 << index
                host.shared &= ~(1 << index)

    def health(self, event):
        """Applies a node event."""
        host = self.host(event["node"])
        state, gpu = event["state"], event.get("gpu")
        self.touch(host)
        if gpu is not None:
            bit = 1 << gpu
            if state == "down":
                host.gpu_down |= bit
            elif state == "drain":
                host.gpu_drain |= bit
            elif state == "up":
                host.gpu_down &= ~bit
                host.gpu_drain &= ~bit
            return
        if state == "down":
            host.down = True
        elif state == "drain":
            host.drain = True
        elif state == "leave":
            host.leave_at = round(event["leave_at"] * 1000000)
        else:
            host.down = host.drain = False
            host.leave_at = None
