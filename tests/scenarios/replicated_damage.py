#!/usr/bin/env python3
"""Bytes of one of three stores change while its node is down, under load. The node may not notice, as nobody reads these bytes; it may end by itself, or
not start, with a reason, and gets an empty folder then. What it is never to do is to give a wrong answer, or to spoil the other stores. Judged by
the services' records and the client's history.

    tests/scenarios/replicated_damage.py [--flips N] [--seed N]
"""

import argparse
import random
import shutil
import time

import harness
import replicated_nodes
from harness import expect, fairlead, wait_until
from replicated_load import load
from replicated_nodes import NAMES


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    dice = random.Random(options.seed)
    with harness.sandbox("replicated_damage", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(
            box, ports, settings={**replicated_nodes.LAN, "journal.max_size": "64MiB"}))
        whole = working.nodes
        noticed = 0
        for number in range(options.flips):
            working.wait_for_work("damage")
            noticed += spoil(working, dice.choice(NAMES), number, dice)
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
    while node.process.poll() is None and not (whole.whole() and time.monotonic() > end - 55):
        working.look()
        expect(time.monotonic() < end, f"{name} neither follows nor ends, after {where} was changed: {said_since(node, before)}")
        time.sleep(0.05)
    if node.process.poll() is None:
        print(f"{where} of {name} was changed: it follows", flush=True)
        check_later(whole, name, working)
        return False
    said = said_since(node, before)
    expect(node.process.returncode > 0 and any(word in said for word in ("amaged", "corrupt", "unreadable", "does not belong", "ends before")),
           f"{name} ended with {node.process.returncode} after {where} was changed, and says no reason: {said[-600:]}")
    print(f"{where} of {name} was changed: it ended with {node.process.returncode}: {said.strip().splitlines()[-2 if len(said.splitlines()) > 1 else -1][:200]}", flush=True)
    replace(working, name)
    return True


def check_later(whole, name, working):
    """Damage that nobody has read goes with the store, so that it does not meet the next one."""
    node = whole.nodes[name]
    node.kill()
    done = fairlead("store", "check", whole.folder / name, seconds=60)
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
