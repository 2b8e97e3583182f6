"""What became of a job's times, as the service that was called and `fairlead job history` have it, against what a scenario wrote down before.

Each nominal time must be exactly one launch or one recorded skip. A launch has had one effect, under one key, after its record."""

import collections
import json

import journal
from faked_clock import unix, utc
from harness import expect, fairlead_json

WORKFLOW = """workflow: charge
on_failure: park
steps:
  charge: { agent: payment, call: charge, with: { order: "${ .input.launch }", amount_cents: 1 }, timeout: 10s, attempts: 50, undo: none }
"""
PAGE = 1000


class ledger:
    """The payment service's own record: what has arrived there, and what had an effect."""

    def __init__(self, services):
        self.follower_ = journal.follower(services.paths["payment"])
        self.arrivals = {}                              # order -> real time of the first arrival
        self.effects = collections.defaultdict(list)    # order -> keys
        self.ended = {}                                 # order -> real time of the first effect
        self.keys = collections.defaultdict(set)        # order -> keys that it was asked for under

    def look(self):
        for record in self.follower_.fresh():
            if record["record"] == "arrival":
                order = json.loads(record["body"])["order"]
                self.arrivals.setdefault(order, record["at_ns"])
                self.keys[order].add(record["key"])
            elif record["record"] == "effect_end":
                self.effects[record["order"]].append(record["key"])
                self.ended.setdefault(record["order"], record["at_ns"])
        return self

    def arrived(self, prefix):
        return sum(1 for order in self.look().arrivals if order.startswith(prefix))

    def done(self, prefix):
        return sum(1 for order in self.look().effects if order.startswith(prefix))


def name_of(job, moment):
    return f"{job}@{moment}"


def jobs(address):
    return {job["job"]: job for job in fairlead_json("job", "list", "--limit", str(PAGE), node=address)["jobs"]}


def history(address, job):
    """Oldest first."""
    found = fairlead_json("job", "history", job, "--limit", str(PAGE), node=address)
    expect(found["before"] is None, f"{job} has more than {PAGE} launches and skips")
    return found["launches"][::-1]


def moment_of(text):
    """`fairlead` writes milliseconds; nominal times have none."""
    return utc(unix(text)) if text else None


def judge_job(job, records, launched, skipped, reason="superseded"):
    """`launched`, `skipped`: moments, written down by hand. Gives the records of the launches."""
    expect(not set(launched) & set(skipped), f"{job}: the scenario expects a time to be both")
    left = collections.Counter(skipped)
    starts = collections.Counter()
    for record in records:
        nominal, last = moment_of(record["nominal"]), moment_of(record["last_nominal"])
        if record["state"] != "skipped":
            expect(record["state"] == "completed" and record["task_state"] in ("completed", None), f"{job}: not every launch was completed: {record}")
            starts[nominal] += 1
            continue
        expect(record["skip"] == reason and record["reason"], f"{job}: skipped for another reason than {reason}: {record}")
        these = [nominal] if last is None else [one for one in left if nominal <= one <= last]
        expect(len(these) == record["count"], f"{job}: {record['count']} times are said to be skipped from {nominal} to {last}, and not {len(these)}")
        left.subtract(these)
    missing, surplus = (sorted(difference.elements()) for difference in (collections.Counter(launched) - starts, starts - collections.Counter(launched)))
    expect(not missing, f"{job} was not launched at {', '.join(missing)}; history: {in_short(records)}")
    expect(not surplus, f"{job} was launched at {', '.join(surplus)} too; history: {in_short(records)}")
    wrong = sorted(one for one, count in left.items() if count != 0)
    expect(not wrong, f"{job}: no skip, or more than one, at {', '.join(wrong)}; history: {in_short(records)}")
    return [record for record in records if record["state"] != "skipped"]


def in_short(records):
    return " ".join(f"{moment_of(one['nominal'])}{'' if one['last_nominal'] is None else '..' + moment_of(one['last_nominal'])}={one['skip'] or one['state']}"
                    for one in records)


def judge_effects(book, wanted):
    """`wanted`: the names of all launches there are to be."""
    book.look()
    missing, surplus = sorted(set(wanted) - set(book.effects)), sorted(set(book.arrivals) - set(wanted))
    expect(not missing, f"{len(missing)} launches had no effect, the first: {missing[:3]}")
    expect(not surplus, f"the service was asked for {len(surplus)} launches that there should not be, the first: {surplus[:3]}")
    for order in wanted:
        expect(len(book.effects[order]) == 1 and len(book.keys[order]) == 1,
               f"{order} had {len(book.effects[order])} effects, and was asked for under these keys: {sorted(book.keys[order])}")


def judge_order(book, clock, job, records):
    """The record of a launch, and of its start, comes before the first its service hears of it. One that a kill had taken with it would have
    been made anew, later than that."""
    for record in records:
        arrival = clock.of(book.arrivals[record["id"]])
        for when in ("recorded_at", "started_at"):
            expect(record[when] is not None and unix(record[when]) <= arrival + 0.001,
                   f"{job}: {record['id']} reached its service at {utc(arrival)}, before its {when}: {record}")


def judge_queue(book, job):
    """One after the other, by their times: none is handed over before the one before has had its effect."""
    order = sorted(name for name in book.arrivals if name.startswith(f"{job}@"))
    for one, other in zip(order, order[1:]):
        expect(book.ended[one] <= book.arrivals[other], f"{other} did not wait for {one}")
