#!/usr/bin/env python3
"""A shard on three nodes with a network between them: each in a network namespace of its own, while the one that leads, a follower or all are cut
off, both ways or one way; healed again, and audited.

The services and the client are reached all the time, so that a leader that was deposed, and agents that are cut off, could do harm. Skipped, with a
notice, where namespaces are not allowed.

    tests/scenarios/replicated_netns.py [--cuts N] [--seed N]
"""

import argparse
import os
import random
import time

import cluster_netns
import harness
import node_file
import replicated_nodes
from cluster_netns import both_ways
from harness import expect
from replicated_load import load
from replicated_nodes import CONFIG, HTTP_PORTS, LAN, NAMES, NODE_PORTS, pause

SECONDS = (0.3, 4.0)  # a cut stays so long


class trio(replicated_nodes.trio):
    """Each node on its host; a client talks to them from the hub."""

    def __init__(self, box, net, service_ports):
        self.net = net
        super().__init__(box, service_ports, fixed=True)

    def _node(self, name, _settings):
        path = node_file.derive(CONFIG / f"{name}.yaml", self.folder / f"{name}.yaml", settings={
            "store.path": self.folder / name, "node.trusted_network": "true", "http": f"{{ listen: 0.0.0.0:{HTTP_PORTS[name]} }}", **LAN})
        cluster_netns.move_to_hosts(path, self.net, NODE_PORTS, self.ports)
        return harness.node(self.box_, path, f"{self.net.addresses[name]}:{NODE_PORTS[name]}", log=self.folder / f"{name}.log",
                            prefix=self.net.prefixes[name])


# By the node that leads and the two others.
PARTITIONS = {
    "the leader alone": lambda leader, one, other: both_ways((leader, one), (leader, other)),
    "a follower alone": lambda leader, one, other: both_ways((one, leader), (one, other)),
    "all apart": lambda leader, one, other: both_ways((leader, one), (leader, other), (one, other)),
    "the leader is heard, and does not hear": lambda leader, one, other: [(one, leader), (other, leader)],
    "the leader hears, and is not heard": lambda leader, one, other: [(leader, one), (leader, other)],
    "the leader and one follower apart": lambda leader, one, other: both_ways((leader, one)),
    "the followers apart": lambda leader, one, other: both_ways((one, other)),
    "a ring: each hears one of the others": lambda leader, one, other: [(one, leader), (other, one), (leader, other)],
    "a follower hears, and is not heard": lambda leader, one, other: [(one, leader), (one, other)],
    "a follower is heard, and does not hear": lambda leader, one, other: [(leader, one), (other, one)],
}


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=len(PARTITIONS), help="the first ones are one of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    if cluster_netns.INSIDE not in os.environ:
        print(f"skipped: {cluster_netns.enter()}")
        return cluster_netns.SKIPPED
    print(f"--seed {options.seed} makes the same dice", flush=True)
    dice = random.Random(options.seed)
    began = time.monotonic()
    with harness.sandbox("replicated_netns", options.keep) as box:
        net = cluster_netns.network(box, NAMES)
        working = load(box, options.seed, lambda ports: trio(box, net, ports), cluster_netns.imperfect_services, seconds=60)
        whole, client = working.nodes, working.client

        def look():
            working.look()
            whole.check()
        kinds = dice.sample(list(PARTITIONS), len(PARTITIONS))
        for number in range(options.cuts):
            working.wait_for_work("cut")
            cut(whole, net, look, kinds[number % len(kinds)], dice)
        working.finish()
        print(f"{options.cuts} cuts, {whole.elections()} Schedulers began\n{client.acknowledged} orders acknowledged, {working.services.arrivals} requests; "
              f"{time.monotonic() - began:.0f} s in all", flush=True)
        whole.end()
        return working.judge(options.cuts)


def cut(whole, net, look, kind, dice):
    leader = whole.wait_for_leader()
    others = [name for name in NAMES if name != leader]
    dice.shuffle(others)
    seconds = dice.uniform(*SECONDS)
    for way in PARTITIONS[kind](leader, *others):
        net.cut(*way)
    pause(seconds, look)
    net.heal()
    began = time.monotonic()
    while not whole.whole():
        look()
        expect(time.monotonic() - began < 30, f"30 s after a cut of {seconds:.1f} s ({kind}) not all three nodes have all")
        time.sleep(0.05)
    print(f"replicas cut for {seconds:.1f} s, whole again after {time.monotonic() - began:.1f} s: {kind}", flush=True)


if __name__ == "__main__":
    harness.main(run)
