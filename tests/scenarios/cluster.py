#!/usr/bin/env python3
"""The cluster of config/cluster to play with: four nodes, the three services of the demo, and a client that submits some orders every second,
until Ctrl-C. Everything ends with it. With --replicated the three nodes of config/replicated, which hold one shard together.
"""

import argparse
import pathlib
import sys
import time

import cluster_nodes
import harness
import orders
import progress
import replicated_nodes
from harness import expect, fairlead

ORDERS_A_SECOND = 5
REFUSED = 0.05  # the share of orders that fail for good
NOT_NOW = 5     # exit code: no node answers, or not the one that holds the shard


def run():
    parser = argparse.ArgumentParser(prog="./dev cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="end after this time instead of at Ctrl-C")
    parser.add_argument("--folder", type=pathlib.Path, help="emptied; stores, logs and the services' records (default: below data/)")
    parser.add_argument("--replicated", action="store_true", help="three nodes that hold one shard together")
    options = parser.parse_args()
    kind = replicated_nodes if options.replicated else cluster_nodes
    if taken := cluster_nodes.ports_taken(kind.FIXED_PORTS):
        print(taken, file=sys.stderr)
        return 75
    with harness.sandbox("cluster", options.folder or harness.ROOT / "data" / ("replicated" if options.replicated else "cluster")) as box:
        lines = progress.progress()
        services = harness.services(box, cluster_nodes.SERVICE_PORTS, slow=0.05, unavailable=0.05, drop_before=0.02, drop_after=0.02, refuse=REFUSED,
                                    work_seconds=(0.1, 0.4), max_seconds=365 * 86_400)
        whole = (replicated_nodes.trio if options.replicated else cluster_nodes.cluster)(box, kind.SERVICE_PORTS, fixed=True)
        whole.start(60)
        whole.deploy(harness.ROOT / "config" / "workflows" / "order.yaml")
        introduce(box.folder, whole, kind)
        taken = feed(box, whole, services, lines, options.seconds)
        whole.end()
        lines.say(f"all has ended; {taken} orders were taken. Stores, logs and records stand in {shown(box.folder)}")
    return 0


def shown(path):
    return path.relative_to(harness.ROOT) if path.is_relative_to(harness.ROOT) else path


def introduce(folder, whole, kind):
    binary, folder = shown(harness.BINARY), shown(folder)
    replicated = kind is replicated_nodes
    shards = whole.address if replicated else ",".join(whole.nodes[name].address for name in cluster_nodes.SHARDS)
    print(f"{'Three nodes run and hold one shard together' if replicated else 'Four nodes run and are connected'}; Ctrl-C ends them.\n")
    for name in kind.NAMES:
        print(f"  {name:<9} 127.0.0.1:{kind.NODE_PORTS[name]}   figures http://127.0.0.1:{kind.HTTP_PORTS[name]}/metrics   log {folder}/{name}.log")
    if replicated:
        leader = whole.wait_for_leader()
        print(f"""
Any node answers for all of them. Try, in another terminal:
  {binary} cluster status --node {shards}
  {binary} console --node {shards}
  {binary} submit order --id mine --wait --input '{{"items": [], "amount_cents": 2800, "address": {{"city": "Reims"}}}}' --node {shards}
  kill -9 {whole.nodes[leader].process.pid}      # {leader}, which leads; a node that ends is started again a second later
""", flush=True)
        return
    print(f"""
Any node answers for all of them. Try, in another terminal:
  {binary} console --node {shards}
  {binary} status --node {shards}
  {binary} task list --limit 10 --node 127.0.0.1:7211
  {binary} submit order --id mine --wait --input '{{"items": [], "amount_cents": 2800, "address": {{"city": "Reims"}}}}' --node {shards}
  {binary} console -c "node drain agents-b; nodes; agents" --node {shards}
  kill -9 {whole.nodes["shard-b"].process.pid}      # shard-b; a node that ends is started again a second later
""", flush=True)


def feed(box, whole, services, lines, seconds):
    """Submits, and starts a node again that has ended; gives the number of orders that were taken."""
    end = time.monotonic() + seconds if seconds is not None else float("inf")
    taken, first = 0, 1
    batch = box.folder / "batch.jsonl"
    try:
        while time.monotonic() < end:
            turn = time.monotonic() + 1
            revive(whole, lines)
            harness.write_batch(batch, orders.made_up(ORDERS_A_SECOND, 1, first))
            done = fairlead("submit", "order", "--batch", batch, "--json", "--quiet", "--timeout", "5s", node=whole.address)
            expect(done.returncode in (0, NOT_NOW), f"`fairlead submit` ended with {done.returncode}: {done.stderr.strip()}")
            if done.returncode == 0:
                taken += ORDERS_A_SECOND
                first += ORDERS_A_SECOND
            services.look()
            lines.draw(f"{taken} orders submitted, {services.effects.get('dispatch', 0)} shipped, {len(services.refused)} refused by a service, "
                       f"{len(services.running)} steps at the services"
                       + ("" if done.returncode == 0 else f" | {(done.stderr.strip().splitlines() or ['not taken'])[0]}"))
            time.sleep(max(0.0, turn - time.monotonic()))
    except KeyboardInterrupt:
        lines.say("ending")
    return taken


def revive(whole, lines):
    for name, node in whole.nodes.items():
        if node.process.poll() is not None:
            lines.say(f"{name} has ended with {node.process.returncode}: it is started again")
            node.launch()


if __name__ == "__main__":
    harness.main(run)
