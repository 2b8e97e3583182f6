#!/usr/bin/env python3
"""Kills the order desk of the examples again and again, and its node some times: at the end no order is without its task, and none has two.

The customers believe what they were told (`placed ID`), the desk's own SQLite file says which orders there are, `task list` which tasks, and the
services what was really done.
"""

import argparse
import os
import pathlib
import random
import sqlite3
import subprocess
import threading
import time

import harness
import place
from harness import expect, fairlead, wait_until

PROGRAM = os.environ["FAIRLEAD_ORDER_DESK"]
WORKFLOW = pathlib.Path(__file__).with_name("kill_order.yaml")
PAUSE = 0.004  # between two orders of the customers


class desk:
    """The application, started as often as one likes over one file."""

    def __init__(self, box, address):
        self.box_, self.address_ = box, address
        self.file = box.folder / "desk.db"
        self.log = box.folder / "desk.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = self.box_.start([PROGRAM, self.file, self.address_, "kill_order"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=log, text=True)

    def kill(self):
        expect(self.process.poll() is None, f"the desk ended by itself with {self.process.returncode}, see {self.log}")
        self.process.kill()
        self.process.wait()

    def rows(self, query):
        with sqlite3.connect(self.file, timeout=10) as db:
            return db.execute(query).fetchall()


class customers(threading.Thread):
    """Give orders until the desk they stand at is gone. One whose answer they did not hear they give again, to the next."""

    def __init__(self, to, numbers, unsure):
        super().__init__(daemon=True)
        self.to_, self.numbers_ = to, numbers
        self.unsure = unsure   # given, and no answer heard
        self.placed = []
        self.closing = threading.Event()

    def run(self):
        try:
            for order in list(self.unsure):
                self._give(order)
            while not self.closing.is_set():
                self._give(f"order-{next(self.numbers_)}")
                time.sleep(PAUSE)
            self.to_.stdin.close()
        except (BrokenPipeError, ValueError, EOFError):
            pass

    def _give(self, order):
        if order not in self.unsure:
            self.unsure.append(order)
        self.to_.stdin.write(f"{order} {100 + len(order)}\n")
        self.to_.stdin.flush()
        answer = self.to_.stdout.readline()
        if not answer.endswith("\n"):
            raise EOFError
        expect(answer == f"placed {order}\n", f"the desk answered '{answer}' to {order}")
        self.unsure.remove(order)
        self.placed.append(order)


def numbers():
    number = 0
    while True:
        number += 1
        yield number


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    dice = random.Random(options.seed)
    with harness.sandbox("order_desk", options.keep) as box:
        services = harness.services(box, seed=options.seed, unavailable=0.02, drop_before=0.01, drop_after=0.01, max_seconds=1800)
        one = place.place(box, "one", services)
        one.node.start()
        deployed = fairlead("workflow", "deploy", WORKFLOW, node=one.node.address)
        expect(deployed.returncode == 0, f"deploy: {deployed.stderr}")

        app, counter, placed, unsure = desk(box, one.node.address), numbers(), [], []
        left, node_kills = [], 0  # orders that stood in the outbox at each kill of the desk
        for number in range(options.kills):
            app.start()
            crowd = customers(app.process, counter, unsure)
            crowd.start()
            if number % 6 == 5:
                time.sleep(dice.uniform(0, 0.3))
                one.node.kill()
                one.node.launch()
                node_kills += 1
            # From the first instructions on, but mostly while orders go through, however long a busy machine takes to the first.
            if number % 5 == 4:
                time.sleep(dice.uniform(0.005, 0.05))
            else:
                wait_until(lambda: crowd.placed, 30, f"the desk places an order, see {app.log}", every=0.005)
                time.sleep(dice.uniform(0, 0.6))
            app.kill()
            crowd.join(10)
            expect(not crowd.is_alive(), "the customers do not notice that the desk is gone")
            placed += crowd.placed
            if app.file.exists():
                left.append(outbox_of(app))
        print(f"{options.kills} kills of the desk, {node_kills} of the node; {len(placed)} orders placed; with orders still to be handed over "
              f"at {sum(1 for n in left if n > 0)} kills, at most {max(left)}", flush=True)
        expect(len(placed) >= 2 * options.kills, "hardly anything was ordered: the run says nothing")
        expect(sum(1 for n in left if n > 0) >= options.kills // 4, "hardly a kill came between an order and its task: the run says nothing")

        app.start()
        last = customers(app.process, counter, unsure)
        last.closing.set()
        last.start()
        wait_until(lambda: app.process.poll() is not None, 120, f"the desk ends when all orders have, see {app.log}", every=0.1)
        last.join(10)
        placed += last.placed
        expect(app.process.returncode == 0, f"the desk ended with {app.process.returncode}, see {app.log}")
        judge(app, one.node, services, placed)
        code, _ = one.node.end()
        expect(code == 0, f"the node ended with {code} after SIGTERM")
        checked = fairlead("store", "check", one.store, seconds=60)
        expect(checked.returncode == 0, f"`fairlead store check` ended with {checked.returncode}: {checked.stdout}{checked.stderr}")


def outbox_of(app):
    # A desk that was killed in its first moments has no tables yet.
    return app.rows("SELECT count(*) FROM outbox")[0][0] if app.rows("SELECT 1 FROM sqlite_master WHERE name = 'outbox'") else 0


def judge(app, node, services, placed):
    orders = dict(app.rows("SELECT id, state FROM orders"))
    tasks = [task["id"] for task in node.tasks()]
    lost = [order for order in placed if order not in orders]
    expect(not lost, f"{len(lost)} orders that were called placed are not in the file, the first: {lost[:3]}")
    expect(outbox_of(app) == 0, "the outbox is not empty")
    without = sorted(set(orders) - set(tasks))
    expect(not without, f"{len(without)} orders have no task, the first: {without[:3]}")
    strange = sorted(set(tasks) - set(orders))
    expect(not strange, f"{len(strange)} tasks have no order, the first: {strange[:3]}")
    expect(len(tasks) == len(set(tasks)) == len(orders), f"{len(orders)} orders have {len(tasks)} tasks")
    print(f"ok  {len(orders)} orders, {len(tasks)} tasks: each order has one", flush=True)
    states = sorted(set(orders.values()))
    expect(states == ["completed"], f"the orders say {states}")
    print("ok  every order has heard how its task ended", flush=True)
    services.look()
    expect(services.effects.get("dispatch") == len(orders), f"{services.effects.get('dispatch')} parcels for {len(orders)} orders")
    print("ok  one parcel an order", flush=True)


if __name__ == "__main__":
    harness.main(run)
