#!/usr/bin/env python3
"""Bytes of one of three stores change while its node is down, under load. The node may not notice, as nobody reads these bytes; or it sets its store
aside, at its start or after it has ended by itself with a reason, and gets the shard from the others. What it is never to do is to give a wrong answer,
to spoil the other stores, or to set its store aside while the others do not go on without it. It is killed at each step of that. Judged by the
services' records and the client's history.

    tests/scenarios/replicated_damage.py [--flips N] [--kills N] [--copies N] [--short] [--seed N]
"""

import argparse
import json
import shutil
import time

import harness
import replicated_nodes
from harness import expect, fairlead, wait_until
from replicated_load import load
from replicated_nodes import NAMES

TELLERS = ("its own note", "the one that leads")  # of an older copy of a store
SET_ASIDE = "are set aside"  # in the log of the node
STEPS = ("rebuild.agreed", "rebuild.part=crash:kill@1", "rebuild.part=crash:kill@2", "rebuild.part=crash:kill@3", "rebuild.aside", "rebuild.made", "rebuild.ending")


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=4)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--copies", type=int, default=len(TELLERS), help="older ones of a store")
    parser.add_argument("--short", action="store_true", help="without the node that is damaged while the others are down")
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_damage", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(
            box, ports, settings={**replicated_nodes.LAN, "journal.max_size": "64MiB"}))
        whole = working.nodes
        noticed = 0
        for number in range(options.flips):
            working.wait_for_work("damage")
            noticed += spoil(working, dice.choice(NAMES), number, dice)
        for step in dice.sample(STEPS, min(options.kills, len(STEPS))):
            working.wait_for_work(f"a kill at {step}")
            is_killed_meanwhile(working, dice.choice(NAMES), step)
        working.wait_for_work("a state that becomes another one")
        has_another_state(working, dice.choice(NAMES))
        working.wait_for_work("an older copy of a store")
        for told_by in dice.sample(TELLERS, min(options.copies, len(TELLERS))):
            gets_an_older_copy(working, told_by, dice)
        working.wait_for_work("damage that is met while another node is down")
        goes_on_while_its_vote_is_needed(working, dice)
        if not options.short:
            working.wait_for_work("damage while the others are down")
            keeps_its_store_while_others_may_need_it(working, dice.choice(NAMES))
        working.finish()
        print(f"{options.flips} stores were damaged, and {noticed} nodes noticed\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        whole.end()
        return working.judge(options.flips)


def spoil(working, name, number, dice):
    """True: the node noticed."""
    whole, node = working.nodes, working.nodes.nodes[name]
    node.kill()
    folder = whole.folder / name
    files = sorted((folder / "journal").glob("*.seg")) if number % 2 else [folder / "data.mdb"]
    where = flip(dice.choice(files), dice)
    before = len(node.log.read_bytes())
    node.launch()
    end = time.monotonic() + 60
    ended = False
    while not (whole.whole() and time.monotonic() > end - 55):
        working.look()
        said = said_since(node, before)
        expect(time.monotonic() < end, f"{name} neither follows nor ends, after {where} was changed: {said[-600:]}")
        if node.process.poll() is not None:
            expect(not ended, f"{name} ended twice after {where} was changed, the second time with {node.process.returncode}: {said[-900:]}")
            expect(node.process.returncode == 5 and any(word in said for word in ("amaged", "corrupt", "unreadable", "does not belong", "ends before")),
                   f"{name} ended with {node.process.returncode} after {where} was changed, and says no reason: {said[-600:]}")
            ended = True
            node.launch()
        time.sleep(0.05)
    if SET_ASIDE not in said_since(node, before):
        expect(not ended, f"{name} ended after {where} was changed, and went on with the same store: {said_since(node, before)[-600:]}")
        print(f"{where} of {name} was changed: it follows", flush=True)
        told = comparison(working)
        if name in told["not compared"] + told["differ"] or node.process.poll() is not None:
            ends_and_repairs_itself(working, name, before)
            print("  and a comparison of the states finds it", flush=True)
            return True
        check_later(whole, name, working)
        return False
    print(f"{where} of {name} was changed: it {'ended, and then ' if ended else ''}set its store aside", flush=True)
    forget_set_aside(name, folder)
    return True


def forget_set_aside(name, folder):
    """Or it would not do so again for an hour."""
    expect((folder / "set-aside" / "data.mdb").exists() and not (folder / "damaged").exists() and not (folder / "rebuilding").exists(),
           f"{name} did not set its store aside: {sorted(one.name for one in folder.iterdir())}")
    for one in (folder, folder / "journal"):
        shutil.rmtree(one / "set-aside")


def spoil_beginning(folder):
    with open(folder / "data.mdb", "r+b") as data:
        data.write(b"\xff" * 8192)
    return (folder / "data.mdb").read_bytes()


def is_killed_meanwhile(working, name, step):
    """The next start goes on, and what was damaged is kept byte by byte."""
    whole, node, folder = working.nodes, working.nodes.nodes[name], working.nodes.folder / name
    node.kill()
    spoilt = spoil_beginning(folder)
    before = len(node.log.read_bytes())
    plain, node.prefix_ = node.prefix_, ["env", f"FAIRLEAD_FAILPOINTS={step if '=' in step else step + '=crash:kill'}", *node.prefix_]
    node.launch()
    node.prefix_ = plain
    wait_until(lambda: working.look() or node.process.poll() is not None, 60, f"{name} is killed at {step}", every=0.05)
    expect(node.process.returncode == -9, f"{name} ended with {node.process.returncode}, not at {step}: {said_since(node, before)[-900:]}")
    node.launch()
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again after a kill at {step}", every=0.1)
    expect(SET_ASIDE in said_since(node, before), f"{name} does not say that it has set its stores aside: {said_since(node, before)[-900:]}")
    expect((folder / "set-aside" / "data.mdb").read_bytes() == spoilt, f"the damaged store of {name} was not kept after a kill at {step}")
    forget_set_aside(name, folder)
    print(f"{name} was killed at {step}, and went on at its next start", flush=True)


def gets_an_older_copy(working, told_by, dice):
    """The node has noted how far it has written, and the one that leads knows what the replica has confirmed to it. So the copy takes part no more, and
    the node gets the shard from the others."""
    whole = working.nodes
    name = dice.choice([one for one in NAMES if one != whole.leader()])
    node, folder = whole.nodes[name], whole.folder / name
    copied = ("data.mdb", "journal")  # the file `node` is in a folder of its own, or in no copy
    node.end()
    copy = folder.with_name(name + "-copy")
    copy.mkdir()
    for one in copied:
        (shutil.copytree if (folder / one).is_dir() else shutil.copy2)(folder / one, copy / one)
    whole.launch_until_it_says(name, "follows", working.look)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} follows before its older copy is put back", every=0.1)
    working.wait_for_work("what the copy lacks")
    node.end()
    for one in copied:
        shutil.rmtree(folder / one) if (folder / one).is_dir() else (folder / one).unlink()
        shutil.move(copy / one, folder / one)
    copy.rmdir()
    before = len(node.log.read_bytes())
    if told_by != "its own note":
        (folder / "written").unlink()
        elections = whole.elections()
        node.launch()
        wait_until(lambda: working.look() or node.process.poll() is not None or whole.elections() != elections, 60,
                   f"{name} ends with an older copy of its store", every=0.05)
        if whole.elections() != elections:
            print("the lead has moved, and nobody knows what the copy lacks", flush=True)
            node.kill()
            return replace(working, name)
        said = said_since(node, before)
        expect(node.process.returncode == 5 and "is an older copy" in said, f"{name} ended with {node.process.returncode} with an older copy: {said[-900:]}")
    whole.launch_until_it_says(name, SET_ASIDE, working.look)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again with a new store in place of an older copy", every=0.1)
    expect("an older copy" in said_since(node, before), f"{name} does not say why it has set its store aside: {said_since(node, before)[-900:]}")
    forget_set_aside(name, folder)
    print(f"{name} had an older copy of its store, as {told_by} says, and set it aside", flush=True)


