#!/usr/bin/env python3
"""Nodes come and go under load: a shard that has lived on one node gets two more by `fairlead cluster init` and `join`, with node files that name
no other node. Then a node leaves and comes back with an empty folder, again and again, the one that leads too, while nodes are killed. At last two of
three disks are lost, and the shard goes on from the third. Judged by the services' records and the client's history; nothing is lost, as the newest
store has all that was acknowledged. What is refused is tried first.

    tests/scenarios/replicated_members.py [--changes N] [--seed N]
"""

import argparse
import re
import shutil
import time

import harness
import node_file
import replicated_nodes
import replicated_recovery
from harness import expect, fairlead, wait_until
from replicated_load import load, pause_meter
from replicated_nodes import NAMES, pause

NAMED = re.compile(r"^ +(replicas|peers):.*\n", re.M)
LEAVES_WITHIN_SECONDS = 60


class joining(replicated_nodes.trio):
    """No node file says which nodes hold the shard, or where others are. At first it is on n1 alone."""

    def __init__(self, box, service_ports, settings=None):
        super().__init__(box, service_ports, settings=settings)
        for name in NAMES:
            file = self.file(name)
            file.write_text(NAMED.sub("", file.read_text(encoding="utf-8")), encoding="utf-8")

    def file(self, name):
        return self.folder / f"{name}.yaml"

    def start(self, seconds=30):
        self.nodes["n1"].launch()
        return self.wait_for_leader(seconds)

    def init(self, name):
        return fairlead("cluster", "init", "--reason", "a scenario", node=self.nodes[name].address)

    def join(self, name, through, config=None):
        return fairlead("cluster", "join", self.nodes[through].address, "--config", config or self.file(name), "--reason", "a scenario")

    def strays(self):
        """Another node, with an empty folder, that has not joined: once with a file that names the others, and once without."""
        listen, http = harness.free_ports(2)
        out = []
        for name, peers in (("n4", self.address), ("n4-alone", "")):
            config = node_file.derive(self.file("n3"), self.folder / f"{name}.yaml",
                                      settings={"node.name": "n4", "node.listen": f"127.0.0.1:{listen}", "node.peers": f"[{peers}]",
                                                "http": f"{{ listen: 127.0.0.1:{http} }}",
                                                "store.path": self.folder / "n4"})
            out.append(harness.node(self.box_, config, f"127.0.0.1:{listen}", log=self.folder / f"{name}.log"))
        return out

    def holders(self):
        """The nodes that hold the shard, and which of them vote, as the leader says; None: nobody says it."""
        known = self.replication()
        if known is None or known["role"] != "leader":
            return None
        votes = {known["leader"]} | {one["node"] for one in known["replicas"] if one["votes"]}
        return set(known["nodes"]), votes, {one["node"] for one in known["replicas"]} | {known["leader"]}


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changes", type=int, default=4, help="nodes that leave and join again, once there are three")
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_members", options.keep) as box:
        working = load(box, options.seed, lambda ports: joining(box, ports, settings=replicated_nodes.LAN))
        grow(working)
        refused(working)
        stray(working)
        for number in range(options.changes):
            working.wait_for_work(f"change {number + 1}")
            pause(dice.uniform(0, 0.5), working.look)
            change(working, dice, kill=number % 2 == 0)
        shrink(working, dice)
        lose_two(working, dice)
        working.finish()
        print(f"{2 * options.changes + 6} changes of nodes\n{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests",
              flush=True)
        working.nodes.end()
        return working.judge(options.changes)


def done_well(done, what):
    expect(done.returncode == 0, f"{what}: {done.stdout}{done.stderr}")
    return done.stdout


def refuses(done, words, what):
    expect(done.returncode != 0 and words in done.stderr, f"{what} is not refused with `{words}`: {done.stdout}{done.stderr}")


