#!/usr/bin/env python3
"""The journal of a node: what only it has survives kill -9, and a journal that is missing, of another store, cut short or damaged is a
clear refusal or a clean recovery, never a silent loss. So is one that cannot be written, or whose disk is full."""

import json
import os
import shutil
import threading
import time

import harness
import node_file
import orders
import place
from harness import expect, fairlead, fairlead_json, wait_until
from small_disk import small_disk

ORDERS = 40
SECRET = "a-planted-secret-in-an-input"
# The applier never comes to its first transaction, so everything is in the journal and nowhere else.
NOTHING_APPLIED = ("env", "FAIRLEAD_FAILPOINTS=apply.before_txn=delay:600000")
# A node refuses a copy of a store that did not end in order (backup.py). Here copies stand for the store itself.
COPIES_COUNT = "store.any_file=error"


def worked(box, name, prefix=NOTHING_APPLIED):
    """A node that has taken orders and was killed."""
    one = place.place(box, name, prefix=prefix)
    one.node.start()
    place.deploy(one.node)
    batch = "".join(json.dumps({"id": f"order-{n}", "input": {**order["input"], "note": SECRET}}) + "\n" for n, order in
                    enumerate(orders.made_up(ORDERS, 1)))
    done = fairlead("submit", "order", "--batch", "-", "--json", "--quiet", node=one.node.address, stdin=batch)
    expect(done.returncode == 0, f"the orders were not taken: {done.stdout}{done.stderr}")
    # An idle journal proves after a second that its last group was durable.
    time.sleep(1.5)
    one.node.kill()
    return one


def copy_of(one, box, name):
    out = place.place(box, name)
    shutil.copytree(one.store, out.store)
    return out


def segment_in_use(one):
    """The first file of the journal: the one with a header."""
    return next(file for file in sorted((one.store / "journal").glob("*.seg")) if file.read_bytes()[:8] == b"FLJRNL01")


def checked(path):
    done = fairlead("store", "check", path, "--json")
    return done, json.loads(done.stdout)["tasks"] if done.returncode == 0 else None


def survives(box):
    one = worked(box, "killed")
    done, tasks = checked(one.store)
    expect(tasks == ORDERS, f"store check reads the journal: {done.stdout}{done.stderr}")
    found = fairlead_json("journal", "verify", one.store)
    expect(found["ok"] and not found["closed"] and found["records"] > 0, f"journal verify: {found}")
    dumped = fairlead("journal", "dump", one.store, "--json")
    records = [json.loads(line) for line in dumped.stdout.splitlines()]
    expect(any("order-7" in key for record in records for key in record["keys"]), f"the dump names no key of an order: {records[:3]}")
    expect(SECRET not in dumped.stdout and SECRET not in fairlead("journal", "dump", one.store).stdout, "the dump shows values")
    as_is = place.place(box, "goes_on")
    shutil.copytree(one.store, as_is.store)
    as_is.node.start()
    expect(len(as_is.node.tasks()) == ORDERS, "orders are missing after the start")
    watched = fairlead_json("journal", "verify", as_is.store / "journal")
    expect(watched["ok"], f"verify beside a running node: {watched}")
    code, _ = as_is.node.end()
    expect(code == 0, f"the node ended with {code}: {as_is.node.last_words()}")
    expect(fairlead_json("journal", "verify", as_is.store)["closed"], "the journal has no clean end")
    shutil.rmtree(as_is.store / "journal")
    done, tasks = checked(as_is.store)
    expect(tasks == ORDERS, f"after a clean end the store is whole by itself: {done.stdout}{done.stderr}")
    print("ok  what only the journal has is checked, dumped without values, and taken up after kill -9", flush=True)
    return one


def belongs_together(box, one):
    alone = copy_of(one, box, "without_its_journal")
    (alone.store / "journal").rename(alone.folder / "away")
    place.refuses("a store without its journal", alone.config, (1,), [alone.store, "is missing"])
    done, _ = checked(alone.store)
    expect(done.returncode == 1 and "is missing" in done.stderr, f"store check without the journal: {done.stderr}")
    done = fairlead("store", "check", alone.store, "--journal", alone.folder / "away", "--json")
    expect(done.returncode == 0 and json.loads(done.stdout)["tasks"] == ORDERS, f"store check --journal: {done.stdout}{done.stderr}")
    other = worked(box, "other")
    shutil.rmtree(alone.store / "journal", ignore_errors=True)
    shutil.copytree(other.store / "journal", alone.store / "journal")
    place.refuses("the journal of another store", alone.config, (1,), [alone.store / "journal", "belongs to another store"])
    shutil.rmtree(alone.store / "journal")
    (alone.folder / "away").rename(alone.store / "journal")
    (alone.store / "data.mdb").unlink()
    place.refuses("a data file that was made anew", alone.config, (1,), [alone.store, "never belonged to it"])
    same = copy_of(one, box, "same_journal")
    same.node.start()
    taken = node_file.derive(same.config, same.folder / "second.yaml", ports={same.port: harness.free_ports(1)[0]},
                             settings={"store.path": "second", "journal.path": "store/journal"})
    place.refuses("the journal of a running node", taken, (75,), [same.store / "journal"])
    same.node.end()


