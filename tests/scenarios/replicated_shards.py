#!/usr/bin/env python3
"""Three nodes hold three shards together, under load on all of them. Each node leads one shard soon after the start. Then, round after
round, a node is killed with SIGKILL, a node is drained, and a node loses its disk. The others lead its shards meanwhile and orders go on;
afterwards each node leads one again. At last two of the three nodes are lost with their disks. All shards go on from the stores of the
third node, first on that node alone. Judged by the services' records and the client's history. Nothing is lost, as the third node has led
all shards before.

    tests/scenarios/replicated_shards.py [--rounds N] [--seed N]
"""

import argparse
import shutil
import time

import harness
import kill_loop
import replicated_nodes
from harness import expect, fairlead_json, wait_until
from replicated_load import BREAKERS_CLOSE_SECONDS, load
from replicated_lost_disks import forgotten
from replicated_nodes import NAMES, pause

ELECTION_MS = 120
SETTINGS = {"shards.count": len(NAMES), "shards.here": list(range(len(NAMES))), "shards.election_timeout": f"{ELECTION_MS}ms",
            "shards.heartbeat": f"{ELECTION_MS // 10}ms"}
# A lead moves at most 60 election timeouts after a start or after its last move, or 40 after all follow. The rest is for a busy machine.
SPREAD_SECONDS = 100 * ELECTION_MS / 1000 + 15
FAULTS_A_ROUND = 3


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1, help="of a killed node, a drained node and a lost disk")
    options, dice = harness.with_dice(parser)
    began = time.monotonic()
    with harness.sandbox("replicated_shards", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(box, ports, settings=SETTINGS))
        spread(working, "after the start")
        print(f"each node led one shard {time.monotonic() - began:.1f} s after the start", flush=True)
        rebuilt = dice.choice(NAMES)
        for _ in range(options.rounds):
            kill(working, dice)
            drain(working, dice)
            rebuilt = lose_disk(working, dice)
        # Of a node whose stores were all made anew before, where there was a round.
        lose_two(working, dice, rebuilt)
        working.finish()
        back = spread(working, "after the recovery")
        print(f"all tasks have ended; each node led one shard again {back:.1f} s later", flush=True)
        share = [counts["completed"] + counts["undone"] for counts in counts_of_shards(working.nodes)]
        expect(min(share) > sum(share) / (2 * len(NAMES)), f"some shard had hardly any load: {share}")
        print(f"{options.rounds} disks were lost\n1 times the majority of the disks was lost\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests\n"
              f"{share} tasks ended on the shards; {time.monotonic() - began:.0f} s in all", flush=True)
        working.nodes.end()
        stores = working.nodes.stores()
        expect(len(stores) == len(NAMES) ** 2, f"a store is missing, or there are too many: {stores}")
        return working.judge(FAULTS_A_ROUND * options.rounds + 1)


def counts_of_shards(whole):
    return [shard["counts"] for shard in fairlead_json("inspect", "shards", node=whole.address)["shards"]]


def spread(working, when):
    """Seconds until each node leads the shard whose first node it is: shard 0 belongs to the first name, and so on."""
    since, whole = time.monotonic(), working.nodes
    wait_until(lambda: working.look() or whole.leaders() == list(NAMES), SPREAD_SECONDS, f"each node leads one shard {when}", every=0.05)
    return time.monotonic() - since


def wait_until_led_by(working, names, when):
    """Seconds until nodes among `names` lead all shards."""
    since, whole = time.monotonic(), working.nodes
    wait_until(lambda: working.look() or set(whole.leaders() or ["nobody"]) <= set(names), 20, f"{', '.join(names)} lead all shards {when}")
    return time.monotonic() - since


def wait_for_orders(working, when):
    """Until a batch that was not begun before is taken. Each batch has orders for all shards."""
    client, wanted = working.client, working.client.acknowledged + 2 * kill_loop.BATCH
    wait_until(lambda: working.look() or client.acknowledged >= wanted, BREAKERS_CLOSE_SECONDS, f"orders are taken {when}")


def begin(working, dice, fault):
    """The node that is hit, and the others."""
    working.wait_for_work(fault)
    pause(dice.uniform(0, 0.5), working.look)
    working.nodes.check()
    name = dice.choice(NAMES)
    return name, [other for other in NAMES if other != name]


def kill(working, dice):
    name, others = begin(working, dice, "kill")
    node = working.nodes.nodes[name]
    node.kill()
    led = wait_until_led_by(working, others, f"after {name} was killed")
    wait_for_orders(working, f"while {name} is down")
    node.launch()
    back = spread(working, f"since {name} is back")
    print(f"{name} was killed: the others led all shards after {led:.1f} s, and each node led one again {back:.1f} s after its start",
          flush=True)


