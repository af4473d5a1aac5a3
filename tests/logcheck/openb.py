"""Logs of openb runs: arrivals only, nodes and pods from the published CSV files."""

import csv
import gzip
import hashlib
import io
from collections import Counter

from .model import InputError, decode, fail, is_int, is_number, named
from .summary import compare

LOADS = (50, 90, 100, 130)
KINDS = ("header", "submit", "start", "refuse", "end")
BINDING = ("busy", "health", "cpu", "mem", "pods", "model", "topology")


class OpenbNode:
    __slots__ = ("name", "cpu", "mem", "free", "model", "all_cpu", "all_mem")

    def __init__(self, name, cpu, mem, gpus, model):
        self.name, self.model = name, model
        self.cpu = self.all_cpu = cpu
        self.mem = self.all_mem = mem
        self.free = [1000] * gpus

    def room(self, pod, busy=True, cpu=True, mem=True, model=True):
        """Whether the pod fits here, with some of the limits left out."""
        if model and pod.models is not None and self.model not in pod.models:
            return False
        if cpu and pod.cpu > (self.cpu if busy else self.all_cpu):
            return False
        if mem and pod.mem > (self.mem if busy else self.all_mem):
            return False
        if not pod.count:
            return True
        if not busy:
            return len(self.free) >= pod.count
        if pod.count == 1:
            return any(free >= pod.milli for free in self.free)
        return sum(free >= pod.milli for free in self.free) >= pod.count


class OpenbPod:
    __slots__ = ("name", "cpu", "mem", "count", "milli", "spec", "models")

    def __init__(self, name, cpu, mem, count, milli, spec):
        self.name, self.cpu, self.mem = name, cpu, mem
        self.count, self.milli, self.spec = count, milli, spec
        self.models = frozenset(m for m in spec.split("|") if m) or None

    def size(self):
        if self.count == 0:
            return "cpu"
        if self.count == 1 and self.milli < 1000:
            return "share"
        return str(self.count) if self.count in (1, 2, 4, 8) else "other"


class OpenbInput:
    def __init__(self, name, seed, nodes, pods, order):
        self.name, self.seed = name, seed
        self.nodes, self.pods, self.order = nodes, pods, order


def table(path):
    """Rows of a CSV file or of its gzipped form, as dictionaries."""
    packed = path.with_name(path.name + ".gz")
    try:
        if path.exists():
            text = path.read_text(encoding="utf-8")
        else:
            text = gzip.decompress(packed.read_bytes()).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    return list(csv.DictReader(io.StringIO(text)))


def read_openb(directory, name, seed):
    node_path = directory / "openb_node_list_gpu_node.csv"
    pod_path = directory / f"openb_pod_list_{name}.csv"
    try:
        nodes = [OpenbNode(r["sn"], int(r["cpu_milli"]), int(r["memory_mib"]), int(r["gpu"]),
                           r["model"]) for r in table(node_path)]
        pods = [OpenbPod(r["name"], int(r["cpu_milli"]), int(r["memory_mib"]), int(r["num_gpu"]),
                         int(r["gpu_milli"]) if int(r["num_gpu"]) else 0, r.get("gpu_spec") or "")
                for r in table(pod_path)]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{pod_path}: a column is missing or no number: {error}") from error
    order_path = directory / "arrival-order" / f"{name}.csv"
    packed = order_path.with_name(order_path.name + ".gz")
    if name.startswith("gpuspec") and not order_path.exists() and not packed.exists():
        order_path = directory / "arrival-order" / "default.csv"
    rows = table(order_path)
    column = f"s{seed}"
    if not rows or column not in rows[0]:
        fail(order_path, f"no column {column}")
    order = [int(row[column]) for row in rows if (row[column] or "").strip()]
    if any(not 0 <= k < len(pods) for k in order):
        fail(order_path, "a row number lies outside the pod list")
    return OpenbInput(name, seed, nodes, pods, order)