def keeps_its_store_while_others_may_need_it(working, name):
    whole = working.nodes
    node, folder = whole.nodes[name], whole.folder / name
    for one in whole.nodes.values():
        one.kill()
    spoilt = spoil_beginning(folder)

    def waits():
        before = len(node.log.read_bytes())
        node.launch()
        wait_until(lambda: working.look() or "did not set its stores aside to get the shards from other nodes: No node answers" in said_since(node, before),
                   60, f"{name} waits for the others", every=0.1)
        expect((folder / "data.mdb").read_bytes() == spoilt, f"{name} changed its damaged store, although no other node answers")

    waits()
    node.process.terminate()
    wait_until(lambda: working.look() or node.process.poll() is not None, 30, f"{name} ends while it waits", every=0.1)
    expect(node.process.returncode == 0, f"{name} ended with {node.process.returncode} while it waited")
    node.launch()
    for other in whole.nodes.values():
        if other is not node:
            other.launch()
    wait_until(lambda: working.look() or whole.whole(), 90, f"{name} votes again, since the others go on without it", every=0.1)
    expect((folder / "set-aside" / "data.mdb").read_bytes() == spoilt, f"the damaged store of {name} was not kept")

    # Damaged again within the hour.
    node.kill()
    spoilt = spoil_beginning(folder)
    before = len(node.log.read_bytes())
    node.launch()
    wait_until(lambda: working.look() or node.process.poll() is not None, 60, f"{name} does not start on a store that was damaged twice", every=0.1)
    said = said_since(node, before)
    expect(node.process.returncode == 74 and "less than an hour ago" in said, f"{name} ended with {node.process.returncode}: {said[-900:]}")
    expect((folder / "data.mdb").read_bytes() == spoilt, f"{name} changed its store, which was damaged twice within an hour")
    for one in (folder, folder / "journal"):
        shutil.rmtree(one / "set-aside")
    node.launch()
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again", every=0.1)


