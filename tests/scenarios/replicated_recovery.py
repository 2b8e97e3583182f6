#!/usr/bin/env python3
"""A shard that has lived on one node gets two more, under load. Then all three nodes are killed and two of them lose their disks: the shard goes on
from the store of the third, which has most, and the two get it from there. Judged by the services' records and the client's history; as the
newest store has all that was acknowledged, nothing is lost.

    tests/scenarios/replicated_recovery.py [--times N] [--seed N]
"""

import argparse
import re
import shutil
import time

import harness
import replicated_nodes
from harness import expect, fairlead, wait_until
from replicated_load import load
from replicated_nodes import NAMES, pause

OF_SEVERAL = re.compile(r"^ +(replicas|election_timeout|heartbeat):.*\n", re.M)


class growing(replicated_nodes.trio):
    """At first the shard is on n1 alone."""

    def start(self, seconds=30):
        file = self.folder / "n1.yaml"
        whole = file.read_text(encoding="utf-8")
        file.write_text(OF_SEVERAL.sub("", whole), encoding="utf-8")
        self.nodes["n1"].launch()
        out = self.wait_for_leader(seconds)
        file.write_text(whole, encoding="utf-8")  # for the next start
        return out


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=2, help="that two of three disks are lost")
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_recovery", options.keep) as box:
        working = load(box, options.seed, lambda ports: growing(box, ports, settings=replicated_nodes.LAN))
        grow(working)
        settle_one(working)
        for number in range(options.times):
            working.wait_for_work("lost majority")
            pause(dice.uniform(0, 1), working.look)
            recover(working, dice)
        working.finish()
        print(f"{options.times} times the majority of the disks was lost\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        working.nodes.end()
        return working.judge(options.times)


def grow(working):
    """n1 is started again as one of three, and the others come with empty folders."""
    whole, client = working.nodes, working.client
    working.wait_for_work("start as one of three")
    code, _ = whole.nodes["n1"].end()
    expect(code == 0, f"n1 ended with {code}")
    since = time.monotonic()
    for name in NAMES:
        whole.nodes[name].launch()
    known = client.acknowledged
    wait_until(lambda: working.look() or client.acknowledged > known, 20, "orders are taken by n1 as one of three")
    taken = time.monotonic() - since
    wait_until(lambda: working.look() or whole.whole(), 60, "all three vote", every=0.1)
    print(f"n1 took orders again {taken:.1f} s after its start, and all three voted after {time.monotonic() - since:.1f} s", flush=True)


def settle_one(working):
    """A replica that is taken out of its journal does not know any more what it has promised, and by itself it would be another shard beside that of the
    others."""
    whole = working.nodes
    name = next(name for name in NAMES if name != whole.wait_for_leader())
    node = whole.nodes[name]
    expect(node.end()[0] == 0, f"{name} does not end in order")
    for command in (("store", "settle"), ("store", "settle", "--accept-loss"), ("restore",)):
        done = fairlead(*command, whole.folder / name)
        expect(done.returncode == 1 and "is held by several nodes: n1, n2, n3" in done.stderr,
               f"{' '.join(command)} of a replica ended with {done.returncode}: {done.stdout}{done.stderr}")
    node.launch()
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again", every=0.1)
    print("a replica was neither settled nor restored by itself, and all three vote again", flush=True)


def recover(working, dice):
    whole, look = working.nodes, working.look
    kept, _ = lose_majority(whole, dice)
    since = time.monotonic()
    for name in NAMES:
        whole.nodes[name].launch()
    wait_until(lambda: look() or whole.whole(), 60, "all three vote again", every=0.1)
    print(f"all three voted {time.monotonic() - since:.1f} s after the shard was recovered from {kept}", flush=True)


def lose_majority(whole, dice):
    """All nodes die, two lose their disks, and the shard is recovered from the store of the third: its node, and the others."""
    for node in whole.nodes.values():
        node.kill()
    kept, others = newest(whole, dice)
    for name in others:
        shutil.rmtree(whole.folder / name)
    done = fairlead("cluster", "recover", whole.folder / kept, "--accept-loss")
    expect(done.returncode == 0 and "The shard goes on from here" in done.stdout, f"the shard is not recovered: {done.stdout}{done.stderr}")
    return kept, others


def newest(whole, dice):
    """The node whose store has most, and the others. Of each other one that has less the command says so."""
    best, rest = None, []
    for name in dice.sample(NAMES, len(NAMES)):
        others = [other for other in NAMES if other != name]
        done = fairlead("cluster", "recover", whole.folder / name, "--compare", *(whole.folder / other for other in others))
        if done.returncode == 0 and best is None:
            best, rest = name, others
            expect("Nothing was changed" in done.stdout and done.stdout.count("last entry") == 3, f"what would be lost is not said: {done.stdout}")
        elif done.returncode != 0:
            expect("has more than" in done.stderr, f"the store of {name} cannot be looked at: {done.stdout}{done.stderr}")
    expect(best, "no store is said to have most")
    return best, rest


if __name__ == "__main__":
    harness.main(run)
