"""Placements as a log writes them, and the hard rules of a gang."""

from .model import BELOW, SLACK_US, exact, is_int, is_number, named


class Placed:
    """One pod of a gang in its place."""

    __slots__ = ("number", "podset", "node", "gpus", "mask", "slot")

    def __init__(self, number, podset, node, gpus, slot):
        self.number = number
        self.podset = podset
        self.node = node
        self.gpus = gpus
        self.slot = slot
        self.mask = 0
        for index in gpus:
            self.mask |= 1 << index


def read_pod(cluster, job, entry, errors):
    """A Placed from one entry of `pods`, or None with a text in errors."""
    number = entry.get("pod") if isinstance(entry, dict) else None
    podset = job.podset_of(number) if is_int(number) else None
    if podset is None:
        errors.append(f"{job.name} has no pod {number!r}")
        return None
    what = f"pod {number} of {job.name}"
    node = named(cluster.by_name, entry.get("node"))
    if node is None:
        errors.append(f"{what}: unknown node {entry.get('node')!r}")
        return None
    gpus = entry.get("gpus", [])
    if not isinstance(gpus, list) or not all(is_int(i) and 0 <= i < node.gpus for i in gpus):
        errors.append(f"{what}: gpus {gpus!r} are not devices of {node.name}")
        return None
    if len(set(gpus)) != len(gpus):
        errors.append(f"{what}: a device is given twice in one pod")
        gpus = sorted(set(gpus))
    if len(gpus) != podset.gpus:
        errors.append(f"{what} holds {len(gpus)} devices, it asks for {podset.gpus}")
    if podset.models is not None and node.model not in podset.models:
        errors.append(f"{what}: model {node.model!r} of {node.name} is not allowed")
    check_ask(what, podset, entry, errors)
    slot = entry.get("slot") if podset.ask == "mig" else None
    if podset.ask == "mig":
        profile = cluster.profile(node.model, podset.mig)
        if profile is None:
            errors.append(f"{what}: model {node.model!r} has no MIG profile {podset.mig!r}")
        elif slot not in profile[2]:
            errors.append(f"{what}: slot {slot!r} is no legal first slot of {podset.mig}")
    elif podset.ask == "mem" and node.gpu_mem is None:
        errors.append(f"{what}: {node.name} takes no memory shares")
    return Placed(number, podset, node, tuple(gpus), slot)


def check_ask(what, podset, entry, errors):
    """A share repeats its ask; nothing else claims one."""
    wanted = {"milli": podset.milli if podset.ask == "milli" else None,
              "mem_share_mib": podset.mem_share if podset.ask == "mem" else None,
              "mig": podset.mig if podset.ask == "mig" else None}
    for key, want in wanted.items():
        found = entry.get(key)
        if key == "milli" and want is None and found == 1000:
            continue
        if is_number(found):
            found = exact(found)
        if found != want:
            errors.append(f"{what}: {key} is {entry.get(key)!r}, the ask is "
                          f"{'none' if want is None else want}")


def read_pods(cluster, job, entries, errors):
    if not isinstance(entries, list) or not entries:
        errors.append(f"pods of {job.name} is not a list of pods")
        return {}
    pods = {}
    for entry in entries:
        pod = read_pod(cluster, job, entry, errors)
        if pod is None:
            continue
        if pod.number in pods:
            errors.append(f"pod {pod.number} of {job.name} is placed twice in one line")
        else:
            pods[pod.number] = pod
    return pods


def domain_of(cluster, pod, level):
    """The domain of a level that contains the pod; None if none does.

    A pod without devices is in every part of its host; it answers the set of them.
    """
    if level not in BELOW:
        return cluster.domain(pod.node, level)
    for number, mask in enumerate(pod.node.parts[level]):
        if pod.mask and pod.mask & ~mask == 0:
            return (pod.node.name, number)
    return None


def contained(cluster, pods, level):
    """Whether one domain of the level contains all the pods."""
    if level == "cluster":
        return True
    if level in BELOW:
        node = pods[0].node
        mask = 0
        for pod in pods:
            if pod.node is not node:
                return False
            mask |= pod.mask
        return any(mask & ~part == 0 for part in node.parts[level])
    first = cluster.domain(pods[0].node, level)
    if first is None:
        return False
    return all(cluster.domain(pod.node, level) == first for pod in pods)


def factor_of(cluster, job, pods):
    """The least slow factor of a level one domain of which contains the gang."""
    if not job.slow or not pods:
        return 1
    pods = list(pods)
    fits = [factor for level, factor in job.slow.items() if contained(cluster, pods, level)]
    return min(fits) if fits else 1


def gang_errors(cluster, job, pods):
    """Breaks of the rules that do not depend on who else runs: sizes, levels, slices, cards."""
    errors = []
    gang = list(pods.values())
    for level in job.required:
        if gang and not contained(cluster, gang, level):
            errors.append(f"{job.name}: no {level} contains the gang, it is required")
    for podset in job.podsets:
        mine = [pod for pod in gang if pod.podset is podset]
        name = f"podset {podset.name!r} of {job.name}"
        if len(mine) < podset.min_pods:
            errors.append(f"{name}: {len(mine)} pods run, below the minimum of {podset.min_pods}")
        for level in podset.required:
            if mine and not contained(cluster, mine, level):
                errors.append(f"{name}: no {level} contains its pods, it is required")
        if podset.slice_pods:
            errors.extend(slice_errors(cluster, name, podset, mine))
    if not job.share_card:
        cards = set()
        for pod in gang:
            if not pod.podset.shares():
                continue
            for index in pod.gpus:
                if (pod.node.index, index) in cards:
                    errors.append(f"{job.name}: two shares on device {index} of "
                                  f"{pod.node.name}, share_card is false")
                cards.add((pod.node.index, index))
    return errors


def slice_errors(cluster, name, podset, pods):
    counts = {}
    for pod in pods:
        domain = domain_of(cluster, pod, podset.slice_level)
        if domain is None:
            return [f"{name}: pod {pod.number} is in no {podset.slice_level}: slices are split"]
        counts[domain] = counts.get(domain, 0) + 1
    bad = [f"{count} pods in {domain}" for domain, count in counts.items()
           if count % podset.slice_pods]
    if bad:
        return [f"{name}: slices of {podset.slice_pods} are split over {podset.slice_level}: "
                + ", ".join(bad)]
    return []


def closed_errors(job, pod, host, start):
    """Why a pod of a run that started at `start` may not be put on a host now."""
    what = f"pod {pod.number} of {job.name}"
    name = host.node.name
    if host.down:
        return [f"{what}: {name} is down"]
    if host.drain:
        return [f"{what}: {name} is drained"]
    errors = []
    for index in pod.gpus:
        if host.gpu_down >> index & 1:
            errors.append(f"{what}: device {index} of {name} is down")
        elif host.gpu_drain >> index & 1:
            errors.append(f"{what}: device {index} of {name} is drained")
    if host.leave_at is not None:
        if job.est is None:
            errors.append(f"{what}: {name} leaves and the job has no est_s")
        elif start + job.est > host.leave_at + SLACK_US:
            errors.append(f"{what}: {name} leaves before the run can end")
    return errors
