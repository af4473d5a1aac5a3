"""Clusters and workloads as plain tables, and the readers of their files.

Times are integer microseconds, GPU amounts exact fractions of one GPU, cpu milli-cores, memory
MiB. Anything the format does not allow raises InputError, which ends the program with status 2.
"""

import gzip
import json
import zlib
from fractions import Fraction

BELOW = ("island", "numa", "pcie")
CAUSES = ("priority", "reclaim", "drain", "defrag")
ENDS = ("ok", "fail", "cancel")
PROFILES = ("none", "allreduce", "pipeline", "expert")
SLACK_US = 2000
LARGE = 10**15


class InputError(Exception):
    """The cluster, the workload or the command line cannot be used."""


def fail(where, text):
    raise InputError(f"{where}: {text}")


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    """A number that a time or a count could be; NaN and the endless are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -LARGE < value < LARGE


def no_constant(word):
    raise ValueError(f"{word} is no JSON number")


def decode(raw):
    """One line of JSON; ValueError on anything else."""
    return json.loads(raw.decode("utf-8"), parse_constant=no_constant)


def named(table, name):
    """The entry of a name; None if there is none or the name is no string."""
    return table.get(name) if isinstance(name, str) else None


def to_us(value):
    return round(value * 1000000)


def exact(value):
    """The decimal number as it is written, not its nearest double."""
    return Fraction(repr(value))


def mask_of(indices):
    mask = 0
    for index in indices:
        mask |= 1 << index
    return mask


def bits(mask):
    index = 0
    while mask:
        if mask & 1:
            yield index
        mask >>= 1
        index += 1


def json_lines(path):
    """Yields (where, object) for every line of a file, plain or gzipped."""
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rb") as stream:
            for number, raw in enumerate(stream, 1):
                where = f"{path}:{number}"
                try:
                    value = decode(raw)
                except ValueError as error:
                    fail(where, f"not a line of JSON: {error}")
                yield where, value
    except (OSError, EOFError, zlib.error) as error:
        fail(path, f"cannot be read: {error}")


class Node:
    """One host: capacities (None = no limit), its place in the levels, its parts."""

    def __init__(self, index, name):
        self.index = index
        self.name = name
        self.gpus = 0
        self.model = ""
        self.gpu_mem = None
        self.cpu = None
        self.mem = None
        self.pods = None
        self.domains = {}
        self.parts = {level: [] for level in BELOW}


class Mig:
    def __init__(self, slots, profiles):
        self.slots = slots
        self.profiles = profiles


class Cluster:
    def __init__(self):
        self.name = ""
        self.chains = {}
        self.chain_of = {}
        self.nodes = []
        self.by_name = {}
        self.migs = {}
        self.gpus = 0

    def known_level(self, level):
        return level in ("node", "cluster") or level in BELOW or level in self.chain_of

    def domain(self, node, level):
        """The node's domain at a level of hosts, None if it has none."""
        if level == "cluster":
            return ""
        if level == "node":
            return node.name
        return node.domains.get(level)

    def profile(self, model, name):
        """(slots of a device, length, first slots) or None."""
        mig = self.migs.get(model)
        if mig is None or name not in mig.profiles:
            return None
        length, starts = mig.profiles[name]
        return mig.slots, length, starts


def connected_parts(links):
    left = set(range(len(links)))
    parts = []
    while left:
        todo = [min(left)]
        part = set()
        while todo:
            at = todo.pop()
            if at in part:
                continue
            part.add(at)
            todo.extend(i for i in left if links[at][i] or links[i][at])
        left -= part
        parts.append(sorted(part))
    return parts


def read_parts(where, raw, gpus, level):
    if not isinstance(raw, list):
        fail(where, f"{level} is not a list")
    seen = set()
    masks = []
    for part in raw:
        if level == "pcie":
            part = part.get("gpus") if isinstance(part, dict) else None
        if not isinstance(part, list) or not all(is_int(i) and 0 <= i < gpus for i in part):
            fail(where, f"{level} holds something that is not a list of devices below {gpus}")
        if len(set(part)) != len(part) or seen & set(part):
            fail(where, f"{level} names a device twice")
        seen |= set(part)
        masks.append(mask_of(part))
    return [mask for mask in masks if mask]