def grow(working):
    """From one node to three."""
    whole, client = working.nodes, working.client
    working.wait_for_work("start as the first of several")
    refuses(whole.join("n2", "n1"), "alone", "a node that joins a shard which lives on one node")
    pauses = pause_meter(working)
    pauses.watch(1)
    usual = pauses.longest
    since = time.monotonic()
    done_well(whole.init("n1"), "n1 becomes the first of several")
    pauses.watch(2)
    refuses(whole.init("n1"), "others can join", "a second init")
    for name in ("n2", "n3"):
        bad_joins(whole, name)
        expect("Start the node" in done_well(whole.join(name, "n1"), f"{name} joins"), "what to do next is not said")
        done_well(whole.join(name, "n1"), f"{name} joins, asked a second time")
    # Two nodes have one vote: the second node alone makes nothing safer.
    for name in ("n2", "n3"):
        whole.nodes[name].launch()
    wait_until(lambda: working.look() or whole.whole(), 60, "all three vote", every=0.1)
    for name in NAMES:
        noted = whole.folder / name / "others"
        wait_until(lambda: noted.exists() and all(whole.nodes[other].address in noted.read_text(encoding="utf-8") for other in NAMES), 10,
                   f"{name} notes where the others are", every=0.1)
    print(f"without an order for at most {pauses.longest:.2f} s when n1 became the first of several, and {usual:.2f} s before; all three voted after "
          f"{time.monotonic() - since:.1f} s", flush=True)


def stray(working):
    """A node that was to join and was started without it. It does not begin the shard for itself where it can ask others, and serves it no longer
    once it meets them."""
    whole, look = working.nodes, working.look
    other, alone = whole.strays()
    turned_away(look, other, "that was not asked to join starts")
    shutil.rmtree(whole.folder / "n4")
    alone.launch()
    wait_until(lambda: look() or fairlead("status", node=alone.address).returncode == 0, 30, "the stray node serves the shard alone", every=0.1)
    expect(alone.end()[0] == 0, "the stray node does not end in order")
    turned_away(look, other, "that has begun the shard alone meets the others")
    turned_away(look, other, "that has met the others starts once more")
    refuses(whole.join("n4", whole.wait_for_leader(), whole.folder / "n4.yaml"), "holds data", "a join with a store that holds data")


def turned_away(look, node, what):
    node.launch()
    wait_until(lambda: look() or node.process.poll() is not None, 30, f"a node {what}", every=0.1)
    said = node.last_words(20)
    expect(node.process.returncode == 1 and "Several other nodes hold shard 0" in said and "cluster join" in said,
           f"a node {what}, and ends with {node.process.returncode}: {said}")


def lose_two(working, dice):
    """All nodes die, and two lose their disks. The third goes on as the first of several, by what its store says."""
    whole, look = working.nodes, working.look
    working.wait_for_work("loss of two disks")
    kept, others = replicated_recovery.lose_majority(whole, dice)
    since = time.monotonic()
    whole.nodes[kept].launch()
    for name in others:
        wait_until(lambda: look() or whole.join(name, kept).returncode == 0, 30, f"{name} joins again", every=0.2)
        whole.nodes[name].launch()
    wait_until(lambda: look() or whole.whole(), 60, "all three vote again", every=0.1)
    print(f"all three voted {time.monotonic() - since:.1f} s after the shard was recovered from {kept}", flush=True)


def bad_joins(whole, name):
    stranger = node_file.derive(whole.file(name), whole.folder / f"{name}-stranger.yaml", settings={"node.cluster": "others"})
    refuses(whole.join(name, "n1", stranger), "cluster others", "a node of another cluster")
    counts = node_file.derive(whole.file(name), whole.folder / f"{name}-counts.yaml", settings={"shards.count": 2, "shards.here": "[1]"})
    refuses(whole.join(name, "n1", counts), "shards", "a node that takes the cluster to have another number of shards")
    # A refused join leaves the store as it was.
    shutil.rmtree(whole.folder / name, ignore_errors=True)


def refused(working):
    """What must not be done to three nodes that run."""
    whole = working.nodes
    refuses(fairlead("cluster", "leave", "n9", node=whole.address), "n9", "a node that holds nothing")
    full = whole.folder / "full.yaml"
    node_file.derive(whole.file("n3"), full, settings={"node.name": "n4"})
    refuses(whole.join("n4", "n1", full), "n3", "a join with the store of a node that runs")
    leader = whole.wait_for_leader()
    gone, other = [name for name in NAMES if name != leader]
    whole.nodes[gone].kill()
    wait_until(lambda: working.look() or (whole.replication() or {}).get("may_lose_nodes") == 0, 20, f"the leader misses {gone}", every=0.1)
    refuses(fairlead("cluster", "leave", other, node=whole.address), "cannot do without", f"{other} while {gone} is down")
    refuses(whole.join(gone, leader), "already", "a second join")
    whole.nodes[gone].launch()
    wait_until(lambda: working.look() or whole.whole(), 60, f"{gone} is back", every=0.1)


