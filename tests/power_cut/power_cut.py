#!/usr/bin/env python3
"""Power cuts under a node that works: its writes and syncs are recorded, disks that a cut could have left are built from them, and the real
binary has to go on from each. Nothing that was acknowledged may be missing, and no end that was shown may have changed."""

import argparse
import bisect
import concurrent.futures
import json
import math
import os
import pathlib
import random
import shutil
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scenarios"))
import crash_images  # noqa: E402
import harness  # noqa: E402
import orders  # noqa: E402
import place  # noqa: E402
from harness import expect, fairlead, wait_until  # noqa: E402

RECORDER = harness.BINARY.parent.parent / "lib" / "disk_recorder.so"
BATCH = 8
ENOUGH = (21 * BATCH, BATCH + 1)  # orders acknowledged, and seen ended, that a recording has at least
CUTS_OF_A_START = 5  # while a node goes on from a disk that a cut has left
# The disks are copies, and stand for what a machine finds on its own.
DISKS_COUNT = "store.any_file=error"
ONE_START_IN = 25    # so many disks have such cuts
NOT_FOUND = 3        # exit code: the cut was before there was a store
ENDS = ("completed", "undone", "failed")


class customer(threading.Thread):
    """Submits orders and looks at them. What it saw is true from then on, whatever is cut."""

    def __init__(self, node, seed):
        super().__init__(name="customer", daemon=True)
        self.acknowledged = []  # (CLOCK_MONOTONIC in ns, orders)
        self.ends = []          # (CLOCK_MONOTONIC in ns, {id: state})
        self.failure = None
        self.done_ = threading.Event()
        self.node_, self.seed_ = node, seed

    def run(self):
        try:
            first = 1
            while not self.done_.is_set():
                batch = list(orders.made_up(BATCH, self.seed_, first))
                first += BATCH
                answer = submitted(self.node_, batch)
                if answer is None:
                    self.done_.wait(0.05)
                    continue
                self.acknowledged.append((time.monotonic_ns(), batch))
                if len(self.acknowledged) % 4 == 0:
                    self._look()
        except (harness.scenario_failed, OSError, ValueError) as error:
            self.failure = error

    def wait_for(self, share):
        """Until it has seen that share of what a recording has at least: a slow machine records for longer."""
        enough = [math.ceil(share * one) for one in ENOUGH]
        harness.wait_until(lambda: self.failure or all(have >= need for have, need in zip(self.seen(), enough)), 60,
                           f"{enough[0]} orders are taken and {enough[1]} end", every=0.1)

    def seen(self):
        taken, shown = self.known_at(time.monotonic_ns())
        return len(taken), len(shown)

    def _look(self):
        done = fairlead("task", "list", "--limit", "1000", "--json", node=self.node_.address)
        if done.returncode == 0:
            seen = {task["id"]: task["state"] for task in json.loads(done.stdout)["tasks"] if task["state"] in ENDS}
            self.ends.append((time.monotonic_ns(), seen))

    def finish(self):
        self.done_.set()
        self.join(60)
        expect(not self.is_alive() and self.failure is None, f"the client failed: {self.failure}")

    def known_at(self, time_ns):
        """(orders that were acknowledged, ends that were shown) before the moment."""
        taken = self.acknowledged[:bisect.bisect_right(self.acknowledged, time_ns, key=lambda one: one[0])]
        shown = {}
        for _, seen in self.ends[:bisect.bisect_right(self.ends, time_ns, key=lambda one: one[0])]:
            shown.update(seen)
        return [order for _, batch in taken for order in batch], shown


def submitted(node, batch):
    """What the node says to the orders; None if it could not be asked or cannot be sure that it took all."""
    text = "".join(json.dumps(order) + "\n" for order in batch)
    done = fairlead("submit", "order", "--batch", "-", "--json", "--quiet", node=node.address, stdin=text)
    return json.loads(done.stdout) if done.returncode == 0 else None


