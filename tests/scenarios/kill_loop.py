#!/usr/bin/env python3
"""Kills a real node again and again while it works, and judges what came of it by the services' records and the client's history.

Each counted kill comes at a random moment at which at least 20 steps are running: their requests have arrived at a service, and are
neither answered nor given up. In between come kills that are not counted, a moment after the start, while the node takes up its tasks.
All the while a client keeps submitting; what it counts as acknowledged is what `fairlead submit` said was taken. A share of the orders
fails for good and is undone, through the same kills.
"""

import argparse
import json
import pathlib
import random
import statistics
import sys
import threading
import time

import harness
import node_file
import orders
from harness import expect, fairlead, wait_until

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402

WORKFLOW = pathlib.Path(__file__).with_name("kill_order.yaml")
BATCH = 50
REFUSED = 0.08  # the share of orders that a service refuses for good
NO_NODE = 5  # exit code: no node answers


class customer(threading.Thread):
    """Submits batch after batch, as long as not too many orders are under way."""

    def __init__(self, box, address, seed, under_way):
        super().__init__(name="customer", daemon=True)
        self.history = harness.history(box.folder / "history.jsonl")
        self.acknowledged = 0
        self.failure = None
        self.done_ = threading.Event()
        self.folder_, self.address_, self.seed_, self.under_way_ = box.folder, address, seed, under_way

    def run(self):
        try:
            first = 1
            while not self.done_.is_set():
                if self.under_way_() > 4 * BATCH:
                    self.done_.wait(0.05)
                    continue
                self._submit(list(orders.made_up(BATCH, self.seed_, first)))
                first += BATCH
        except (harness.scenario_failed, OSError, ValueError) as error:
            self.failure = error

    def finish(self, seconds):
        """Lets the batch under way be taken, and submits no other."""
        self.done_.set()
        self.join(seconds)
        expect(not self.is_alive(), f"the client could not finish its last batch within {seconds} s of the last kill")
        self.check()

    def check(self):
        expect(self.failure is None, f"the client failed: {self.failure}")

    def _submit(self, batch):
        self.history.add_orders(batch)
        path = self.folder_ / "batch.jsonl"
        harness.write_batch(path, batch)
        # A command that finds no node at its very start says so and ends; nothing was taken then, and the same batch is given again.
        done = wait_until(lambda: self._give(path), 60, "the client finds the node")
        expect(done.returncode == 0, f"`fairlead submit` ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        expect(done.stdout.startswith("{"), f"`fairlead submit` ended with 0 and gave no result: {done.stdout!r} {done.stderr.strip()[-500:]!r}")
        answer = json.loads(done.stdout)
        expect(answer["submitted"] + answer["already"] == len(batch) and not answer["refusals"], f"not all was taken: {answer}")
        self.history.add("acknowledged", [order["id"] for order in batch])
        self.acknowledged += len(batch)

    def _give(self, path):
        done = fairlead("submit", "kill_order", "--batch", path, "--json", "--quiet", node=self.address_, seconds=120)
        return None if done.returncode == NO_NODE and not done.stdout.strip() else done


class killer:
    """Waits for the condition and a random moment in it, kills, starts again."""

    def __init__(self, node, world, dice, at_least):
        self.node_, self.world_, self.dice_, self.at_least_ = node, world, dice, at_least
        self.running = []      # steps running at each counted kill
        self.uncounted = 0
        self.restart_seconds = []

    def kill_while_working(self):
        time_to_die = time.monotonic() + self.dice_.uniform(0, 0.6)
        running = wait_until(lambda: self._enough() if time.monotonic() >= time_to_die else None, 60,
                             f"{self.at_least_} steps running at once, for kill {len(self.running) + 1}", every=0.005)
        self.node_.kill()
        self.running.append(running)
        self.start()

    def kill_while_starting(self):
        """Not waited for to answer: the kill comes somewhere between the first instruction and the first resumed steps."""
        self.node_.kill()
        self.node_.launch()
        time.sleep(self.dice_.uniform(0.005, 0.25))
        self.node_.kill()
        self.uncounted += 2
        self.start()

    def _enough(self):
        running = self.world_.look()
        return running if running >= self.at_least_ else None

    def start(self):
        began = time.monotonic()
        self.node_.start()
        self.restart_seconds.append(time.monotonic() - began)


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--running", type=int, default=20, help="steps that must be running at each kill")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    dice = random.Random(options.seed)
    with harness.sandbox("kill_loop", options.keep) as box:
        services = harness.services(box, seed=options.seed, slow=0.5, slow_seconds=(0.2, 1.0), work_seconds=(0.1, 0.4), unavailable=0.03,
                                    drop_before=0.02, drop_after=0.02, refuse=REFUSED, max_seconds=1800)
        port, = harness.free_ports(1)
        config = node_file.derive(harness.ROOT / "config" / "single.yaml", box.folder / "node.yaml",
                                  ports={7100: port, **dict(zip((7101, 7102, 7103), services.ports.values()))},
                                  settings={"store.path": box.folder / "store"})
        node = harness.node(box, config, f"127.0.0.1:{port}")
        node.start()
        deployed = fairlead("workflow", "deploy", WORKFLOW, node=node.address)
        expect(deployed.returncode == 0, f"deploy: {deployed.stderr}")
        client = customer(box, node.address, options.seed,
                          lambda: client.acknowledged - services.effects.get("dispatch", 0) - len(services.refused))
        client.start()
        reaper = killer(node, services, dice, options.running)
        for number in range(options.kills):
            reaper.kill_while_working()
            client.check()
            if number % 5 == 4:
                reaper.kill_while_starting()
            if number % 10 == 9:
                print(f"{number + 1} kills, {client.acknowledged} orders acknowledged, {services.effects.get('dispatch', 0)} shipped, "
                      f"{len(services.refused)} refused, {time.monotonic() - began:.0f} s", flush=True)
        client.finish(60)
        last_fault = time.monotonic()
        wait_for_all(node, services, client)
        client.history.add_ends(node.tasks())
        settled = time.monotonic() - last_fault
        code, seconds = node.end()
        expect(code == 0, f"the node ended with {code} after SIGTERM")
        report(options, reaper, client, services, began, settled)
        return judge([box.folder / "store"], services, client)


# A breaker that has opened again and again stays open for ten times its `open` of 10 s, and then asks for three good attempts.
QUIET_SECONDS = 120


def wait_for_all(node, services, client):
    """Until every task has ended or is parked; some must end in every QUIET_SECONDS."""
    ended, since = -1, time.monotonic()
    while True:
        services.look()
        counts = node.status()["counts"]
        now = counts["completed"] + counts["undone"] + counts["parked"] + counts["archived"]
        if now >= client.acknowledged and counts["pending"] == 0 and counts["running"] + counts["undoing"] <= counts["parked"]:
            return
        if now > ended:
            ended, since = now, time.monotonic()
        expect(time.monotonic() - since < QUIET_SECONDS, f"no task ended within {QUIET_SECONDS} s, and this is left: {counts}")
        time.sleep(0.1)


def report(options, reaper, client, services, began, settled):
    print(f"kills {len(reaper.running)} counted, {reaper.uncounted} during starts; steps running at a counted kill: "
          f"min {min(reaper.running)}, median {statistics.median(reaper.running):g}")
    print(f"orders acknowledged {client.acknowledged}, requests {services.arrivals}; node back after a kill: median "
          f"{statistics.median(reaper.restart_seconds):.2f} s, max {max(reaper.restart_seconds):.2f} s; all ended {settled:.1f} s after the "
          f"last kill; {time.monotonic() - began:.0f} s in all")
    expect(min(reaper.running) >= options.running, "a kill came with too few steps running")
    expect(client.acknowledged >= options.kills, "hardly anything was submitted: the run says nothing")


def judge(stores, services, client, woken=(), clocks_off=0):
    verdict = audit.judge(services.records(), client.history.events, woken, clocks_off)
    print(audit.table(verdict))
    for state in ("completed", "undone", "parked"):
        print(f"{state} {verdict.counts[state]}")
    parked = [event for event in client.history.events if event["event"] == "final" and event["parked"]]
    expect(not parked, f"{len(parked)} orders are parked, the first: {parked[:1]}")
    undone = {event["id"] for event in client.history.events if event["event"] == "final" and event["state"] == "undone"}
    expect(undone == services.refused, f"undone and not refused: {sorted(undone - services.refused)[:3]}; refused and not undone: "
           f"{sorted(services.refused - undone)[:3]}")
    expect(len(undone) >= client.acknowledged * REFUSED / 4, "hardly anything was undone: the run says nothing")
    refunds = services.effects.get("refund", 0)
    expect(refunds > 0 and services.effects.get("release", 0) >= refunds, f"the effects of undo are odd: {services.effects}")
    for store in stores:
        checked = fairlead("store", "check", store, seconds=60)
        expect(checked.returncode == 0, f"`fairlead store check {store}` ended with {checked.returncode}: {checked.stdout}{checked.stderr}")
    expect(verdict.held(), "the audit did not hold")
    return 0


if __name__ == "__main__":
    harness.main(run)
