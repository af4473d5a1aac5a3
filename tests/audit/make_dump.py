#!/usr/bin/env python3
"""make_dump.py - a dump of a made-up cluster, as `kubectl get nodes,pods -A -o json` prints one

    make_dump.py --nodes 1000 --pods 15000 --seed 1 > dump.json

Nodes have racks, blocks, two GPU models, taints, cordons and cards that failed; pods are gangs,
services, daemons and finished jobs, with the fields that real ones carry. The same seed gives the
same bytes. Nothing is written that the arguments do not decide: no clock, no host name.

  --simple   every node alike, healthy and untainted, and no CPU asked: what `simulate` knows too
"""
import argparse
import json
import random
import sys


def node(r, k, simple, racks):
    gpus = 8 if simple or r.random() < 0.8 else 4
    product = "NVIDIA-H100-80GB-HBM3" if gpus == 8 else "NVIDIA-L40S"
    rack = k // racks
    labels = {
        "kubernetes.io/hostname": f"gpu-{k:05d}",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": f"gpu.{gpus}x",
        "cloud.provider.com/topology-rack": f"r{rack % 16}",
        "cloud.provider.com/topology-block": f"b{rack // 16}",
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": str(gpus),
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.present": "true",
        "feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true",
    }
    healthy = gpus - (0 if simple or r.random() > 0.03 else r.randint(1, 2))
    room = {"cpu": f"{gpus * 12}", "memory": f"{gpus * 128}Gi", "pods": "110",
            "ephemeral-storage": "1700Gi", "nvidia.com/gpu": str(gpus)}
    ready = "True" if simple or r.random() > 0.01 else "Unknown"
    spec = {"podCIDR": f"10.{k // 250 % 250}.{k % 250}.0/24", "providerID": f"made://{k}"}
    if not simple and r.random() < 0.02:
        spec["unschedulable"] = True
    if not simple and r.random() < 0.05:
        spec["taints"] = [{"key": "team", "value": "x", "effect": "NoSchedule"}]
    elif r.random() < 0.5:
        spec["taints"] = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    if simple:
        spec.pop("taints", None)
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": f"gpu-{k:05d}", "uid": f"node-{k}", "labels": labels,
                     "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
                     "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec,
        "status": {
            "capacity": room, "allocatable": dict(room, **{"nvidia.com/gpu": str(healthy)}),
            "conditions": [
                {"type": t, "status": "False", "reason": "Kubelet" + t,
                 "lastHeartbeatTime": "2026-11-01T00:00:00Z", "message": "kubelet has no " + t}
                for t in ("MemoryPressure", "DiskPressure", "PIDPressure")
            ] + [{"type": "Ready", "status": ready, "reason": "KubeletReady"}],
            "images": [{"names": [f"registry.example/team/image-{i}@sha256:{i:064x}"],
                        "sizeBytes": 10**9 + i} for i in range(20)],
            "nodeInfo": {"kubeletVersion": "v1.36.0", "architecture": "amd64"},
        },
    }


