#!/usr/bin/env python3
"""Judges a run from what Fairlead did not write: the services' own records and the client's own history.

The history is JSON lines: {"event": "submitted", "id", "input"} before a submission is sent, {"event": "acknowledged", "id"} once it
was taken, {"event": "final", "id", "state", "parked"} when everything has ended. Orders are tasks of the order workflow: the id of the
task is the order that the services see.

    audit.py --history history.jsonl inventory.jsonl payment.jsonl shipping.jsonl
"""

import argparse
import collections
import dataclasses
import json
import sys

import audit_undo
import journal
import operations

RULES = (
    ("lost", "every acknowledged order completed, undone or parked"),
    ("twice", "nothing reserved, charged or shipped twice in effect"),
    ("incomplete", "no order completed with a step missing"),
    ("order", "every step asked for only after the step before it was done"),
    ("key", "exactly one key per (task, step, direction, generation)"),
    ("amount", "every order charged its own amount, with its own items and address"),
    ("attempt", "attempts never fall"),
    ("lease", "no request sent after the moment until which the agent held the step"),
    *audit_undo.RULES,
    ("stray", "no request for an order that nobody submitted"),
)
ENDED = ("completed", "undone")
LEASE_SLACK_SECONDS = 1.0  # between the agent's last look at its clock and the service's reading of the request


AGENTS_A_NODE = 3  # at most; each has one thread that writes requests


class _awakenings:
    """Moments at which a node that was frozen went on. Whoever is frozen between the last look at the clock and the write sends that one request
    on waking up, and no program can prevent it: at most one for each agent of the node."""

    def __init__(self, moments):
        self.left_ = {moment: AGENTS_A_NODE for moment in moments}

    def excuse(self, arrived):
        for moment, left in self.left_.items():
            if left and moment <= arrived <= moment + LEASE_SLACK_SECONDS:
                self.left_[moment] -= 1
                return True
        return False


@dataclasses.dataclass
class verdict:
    violations: dict = dataclasses.field(default_factory=lambda: {rule: [] for rule, _ in RULES})
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def held(self):
        return not any(self.violations.values())

    def blame(self, rule, sentence):
        self.violations[rule].append(sentence)


class _order:
    """All that the services saw of one order, in the order in which it happened."""

    def __init__(self):
        self.arrivals = collections.defaultdict(list)  # (step, direction) -> arrival records
        self.effects = collections.defaultdict(list)   # step -> effect_end records, performs and undos
        self.standing = collections.Counter()          # step -> performs that no undo has taken back


def judge(records, history, woken=(), clocks_off=0):
    """`records`: of all services, any order between services, each service's own in its order. `history`: the client's events. `woken`: when a
    frozen node of agents went on, in seconds since 1970. `clocks_off`: by at most so many seconds the clocks of nodes differed from this one."""
    result = verdict()
    awakenings = _awakenings(woken)
    submitted, acknowledged, final = {}, set(), {}
    for event in history:
        if event["event"] == "submitted":
            submitted[event["id"]] = event.get("input")
        elif event["event"] == "acknowledged":
            acknowledged.add(event["id"])
        elif event["event"] == "final":
            final[event["id"]] = event
    orders = _gather(sorted(records, key=lambda record: record["mono_ns"]), result)

    for number in sorted(orders.keys() - submitted.keys()):
        result.blame("stray", f"{number}: the services saw it, the client never submitted it")
    lease = audit_undo.leases(orders.values())
    for number in sorted(acknowledged):
        _judge_end(number, final.get(number), result)
    for number, seen in orders.items():
        _judge_attempts(number, seen, awakenings, clocks_off, result)
        _judge_effects(number, seen, result)
        _judge_sequence(number, seen, result)
        _judge_content(number, seen, submitted.get(number), result)
        audit_undo.judge(number, seen, final.get(number, {}).get("state"), lease, result)
    for number in submitted:
        _judge_against_state(number, orders.get(number) or _order(), final.get(number, {}), result)
    result.counts["submitted"] = len(submitted)
    result.counts["acknowledged"] = len(acknowledged)
    return result


def _gather(records, result):
    orders = collections.defaultdict(_order)
    refused = set()
    used = collections.defaultdict(set)  # key -> what it was used for
    for record in records:
        kind = record["record"]
        if kind == "arrival":
            result.counts["requests"] += 1
            what = operations.by_service_and_path(record["service"], record["path"])
            number = _number_of(record)
            if what is None or number is None:
                result.blame("stray", f"{record['service']} {record['path']}: request {record['request']} asks for nothing it knows")
                continue
            orders[number].arrivals[what.step, what.direction].append(record)
            if record["key"]:
                used[record["key"]].add((number, what.step, what.direction))
        elif kind == "effect_end":
            result.counts["effects"] += 1
            orders[record["order"]].effects[record["step"]].append(record)
        elif kind == "answer":
            result.counts[f"answered {record['status']}" if "status" in record else f"dropped {record['dropped']}"] += 1
            result.counts["replays"] += bool(record.get("replay"))
            result.counts["performs after their undo"] += bool(record.get("late"))
            if "refused" in record:
                refused.add(record["order"])
            elif record.get("status") == 422:
                result.blame("key", f"{record['service']}: request {record['request']} brought a known key with another content")
        elif kind == "gone":
            result.counts["given up by the caller"] += 1
    for key, uses in sorted(used.items()):
        if len(uses) > 1:
            result.blame("key", f"key {key} was used for {len(uses)} different steps: {sorted(uses)}")
    result.counts["refused for good"] = len(refused)
    return orders