class Frag:
    """F as published: classes up to 95 % of the rows, integer weights, memory ignored."""

    def __init__(self, pods):
        counts = Counter((p.cpu, p.milli, p.count, p.models) for p in pods)
        enough = 95 * len(pods) // 100
        self.total = 0
        self.classes = []
        # most_common keeps the list's order among the equally popular
        for (cpu, milli, count, models), number in counts.most_common():
            if self.total >= enough:
                break
            self.classes.append((cpu, milli, count, models, number))
            self.total += number
        self.memo = {}

    def of(self, node):
        """F of a node in milli GPUs, times the sum of the weights."""
        key = (node.model, node.cpu, tuple(sorted(node.free)))
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self.count(*key)
        return found

    def count(self, model, cpu, free):
        idle = sum(free)
        if not idle:
            return 0
        total = 0
        small = {}
        for need, milli, count, models, weight in self.classes:
            fits = count and need <= cpu and (models is None or model in models)
            if fits:
                if milli not in small:
                    less = [f for f in free if f < milli]
                    small[milli] = (sum(less), len(free) - len(less))
                waste, able = small[milli]
                total += weight * (waste if able >= count else idle)
            else:
                total += weight * idle
        return total


class OpenbFigures:
    def __init__(self):
        self.metrics = {}