def pod(name, space, owner, gpus, cpu, mem, where, phase, labels=None, notes=None, extra=None):
    requests = {}
    if cpu:
        requests["cpu"] = cpu
    if mem:
        requests["memory"] = mem
    limits = dict(requests)
    if gpus:
        requests["nvidia.com/gpu"] = str(gpus)
        limits["nvidia.com/gpu"] = str(gpus)
    container = {
        "name": "main", "image": f"registry.example/{space}/train:1.2.3",
        "command": ["python", "-m", "train", "--config", "/etc/train/config.yaml"],
        "env": [{"name": f"SETTING_{i}", "value": f"value-of-setting-{i}"} for i in range(12)],
        "resources": {"requests": requests, "limits": limits},
        "volumeMounts": [{"name": f"v{i}", "mountPath": f"/data/{i}"} for i in range(4)],
        "terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "IfNotPresent",
    }
    spec = {"containers": [container], "restartPolicy": "Never",
            "schedulerName": "default-scheduler", "serviceAccountName": "default", "priority": 0,
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                 "effect": "NoExecute", "tolerationSeconds": 300}],
            "volumes": [{"name": f"v{i}", "configMap": {"name": f"config-{i}"}} for i in range(4)]}
    status = {"phase": phase, "qosClass": "Burstable"}
    if where:
        spec["nodeName"] = where
        status["conditions"] = [{"type": t, "status": "True",
                                 "lastTransitionTime": "2026-11-01T00:00:00Z"}
                                for t in ("Initialized", "Ready", "ContainersReady",
                                          "PodScheduled")]
    else:
        status["conditions"] = [{"type": "PodScheduled", "status": "False",
                                 "reason": "Unschedulable",
                                 "message": "0/9 nodes are available: 9 Insufficient "
                                            "nvidia.com/gpu."}]
    meta = {"name": name, "namespace": space, "uid": f"pod-{space}-{name}",
            "labels": dict({"app": owner[1]}, **(labels or {})),
            "creationTimestamp": "2026-11-01T00:00:00Z",
            "ownerReferences": [{"apiVersion": "v1", "kind": owner[0], "name": owner[1],
                                 "uid": "owner-" + owner[1], "controller": True}]}
    if notes:
        meta["annotations"] = notes
    spec.update(extra or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


class Cluster:
    """Free room of each node as pods are put on it."""

    def __init__(self, nodes):
        self.names = [n["metadata"]["name"] for n in nodes]
        self.free = [int(n["status"]["allocatable"]["nvidia.com/gpu"]) for n in nodes]
        self.cpu = [int(n["status"]["allocatable"]["cpu"]) for n in nodes]

    def put(self, r, gpus, cpu, tries=20):
        for _ in range(tries):
            k = r.randrange(len(self.names))
            if self.free[k] >= gpus and self.cpu[k] >= cpu:
                self.free[k] -= gpus
                self.cpu[k] -= cpu
                return self.names[k]
        return None


def gang(r, cluster, number, simple, load):
    """The pods of one training job: running if room is found for each, else waiting or gone."""
    pods, gpus = r.choice([(1, 1), (1, 1), (1, 2), (1, 4), (2, 8), (4, 8), (8, 8), (1, 8)])
    per_gpu = 0 if simple else r.choice([2, 4, 8, 12])
    space, name = f"team-{number % 7}", f"train-{number}"
    places = [cluster.put(r, gpus, gpus * per_gpu) for _ in range(pods)]
    waits = None in places
    if waits:
        for place in places:
            if place:
                k = cluster.names.index(place) if len(cluster.names) < 2000 else int(place[4:])
                cluster.free[k] += gpus
                cluster.cpu[k] += gpus * per_gpu
        if r.random() > load:
            return []
    return [pod(f"{name}-{i}", space, ("PyTorchJob", name), gpus,
                f"{gpus * per_gpu}" if per_gpu else None,
                None if simple else f"{gpus * 32}Gi", None if waits else places[i],
                "Pending" if waits else "Running",
                {"training.kubeflow.org/job-name": name,
                 "training.kubeflow.org/replica-index": str(i)}) for i in range(pods)]


def write(out, items):
    out.write('{\n    "apiVersion": "v1",\n    "items": [\n')
    first = True
    for item in items:
        text = json.dumps(item, indent=4)
        out.write(("" if first else ",\n") + "        " + text.replace("\n", "\n        "))
        first = False
    out.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n'
              '    }\n}\n')


def items(args):
    r = random.Random(args.seed)
    nodes = [node(r, k, args.simple, args.rack) for k in range(args.nodes)]
    yield from nodes
    cluster = Cluster(nodes)
    count = number = 0
    gpus = sum(cluster.free)
    while sum(cluster.free) > gpus * (1 - args.load) and count < args.pods and number < gpus * 2:
        for p in gang(r, cluster, number, args.simple, args.waiting):
            yield p
            count += 1
        number += 1
    daemons = ["cni", "device-plugin", "exporter", "csi", "logs", "kube-proxy"]
    for k in range(args.pods - count):
        n, kind = k % args.nodes, k // args.nodes
        name = daemons[kind % len(daemons)] + (f"-{kind // len(daemons)}" if kind > 5 else "")
        if k % 17 == 0:
            yield pod(f"done-{k}", "team-0", ("Job", f"done-{k}"), 1, "1", "1Gi",
                      cluster.names[n], "Succeeded")
        else:
            yield pod(f"{name}-{n}", "kube-system", ("DaemonSet", name), 0,
                      None if args.simple else "100m", None if args.simple else "64Mi",
                      cluster.names[n], "Running")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--nodes", type=int, default=20)
    p.add_argument("--pods", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rack", type=int, default=4, help="nodes per rack")
    p.add_argument("--load", type=float, default=0.7, help="share of GPUs to fill")
    p.add_argument("--waiting", type=float, default=0.3, help="share of jobs without room that wait")
    p.add_argument("--simple", action="store_true")
    args = p.parse_args()
    write(sys.stdout, items(args))


if __name__ == "__main__":
    main()
