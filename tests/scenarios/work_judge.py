"""Judges a run of work_faults.py by the logs of the workers (watched_agents.py) and the records of the service."""

import collections
import itertools

import journal
from harness import expect

NANO = 10**9


class holding:
    """An attempt that a worker was given, by the worker's log."""

    def __init__(self, line, log):
        self.log, self.pid, self.got, self.end, self.named = log, line["pid"], line["at"], line["end"], line
        self.told, self.kind, self.results, self.refused = None, None, [], []

    def __str__(self):
        one = self.named
        return (f"{one['task']} {one['step']} {one['direction']} {one['attempt']} at {self.log}/{self.pid}: got {self.got / NANO:.3f}, "
                f"lease until {self.end / NANO:.3f}, {self.kind} at {(self.told or 0) / NANO:.3f}, {self.results}, refused {self.refused}, ticket {one['ticket'][:24]}")


def read_logs(hands):
    held = {}
    for one in hands:
        for line in journal.read(one.log):
            known = held.get(line["ticket"])
            if line["what"] == "lease":
                if known is None:
                    held[line["ticket"]] = holding(line, one.name)
                    continue
                expect(known.pid == line["pid"], f"two processes have one ticket: {known}, and {one.name} {line}")
                known.end = max(known.end, line["end"])
            elif known is None:
                continue
            elif line["what"] == "told" and line["kind"]:
                known.told, known.kind = line["at"], line["kind"]
            elif line["what"] == "result":
                known.results.append(line["result"])
                if line["result"] == "not_held" and line["at"] < known.end:
                    known.refused.append(line["at"])
            elif line["what"] == "refused" and line["at"] < known.end:
                known.refused.append(line["at"])
    return held.values()


def judge(tasks, ids, services, hands):
    steps = collections.defaultdict(list)
    for one in read_logs(hands):
        steps[one.named["task"], one.named["step"]].append(one)
    closest, pairs, attempts = None, 0, sum(map(len, steps.values()))
    for held in steps.values():
        held.sort(key=lambda one: one.got)
        for before, after in itertools.combinations(held, 2):
            # One that was reported in doubt, or failed, was over before its lease; and what came behind the end of its own was not begun.
            if before.kind in ("fault", "verdict") and before.told <= after.got or after.end <= after.got:
                continue
            pairs += 1
            closest = min(after.got - before.end, closest if closest is not None else 1 << 62)
            expect(before.end <= after.got, f"a lease was late: {before}, and then {after}")
        for one in held:
            after = [str(other) for other in held if one.got < other.got < other.end]
            task = tasks[one.named["task"]]
            # An outcome that was recorded is not held any more, as the node says that has the worker since.
            recorded = one.kind in ("fault", "verdict") or one.kind == "output" and task["state"] == "completed" and not after
            expect(not one.refused or recorded, f"it was taken away before its lease was over: {one}, of {task}, then {after}")
            taken = one.kind == "output" and {"accepted", "repeated"} & set(one.results)
            expect(not taken or not after, f"its output was taken, and there came another attempt: {one}, then {after}")
    records = services.records()
    effects = collections.Counter(record["order"] for record in records if record["record"] == "effect_end")
    by_key = collections.Counter(record["key"] for record in records if record["record"] == "effect_end")
    arrivals = collections.Counter(record["key"] for record in records if record["record"] == "arrival" and record["method"] == "POST")
    orders = {record["key"]: record["order"] for record in records if record["record"] == "effect_begin"}
    expect(max(by_key.values()) == 1, f"keys with two effects: {[key for key, count in by_key.items() if count > 1]}")
    for name in ids:
        kind, task = name.partition("-")[0], tasks[name]
        if task["parked"]:
            expect(kind == "once" and effects[name] <= 1, f"{name} is parked, with {effects[name]} effects: {task}")
        else:
            expect(task["state"] == "completed" and effects[name] == 1, f"{name} is {task['state']}, with {effects[name]} effects: {task}")
    twice = [key for key, count in arrivals.items() if count > 1 and orders.get(key, "").startswith("once-")]
    expect(not twice, f"steps that must not be tried again in doubt arrived twice: {twice}")
    parked = sum(task["parked"] for task in tasks.values())
    print(f"{len(ids)} tasks, {attempts} attempts, {sum(arrivals.values())} requests to the service, {parked} tasks parked in doubt; {pairs} times another "
          "attempt followed a lease" + (f", at the earliest {closest / NANO:.3f} s behind its end" if pairs else ""), flush=True)
    expect(len(ids) > 50 and attempts >= len(ids) * 0.9, "hardly anything was done: the run says nothing")