def damaged(box, one):
    """Each field of header, group and record, some of what they hold, and each place where a file can be cut."""
    name = segment_in_use(one).name
    data = segment_in_use(one).read_bytes()
    block = 4096
    places = [0, 8, 12, 16, 32, 40, 48, 56, 64, 72, 80, 88, 96, 200, block - 8]
    group = block
    while data[group:group + 4] == b"FJGR":
        places += [group + offset for offset in (0, 4, 8, 16, 24, 32, 40, 44, 48, 56, 64, 65, 66, 68, 72, 80, 88, 96, 104, 120)]
        group += int.from_bytes(data[group + 4:group + 8], "little") * block
    refused = 0
    for at in places[:15] + places[15::9]:
        here = copy_of(one, box, "spoiled")
        spoiled = bytearray(data)
        spoiled[at] ^= 1
        (here.store / "journal" / name).write_bytes(spoiled)
        done, tasks = checked(here.store)
        expect(tasks == ORDERS if done.returncode == 0 else done.returncode in (1, 74) and str(here.store / "journal") in done.stderr,
               f"byte {at} changed: exit code {done.returncode}, {tasks} tasks: {done.stdout[:300]}{done.stderr}")
        refused += done.returncode != 0
        shutil.rmtree(here.folder)
    expect(refused > len(places) // 18, f"only {refused} of {len(places)} changes were noticed")
    for length in (0, 100, block, 3 * block, len(data) // 2, len(data) - block):
        here = copy_of(one, box, "cut")
        (here.store / "journal" / name).write_bytes(data[:length])
        done, _ = checked(here.store)
        expect(done.returncode in (1, 74), f"a segment cut to {length} bytes: exit code {done.returncode}: {done.stdout}{done.stderr}")
        shutil.rmtree(here.folder)
    here = copy_of(one, box, "cut_for_a_node")
    (here.store / "journal" / name).write_bytes(data[:len(data) // 2])
    place.refuses("a segment cut short", here.config, (74,), [here.store / "journal", name])
    print(f"ok  {refused} changed bytes were refused, and the others changed nothing", flush=True)


def leaves_and_comes_back(box, one):
    settled = copy_of(one, box, "settled")
    done = fairlead("store", "settle", settled.store)
    expect(done.returncode == 0 and not (settled.store / "journal").exists(), f"store settle: {done.stdout}{done.stderr}")
    done, tasks = checked(settled.store)
    expect(tasks == ORDERS, f"the settled store: {done.stdout}{done.stderr}")
    settled.node.start()
    expect(len(settled.node.tasks()) == ORDERS, "orders are missing behind the new journal")
    settled.node.end()
    lost = copy_of(one, box, "lost")
    shutil.rmtree(lost.store / "journal")
    done = fairlead("store", "settle", lost.store)
    expect(done.returncode == 1 and "--accept-loss" in done.stderr, f"settle without the journal: {done.stdout}{done.stderr}")
    done = fairlead("store", "settle", lost.store, "--accept-loss")
    expect(done.returncode == 0 and "fairlead restore" in done.stdout, f"settle --accept-loss: {done.stdout}{done.stderr}")
    place.refuses("a store that has left a lost journal", lost.config, (1,), ["fairlead restore"])
    done = fairlead("restore", lost.store)
    expect(done.returncode == 0, f"restore: {done.stdout}{done.stderr}")
    lost.node.start()
    lost.node.end()
    print("ok  a store leaves its journal and comes back; without the journal only by a restore", flush=True)


def unwritable(box):
    """A journal.path where nothing can be written: the node ends, and says which folder it is."""
    for name, path, what in (("under_a_file", "file/journal", "a journal under a file"), ("a_file", "file", "a journal that is a file"),
                             ("no_parent", "not/there/journal", "a journal whose parent is missing")):
        one = place.place(box, f"journal_{name}", journal__path=path)
        (one.folder / "file").write_text("")
        place.refuses(what, one.config, (2, 3, 74), [one.folder / path])
    without_rights = place.root_without_its_rights()
    if without_rights is None:
        print("skipped  a journal in a folder without the right to write: this user may write everywhere", flush=True)
    else:
        one = place.place(box, "journal_without_rights", journal__path="elsewhere/journal")
        folder = one.folder / "elsewhere"
        folder.mkdir(mode=0o555)
        place.refuses("a journal that may not be made", one.config, (74,), [folder / "journal", "Permission denied"], without_rights)
        folder.chmod(0o755)
        one.begin()
        (folder / "journal").chmod(0o555)
        for file in (folder / "journal").iterdir():
            file.chmod(0o444)
        place.refuses("a journal without the right to write", one.config, (74,), [folder / "journal", "Permission denied"], without_rights)
    with small_disk(box.folder / "read_only", "12m") as disk:
        if not disk.mounted:
            print("skipped  a journal on a read-only disk: this user may not mount one", flush=True)
            return
        one = place.place(box, "journal_on_a_read_only_disk", journal__path=disk.folder / "journal").begin()
        expect(disk.only_read(), "the disk cannot be made read-only")
        place.refuses("a journal on a read-only disk", one.config, (74,), [disk.folder / "journal", "Read-only file system"])
        expect(disk.write_again(), "the disk cannot be made writable again")
        one.node.start()
        place.expect_unharmed(one.node)


def submit_some(node, name, count, bytes_each):
    one = {"amount_cents": 1, "items": [], "address": {}, "note": "y" * bytes_each}
    batch = "".join(json.dumps({"id": f"{name}-{n}", "input": one}) + "\n" for n in range(count))
    return fairlead("submit", "order", "--batch", "-", "--json", "--quiet", node=node.address, stdin=batch, seconds=60)


def full_disk(box):
    with small_disk(box.folder / "small", "12m") as disk:
        if not disk.mounted:
            print("skipped  a full disk of the journal: this user may not mount one", flush=True)
            return
        tight = place.place(box, "tight", journal__path=disk.folder / "journal")
        tight.node.start()
        place.deploy(tight.node)
        wait_until(lambda: tight.node.status()["journal"]["spare_segments"] > 0, 10, "a file is staged")
        disk.fill()
        # More than its files hold: they are used again.
        for number in range(30):
            done = submit_some(tight.node, f"small-{number}", 20, 4_000)
            expect(done.returncode == 0, f"on a full disk: {done.stdout}{done.stderr} {tight.node.last_words()}")
        done = submit_some(tight.node, "big", 20, 100_000)
        expect(done.returncode == 0, f"on a full disk: {done.stdout}{done.stderr} {tight.node.last_words()}")
        tight.node.kill()
        tight.node.start()
        expect(len(tight.node.tasks()) == 620, "tasks are missing")
        code, _ = tight.node.end()
        expect(code == 0, f"the node ended with {code}: {tight.node.last_words()}")
        tiny = place.place(box, "tiny", journal__path=disk.folder / "second")
        place.refuses("a disk that is too small for a journal", tiny.config, (5, 74), [disk.folder / "second", "No space left"])
        disk.make_room()
        tiny.node.start()
        place.deploy(tiny.node)
        place.expect_unharmed(tiny.node)
    print("ok  a disk that became full, and one that is too small until there is room", flush=True)


def waits_for_room(box):
    """With nothing applied no file is used again, so on a full disk commits wait. With room the same process goes on, and so does the next."""
    with small_disk(box.folder / "waiting", "16m") as disk:
        if not disk.mounted:
            print("skipped  commits that wait for room on the disk of the journal: this user may not mount one", flush=True)
            return
        services = harness.services(box, work_seconds=(0.005, 0.05), max_seconds=300)
        one = place.place(box, "waits", services, prefix=NOTHING_APPLIED, journal__path=disk.folder / "journal")
        one.node.start()
        place.deploy(one.node)
        wait_until(lambda: one.node.status()["journal"]["spare_segments"] > 0, 10, "a file is staged")
        disk.fill()
        answers = []
        giving = threading.Thread(daemon=True, target=lambda: [answers.append(submit_some(one.node, f"waiting-{n}", 20, 20_000))
                                                               for n in range(12)])
        giving.start()
        wait_until(lambda: "Commits wait because the journal has no free file" in one.node.log.read_text(), 30, "commits wait for room")
        before = len(answers)
        expect(before < 12, "the orders were taken on a full disk")
        disk.make_room()
        giving.join(30)
        expect(not giving.is_alive(), f"with room again the orders are not taken: {one.node.last_words()}")
        expect(len(answers) == 12 and all(done.returncode == 0 for done in answers), f"orders that waited were refused: {answers}")
        wait_until(lambda: one.node.status()["counts"]["completed"] == 240, 30, "all orders end in the process that had waited", every=0.1)
        one.node.kill()
        again = harness.node(box, one.config, one.node.address, one.node.log)
        again.start()
        given = {f"waiting-{batch}-{n}" for batch in range(12) for n in range(20)}
        found = {task["id"]: task["state"] for task in again.tasks()}
        expect(found == dict.fromkeys(given, "completed"), f"after the restart: {len(found)} tasks of 240, counted {again.status()['counts']}")
        code, _ = again.end()
        expect(code == 0, f"the node ended with {code}: {again.last_words()}")
        done = fairlead("store", "check", one.store, "--journal", disk.folder / "journal")
        expect(done.returncode == 0, f"store check: {done.stdout}{done.stderr}")
    print(f"ok  commits waited for room after {before} batches; with room all 12 were taken and ended, also after kill -9", flush=True)


def run():
    os.environ["FAIRLEAD_FAILPOINTS"] = COPIES_COUNT
    with harness.sandbox("journal") as box:
        one = survives(box)
        belongs_together(box, one)
        damaged(box, one)
        leaves_and_comes_back(box, one)
        unwritable(box)
        full_disk(box)
        waits_for_room(box)
    return 0


if __name__ == "__main__":
    harness.main(run)
