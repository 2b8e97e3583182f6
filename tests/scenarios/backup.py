#!/usr/bin/env python3
"""Backups of a node that works: sound, complete to within a second, rotated, restored; what cannot be backed up is refused and leaves
nothing behind. A copy that was made by hand is refused until somebody has looked at it."""

import json
import shutil
import subprocess
import threading

import harness
import orders
import place
from harness import expect, fairlead, fairlead_json, wait_until

ORDERS = 400


def give(one, count, begin):
    batch = "".join(json.dumps({"id": f"order-{begin + n}", "input": order["input"]}) + "\n" for n, order in
                    enumerate(orders.made_up(count, 1)))
    done = fairlead("submit", "order", "--batch", "-", "--json", "--quiet", node=one.node.address, stdin=batch)
    expect(done.returncode == 0, f"the orders were not taken: {done.stdout}{done.stderr}")


def back_up(*arguments):
    """Names of backups have seconds, so a second one may have to wait."""
    def made():
        done = fairlead("backup", *arguments)
        return None if done.returncode == 4 and "in a second" in done.stderr else done
    return wait_until(made, 20, "a second is over", every=0.1)


def under_load(one, to):
    """Backups one after another while orders come in: each is sound, and the numbers of its tasks never fall."""
    give(one, ORDERS, 0)
    giving = threading.Thread(target=lambda: [give(one, ORDERS, ORDERS * n) for n in range(1, 6)])
    giving.start()
    seen = []
    while giving.is_alive() or len(seen) < 3:
        made = back_up(one.store, to, "--keep", "2", "--json")
        expect(made.returncode == 0, f"backup of a working node: {made.stdout}{made.stderr}")
        made = json.loads(made.stdout)
        seen.append(made["stores"][0]["tasks"] + made["stores"][0]["archived_tasks"])
        last = made["path"]
    giving.join()
    expect(seen == sorted(seen) and seen[-1] > 0, f"tasks in the backups: {seen}")
    kept = sorted(path.name for path in to.iterdir() if path.is_dir())
    expect(len(kept) == 2 and last.endswith(kept[-1]), f"the newest two are kept: {kept}")
    print(f"ok  {len(seen)} backups of a working node, tasks in them: {seen}", flush=True)


def complete(one, to):
    """A second after the last commit the backup has it, and goes on by a restore only."""
    def whole():
        made = back_up(one.store, to, "--json")
        found = json.loads(made.stdout) if made.returncode == 0 else None
        return found if found and found["stores"][0]["tasks"] == 6 * ORDERS else None
    made = wait_until(whole, 20, "a backup has all orders")
    code, _ = one.node.end(seconds=15)
    expect(code == 0, f"the node ended with {code}")
    one.store.rename(one.folder / "lost")
    shutil.copytree(made["path"], one.store)
    place.refuses("a node on a backup", one.config, (1, 4, 75), ["restore", one.store])
    shutil.rmtree(one.store)
    report = fairlead_json("restore", one.store, "--from", made["path"])
    one.node.start()
    shown = fairlead_json("task", "show", "order-0", node=one.node.address)
    expect(shown["id"] == "order-0", f"the restored node knows its orders: {shown}")
    print(f"ok  restored from the backup of a running node: {report['tasks']} tasks go on", flush=True)


def refused(one, to, box):
    def refuse(code, words, *arguments):
        done = fairlead("backup", *arguments)
        expect(done.returncode == code and all(word in done.stderr for word in words), f"backup {arguments}: {done}")
        print(f"ok  refused: {done.stderr.strip()}", flush=True)
    before = sorted(to.iterdir())
    refuse(3, ["no store"], box.folder, to)
    refuse(2, ["--keep"], one.store, to, "--keep", "0")
    refuse(3, ["does not exist"], one.store, box.folder / "not" / "there")
    refuse(75, ["is in use"], one.store, one.store)
    (box.folder / "file").write_text("")
    refuse(2, ["not a directory"], one.store, box.folder / "file")
    one.node.kill()
    done = back_up(one.store, to)
    expect(done.returncode == 1 and "did not end in order" in done.stderr, f"after a crash: {done}")
    expect(sorted(to.iterdir()) == before, "a refused backup leaves nothing behind")
    (to / "fairlead-2026-01-01T00-00-00Z.part").mkdir()
    (to / "notes").mkdir()
    one.node.start()
    made = json.loads(back_up(one.store, to, "--keep", "1", "--json").stdout)
    left = sorted(path.name for path in to.iterdir() if path.is_dir())
    expect(left == sorted(["notes", made["path"].rsplit("/", 1)[1]]), f"what was cut short is removed, what is not ours stays: {left}")
    print("ok  after a crash; leftovers of a backup that was cut short", flush=True)


def copy_of(path, to):
    """As `cp -r` makes it while files come and go."""
    to.parent.mkdir(exist_ok=True)
    subprocess.run(["cp", "-r", path, to], capture_output=True, check=False)


def refuses_copy(what, copy):
    place.refuses(what, copy.config, (74,), [f"{copy.store} is a copy that was made while its node ran", "fairlead store check"])


def copied_by_hand(box):
    """Nobody can tell whether the pages of a copy are of one moment, so no node takes it: not from under a working node, and from a node that
    crashed only once an operator has looked at it."""
    one = place.place(box, "copied")
    one.node.start()
    place.deploy(one.node)
    giving = threading.Thread(target=lambda: [give(one, ORDERS, ORDERS * n) for n in range(3)])
    giving.start()
    whole, alone = place.place(box, "whole_copy"), place.place(box, "copy_without_its_journal")
    copy_of(one.store, whole.store)
    copy_of(one.store / "data.mdb", alone.store / "data.mdb")
    giving.join()
    refuses_copy("a copy of a working node's store", whole)
    place.refuses("a copy of a working node's data file alone", alone.config, (1, 74), [alone.store])
    one.node.kill()
    later = place.place(box, "copy_of_a_crashed_node")
    copy_of(one.store, later.store)
    refuses_copy("a copy of the store of a node that crashed", later)
    for command in ("check", "settle"):
        done = fairlead("store", command, later.store)
        expect(done.returncode == 0, f"store {command}: {done.stdout}{done.stderr}")
    later.node.start()
    expect(len(later.node.tasks()) == 3 * ORDERS, f"{len(later.node.tasks())} of {3 * ORDERS} orders are there")
    code, _ = later.node.end(seconds=15)
    expect(code == 0, f"the node on the copy ended with {code}: {later.node.last_words()}")
    print("ok  copies by hand", flush=True)


def run():
    with harness.sandbox("backup") as box:
        copied_by_hand(box)
        one = place.place(box, "shop")
        one.node.start()
        place.deploy(one.node)
        to = box.folder / "backups"
        under_load(one, to)
        complete(one, to)
        refused(one, to, box)
    return 0


if __name__ == "__main__":
    harness.main(run)
