#!/usr/bin/env python3
"""A shard on three nodes under load, while its leader is killed with SIGKILL, nodes are stopped and continued, all are killed at once, and nodes
are drained. Judged by the services' records and the client's history: nothing that was acknowledged is lost, no effect is doubled, no agent speaks
after its lease.

    tests/scenarios/replicated_faults.py [--kills N] [--stops N] [--all N] [--seed N]
"""

import argparse
import json
import statistics
import time

import harness
import replicated_nodes
from harness import expect, wait_until
from replicated_load import load
from replicated_nodes import NAMES, pause


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=12, help="of the leader")
    parser.add_argument("--stops", type=int, default=6, help="for 0.2 to 6 s, of any node, the leader every other time")
    parser.add_argument("--all", type=int, default=3, help="times all nodes at once")
    parser.add_argument("--default-times", action="store_true", help="an election timeout of 1 s and heartbeats of 100 ms, instead of 300 and 30 ms")
    options, dice = harness.with_dice(parser)
    began = time.monotonic()
    with harness.sandbox("replicated_faults", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(
            box, ports, settings={**({} if options.default_times else replicated_nodes.LAN), "alerts.replica_behind_after": "1s"}))
        whole, services, client, look = working.nodes, working.services, working.client, working.look
        faults = ["kill"] * options.kills + ["stop"] * options.stops + ["all"] * options.all
        dice.shuffle(faults)
        gone, stops = [], 0
        for number, kind in enumerate(faults, 1):
            working.wait_for_work("fault")
            pause(dice.uniform(0, 0.6), look)
            whole.check()
            if kind == "kill":
                gone.append(kill_leader(whole, dice, look))
            elif kind == "stop":
                stops += 1
                node = whole.nodes[whole.wait_for_leader() if stops % 2 else dice.choice(NAMES)]
                node.freeze()
                pause(dice.uniform(0.2, 6), look)
                node.thaw()
            else:
                for node in whole.nodes.values():
                    node.kill()
                pause(dice.uniform(0, 0.5), look)
                for node in whole.nodes.values():
                    node.launch()
            whole.wait_for_leader()
            if number % 5 == 0:
                print(f"{number} faults, {client.acknowledged} orders acknowledged, {services.effects.get('dispatch', 0)} shipped", flush=True)
        drain_them(whole, client, look)
        last_fault = time.monotonic()
        working.finish()
        print(f"all ended {time.monotonic() - last_fault:.0f} s after the last fault", flush=True)
        if gone:
            print(f"a node led again after the leader was killed: median {statistics.median(gone):.2f} s, worst {max(gone):.2f} s")
        print(f"{options.kills} kills of the leader, {options.stops} stops, {options.all} times all at once\n"
              f"{client.acknowledged} orders acknowledged, {services.arrivals} requests; {whole.elections()} Schedulers began; {time.monotonic() - began:.0f} s in all",
              flush=True)
        leave_one_out(whole)
        whole.end()
        return working.judge(len(faults), [moment for node in whole.nodes.values() for moment in node.woken])


def leave_one_out(whole):
    """An alert names the node that is away, and is resolved when it is back."""
    away = next(name for name in NAMES if name != whole.wait_for_leader())

    def alerts():
        done = harness.fairlead("alert", "list", "--json", node=whole.address)
        return [one["sentence"] for one in json.loads(done.stdout)["alerts"] if one["kind"] == "replica_behind"] if done.returncode == 0 else None
    wait_until(lambda: alerts() == [], 30, "no node is said to be away after the faults", every=0.2)
    whole.nodes[away].kill()
    told = wait_until(alerts, 30, f"an alert says that {away} is away", every=0.2)
    expect(len(told) == 1 and f"node {away}: " in told[0] and "no more nodes" in told[0], f"the alert about {away} says: {told}")
    whole.nodes[away].launch()
    wait_until(lambda: alerts() == [], 30, f"the alert is resolved, as {away} is back", every=0.2)


def drain_them(whole, client, look):
    """A node that is drained hands its lead over, if another can take it. The client goes on, and no order is refused."""
    def drain(name):
        return harness.fairlead_json("node", "drain", name, node=whole.address)["leads"]

    moved, taken = [], []
    for number in range(4):
        name, since = whole.wait_for_leader(), time.monotonic()
        expect(drain(name) == 0, f"{name} leads on, though it is drained and others follow")
        moved.append(time.monotonic() - since)
        known = client.acknowledged
        wait_until(lambda: look() or client.acknowledged > known, 20, f"orders are taken, since {name} is drained")
        taken.append(time.monotonic() - since)
        wait_until(lambda: whole.leader() not in (None, name), 10, f"another node leads, since {name} is drained")
        pause(0.3, look)
        # Two are drained then.
        if number % 2:
            resume(whole)
    alone = whole.wait_for_leader()
    for other in NAMES:
        if other != alone:
            expect(drain(other) == 0, f"{other} leads, and {alone} does")
    expect(drain(alone) == 1 and whole.leader() == alone, f"{alone} is drained as all others are, and does not lead on")
    resume(whole)
    print(f"drained nodes handed over within {max(moved):.2f} s, and the next batch of orders was taken within {max(taken):.2f} s", flush=True)


def resume(whole):
    for name in NAMES:
        harness.fairlead_json("node", "resume", name, node=whole.address)


def kill_leader(whole, dice, look):
    """Seconds until another node led."""
    name = whole.wait_for_leader()
    node, since = whole.nodes[name], time.monotonic()
    node.kill()
    wait_until(lambda: whole.leader() not in (None, name), 20, f"another node leads after {name} was killed", every=0.01)
    took = time.monotonic() - since
    pause(dice.uniform(0, 1.5), look)
    node.launch()
    return took


if __name__ == "__main__":
    harness.main(run)
