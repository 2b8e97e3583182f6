#!/usr/bin/env python3
"""The cluster with a network between its nodes: each in a network namespace of its own, while connections are cut, both ways or one way,
between halves of the cluster, between agents and shards, and between the shards; healed again, and audited.

The services and the client are reached all the time, so that agents that are cut off from their shard could do harm. Skipped, with a notice,
where namespaces are not allowed.

    tests/scenarios/cluster_netns.py [--cuts N] [--seed N]
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import time

import cluster_faults
import cluster_nodes
import harness
import kill_loop
import node_file
from cluster_nodes import AGENTS, CONFIG, HTTP_PORTS, NAMES, NODE_PORTS, SERVICE_PORTS, SHARDS
from harness import expect, wait_until

SKIPPED = 75
INSIDE = "FAIRLEAD_NETNS"  # set in the namespace in which all of this runs
HUB = "10.77.0.1"          # where the services listen and the client comes from
SECONDS = (0.5, 4.0)       # a cut stays so long


def quietly(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def must(*command):
    done = quietly(*command)
    expect(done.returncode == 0, f"`{' '.join(map(str, command))}` ended with {done.returncode}: {done.stderr.strip()}")


def imperfect_services(box, seed):
    return harness.services(box, host=HUB, seed=seed, slow=0.2, slow_seconds=(0.2, 1.0), work_seconds=(0.1, 0.4), unavailable=0.03, drop_before=0.02,
                            drop_after=0.02, refuse=kill_loop.REFUSED, max_seconds=3600)


def enter():
    """Starts this program anew in a namespace of its own; the reason when that is not allowed, else nothing comes back."""
    for tool in ("unshare", "nsenter", "ip"):
        if shutil.which(tool) is None:
            return f"there is no {tool} here"
    ways = (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"])
    for way in ways:
        if quietly(*way, "sh", "-c", "ip link set lo up && ip link add wire1 type veth peer name wire2 && ip rule add pref 100 from 10.77.0.9 blackhole").returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp(way[0], [*way, sys.executable, "-B", *sys.argv])
    return "network namespaces with veth and routing rules are not allowed here"


class network:
    """A hub that forwards between the hosts of the nodes, and rules that make it forget to."""

    def __init__(self, box, names=NAMES):
        must("ip", "link", "set", "lo", "up")
        must("ip", "addr", "add", f"{HUB}/32", "dev", "lo")
        self.addresses, self.prefixes = {}, {}
        for number, name in enumerate(names, 1):
            holder = box.start(["unshare", "--net", "sh", "-c", "echo ready; exec sleep 100000"], stdout=subprocess.PIPE, text=True)
            expect(holder.stdout.readline().strip() == "ready", "a namespace could not be made")
            address, gate, wire = f"10.77.{number}.2", f"10.77.{number}.1", f"wire{number}"
            inside = ("nsenter", f"--target={holder.pid}", "--net")
            must("ip", "link", "add", wire, "type", "veth", "peer", "name", "wire", "netns", holder.pid)
            must("ip", "addr", "add", f"{gate}/30", "dev", wire)
            must("ip", "link", "set", wire, "up")
            for words in (("link", "set", "lo", "up"), ("addr", "add", f"{address}/30", "dev", "wire"), ("link", "set", "wire", "up"),
                          ("route", "add", "default", "via", gate)):
                must(*inside, "ip", *words)
            self.addresses[name], self.prefixes[name] = address, inside
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as switch:
            switch.write("1")

    def cut(self, source, target):
        """What `source` sends to `target` is dropped without a word from now on."""
        must("ip", "rule", "add", "pref", "100", "from", self.addresses[source], "to", self.addresses[target], "blackhole")

    def heal(self):
        while quietly("ip", "rule", "del", "pref", "100").returncode == 0:
            pass


def move_to_hosts(path, net, node_ports, service_ports):
    """The addresses in a node file become those of the hosts."""
    text = path.read_text(encoding="utf-8")
    for other, port in node_ports.items():
        text = text.replace(f"127.0.0.1:{port}", f"{net.addresses[other]}:{port}")
    for port in SERVICE_PORTS:
        text = text.replace(f"127.0.0.1:{port}", f"{HUB}:{service_ports[port]}")
    path.write_text(text, encoding="utf-8")


class cluster(cluster_nodes.cluster):
    """Each node on its host; a client talks to them from the hub."""

    def __init__(self, box, net, service_ports):
        self.net = net
        super().__init__(box, service_ports, fixed=True)

    def _node(self, name):
        path = self.folder / f"{name}.yaml"
        node_file.derive(CONFIG / f"{name}.yaml", path, settings={
            "store.path" if name in SHARDS else "node.data": self.folder / name, "node.trusted_network": "true",
            "http": f"{{ listen: 0.0.0.0:{HTTP_PORTS[name]} }}"})
        move_to_hosts(path, self.net, NODE_PORTS, self.ports)
        return harness.node(self.box_, path, f"{self.net.addresses[name]}:{NODE_PORTS[name]}", log=self.folder / f"{name}.log",
                            prefix=self.net.prefixes[name])

    def host(self, name):
        return self.net.addresses[name]


def both_ways(*pairs):
    return [way for one, other in pairs for way in ((one, other), (other, one))]


PARTITIONS = {
    "a half each": both_ways(("shard-a", "shard-b"), ("shard-a", "agents-b"), ("agents-a", "shard-b"), ("agents-a", "agents-b")),
    "all agents away": both_ways(*((agents, shard) for agents in AGENTS for shard in SHARDS)),
    "one agent node away": both_ways(("agents-a", "shard-a"), ("agents-a", "shard-b")),
    "the shards apart": both_ways(("shard-a", "shard-b")),
    "agents-a heard by shard-a, and does not hear it": [("shard-a", "agents-a")],
    "agents-b hears shard-b, and is not heard by it": [("agents-b", "shard-b")],
    "shard-a heard by shard-b, and does not hear it": [("shard-b", "shard-a")],
    "both agents hear, and are not heard": [(agents, shard) for agents in AGENTS for shard in SHARDS],
}


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=len(PARTITIONS), help="the first ones are one of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    if INSIDE not in os.environ:
        print(f"skipped: {enter()}")
        return SKIPPED
    print(f"--seed {options.seed} makes the same dice", flush=True)
    dice = random.Random(options.seed)
    with harness.sandbox("cluster_netns", options.keep) as box:
        net = network(box)
        services = imperfect_services(box, options.seed)
        whole = cluster(box, net, services.ports.values())
        whole.start(60)
        notice(whole, net)
        whole.deploy(cluster_faults.short_leases(box.folder))
        client = kill_loop.customer(box, whole.address, options.seed, lambda: client.acknowledged - services.effects.get("dispatch", 0) - len(services.refused))
        client.start()
        kinds = dice.sample(list(PARTITIONS), len(PARTITIONS))
        for number in range(options.cuts):
            cut(whole, net, services, client, kinds[number % len(kinds)], dice.uniform(*SECONDS))
        client.finish(120)
        kill_loop.wait_for_all(whole, services, client)
        client.history.add_ends(whole.tasks())
        whole.end()
        expect(client.acknowledged >= 20 * options.cuts, "hardly anything was submitted: the run says nothing")
        return kill_loop.judge(whole.stores(), services, client)


def notice(whole, net):
    """That nothing comes any more is noticed on both sides, also where only one cannot hear the other."""
    for ways in (both_ways(("agents-a", "shard-a")), [("agents-a", "shard-a")]):
        since = time.time()
        for way in ways:
            net.cut(*way)
        def noticed():
            moments = [whole.notices("shard-a", "agents-a", since), whole.notices("agents-a", "shard-a", since)]
            return moments if None not in moments else None
        moments = wait_until(noticed, 10, f"both sides notice a cut {'both ways' if len(ways) == 2 else 'one way'}")
        net.heal()
        # Who cannot hear is the first to know; a way that is cut one way alone is found out by the other side when that one hangs up.
        expect(min(moments) < cluster_faults.NOTICED_FROZEN, f"a cut was noticed after {min(moments):.2f} s")
        if len(ways) == 2:
            expect(max(moments) < cluster_faults.NOTICED_FROZEN, f"a cut was noticed by one side after {max(moments):.2f} s")
        whole.wait_until_whole(60)
        print(f"a cut {'both ways' if len(ways) == 2 else 'one way'} was noticed after {moments[0]:.2f} s and {moments[1]:.2f} s", flush=True)


def cut(whole, net, services, client, kind, seconds):
    wait_until(lambda: services.look() >= 10, 60, "10 steps run")
    for way in PARTITIONS[kind]:
        net.cut(*way)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        services.look()
        client.check()
        time.sleep(0.02)
    net.heal()
    began = time.monotonic()
    while not all(whole.whole(name) for name in NAMES):
        services.look()
        client.check()
        expect(time.monotonic() - began < 30, f"30 s after a cut of {seconds:.1f} s ({kind}) the nodes have not found each other again")
        time.sleep(0.05)
    print(f"{seconds:.1f} s cut, whole again after {time.monotonic() - began:.1f} s: {kind}", flush=True)


if __name__ == "__main__":
    harness.main(run)