def comparison(working):
    """What `fairlead cluster compare` says of the nodes."""
    done = fairlead("cluster", "compare", "--json", node=working.nodes.address, seconds=120)
    working.look()
    expect(done.returncode in (0, 1) and done.stdout, f"cluster compare ended with {done.returncode}: {done.stderr}")
    told = {"same": [], "differ": [], "not compared": []}
    for one in json.loads(done.stdout)["shards"][0]["comparison"]["nodes"]:
        told["differ" if one["differs"] else "same" if one["answered"] else "not compared"].append(one["node"])
    expect((done.returncode == 0) == (len(told["same"]) == len(NAMES)), f"cluster compare ended with {done.returncode}, and says {done.stdout}")
    return told


def ends_and_repairs_itself(working, name, before):
    whole, node = working.nodes, working.nodes.nodes[name]
    wait_until(lambda: working.look() or node.process.poll() is not None, 60, f"{name} ends, because its store is damaged", every=0.05)
    said = said_since(node, before)
    expect(node.process.returncode == 5, f"{name} ended with {node.process.returncode} after a comparison: {said[-900:]}")
    whole.launch_until_it_says(name, SET_ASIDE, working.look)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again after a comparison", every=0.1)
    forget_set_aside(name, whole.folder / name)


def has_another_state(working, name):
    """A row that the log does not have, with a right checksum: nobody but the others can tell."""
    whole, node = working.nodes, working.nodes.nodes[name]
    told = comparison(working)
    expect(sorted(told["same"]) == sorted(NAMES), f"three sound nodes have the same state, and the comparison says {told}")
    node.end()
    if not harness.change_store(whole.folder / name, "other"):
        node.launch()
        return
    before = len(node.log.read_bytes())
    whole.launch_until_it_says(name, "follows", working.look)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} follows with another state", every=0.1)
    told = comparison(working)
    expect(told["differ"] == [name], f"{name} has another state, and the comparison says {told}")
    ends_and_repairs_itself(working, name, before)
    alerts = json.loads(fairlead("alert", "list", "--json", node=whole.address).stdout)["alerts"]
    expect(any(one["kind"] == "store_damaged" and name in one["sentence"] for one in alerts), f"no alert names the damaged store of {name}: {alerts}")
    told = comparison(working)
    expect(sorted(told["same"]) == sorted(NAMES), f"{name} has repaired itself, and the comparison says {told}")
    print(f"{name} had another state than the others, and a comparison found it", flush=True)