def drain(working, dice):
    """The client is told of no failure."""
    name, others = begin(working, dice, "drained node")
    whole = working.nodes
    working.client.strict = True
    since = time.monotonic()
    left = fairlead_json("node", "drain", name, node=whole.address)["leads"]
    expect(left == 0, f"{name} is drained and leads {left} shards, although others follow")
    wait_until_led_by(working, others, f"since {name} is drained")
    led = time.monotonic() - since
    wait_for_orders(working, f"while {name} is drained")
    expect(name not in (whole.leaders() or [name]), f"{name} is drained and leads again: {whole.leaders()}")
    fairlead_json("node", "resume", name, node=whole.address)
    back = spread(working, f"since {name} is not drained any more")
    working.client.strict = False
    print(f"{name} was drained: the others led all shards after {led:.1f} s, and each node led one again {back:.1f} s after the end of the "
          "drain", flush=True)


def lose_disk(working, dice):
    """The node, once it has got all shards from the others."""
    name, others = begin(working, dice, "lost disk")
    whole, node = working.nodes, working.nodes.nodes[name]
    node.kill()
    shutil.rmtree(whole.folder / name)
    since = time.monotonic()
    node.launch()
    wait_until(lambda: working.look() or forgotten(whole, name, others), 30, f"the former {name} is forgotten", every=0.2)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again in all shards", every=0.1)
    votes = time.monotonic() - since
    back = spread(working, f"since {name} has all shards again")
    print(f"{name} lost its disk: it voted again in all shards {votes:.1f} s after its start, and each node led one {back:.1f} s later",
          flush=True)
    return name


def lose_two(working, dice, kept):
    whole, others = working.nodes, [name for name in NAMES if name != kept]
    for name in others:
        fairlead_json("node", "drain", name, node=whole.address)
    wait_until_led_by(working, [kept], "since the other two are drained")
    working.wait_for_work("loss of two nodes")
    pause(dice.uniform(0, 0.5), working.look)
    for name in others:
        whole.nodes[name].kill()
    wait_until(lambda: working.look() or not whole.leaders(), 20, f"{kept} does not lead alone")
    code, _ = whole.nodes[kept].end()
    expect(code == 0, f"{kept} ended with {code} after SIGTERM, while the others were lost: {whole.nodes[kept].last_words()}")
    alerts = recover(whole, kept, others)
    since = time.monotonic()
    whole.nodes[kept].launch()
    alone = wait_until_led_by(working, [kept], "alone, after the recovery")
    told = {alert["number"]: alert["remedy"] for alert in fairlead_json("alert", "list", node=whole.address)["alerts"]
            if alert["kind"] == "restored"}
    expect(sorted(told) == sorted(alerts), f"the alerts {alerts} tell of the shards that were recovered, and there are {sorted(told)}")
    for number, remedy in told.items():
        expect(f"alert ack {number}" in remedy, f"alert {number} names another one to acknowledge: {remedy}")
    wait_for_orders(working, f"while {kept} is alone")
    rejoin = time.monotonic()
    for name in others:
        whole.nodes[name].launch()
    wait_until(lambda: working.look() or whole.whole(), 60, "all three vote again in all shards", every=0.1)
    now = time.monotonic()
    print(f"two nodes were lost: {kept} led all shards {alone:.1f} s after its start; all three voted {now - rejoin:.1f} s after the start "
          f"of the others, {now - since:.1f} s after that of {kept}", flush=True)


def recover(whole, kept, others):
    """The numbers of the alerts that tell of it. Of each shard the command first shows whether another store has more."""
    stores = whole.stores_of(kept)
    expect(len(stores) == len(NAMES), f"{kept} has not a store of each shard: {stores}")
    looked = [fairlead_json("cluster", "recover", store, "--compare", *(whole.folder / name / store.name for name in others))
              for store in stores]
    alerts = []
    for name in others:
        shutil.rmtree(whole.folder / name)
    for shard, (store, before) in enumerate(zip(stores, looked)):
        expect(not before["recovered"] and len(before["others"]) == len(others),
               f"the stores of shard {shard} are not compared: {before}")
        done = fairlead_json("cluster", "recover", store, "--accept-loss")
        expect(done["recovered"] and done["shard"] == shard and done["last_index"] == before["last_index"],
               f"shard {shard} is not recovered as it was shown before: {before}, then {done}")
        alerts.append(done["alert"])
    return alerts


if __name__ == "__main__":
    harness.main(run)