class OpenbReplay:
    def __init__(self, data, name, sample=1):
        self.data, self.name, self.sample = data, name, sample
        self.errors = []
        self.number = 0
        self.unproven = {}
        self.checked = 0
        self.by_name = {node.name: node for node in data.nodes}
        self.frag = Frag(data.pods)
        self.all = 1000 * sum(len(node.free) for node in data.nodes)
        self.f = sum(self.frag.of(node) for node in data.nodes)
        self.allocated = 0
        self.asked = 0
        self.next = 0
        self.open = None
        self.counts = Counter()
        self.state_at = {}
        self.means = {load: [0, 0.0, 0.0, 0.0] for load in LOADS}
        self.figures = OpenbFigures()
        self.ended = False
        self.last = 0

    def error(self, text):
        self.errors.append((self.number, text))

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
            self.error(f"unknown kind {kind!r} in an openb run")
            return
        if (self.number == 1) != (kind == "header"):
            self.error(f"found {kind}, expected the header first and once")
        if kind == "header":
            self.header(line)
            return
        now = line.get("t")
        if not is_number(now) or now < self.last:
            self.error(f"t is {now!r} after {self.last}")
        else:
            self.last = now
        getattr(self, kind)(line, digest)

    def header(self, line):
        file = f"openb_pod_list_{self.data.name}"
        if line.get("format") != "dovetail-decisions/2" or line.get("cluster") != "openb":
            self.error("the header has another format or cluster, expected openb")
        if line.get("workload") not in (file, file + ".csv", file + ".csv.gz"):
            self.error(f"workload is {line.get('workload')!r}, expected {file}.csv")
        if line.get("seed") != self.data.seed:
            self.error(f"seed is {line.get('seed')!r}, expected {self.data.seed}")

    def pod(self, number):
        return self.data.pods[self.data.order[number]]

    def job(self, number):
        return f"{number}:{self.pod(number).name}"

    def submit(self, line, _):
        if self.open is not None:
            self.error(f"{self.job(self.open)} is neither started nor refused at once")
            self.arrived()
        if self.next >= len(self.data.order):
            self.error("more arrivals than the order has")
            return
        if line.get("job") != self.job(self.next) or line.get("t") != self.next:
            self.error(f"found {line.get('job')!r} at {line.get('t')!r}, the next arrival is "
                       f"{self.job(self.next)} at {self.next}")
        pod = self.pod(self.next)
        asks = {"cpu_milli": pod.cpu, "mem_mib": pod.mem, "gpus": pod.count, "pods": 1}
        for key, want in asks.items():
            if line.get(key, want) != want:
                self.error(f"{key} is {line[key]!r}, the list says {want}")
        if pod.count and line.get("milli", pod.milli) != pod.milli:
            self.error(f"milli is {line['milli']!r}, the list says {pod.milli}")
        self.open = self.next
        self.next += 1
        self.counts["arrivals"] += 1
        self.asked += pod.count * pod.milli

    def decided(self, line, kind):
        """The arrival the line decides, None if it is not its turn."""
        if self.open is None or line.get("job") != self.job(self.open):
            self.error(f"{kind} of {line.get('job')!r}, which is not the arrival just submitted")
            return None
        if line.get("t") != self.open:
            self.error(f"t is {line.get('t')!r}, the arrival is at {self.open}")
        return self.pod(self.open)

    def start(self, line, _):
        pod = self.decided(line, "start")
        if pod is None:
            return
        self.counts["placed"] += 1
        entries = line.get("pods")
        if not isinstance(entries, list) or len(entries) != 1 or not isinstance(entries[0], dict):
            self.error("a start in an openb run places one pod")
        else:
            self.place(pod, entries[0])
        self.arrived()

    def place(self, pod, entry):
        node = named(self.by_name, entry.get("node"))
        if node is None or entry.get("pod") != 0:
            self.error(f"unknown node {entry.get('node')!r} or pod {entry.get('pod')!r}")
            return
        gpus = entry.get("gpus", [])
        good = isinstance(gpus, list) and all(is_int(i) and 0 <= i < len(node.free) for i in gpus)
        if not good or len(set(gpus)) != len(gpus) or len(gpus) != pod.count:
            self.error(f"gpus {gpus!r} are not {pod.count} devices of {node.name}")
            return
        if pod.models is not None and node.model not in pod.models:
            self.error(f"model {node.model!r} of {node.name} is not allowed: {pod.spec}")
        share = pod.milli if pod.size() == "share" else None
        if entry.get("milli") != share and not (share is None and entry.get("milli") == 1000):
            self.error(f"milli is {entry.get('milli')!r}, the ask is {share}")
        self.f -= self.frag.of(node)
        node.cpu -= pod.cpu
        node.mem -= pod.mem
        for word, left, limit in (("cpu_milli", node.cpu, node.all_cpu),
                                  ("mem_mib", node.mem, node.all_mem)):
            if left < 0:
                self.error(f"{node.name} has {limit} {word}, {limit - left} are used")
        for index in gpus:
            if node.free[index] < pod.milli:
                used = 1000 - node.free[index] + pod.milli
                self.error(f"device {index} of {node.name} is given twice: "
                           f"{used} milli, beyond 1000")
            node.free[index] -= pod.milli
        self.allocated += pod.count * pod.milli
        self.f += self.frag.of(node)

    def refuse(self, line, _):
        pod = self.decided(line, "refuse")
        if pod is None:
            return
        self.counts["refused"] += 1
        self.counts["refused_" + pod.size()] += 1
        if line.get("fits", "missing") is not False:
            self.error(f"fits is {line.get('fits')!r}, an openb refusal says false")
        if self.counts["refused"] % self.sample == 0:
            self.checked += 1
            self.prove(pod, line.get("reason") or {})
        self.arrived()

    def prove(self, pod, reason):
        node = next((node for node in self.data.nodes if node.room(pod)), None)
        if node is not None:
            self.counts["false_refusals"] += 1
            self.error(f"fits is false, but {node.name} has room")
        if not isinstance(reason, dict):
            self.error("reason is not an object")
            return
        if "free_gpus" in reason:
            nodes = [n for n in self.data.nodes if pod.models is None or n.model in pod.models]
            whole = sum(free == 1000 for n in nodes for free in n.free)
            parts = sum(free for n in nodes for free in n.free) / 1000
            claim = reason["free_gpus"]
            if not is_number(claim) or min(abs(claim - whole), abs(claim - parts)) > 0.001:
                self.error(f"free_gpus is {claim!r}, recomputed: {whole}, {parts:g}")
        if "best_pods" in reason and node is None and reason["best_pods"] != 0:
            self.error(f"best_pods is {reason['best_pods']!r}, no node holds the pod")
        if "binding" in reason:
            self.binding(pod, node, reason["binding"])

    def binding(self, pod, fits, claim):
        if not isinstance(claim, list) or any(word not in BINDING for word in claim):
            self.error(f"binding {claim!r} is not a list of known constraints")
            return
        for word in BINDING:
            alone = False
            if fits is None and word in ("busy", "cpu", "mem", "model"):
                alone = any(node.room(pod, **{word: False}) for node in self.data.nodes)
            if alone and word not in claim:
                self.error(f"binding lacks {word}: without it the pod fits")
            elif not alone and word in claim:
                self.error(f"binding names {word}, but without it the pod still does not fit")

    # ---- figures ---------------------------------------------------------------------------

    def arrived(self):
        """After the decision about one arrival."""
        self.open = None
        load = 100 * self.asked / self.all
        nearest = int(load + 0.5)
        if nearest in self.means:
            fragments = self.f / self.frag.total
            sums = self.means[nearest]
            sums[0] += 1
            sums[1] += self.allocated / self.all
            sums[2] += fragments / self.all
            sums[3] += fragments / (self.all - self.allocated) if self.all > self.allocated else 0
        self.snapshot()

    def snapshot(self):
        """Keeps the state at each load until the next arrival passes it."""
        after = self.asked
        if self.next < len(self.data.order):
            pod = self.pod(self.next)
            after += pod.count * pod.milli
        for mark in LOADS:
            inside = 100 * self.asked <= mark * self.all
            if inside and (100 * after > mark * self.all or self.next == len(self.data.order)):
                self.state_at[mark] = self.state_now()

    def state_now(self):
        fragments = self.f / self.frag.total
        idle = self.all - self.allocated
        partly = sum(0 < sum(n.free) < 1000 * len(n.free) for n in self.data.nodes)
        with_gpus = sum(bool(n.free) for n in self.data.nodes)
        eights = sum(sum(f == 1000 for f in n.free) // 8 for n in self.data.nodes)
        return {"gar_{}_pct": 100 * self.allocated / self.all,
                "frag_{}_pct": 100 * fragments / self.all,
                "frag_idle_{}_pct": 100 * fragments / idle if idle else None,
                "gfr_{}_pct": 100 * partly / with_gpus,
                "stranded8_{}": 1 - 8000 * eights / idle if idle else None}

    def end(self, line, digest):
        self.ended = True
        if self.open is not None:
            self.error(f"{self.job(self.open)} is neither started nor refused at once")
            self.arrived()
        if self.next < len(self.data.order):
            self.error(f"the log ends after {self.next} of {len(self.data.order)} arrivals")
            self.fill_states()
        if line.get("digest") != digest.hexdigest():
            self.error(f"digest is {line.get('digest')!r}, the bytes before give "
                       f"{digest.hexdigest()}")
        names = ["arrivals", "placed", "refused", "false_refusals"]
        names += ["refused_" + size for size in ("cpu", "share", "1", "2", "4", "8", "other")]
        metrics = {name: self.counts[name] for name in names}
        metrics["arrived_pct"] = 100 * self.asked / self.all
        for mark in LOADS:
            empty = dict.fromkeys(self.state_now())
            for name, value in (self.state_at.get(mark) or empty).items():
                metrics[name.format(mark)] = value
            number, gar, fragments, idle = self.means[mark]
            for name, total in (("gar", gar), ("frag", fragments), ("frag_idle", idle)):
                metrics[f"pub_{name}_{mark}_pct"] = 100 * total / number if number else None
        self.figures.metrics = metrics
        compare(self.error, line.get("summary"), metrics)

    def fill_states(self):
        """A cut log: the state at its end stands for the loads it never passed."""
        for mark in LOADS:
            if 100 * self.asked <= mark * self.all:
                self.state_at[mark] = self.state_now()
