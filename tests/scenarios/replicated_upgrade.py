#!/usr/bin/env python3
"""Three nodes of a shard get a later release under load, one after the other, and one goes back meanwhile. What only the later release knows may be
written only when all have it and an operator ends the upgrade; from then on the former release is refused, by its own store and by the other nodes,
and goes on as the later one. The later release is the same program, which a failpoint makes say that it knows one format more. The client is told of
no failure. Judged by the services' records and the client's history.

    tests/scenarios/replicated_upgrade.py [--seed N]
"""

import argparse
import json
import os
import re

import harness
import replicated_nodes
from harness import expect, fairlead, wait_until
from replicated_load import load
from replicated_nodes import NAMES
from replicated_rolls import roll

LATER = ["env", "FAIRLEAD_FAILPOINTS=plant.later_format=error"]


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_upgrade", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(box, ports, settings=replicated_nodes.LAN))
        whole = working.nodes
        plain = {name: whole.nodes[name].prefix_ for name in NAMES}

        def start_again(name, later):
            whole.nodes[name].prefix_ = [*LATER, *plain[name]] if later else plain[name]
            working.wait_for_work("restart")
            roll(working, name)

        working.client.strict = True
        order = dice.sample(NAMES, len(NAMES))
        expect(upgrade(whole) == (1, 1, ""), "a shard whose nodes have one release can be upgraded")
        for number, name in enumerate(order):
            start_again(name, later=True)
            late = order[number + 1:]
            if not late:
                break
            told = upgrade(whole)
            expect(any(f"Node {one} does not know format 2: it has release" in told[2] for one in late),
                   f"{late} have the former release, and the command says {told}")
            told = upgrade(whole, "--finish")
            expect(told[0] == 1, f"{late} have the former release, and the upgrade ends: {told}")
        expect(upgrade(whole) == (1, 2, ""), "all know the next format, and the shard is to be written in the former one")
        # Until the upgrade is ended each can go back.
        start_again(order[0], later=False)
        start_again(order[0], later=True)
        expect(upgrade(whole, "--finish") == (2, 2, ""), "the upgrade does not end")
        expect(whole.replication()["format"] == 2, "the status does not show the format")
        working.client.strict = False
        refused(working, dice.choice(NAMES), plain)
        working.finish()
        print(f"1 times all nodes were started again, one after the other, with a later release\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        whole.end()
        former = fairlead("store", "check", working.nodes.stores()[0])
        expect(former.returncode == 74 and "is written in format 2" in former.stderr, f"the former release checks a store of format 2: {former}")
        os.environ["FAIRLEAD_FAILPOINTS"] = LATER[1].partition("=")[2]
        return working.judge(1)


def upgrade(whole, *options):
    """The format of the shard, the next one, and why it is not to be written."""
    done = wait_until(lambda: answered(fairlead("cluster", "upgrade", *options, "--json", node=whole.address)), 20,
                      "fairlead cluster upgrade is answered", every=0.2)
    (shard,) = json.loads(done.stdout)["shards"]
    expect(done.returncode == (1 if shard["why"] else 0), f"fairlead cluster upgrade ends with {done.returncode}: {done.stdout}{done.stderr}")
    return shard["format"], shard["next"], shard["why"]


def answered(done):
    return done if done.stdout else None


def refused(working, name, plain):
    """The former release does not go on with the store, and what it says tells why."""
    whole, node = working.nodes, working.nodes.nodes[name]
    node.kill()
    before = len(node.log.read_bytes())
    later, node.prefix_ = node.prefix_, plain[name]
    node.launch()
    wait_until(lambda: working.look() or node.process.poll() is not None, 30, f"{name} does not start with the former release", every=0.05)
    said = node.log.read_bytes()[before:].decode("utf-8", errors="replace")
    expect(node.process.returncode == 74 and re.search("is written in format 2( by now)?, and this release knows 1", said),
           f"{name} ended with {node.process.returncode}: {said[-600:]}")
    node.prefix_ = later
    node.launch()
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} follows with the later release", every=0.1)


if __name__ == "__main__":
    harness.main(run)