def goes_on_while_its_vote_is_needed(working, dice):
    """Without the node that meets damage nobody could lead."""
    whole = working.nodes
    name, away = dice.sample(NAMES, 2)
    node = whole.nodes[name]
    node.end()
    if not harness.change_store(whole.folder / name, "damaged"):
        node.launch()
        return
    before = len(node.log.read_bytes())
    whole.launch_until_it_says(name, "follows", working.look)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} follows with a damaged value", every=0.1)
    whole.nodes[away].end()
    told = comparison(working)
    expect(sorted(told["not compared"]) == sorted((name, away)), f"{name} cannot read its state and {away} is down, and the comparison says {told}")
    wait_until(lambda: working.look() or "The node goes on with it, and leads no shard" in said_since(node, before), 60,
               f"{name} says that it goes on with a damaged value: {said_since(node, before)[-900:]}", every=0.1)
    wait_until(lambda: working.look() or whole.leader() not in (None, name), 30, f"{name}, whose value is damaged, leads no more", every=0.1)
    working.wait_for_work(f"{name} goes on with a damaged value")
    expect(node.process.poll() is None, f"{name} ended with {node.process.returncode} although its vote was needed: {said_since(node, before)[-900:]}")
    whole.nodes[away].launch()
    ends_and_repairs_itself(working, name, before)
    print(f"{name} met a damaged value while {away} was down, and repaired itself once that was back", flush=True)


def check_later(whole, name, working):
    """Damage that nobody has read goes with the store, so that it does not meet the next one. The comparison has read all values of the tables."""
    node = whole.nodes[name]
    node.kill()
    done = fairlead("store", "check", whole.folder / name, seconds=60)
    expect("the value is damaged" not in done.stdout, f"a comparison read all values of {name}, and its check finds: {done.stdout[-900:]}")
    if done.returncode == 0:
        node.launch()
        wait_until(lambda: working.look() or whole.whole(), 60, f"{name} follows again", every=0.1)
        return
    print(f"  and its check finds: {(done.stdout + done.stderr).strip().splitlines()[0][:200]}", flush=True)
    replace(working, name)


def replace(working, name):
    whole = working.nodes
    shutil.rmtree(whole.folder / name)
    whole.nodes[name].launch()
    others = ",".join(whole.nodes[other].address for other in NAMES if other != name)
    wait_until(lambda: working.look() or fairlead("node", "forget", name, "--reason", "its disk was damaged", node=others).returncode == 0, 30,
               f"the former {name} is forgotten", every=0.2)
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} votes again with an empty store", every=0.1)


def flip(path, dice):
    """Some bytes in a row, mostly a few, where there is something."""
    data = bytearray(path.read_bytes())
    used = next((at for at in range(len(data) - 1, -1, -4096) if any(data[max(at - 4095, 0):at + 1])), 0) + 1
    at = dice.randrange(used)
    for offset in range(dice.choice((1, 1, 4, 64, 4096))):
        if at + offset < used:
            data[at + offset] ^= dice.randrange(1, 256)
    path.write_bytes(data)
    return f"{path.name} at {at}"


def said_since(node, before):
    return node.log.read_bytes()[before:].decode("utf-8", errors="replace")


if __name__ == "__main__":
    harness.main(run)