class power_cut:
    def __init__(self, box, options):
        self.box_, self.options_ = box, options
        self.dice_ = random.Random(options.seed)
        self.services_ = harness.services(box, seed=options.seed, work_seconds=(0.005, 0.05), refuse=0.1, max_seconds=1800)
        self.cuts = self.of_starts = self.with_work = 0

    def recorded_place(self, name, disk, services=None, plant=""):
        """A node whose writes below `disk` go to a recording beside it."""
        recording = self.box_.folder / f"{name}.recording"
        prefix = ["env", f"LD_PRELOAD={RECORDER}", f"FAIRLEAD_RECORDED_FOLDER={disk}", f"FAIRLEAD_RECORDING={recording}"]
        if plant:
            prefix.append(f"FAIRLEAD_FAILPOINTS=plant.{plant}=error,{DISKS_COUNT}")
        one = place.place(self.box_, name, services, prefix, store__path=str(disk / "store"), retention="{ archive_after: 1s, keep: 30d }")
        return one, recording

    def record(self, seconds):
        disk = self.box_.folder / "disk"
        disk.mkdir()
        before = crash_images.disk(disk)
        one, recording = self.recorded_place("recorded", disk, self.services_, self.options_.plant)
        one.node.start()
        place.deploy(one.node)
        client = customer(one.node, self.options_.seed)
        client.start()
        for number in range(2):
            time.sleep(seconds / 2)
            client.wait_for((number + 1) / 2)
            if number == 0:
                code, _ = one.node.end()
                expect(code == 0, f"the node ended with {code}: {one.node.last_words()}")
                one.node.start()
        client.finish()
        one.node.kill()
        return before, list(crash_images.events(recording)), client

    def cut_all(self, before, events, client):
        """Yields what each disk has to hold, for a judge."""
        changes = [number for number, one in enumerate(events) if one.kind >= crash_images.CREATE]
        near_names = {min(len(events) - 1, max(0, number + self.dice_.randint(-3, 3))) for number in changes}
        near = min(len(near_names), self.options_.cuts // 3)
        at = sorted([*self.dice_.sample(sorted(near_names), near),
                     *(self.dice_.randrange(len(events)) for _ in range(self.options_.cuts - near))])
        done = 0
        for number, until in enumerate(at):
            for one in events[done:until + 1]:
                before.take(one)
            done = max(done, until + 1)
            folder = self.box_.folder / f"cut-{number}"
            how = before.cut(folder, self.dice_)
            taken, shown = client.known_at(events[until].time_ns)
            yield number, folder, f"cut {number}, after event {until} of {len(events)}: {how}", taken, shown

    def judge(self, number, folder, what, taken, shown, may_cut=True):
        """The findings; an empty list is a disk from which all went well."""
        findings = []
        name = f"after-{folder.name}"
        with_cuts = may_cut and number % ONE_START_IN == 0
        again = recording = None
        try:
            checked = fairlead("store", "check", folder / "store", "--json", seconds=60)
            if checked.returncode != 0 and (taken or checked.returncode != NOT_FOUND):
                findings.append(f"store check before the start: {checked.stdout[-300:]}{checked.stderr[-300:]}")
            if with_cuts:
                again = crash_images.disk(folder)  # a check may have made a lock file whose name was cut off
                one, recording = self.recorded_place(name, folder)
            else:
                one = place.place(self.box_, name, store__path=str(folder / "store"))
            one.node.start()
            findings += missing(one.node, taken, shown)
            code, _ = one.node.end()
            if code != 0:
                findings.append(f"the node ended with {code}: {one.node.last_words()}")
            checked = fairlead("store", "check", folder / "store", seconds=60)
            if checked.returncode != 0:
                findings.append(f"store check after the end: {checked.stdout[-300:]}{checked.stderr[-300:]}")
        except harness.scenario_failed as failed:
            findings.append(str(failed))
        self.cuts += 1
        self.with_work += bool(taken)
        if with_cuts and not findings:
            findings += self.cut_start(number, folder, what, taken, shown, again, recording)
        if not findings:
            for path in (folder, self.box_.folder / name):
                shutil.rmtree(path, ignore_errors=True)
        return [f"{what}: {one}" for one in findings]

    def cut_start(self, number, folder, what, taken, shown, again, recording):
        dice = random.Random(f"{self.options_.seed} {number}")
        events = list(crash_images.events(recording))
        findings, done = [], 0
        for turn, until in enumerate(sorted(dice.randrange(len(events)) for _ in range(CUTS_OF_A_START))):
            for one in events[done:until + 1]:
                again.take(one)
            done = max(done, until + 1)
            second = folder.with_name(f"{folder.name}-{turn}")
            how = again.cut(second, dice)
            findings += self.judge(number, second, f"{what}; cut {turn} of the next start, after event {until} of {len(events)}: {how}",
                                   taken, shown, may_cut=False)
            self.of_starts += 1
        return findings

    def run(self):
        before, events, client = self.record(self.options_.seconds)
        taken, shown = client.known_at(time.monotonic_ns())
        print(f"{len(events)} events recorded, {sum(len(one.data) for one in events if one.kind == crash_images.WRITE) / 1e6:.1f} MB written, "
              f"{len(taken)} orders acknowledged, {len(shown)} seen ended", flush=True)
        findings = []
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            running = set()
            for case in self.cut_all(before, events, client):
                running.add(pool.submit(self.judge, *case))
                if len(running) >= 6:
                    done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                    findings += [line for one in done for line in one.result()]
            findings += [line for one in running for line in one.result()]
        return findings


def missing(node, taken, shown):
    """What was promised and is not there."""
    if not taken:
        return []
    # An order that is there already is not taken again, wherever it stands: in the tables, in the journal or in an archive.
    answer = wait_until(lambda: submitted(node, taken), 30, "the node takes orders")
    findings = []
    if answer["already"] != len(taken):
        findings.append(f"{len(taken) - answer['already']} of {len(taken)} acknowledged orders are lost")
    there = {task["id"]: task["state"] for task in node.tasks()}
    changed = [f"{name} was {state} and is {there[name]}" for name, state in shown.items() if there.get(name, state) != state]
    if changed:
        findings.append(f"{len(changed)} ends were taken back: {changed[:3]}")
    for name in [name for name in shown if name not in there][-2:]:
        state = json.loads(fairlead("task", "show", name, "--json", node=node.address).stdout or "{}").get("state")
        if state != shown[name]:
            findings.append(f"{name} was {shown[name]} and is, in its archive, {state}")
    return findings


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=165, help="disks to go on from, besides those of cut starts")
    parser.add_argument("--seconds", type=float, default=6, help="length of the recording")
    parser.add_argument("--plant", default="", help="record a program with this fault (a failpoint plant.NAME), which must be noticed")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    os.environ["FAIRLEAD_FAILPOINTS"] = DISKS_COUNT
    print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    expect(RECORDER.exists(), f"{RECORDER} is not built")
    with harness.sandbox(f"power_cut{options.plant}", options.keep) as box:
        cuts = power_cut(box, options)
        findings = cuts.run()
        print(f"{cuts.cuts} disks, {cuts.of_starts} of them from cuts of a start, {cuts.with_work} with acknowledged orders; "
              f"{time.monotonic() - began:.0f} s in all", flush=True)
        for line in findings[:10]:
            print(line, flush=True)
        if options.plant:
            expect(findings, f"{options.plant} was not noticed")
            print(f"ok  {options.plant} was noticed on {len(findings)} disks", flush=True)
            return 0
        expect(not findings, f"{len(findings)} findings; what is left of a disk that was not recovered from stands in {box.folder}")
        expect(cuts.with_work > cuts.cuts / 2, "most disks were from before the first order: the run says nothing")
        return 0


if __name__ == "__main__":
    harness.main(run)
