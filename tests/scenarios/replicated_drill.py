#!/usr/bin/env python3
"""The drill of docs/operations.md for a whole cluster: a backup is made from each of three nodes while they work, the folders of all three are lost, and
the shard goes on from one of these backups on another node; the others join it. What was submitted since the backup is submitted again under its ids.
Judged by the services' records: nothing is done twice, and all ends. At last the backup is restored on one of the three while the others work.

    tests/scenarios/replicated_drill.py [--seed N]
"""

import argparse
import pathlib
import shutil
import sys
import time

import harness
import orders
import replicated_nodes
from harness import expect, fairlead, fairlead_json, wait_until
from replicated_members import done_well, joining
from replicated_nodes import NAMES

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402

WORKFLOW = pathlib.Path(__file__).with_name("kill_order.yaml")
BATCH = 40


class drill:
    def __init__(self, box):
        self.folder = box.folder
        self.services = harness.services(box, work_seconds=(0.2, 0.6), drop_after=0.05, slow=0.2, slow_seconds=(0.2, 0.8))
        self.history = harness.history(box.folder / "history.jsonl")
        self.nodes = joining(box, self.services.ports.values(), settings=replicated_nodes.LAN)

    def begin(self):
        whole = self.nodes
        whole.start()
        done_well(whole.init("n1"), "n1 becomes the first of several")
        first = whole.nodes["n1"]
        expect(first.end()[0] == 0, f"n1 does not end in order: {first.last_words()}")
        done = fairlead("store", "settle", whole.folder / "n1")
        expect(done.returncode == 1 and "Other nodes can join the shard" in done.stderr, f"its log is thrown away: {done.stdout}{done.stderr}")
        first.start(30)
        wait_until(lambda: whole.leader() == "n1", 30, "n1 leads alone", every=0.05)
        self.join("n1", ["n2", "n3"])
        done_well(fairlead("workflow", "deploy", WORKFLOW, node=whole.address), "the workflow is deployed")

    def join(self, through, names):
        for name in names:
            done_well(self.nodes.join(name, through), f"{name} joins")
            self.nodes.nodes[name].launch()
        wait_until(self.nodes.whole, 60, "all three vote", every=0.1)

    def give(self, batch, again=False):
        return harness.give_batch(self.folder, self.history, batch, self.nodes.address, again)

    def running(self):
        wait_until(lambda: self.services.look() >= 5, 20, "five steps are under way at the services")

    def backups(self, count):
        """From each node, as it works; a backup is some 100 ms old, and older where the node is behind."""
        out = {}
        for name in NAMES:
            to = self.folder / f"backups-{name}"

            def whole():
                made = fairlead_json("backup", self.nodes.folder / name, to)
                return made["path"] if sum(store["tasks"] + store["archived_tasks"] for store in made["stores"]) >= count else None
            out[name] = wait_until(whole, 20, f"a backup of {name} has all tasks", every=1.1)  # one a second has a name
        return out

    def lose_all(self):
        for node in self.nodes.nodes.values():
            node.kill()
        for name in NAMES:
            shutil.rmtree(self.nodes.folder / name)

    def restore(self, made, on):
        refused = fairlead("restore", self.nodes.folder / on, "--from", made)
        expect(refused.returncode == 1 and "several nodes hold: n1, n2, n3" in refused.stderr and not (self.nodes.folder / on).exists(),
               f"a backup is restored beside others, without a word: {refused.stdout}{refused.stderr}")
        report = fairlead_json("restore", self.nodes.folder / on, "--from", made, "--accept-loss")
        self.nodes.nodes[on].launch()
        wait_until(lambda: self.nodes.leader() == on, 30, f"{on} leads alone", every=0.05)
        return report

    def restore_beside(self, made):
        """By mistake, on one node, while the other two go on: of two lineages the later one counts, so these stop."""
        wait_until(self.nodes.whole, 60, "all three vote", every=0.1)
        on = next(name for name in NAMES if name != self.nodes.leader())
        node, folder = self.nodes.nodes[on], self.nodes.folder / on
        node.kill()
        known = (folder / "node").read_bytes()
        shutil.rmtree(folder)
        fairlead_json("restore", folder, "--from", made, "--accept-loss")
        (folder / "node").write_bytes(known)
        node.start(30)
        for name in NAMES:
            log, address = self.nodes.nodes[name].log, self.nodes.nodes[name].address
            if name != on:
                wait_until(lambda: b"the shard goes on elsewhere in a later lineage" in log.read_bytes(), 30, f"{name} takes part no more", every=0.1)
            wait_until(lambda: fairlead_json("cluster", "status", node=address)["shards"][0]["node"] == on, 30, f"{name} sends requests to {on}", every=0.1)
            aside = fairlead_json("cluster", "status", node=address)["shards"][0]["aside"]
            expect(("goes on elsewhere" in aside) == (name != on), f"{name} does not say how its replica is: {aside}")
        self.start_again_without(on)
        print(f"ok  a backup was restored on {on} while the others worked: they have stopped", flush=True)

    def start_again_without(self, gone):
        """A start of a node that has stopped takes nothing back, also where nobody is there who could tell it again."""
        for node in self.nodes.nodes.values():
            node.kill()
        for name in NAMES:
            if name != gone:
                before = len(self.nodes.nodes[name].log.read_bytes())
                self.nodes.nodes[name].start(30)
                wait_until(lambda: b"goes on elsewhere in a later lineage" in self.nodes.nodes[name].log.read_bytes()[before:], 10,
                           f"{name} takes part no more after its start, either", every=0.1)
        self.nodes.nodes[gone].start(30)

    def finish(self, count, unknown):
        whole = self.nodes

        def tasks():
            found = whole.tasks()
            return found if len(found) == count and all(task["state"] == "completed" for task in found) else None
        self.history.add_ends(wait_until(tasks, 60, "all orders are completed", every=0.2))
        verdict = audit.judge(self.services.records(), self.history.events)
        # A task that the backup does not know begins again with its first attempt. What keeps a service from doing it twice is the key.
        verdict.violations["attempt"] = [one for one in verdict.violations["attempt"] if not one.startswith(tuple(f"{order} " for order in unknown))]
        print(audit.table(verdict))
        expect(verdict.held(), "the services' records say that something was lost, doubled or out of order")


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_drill", options.keep) as box:
        of = drill(box)
        of.begin()
        first, second = list(orders.made_up(BATCH, 7)), list(orders.made_up(BATCH, 7, BATCH + 1))
        of.give(first)
        of.running()
        made = of.backups(len(first))
        of.give(second)
        of.running()
        of.lose_all()
        source, place = dice.sample(NAMES, 2)
        report = of.restore(made[source], place)
        since = time.monotonic()
        of.join(place, [name for name in NAMES if name != place])
        joined = time.monotonic() - since
        answer = of.give(first + second, again=True)
        expect(answer["submitted"] >= len(second) and answer["already"] > 0, f"the backup knows the first orders, and not the second: {answer}")
        alerts = fairlead_json("alert", "list", node=of.nodes.address)["alerts"]
        expect([alert["number"] for alert in alerts if alert["kind"] == "restored"] == [report["alert"]], f"one alert tells of it: {alerts}")
        of.finish(2 * BATCH, [order["id"] for order in second])
        of.restore_beside(made[source])
        of.nodes.end()
        print(f"ok  a backup of {source} goes on at {place}: {report['tasks']} tasks, {report['steps_in_doubt']} steps in doubt; all three voted "
              f"{joined:.1f} s after it led", flush=True)
    return 0


if __name__ == "__main__":
    harness.main(run)