def read_shape(where, line):
    gpus = line.get("gpus")
    if not is_int(gpus) or gpus < 0:
        fail(where, "gpus of a shape is not a count")
    links = line.get("links")
    islands = line.get("islands")
    if links is not None:
        good = isinstance(links, list) and len(links) == gpus
        good = good and all(isinstance(r, list) and len(r) == gpus for r in links)
        if not good or any(links[i][j] != links[j][i] for i in range(gpus) for j in range(i)):
            fail(where, "links is not a symmetric matrix of the shape's size")
        if islands is None:
            islands = connected_parts(links)
    parts = {level: [] for level in BELOW}
    if islands is not None:
        parts["island"] = read_parts(where, islands, gpus, "islands")
    if line.get("numa") is not None:
        parts["numa"] = read_parts(where, line["numa"], gpus, "numa")
    if line.get("pcie") is not None:
        parts["pcie"] = read_parts(where, line["pcie"], gpus, "pcie")
    return gpus, parts


def limit_of(where, line, key):
    value = line.get(key)
    if value is not None and (not is_number(value) or value < 0):
        fail(where, f"{key} is {value!r}, not a count")
    return value


def read_node(where, line, cluster, shapes):
    name = line.get("node")
    if not isinstance(name, str) or name in cluster.by_name:
        fail(where, f"node {name!r} is no name or is given twice")
    node = Node(len(cluster.nodes), name)
    gpus = line.get("gpus")
    if not is_int(gpus) or gpus < 0:
        fail(where, f"gpus is {gpus!r}, not a count")
    node.gpus = gpus
    node.model = line.get("model", "")
    node.gpu_mem = limit_of(where, line, "gpu_mem_mib")
    node.cpu = limit_of(where, line, "cpu_milli")
    node.mem = limit_of(where, line, "mem_mib")
    node.pods = limit_of(where, line, "pods")
    shape = line.get("shape")
    if shape is not None:
        if shape not in shapes:
            fail(where, f"shape {shape!r} is unknown")
        if shapes[shape][0] != gpus:
            fail(where, f"shape {shape!r} has {shapes[shape][0]} devices, the node {gpus}")
        node.parts = shapes[shape][1]
    domains = line.get("domains") or {}
    for level, domain in domains.items():
        if level not in cluster.chain_of or not isinstance(domain, str):
            fail(where, f"domain {level!r}: {domain!r} is in no chain or has no name")
    node.domains = dict(domains)
    cluster.nodes.append(node)
    cluster.by_name[name] = node
    cluster.gpus += gpus


def check_nesting(where, cluster):
    for chain in cluster.chains.values():
        for small, large in zip(chain, chain[1:]):
            above = {}
            for node in cluster.nodes:
                inner = node.domains.get(small)
                outer = node.domains.get(large)
                if inner is not None and above.setdefault(inner, outer) != outer:
                    fail(where, f"hosts of {small} {inner} lie in different domains of {large}")


def read_mig(where, line, cluster):
    slots = line.get("slots")
    profiles = {}
    for name, raw in (line.get("profiles") or {}).items():
        length, starts = raw.get("slots"), raw.get("at")
        good = is_int(length) and isinstance(starts, list) and all(is_int(s) for s in starts)
        if not good or length < 1 or any(s < 0 or s + length > slots for s in starts):
            fail(where, f"profile {name!r} does not lie in the slots of a device")
        profiles[name] = (length, sorted(set(starts)))
    cluster.migs[line.get("model", "")] = Mig(slots, profiles)


def read_cluster(lines):
    """A Cluster from an iterable of (where, object)."""
    cluster = Cluster()
    shapes = {}
    where = "cluster"
    for number, (where, line) in enumerate(lines):
        kind = line.get("kind") if isinstance(line, dict) else None
        if (number == 0) != (kind == "cluster"):
            fail(where, f"found {kind!r}, expected the header first and once")
        if kind == "cluster":
            if line.get("format") != "dovetail-cluster/2":
                fail(where, f"format is {line.get('format')!r}, expected dovetail-cluster/2")
            cluster.name = line.get("name", "")
            cluster.chains = {c: list(v) for c, v in (line.get("chains") or {}).items()}
            for chain, levels in cluster.chains.items():
                for level in levels:
                    if cluster.known_level(level):
                        fail(where, f"level {level!r} is named twice")
                    cluster.chain_of[level] = chain
        elif kind == "shape":
            shapes[line.get("shape")] = read_shape(where, line)
        elif kind == "mig":
            read_mig(where, line, cluster)
        elif kind == "node":
            read_node(where, line, cluster, shapes)
        else:
            fail(where, f"unknown kind {kind!r}")
    if not cluster.nodes:
        fail(where, "the cluster has no node")
    check_nesting(where, cluster)
    return cluster
