#!/usr/bin/env python3
"""What happens to the machines of a shard on three nodes, under load: clocks are set, disks are full for a while, and disks do not answer. Judged by the
services' records and the client's history.

    tests/scenarios/replicated_hosts.py [--clocks N] [--full N] [--stalled N] [--seed N]
"""

import argparse
import random
import time

import faked_clock
import harness
import replicated_nodes
from harness import expect, wait_until
from replicated_load import BREAKERS_CLOSE_SECONDS, load
from replicated_nodes import NAMES, pause
from small_disk import small_disk

STALL = harness.BINARY.parent.parent / "lib" / "disk_stall.so"
SET_BY_SECONDS = 3  # at most, forward or back: the audit compares moments of these clocks with those of the services
DISK = "160m"


class hosts(replicated_nodes.trio):
    """Each node has a clock and a disk of its own."""

    def __init__(self, box, service_ports, disks):
        self.disks, self.clocks, self.stalled = disks, {}, {}
        super().__init__(box, service_ports, settings={**replicated_nodes.LAN, "store.max_size": "64MiB", "journal.max_size": "64MiB"})

    def _node(self, name, settings):
        (folder := self.folder / f"host-{name}").mkdir()
        self.stalled[name] = folder / "stalled"
        clock = self.clocks[name] = faked_clock.clock(folder, faked_clock.utc(time.time()))
        out = super()._node(name, settings)
        # Before the C library, which stands in the list, too.
        preloaded = clock.prefix[1].replace(faked_clock.library(), f"{faked_clock.library()}:{STALL}")
        out.prefix_ = (clock.prefix[0], preloaded, f"FAIRLEAD_STALLED={self.stalled[name]}", *clock.prefix[2:])
        return out

    def term(self):
        known = self.replication()
        return known["term"] if known is not None and known["role"] == "leader" else 0

    def set_clock(self, name, by_seconds):
        self.clocks[name].set(faked_clock.utc(time.time() + by_seconds))


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clocks", type=int, default=4, help="times a clock is set")
    parser.add_argument("--full", type=int, default=2, help="times a disk is full")
    parser.add_argument("--stalled", type=int, default=3, help="times a disk does not answer for a while")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    expect(STALL.exists(), f"{STALL} is not built")
    dice = random.Random(options.seed)
    faults = ["clock"] * options.clocks + ["full"] * options.full + ["stalled"] * options.stalled
    dice.shuffle(faults)
    with harness.sandbox("replicated_hosts", options.keep) as box, small_disk(box.folder / "n1", DISK) as one, \
            small_disk(box.folder / "n2", DISK) as two, small_disk(box.folder / "n3", DISK) as three:
        disks = dict(zip(NAMES, (one, two, three)))
        if not all(disk.mounted for disk in disks.values()):
            print("skipped: this user may mount no disks", flush=True)
            return 75
        working = load(box, options.seed, lambda ports: hosts(box, ports, disks))
        for number, kind in enumerate(faults):
            working.wait_for_work("fault")
            pause(dice.uniform(0, 0.5), working.look)
            # The one that leads, every other time.
            name = working.nodes.wait_for_leader() if number % 2 else dice.choice(NAMES)
            {"clock": set_clock, "full": fill, "stalled": stall}[kind](working, name, dice)
        for name in NAMES:
            working.nodes.set_clock(name, 0)
        working.finish()
        print(f"{options.clocks} clocks were set, {options.full} disks were full, {options.stalled} disks did not answer\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        working.nodes.end()
        return working.judge(len(faults), clocks_off=2 * SET_BY_SECONDS)


def takes_orders(working, why):
    """Seconds until orders are acknowledged that were given since."""
    since = time.monotonic()
    # What was on its way may still be acknowledged.
    for _ in range(2):
        known = working.client.acknowledged
        wait_until(lambda: working.look() or working.client.acknowledged > known, BREAKERS_CLOSE_SECONDS, f"orders are taken, since {why}")
    return time.monotonic() - since


def set_clock(working, name, dice):
    by = round(dice.uniform(-SET_BY_SECONDS, SET_BY_SECONDS), 1)
    working.nodes.set_clock(name, by)
    taken = takes_orders(working, f"the clock of {name} was set")
    pause(dice.uniform(0.5, 2), working.look)
    working.nodes.check()
    print(f"the clock of {name} was set to {by:+} s; orders were taken after {taken:.1f} s", flush=True)


def fill(working, name, dice):
    """The node ends when it cannot write, or goes on with what it has. The others go on."""
    whole, node = working.nodes, working.nodes.nodes[name]
    disk = whole.disks[name]
    disk.fill()
    taken = takes_orders(working, f"the disk of {name} is full")
    pause(dice.uniform(2, 5), working.look)
    disk.make_room()
    ended = None

    def follows():
        nonlocal ended
        working.look()
        if node.process.poll() is not None:
            ended = node.process.returncode
            expect(ended == 74, f"{name} ended with {ended} as its disk was full: {node.last_words()}")
            node.launch()
        return whole.whole()
    wait_until(follows, 60, f"{name} follows again", every=0.1)
    print(f"the disk of {name} was full: it {'went on' if ended is None else 'ended'}; orders were taken after {taken:.1f} s", flush=True)


def stall(working, name, dice):
    """While its disk does not answer, another node leads."""
    whole = working.nodes
    led = whole.wait_for_leader() == name
    seconds, since = dice.uniform(1, 6), time.monotonic()
    term = whole.term()
    whole.stalled[name].touch()
    try:
        if led:
            wait_until(lambda: working.look() or whole.term() > term, 20, f"another node leads, as the disk of {name} does not answer", every=0.05)
        taken = takes_orders(working, f"the disk of {name} does not answer")
        pause(max(0, since + seconds - time.monotonic()), working.look)
    finally:
        whole.stalled[name].unlink()
    took = time.monotonic() - since
    whole.check()
    wait_until(lambda: working.look() or whole.whole(), 60, f"{name} follows again", every=0.1)
    print(f"the disk of {name}{', which led,' if led else ''} did not answer for {took:.1f} s; orders were taken after {taken:.1f} s", flush=True)


if __name__ == "__main__":
    harness.main(run)
