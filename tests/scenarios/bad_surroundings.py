#!/usr/bin/env python3
"""A node whose surroundings are wrong says so and ends, and one that is asked to end finishes what it has begun to commit."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import harness
import node_file
import orders
import place
from desk_service import desk_service
from harness import expect, fairlead, wait_until
from small_disk import small_disk

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402


def store_directories(box):
    one = place.place(box, "missing_parent", store__path="not/there/store")
    place.refuses("a store whose parent is missing", one.config, (3, 74), ["not/there"])
    one = place.place(box, "under_a_file", store__path="file/store")
    (one.folder / "file").write_text("")
    place.refuses("a store under a file", one.config, (2, 3, 74), ["file/store"])
    one = place.place(box, "a_file")
    one.store.write_text("")
    place.refuses("a store that is a file", one.config, (2, 74), [one.store])
    one = place.place(box, "read_only").begin()
    without_rights = place.root_without_its_rights()
    if without_rights is None:
        print("skipped  a read-only store: this user may write everywhere", flush=True)
    else:
        for file in one.store.iterdir():
            file.chmod(0o444)
        one.store.chmod(0o555)
        place.refuses("a read-only store", one.config, (74,), [one.store], without_rights)
        one.store.chmod(0o755)


def in_use(box):
    one, other = place.place(box, "first"), place.place(box, "second")
    one.node.start()
    taken = node_file.derive(other.config, other.folder / "same_store.yaml", settings={"store.path": one.store})
    place.refuses("a store in use", taken, (75,), [one.store, one.node.process.pid])
    checked = fairlead("store", "check", one.store)
    expect(checked.returncode == 75, f"store check of a store in use ended with {checked.returncode}: {checked.stdout}{checked.stderr}")
    taken = node_file.derive(other.config, other.folder / "same_port.yaml", ports={other.port: one.port})
    place.refuses("a port in use", taken, (75,), [one.port])
    expect(one.node.status() is not None, "the first node does not answer any more")
    one.node.end()


def newer(box):
    one = place.place(box, "newer").begin()
    if not harness.change_store(one.store, "newer"):
        print("skipped  a newer store", flush=True)
        return
    place.refuses("a newer store", one.config, (74,), [one.store, "version"])


def damaged(box):
    original = place.place(box, "whole")
    original.node.start()
    place.deploy(original.node)
    # Parked or failing: nobody serves them, what counts is that they are stored.
    batch = original.folder / "batch.jsonl"
    harness.write_batch(batch, list(orders.made_up(20, 1)))
    submitted = fairlead("submit", "order", "--batch", batch, "--quiet", node=original.node.address)
    expect(submitted.returncode == 0, f"submit: {submitted.stderr}")
    original.node.end()
    data = (original.store / "data.mdb").read_bytes()
    for what, spoil in (("overwritten from the start", lambda b: b"\xa5" * 8192 + b[8192:]), ("cut in half", lambda b: b[:len(b) // 2 & ~4095]),
                        ("a bit flipped in stored values", flip_in_value)):
        one = place.place(box, what.replace(" ", "_"))
        shutil.copytree(original.store, one.store)
        (one.store / "data.mdb").write_bytes(spoil(data))
        checked = fairlead("store", "check", one.store)
        expect(checked.returncode == 74, f"store check, {what}: exit code {checked.returncode}: {checked.stdout}{checked.stderr}")
        print(f"ok  store check, {what}: {(checked.stderr or checked.stdout).strip().splitlines()[0][:170]}", flush=True)
        if spoil is not flip_in_value:  # a node need not read every value to start
            place.refuses(f"a damaged store, {what}", one.config, (74,), [one.store])


def flip_in_value(data):
    """One bit wherever the id of a stored order stands: in its row, in its index, and in old copies of their pages."""
    number = b"order-00007"
    expect(number in data, "the order is not to be found in the store's file")
    return data.replace(number, bytes([number[0] ^ 16]) + number[1:])


def full(box, services):
    """At 90 % new tasks are refused, and what was taken goes on to its end."""
    one = place.place(box, "full", services, store__max_size="16MiB")
    one.node.start()
    place.deploy(one.node)
    history = harness.history(one.folder / "history.jsonl")
    refusals = []
    for turn in range(60):
        refusals = give(one, history, [heavy(f"full-{turn * 20 + i:05}", 25_000) for i in range(20)])
        if refusals:
            break
    expect(refusals, "a store of 16 MiB took 30 MB of input")
    expect("full" in refusals[0]["error"], f"the refusal does not say that the store is full: {refusals[0]}")
    say_how_full(one, refusals[0]["error"])
    print(f"ok  a full store, after {taken(history)} orders: {refusals[0]['error'][:170]}", flush=True)
    wait_until(lambda: done(one, history), 60, "what was taken completes in a full store", every=0.1)
    wait_until(lambda: not full_alerts(one), 10, "the alert about the full store is resolved")
    finish(one, services, history, "full-")


def full_alerts(one, *options):
    alerts = harness.fairlead_json("alert", "list", *options, node=one.node.address)["alerts"]
    return [alert["sentence"] for alert in alerts if alert["kind"] == "store_full"]


def say_how_full(one, refusal):
    """The refusal and the alert say what is used and what is reserved, and so does the status, while work goes on and makes room."""
    alerts = full_alerts(one, "--all")
    expect(alerts, "no alert says that the store is full")
    for sentence in (refusal, *alerts):
        expect("are used and" in sentence and "are reserved for" in sentence, f"the sentence does not say what fills the store: {sentence}")
    store = one.node.status()["store"]
    expect(store["reserved_bytes"] >= 0 and store["used_bytes"] > 0, f"the status does not say how full the store is: {store}")


def work_until_it_ends(one, history, prefix):
    """Orders whose outputs need more room than there is; what it says in the end."""
    for turn in range(3):
        if one.node.process.poll() is None:
            give(one, history, list(orders.made_up(20, 1, 1 + 20 * turn, prefix)), patience="1s")
    wait_until(lambda: one.node.process.poll() is not None, 60, f"{one.folder.name}: the node ends because there is no room")
    expect(taken(history) >= 20, f"only {taken(history)} orders were taken before there was no room")
    return one.node.last_words(1)


def goes_on(one, history, service, *check_options):
    """Once there is room: nothing that was acknowledged is lost, and all of it ends."""
    one.node.start()
    wait_until(lambda: done(one, history), 90, "what was taken completes once there is room", every=0.1)
    acknowledged = {event["id"] for event in history.events if event["event"] == "acknowledged"}
    states = {task["id"]: task["state"] for task in one.node.tasks()}
    unfinished = sorted(order for order in acknowledged if states.get(order) != "completed")
    expect(not unfinished, f"{len(unfinished)} of {len(acknowledged)} acknowledged orders are lost or not completed: {unfinished[:5]}")
    undone = sorted(order for order in acknowledged if set(service.calls(order)) != {"reservations", "charges", "shipments"})
    expect(not undone, f"completed without a step: {[(order, service.calls(order)) for order in undone[:5]]}")
    code, _ = one.node.end()
    expect(code == 0, f"the node ended with {code}: {one.node.last_words()}")
    checked = fairlead("store", "check", one.store, *check_options)
    expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return len(acknowledged)


def overfull(box):
    """Nobody knows outputs before they come, so work that was let in can meet max_size. Then the node ends with its reason, at each start
    again, and with a greater max_size all of it goes on."""
    with desk_service(answer_bytes=700_000) as service:
        one = place.place(box, "overfull", service, store__max_size="16MiB")
        one.node.start()
        place.deploy(one.node)
        history = harness.history(one.folder / "history.jsonl")
        reason = work_until_it_ends(one, history, "over-")
        expect(one.node.process.returncode == 5 and f"{one.store} is full: it has reached 16777216 bytes" in reason and "max_size" in reason,
               f"the node ended with {one.node.process.returncode}: {reason}")
        place.refuses("a store that has reached its max_size", one.config, (5,), [f"{one.store} is full", "max_size"])
        node_file.derive(one.config, one.config, settings={"store.max_size": "512MiB"})
        print(f"ok  with a greater max_size {goes_on(one, history, service)} orders completed", flush=True)


def full_disk(box):
    """The disk of data.mdb is full while the journal has room: the node ends with its reason, and with room all of it goes on."""
    with small_disk(box.folder / "disk", "96m") as disk, desk_service(answer_bytes=300_000) as service:
        if not disk.mounted:
            print("skipped  a full disk of the store: this user may not mount one", flush=True)
            return
        disk.fill(80 << 20)
        one = place.place(box, "full_disk", service, store__path=disk.folder / "store", journal__path="journal")
        one.node.start()
        place.deploy(one.node)
        history = harness.history(one.folder / "history.jsonl")
        reason = work_until_it_ends(one, history, "disk-")
        expect(one.node.process.returncode == 74 and str(one.store) in reason and "No space left on device" in reason,
               f"the node ended with {one.node.process.returncode}: {reason}")
        print(f"ok  a full disk of the store: {reason[:250]}", flush=True)
        place.refuses("a store whose disk is full", one.config, (74,), [one.store, "No space left on device"])
        disk.make_room()
        orders_done = goes_on(one, history, service, "--journal", one.folder / "journal")
        print(f"ok  with room on the disk of the store {orders_done} orders completed", flush=True)


def heavy(number, size):
    return {"id": number, "input": {"items": [{"sku": "x" * size}], "amount_cents": len(number), "address": {}}}


def give(one, history, batch, patience="10s"):
    """Submits a batch; its refusals. What came of it is in the history. `patience`: how long a node that does not answer is waited for."""
    history.add_orders(batch)
    path = one.folder / "batch.jsonl"
    harness.write_batch(path, batch)
    answered = fairlead("submit", "order", "--batch", path, "--json", "--quiet", "--timeout", patience, node=one.node.address, seconds=60)
    answer = json.loads(answered.stdout) if answered.stdout.strip() else {"submitted": 0, "already": 0, "refused": 0}
    if answer["submitted"] + answer["already"] + answer["refused"] < len(batch):  # the node went away: some may have been taken or not
        return [{"id": batch[0]["id"], "error": answered.stderr}]
    refusals = answer["refusals"]
    refused = {refusal["id"] for refusal in refusals}
    history.add("acknowledged", [order["id"] for order in batch if order["id"] not in refused])
    return refusals


def taken(history):
    return sum(event["event"] == "acknowledged" for event in history.events)


def done(one, history):
    status = one.node.status()
    counts = status["counts"] if status else {}
    return bool(counts) and counts["completed"] >= taken(history) and counts["pending"] + counts["running"] == 0


def finish(one, services, history, prefix):
    history.add_ends(one.node.tasks())
    code, _ = one.node.end()
    expect(code == 0, f"the node ended with {code}: {one.node.last_words()}")
    judge(services, history, one, prefix)


def asked_to_end(box, services):
    """SIGTERM and SIGINT in the middle of work: in bounded time, with 0, and everything acknowledged goes on afterwards."""
    one = place.place(box, "asked", services)
    history = harness.history(one.folder / "history.jsonl")
    for turn, number in enumerate((signal.SIGTERM, signal.SIGINT, signal.SIGTERM)):
        one.node.start()
        if turn == 0:
            place.deploy(one.node)
        batch = list(orders.made_up(100, 1, 1 + 100 * turn, prefix="asked-"))
        history.add_orders(batch)
        path = one.folder / "batch.jsonl"
        harness.write_batch(path, batch)
        done = fairlead("submit", "order", "--batch", path, "--quiet", node=one.node.address)
        expect(done.returncode == 0, f"submit: {done.stderr}")
        history.add("acknowledged", [order["id"] for order in batch])
        wait_until(lambda: services.look() >= 20, 30, "20 steps run at once", every=0.01)
        code, seconds = one.node.end(number, 6)
        expect(code == 0, f"{number.name}: the node ended with {code}: {one.node.last_words()}")
        print(f"ok  {number.name} with work under way: ended with 0 after {seconds:.2f} s", flush=True)
    one.node.start()
    wait_until(lambda: one.node.status()["counts"]["completed"] >= 300, 60, "all orders complete after the restarts", every=0.1)
    history.add_ends(one.node.tasks())
    for _ in range(2):  # twice in a row is no worse than once
        one.node.process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    expect(one.node.process.wait(timeout=6) in (0, 130), "two SIGINTs in a row")
    judge(services, history, one, "asked-")


def judge(services, history, one, prefix):
    records = services.records()
    mine = {(r["service"], r["request"]) for r in records if r["record"] == "arrival" and f'"{prefix}' in r["body"]}
    verdict = audit.judge([r for r in records if (r["service"], r["request"]) in mine], history.events)
    expect(verdict.held(), audit.table(verdict))
    checked = fairlead("store", "check", one.store)
    expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    print(f"ok  audit and store check, {verdict.counts['acknowledged']} orders", flush=True)


def run():
    with harness.sandbox("bad_surroundings") as box:
        store_directories(box)
        in_use(box)
        newer(box)
        damaged(box)
        services = harness.services(box, work_seconds=(0.05, 0.2), slow=0.1, slow_seconds=(0.2, 1.5), max_seconds=300)
        full(box, services)
        overfull(box)
        full_disk(box)
        asked_to_end(box, services)
    return 0


if __name__ == "__main__":
    harness.main(run)
