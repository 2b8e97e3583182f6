#!/usr/bin/env python3
"""The drill of docs/operations.md: a shard of a cluster loses its disk while it works, and goes on from a backup, under its name, with the agent
node that was there all the time. Nothing is done twice, nothing stands still, and whatever is refused says what to do.

Then two more losses: a store that is made anew, and an old copy that was put back without `fairlead restore`.
"""

import itertools
import json
import pathlib
import shutil
import sys

import harness
import orders
from cluster_nodes import peers_of
from harness import expect, fairlead, fairlead_json, wait_until

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402

WORKFLOW = pathlib.Path(__file__).with_name("kill_order.yaml")
BATCH = 40


class drill:
    def __init__(self, box):
        self.folder = box.folder
        self.services = harness.services(box, work_seconds=(0.02, 0.2), drop_after=0.05, slow=0.2, slow_seconds=(0.2, 0.8))
        self.history = harness.history(box.folder / "history.jsonl")
        shard, agents = harness.free_ports(2)
        inventory, payment, shipping = self.services.ports.values()
        (shard_file := box.folder / "shard-a.yaml").write_text(f"""node: {{ name: shard-a, cluster: drill, listen: "127.0.0.1:{shard}" }}
roles: [shard]
shards: {{ count: 1, here: [0] }}
store: {{ path: shard-a, max_size: 256MiB }}
""")
        (agents_file := box.folder / "agents-a.yaml").write_text(f"""node: {{ name: agents-a, cluster: drill, listen: "127.0.0.1:{agents}",
        peers: ["127.0.0.1:{shard}"], data: agents-a }}
roles: [agent]
agents:
  inventory: {{ kind: http, base_url: "http://127.0.0.1:{inventory}", concurrency: 16,
               calls: {{ reserve: {{ method: POST, path: /reservations }}, release: {{ method: POST, path: /reservations/release }} }} }}
  payment: {{ kind: http, base_url: "http://127.0.0.1:{payment}", concurrency: 16,
             calls: {{ charge: {{ method: POST, path: /charges }}, refund: {{ method: POST, path: /charges/refund }} }} }}
  shipping: {{ kind: http, base_url: "http://127.0.0.1:{shipping}", concurrency: 16,
              calls: {{ dispatch: {{ method: POST, path: /shipments }}, recall: {{ method: POST, path: /shipments/recall }} }} }}
""")
        self.shard = harness.node(box, shard_file, f"127.0.0.1:{shard}", log=box.folder / "shard-a.log")
        self.agents = harness.node(box, agents_file, f"127.0.0.1:{agents}", log=box.folder / "agents-a.log")
        self.store = box.folder / "shard-a"

    def deploy(self):
        done = fairlead("workflow", "deploy", WORKFLOW, node=self.shard.address)
        expect(done.returncode == 0, f"deploy: {done.stderr}")

    def give(self, batch, again=False):
        return harness.give_batch(self.folder, self.history, batch, self.shard.address, again)

    def done(self):
        counts = (self.shard.status() or {"counts": {}})["counts"]
        return counts.get("completed", 0) + counts.get("archived", 0)

    def wait_for(self, count, seconds=30):
        wait_until(lambda: self.done() >= count, seconds, f"{count} orders are completed; {self.shard.status()}", every=0.1)
        tasks = self.shard.tasks()
        expect(all(task["state"] == "completed" for task in tasks), f"not completed: {[task for task in tasks if task['state'] != 'completed'][:2]}")
        return tasks

    def running(self):
        wait_until(lambda: self.services.look() >= 8, 20, "eight steps are under way at the services")

    def effects(self):
        """What the doctor lists as done without a task."""
        done = fairlead("task", "doctor", "--json", node=self.shard.address)
        found = json.loads(done.stdout)["effects"] if done.stdout else []
        expect(done.returncode in (0, 1) and (done.returncode == 1 or not found), f"task doctor: {done}")
        return found

    def wait_for_effects(self, of):
        """Of orders that this lineage does not know and the agents have worked on."""
        ids = {order["id"] for order in of}
        found = wait_until(self.effects, 20, f"effects without a task are listed, see {self.shard.log}", every=0.1)
        expect(all(one["task"] in ids and one["key"].startswith(one["task"] + "/") and one["direction"] == "perform" for one in found),
               f"effects without a task: {found[:2]}")
        text = fairlead("task", "doctor", node=self.shard.address).stdout
        expect("IDEMPOTENCY KEY" in text and found[0]["key"] in text, f"the table has them: {text}")
        return len(found)

    def forget_former(self):
        """The shard node has lost the folder that says who it is; the agent node remembers its former self."""
        wait_until(lambda: any("fairlead node forget shard-a" in peer["reason"] for peer in peers_of(self.agents)), 30,
                   f"the agent node says what to do: {peers_of(self.agents)}", every=0.2)
        told = fairlead_json("node", "forget", "shard-a", node=self.agents.address)
        expect(told["state"] == "forgotten", f"forgotten: {told}")

    def judge(self):
        verdict = audit.judge(self.services.records(), self.history.events)
        # A task that the backup does not know begins again with its first attempt. What keeps a service from doing it twice is the key.
        verdict.violations["attempt"].clear()
        print(audit.table(verdict))
        expect(verdict.held(), "the services' records say that something was lost, doubled or out of order")