def change(working, dice, kill):
    """One node leaves, and joins again with an empty folder. With `kill` one is killed meanwhile."""
    whole = working.nodes
    leader = whole.wait_for_leader()
    name = leader if dice.random() < 0.5 else dice.choice(NAMES)
    others = [other for other in NAMES if other != name]
    left = leave(working, name, others, dice if kill else None)
    since = time.monotonic()
    join_again(working, name, dice.choice(others))
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again", every=0.1)
    print(f"{name}{', which led,' if name == leader else ''} left in {left:.1f} s{', one was killed,' if kill else ''} and voted again after "
          f"{time.monotonic() - since:.1f} s", flush=True)


def shrink(working, dice):
    """From three nodes to one, which works alone, and back to three."""
    whole = working.nodes
    last, *gone = dice.sample(NAMES, len(NAMES))
    seconds = [leave(working, gone[0], [gone[1], last])]
    drain_voter(working)
    seconds.append(leave(working, gone[1], [last]))
    working.wait_for_work("growth from one node")
    taken = working.client.acknowledged
    wait_until(lambda: working.look() or working.client.acknowledged > taken, 60, f"{last} takes orders alone")
    since = time.monotonic()
    for name in gone:
        join_again(working, name, last)
    wait_until(lambda: working.look() or whole.whole(), 60, "all three vote again", every=0.1)
    print(f"{gone[0]} and {gone[1]} left in {seconds[0]:.1f} and {seconds[1]:.1f} s; all three voted {time.monotonic() - since:.1f} s after "
          "they were asked to join again", flush=True)


def drain_voter(working):
    """Of two nodes the one that votes gives its vote, and the lead, to the other one when it is drained."""
    whole, look = working.nodes, working.look
    name, since = whole.wait_for_leader(), time.monotonic()
    expect(harness.fairlead_json("node", "drain", name, node=whole.address)["leads"] == 0, f"{name} leads on, though it is drained")
    wait_until(lambda: look() or (whole.holders() or (0, {name}))[1].isdisjoint({name}), 10, f"another node than {name} votes", every=0.05)
    print(f"the other one of two nodes voted {time.monotonic() - since:.2f} s after {name} was drained", flush=True)
    done_well(fairlead("node", "resume", name, node=whole.address), f"{name} is resumed")


def leave(working, name, stay, dice=None):
    """Seconds until it has left, and its folder is gone. With `dice` one of the others is killed meanwhile."""
    whole, look = working.nodes, working.look
    since = time.monotonic()
    wait_until(lambda: look() or asked(whole, "cluster", "leave", name), 30, f"{name} is to leave", every=0.2)
    if dice:
        whole.nodes[dice.choice(stay)].kill()
        pause(dice.uniform(0, 1), look)
        for node in whole.nodes.values():
            if node.process.poll() is not None:
                node.launch()

    def has_left():
        known = whole.holders()
        return known is not None and known[0] == known[2] == set(stay) and len(known[1]) == 1  # of two nodes one votes
    wait_until(lambda: look() or has_left(), LEAVES_WITHIN_SECONDS, f"{name} has left", every=0.1)
    left = time.monotonic() - since
    wait_until(lambda: look() or "is taken away from this node" in whole.nodes[name].log.read_text(encoding="utf-8", errors="replace"), 20,
               f"{name} says that it has left", every=0.1)
    expect(whole.nodes[name].end()[0] == 0, f"{name} does not end in order: {whole.nodes[name].last_words()}")
    shutil.rmtree(whole.folder / name)
    return left


def join_again(working, name, through):
    """A folder that was lost is another node of the same name."""
    whole, look = working.nodes, working.look
    wait_until(lambda: look() or asked(whole, "node", "forget", name), 30, f"{name} is forgotten", every=0.2)
    wait_until(lambda: look() or whole.join(name, through).returncode == 0, 30, f"{name} joins again", every=0.2)
    whole.nodes[name].launch()


def asked(whole, *command):
    """Who leads may change under the command; it can be repeated."""
    done = fairlead(*command, node=whole.address)
    return done if done.returncode == 0 else None


if __name__ == "__main__":
    harness.main(run)