def _number_of(arrival):
    try:
        return str(json.loads(arrival["body"])["order"])
    except (KeyError, ValueError, TypeError):
        return None


def _judge_end(number, end, result):
    if end is None:
        result.blame("lost", f"{number}: acknowledged, and nobody knows it any more")
    elif end["parked"]:
        result.counts["parked"] += 1
    elif end["state"] in ENDED:
        result.counts[end["state"]] += 1
    else:
        result.blame("lost", f"{number}: acknowledged, and it is still {end['state']}")


def _judge_attempts(number, seen, awakenings, clocks_off, result):
    for (step, direction), arrivals in seen.arrivals.items():
        highest = 0
        for arrival in arrivals:
            attempt = arrival["attempt"] or ""
            arrived = arrival["at_ns"] / 1e9
            late = audit_undo.held_until(arrival) + LEASE_SLACK_SECONDS + clocks_off < arrived
            if late and awakenings.excuse(arrived):
                result.counts["sent on waking up"] += 1
                continue
            if not attempt.isdigit() or int(attempt) < 1:
                result.blame("attempt", f"{number} {step} {direction}: request {arrival['request']} says no attempt")
            elif int(attempt) < highest:
                result.blame("attempt", f"{number} {step} {direction}: attempt {attempt} came after attempt {highest}")
            else:
                highest = int(attempt)
            if late:
                result.blame("lease", f"{number} {step} {direction}: attempt {attempt} arrived after {arrival['complete_by']}")
        # A new generation begins only after an undo took effect, so that is what allows another key; and what is undone again must have
        # been performed again.
        undone = {effect["key"] for effect in seen.effects[step] if effect["direction"] == "undo"}
        performed = {arrival["key"] for arrival in seen.arrivals.get((step, "perform"), ())}
        keys = {arrival["key"] for arrival in arrivals}
        if None in keys or "" in keys:
            result.blame("key", f"{number} {step} {direction}: a request came without Idempotency-Key")
        elif len(keys) > (1 + len(undone) if direction == "perform" else max(1, len(performed))):
            result.blame("key", f"{number} {step} {direction}: {len(keys)} keys: {', '.join(sorted(keys))}")
        result.counts["keys"] += len(keys)


def _judge_effects(number, seen, result):
    for step, effects in seen.effects.items():
        for effect in effects:
            if effect["direction"] == "undo":
                seen.standing[step] = 0
                continue
            if seen.standing[step]:
                result.blame("twice", f"{number}: {effect['operation']} took effect again (key {effect['key']})")
            seen.standing[step] += 1


def _judge_sequence(number, seen, result):
    for before, step in zip(operations.STEPS, operations.STEPS[1:]):
        arrivals = seen.arrivals[step, "perform"]
        performed = [effect["mono_ns"] for effect in seen.effects[before] if effect["direction"] == "perform"]
        if arrivals and (not performed or performed[0] >= arrivals[0]["mono_ns"]):
            result.blame("order", f"{number}: {step} was asked for before {before} was done")


def _judge_content(number, seen, wanted, result):
    if not isinstance(wanted, dict):
        return
    for step, field in (("reserve", "items"), ("charge", "amount_cents"), ("ship", "address")):
        for arrival in seen.arrivals[step, "perform"]:
            got = json.loads(arrival["body"]).get(field)
            if field in wanted and got != wanted[field]:
                result.blame("amount", f"{number}: {step} got {field} {_short(got)} instead of {_short(wanted[field])}")
                break
    for effect in seen.effects["charge"]:
        if effect["direction"] == "perform" and effect["amount_cents"] != wanted.get("amount_cents"):
            result.blame("amount", f"{number}: charged {effect['amount_cents']} instead of {wanted.get('amount_cents')}")


def _judge_against_state(number, seen, end, result):
    if end.get("state") == "completed":
        for step in operations.STEPS:
            if not seen.standing[step]:
                result.blame("incomplete", f"{number}: completed, and {step} has no effect")


def _short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def table(result, examples=3):
    """The verdict for people, one line a rule, with the first examples of what broke it."""
    counts = result.counts
    lines = [f"Audit by the services' records: {counts['requests']} requests, {counts['effects']} effects, {counts['keys']} keys, "
             f"{counts['replays']} repeated answers, {counts['answered 503']} times 503, "
             f"{counts['dropped before_work'] + counts['dropped after_work']} connections dropped, "
             f"{counts['given up by the caller']} given up by the caller",
             f"  {counts['refused for good']} orders refused for good by a service, {counts['undone']} undone, "
             f"{counts['performs after their undo']} performs answered after their undo and without effect; undone orders still charged or "
             f"reserved: {counts['undone with something left'] or 'none'}"]
    if counts["sent on waking up"]:
        lines.append(f"  {counts['sent on waking up']} requests sent by frozen agents as they woke up, after their leases")
    for rule, sentence in RULES:
        broken = result.violations[rule]
        lines.append(f"  {'held  ' if not broken else 'BROKEN'}  {sentence}" + (f": {len(broken)} times" if broken else ""))
        lines.extend(f"            {example}" for example in broken[:examples])
        if len(broken) > examples:
            lines.append(f"            and {len(broken) - examples} more")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", required=True, help="the client's own history")
    parser.add_argument("records", nargs="+", help="the services' record files")
    options = parser.parse_args()
    records = [record for path in options.records for record in journal.read(path)]
    result = judge(records, journal.read(options.history))
    print(table(result))
    return 0 if result.held() else 1


if __name__ == "__main__":
    sys.exit(main())