def backup(of, count):
    """As docs/operations.md says: from the node that works. A backup is some 100 ms old, so the first one need not have all `count` tasks."""
    of.running()
    folders = (of.folder / f"backups-{number}" for number in itertools.count(1))
    def whole():
        made = fairlead_json("backup", of.store, next(folders))
        return made if sum(store["tasks"] + store["archived_tasks"] for store in made["stores"]) == count else None
    return wait_until(whole, 20, "a backup of the working node has all its tasks")["path"]


def copied_by_hand(of):
    """Of a stopped node, with its journal."""
    code, _ = of.shard.end(seconds=15)
    expect(code == 0, f"the shard node ended with {code}")
    to = of.folder / "copy"
    shutil.copytree(of.store, to)
    checked = fairlead("store", "check", to)
    expect(checked.returncode == 0, f"the copy is not sound: {checked.stdout}{checked.stderr}")
    of.shard.start()
    return to


def restored(of, made, first, second):
    """The disk is lost while the shard works; the backup goes on under the same name."""
    of.running()
    of.shard.kill()
    lost = of.store.rename(of.folder / "lost")
    report = fairlead_json("restore", of.store, "--from", made)
    expect(report["tasks"] > 0 and report["steps_in_doubt"] >= report["tasks"], f"tasks were under way at the backup: {report}")
    again = fairlead("restore", of.store, "--from", made)
    expect(again.returncode == 4 and "is not empty" in again.stderr, f"a store that is there is left alone: {again.stderr}")
    shutil.copy(lost / "node", of.store / "node")  # so that the node keeps its identity
    of.shard.start()
    effects = of.wait_for_effects(second)
    answer = of.give(first + second, again=True)
    expect(answer["submitted"] >= len(second) and answer["already"] > 0, f"the backup knows the first orders, and not the second: {answer}")
    expect(not of.effects(), "what is submitted again is without a task no more")
    of.wait_for(len(first) + len(second))
    alerts = fairlead_json("alert", "list", node=of.shard.address)["alerts"]
    expect([alert["number"] for alert in alerts if alert["kind"] == "restored"] == [report["alert"]], f"one alert tells of it: {alerts}")
    expect("cannot register" not in of.agents.log.read_text(), f"the agents were refused, see {of.agents.log}")
    of.history.add_ends(of.shard.tasks())
    print(f"ok  restored: {report['tasks']} tasks went on, {report['steps_in_doubt']} steps in doubt, {effects} effects without a task", flush=True)


def remade(of, number):
    """The store is lost, and there is no backup: it is made anew under the same name."""
    batch = list(orders.made_up(BATCH, 7, number))
    of.give(batch)
    of.running()
    of.shard.kill()
    shutil.rmtree(of.store)
    of.shard.start()
    of.forget_former()
    listed = of.wait_for_effects(batch)
    forgotten = fairlead_json("task", "doctor", "--forget-effects", node=of.shard.address)
    expect(forgotten["forgotten"] >= listed and not of.effects(), f"forgotten by an operator's word: {forgotten}")
    of.deploy()
    of.give(batch, again=True)
    of.history.add_ends(of.wait_for(BATCH))
    print("ok  made anew: its orders are completed by the agent node that was there before", flush=True)


def put_back(of, copy, number):
    """An old copy without `fairlead restore`: nobody works with it, and says what to do; done, all goes on."""
    of.shard.kill()
    shutil.rmtree(of.store)
    shutil.copytree(copy, of.store)
    of.shard.start()
    wait_until(lambda: any("fairlead restore" in peer["reason"] for peer in peers_of(of.agents)), 20,
               f"the agent node says what to do: {peers_of(of.agents)}", every=0.2)
    code, _ = of.shard.end(seconds=15)
    expect(code == 0, f"the shard node ended with {code}")
    fairlead_json("restore", of.store)
    of.shard.start()
    of.forget_former()
    of.give(list(orders.made_up(BATCH, 7, number)))
    ends = of.wait_for(2 * BATCH)
    of.history.add_ends(task for task in ends if int(task["id"].removeprefix("order-")) >= number)
    print("ok  an old copy: refused with what to do, and taken once that is done", flush=True)


def run():
    with harness.sandbox("restore_drill") as box:
        of = drill(box)
        of.shard.start()
        of.agents.start()
        of.deploy()
        first, second = list(orders.made_up(BATCH, 7)), list(orders.made_up(BATCH, 7, BATCH + 1))
        of.give(first)
        made = backup(of, len(first))
        old = copied_by_hand(of)
        of.wait_for(len(first))
        of.give(second)
        restored(of, made, first, second)
        remade(of, 2 * BATCH + 1)
        put_back(of, old, 3 * BATCH + 1)
        expect(of.agents.process.poll() is None, f"the agent node ended: {of.agents.last_words()}")
        of.judge()
    return 0


if __name__ == "__main__":
    harness.main(run)
