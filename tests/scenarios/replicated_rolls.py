#!/usr/bin/env python3
"""All three nodes of a shard are started again, one after the other, again and again under load, as an upgrade does it: each is drained, ended in order,
and started, and the next one follows once all vote. The client is told of no failure. Judged by the services' records and the client's history.

    tests/scenarios/replicated_rolls.py [--rolls N] [--seed N]
"""

import argparse
import time

import harness
import replicated_nodes
from harness import expect, fairlead, wait_until
from replicated_load import load, pause_meter
from replicated_nodes import NAMES

AWAY_SECONDS = 30  # at most without an order, on a machine that is busy besides


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rolls", type=int, default=2, help="of all three nodes")
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_rolls", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(box, ports, settings=replicated_nodes.LAN))
        pauses = pause_meter(working)
        pauses.watch(3)
        usual = pauses.longest
        moved, longest = [], 0
        working.client.strict = True
        for _ in range(options.rolls):
            for name in dice.sample(NAMES, len(NAMES)):
                working.wait_for_work("restart")
                moved += roll(working, name)
                pauses.watch(1)
                longest = max(longest, pauses.longest)
        working.client.strict = False
        expect(longest < AWAY_SECONDS, f"no order was taken for {longest:.1f} s")
        working.finish()
        print(f"{options.rolls} times all nodes were started again, one after the other; leads moved within {max(moved, default=0):.2f} s; without an order "
              f"for at most {longest:.2f} s behind a start, and {usual:.2f} s before\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        working.nodes.end()
        return working.judge(options.rolls)


def roll(working, name):
    """Seconds within which its lead moved, if it led."""
    whole, look = working.nodes, working.look
    node, led = whole.nodes[name], whole.wait_for_leader() == name
    since = time.monotonic()
    done = fairlead("node", "drain", name, node=whole.address)
    expect(done.returncode == 0, f"{name} cannot be drained: {done.stdout}{done.stderr}")
    if led:
        wait_until(lambda: look() or whole.leader() not in (None, name), 10, f"another node leads, since {name} is drained", every=0.01)
    took = time.monotonic() - since
    look()
    code, _ = node.end(seconds=15)
    expect(code == 0, f"{name} ended with {code}: {node.last_words()}")
    whole.launch_until_it_says(name, "replica: .*(follows|this replica leads)", look)
    wait_until(lambda: look() or whole.whole(), 60, f"all vote, since {name} was started again", every=0.05)
    return [took] if led else []


if __name__ == "__main__":
    harness.main(run)
