"""The rules of the audit about undoing, judged from what the services saw of one order."""

import datetime

import operations

RULES = (
    ("undone", "nothing of an undone order still charged or reserved"),
    ("shipped", "no undone order ever shipped"),
    ("reverse", "undone in reverse order: refunded before the goods were released"),
    ("after", "nothing handed over to be performed once the undo of its order had begun"),
    ("doubt", "every undo that was sure of its perform came after one that was done"),
)
UNDONE = ("undoing", "undone")
SLACK_SECONDS = 0.005  # moments in headers are in whole milliseconds, and no two requests take equally long


def leases(orders):
    """How long an agent holds each step, by step: as long as the request that arrived fastest still had before it."""
    longest = {}
    for seen in orders:
        for (step, direction), arrivals in seen.arrivals.items():
            if direction == "perform":
                left = max(held_until(arrival) - arrival["at_ns"] / 1e9 for arrival in arrivals)
                longest[step] = max(left, longest.get(step, left))
    return longest


def held_until(arrival):
    """Seconds since 1970; 0 when the request does not say it, so that it is blamed."""
    try:
        return datetime.datetime.fromisoformat(arrival["complete_by"]).timestamp()
    except (TypeError, ValueError):
        return 0.0


def judge(number, seen, state, lease, result):
    """`state`: what the client was told of the order's end; None when it was told nothing. `lease`: of leases()."""
    if any(arrivals for (_, direction), arrivals in seen.arrivals.items() if direction == "undo"):
        _judge_requests(number, seen, result)
        _judge_reverse(number, seen, result)
    if state in UNDONE:
        _judge_after(number, seen, lease, result)
        if any(effect["direction"] == "perform" for effect in seen.effects["ship"]):
            result.blame("shipped", f"{number}: {state}, and it was shipped")
    if state == "undone":
        _judge_left(number, seen, result)


def _judge_requests(number, seen, result):
    """What each undo says of its perform."""
    for step in operations.STEPS:
        performed = {arrival["key"] for arrival in seen.arrivals[step, "perform"]}
        for arrival in seen.arrivals[step, "undo"]:
            key, in_doubt = arrival["perform_key"], arrival["in_doubt"]
            if not key or (performed and key not in performed):
                result.blame("key", f"{number}: undo of {step} (request {arrival['request']}) says it is of {key}, not of {sorted(performed)}")
            if in_doubt not in ("true", "false"):
                result.blame("doubt", f"{number}: undo of {step} (request {arrival['request']}) does not say whether it is in doubt")
            elif in_doubt == "false" and not _effects(seen, step, "perform", before=arrival):
                result.blame("doubt", f"{number}: {step} was undone as something done, and it was not done")


def _judge_reverse(number, seen, result):
    """Of each lineage: a step whose failure was known in one may be in doubt in the next, and is undone there after those before it."""
    for index, step in enumerate(operations.STEPS):
        for lineage in sorted({_lineage(arrival) for arrival in seen.arrivals[step, "undo"]}):
            first = next(arrival for arrival in seen.arrivals[step, "undo"] if _lineage(arrival) == lineage)
            for later in operations.STEPS[index + 1:]:
                taken_back = _effects(seen, later, "undo", before=first)
                done = _effects(seen, later, "perform", before=first)
                stands = done and (not taken_back or taken_back[-1]["mono_ns"] < done[-1]["mono_ns"])
                asked = any(_lineage(arrival) <= lineage for arrival in seen.arrivals[later, "undo"])
                if stands or (asked and not taken_back):
                    result.blame("reverse", f"{number}: undo of {step} was asked for before {later} was undone")


def _lineage(arrival):
    """Each restore raises the numbers of attempts by 1,000 at least."""
    attempt = arrival["attempt"] or ""
    return int(attempt) // 1_000 if attempt.isdigit() else 0


def _judge_after(number, seen, lease, result):
    undos = [arrivals[0] for (_, direction), arrivals in seen.arrivals.items() if direction == "undo" and arrivals]
    if not undos:
        return
    first = min(undos, key=lambda arrival: arrival["mono_ns"])
    for step in operations.STEPS:
        for arrival in seen.arrivals[step, "perform"]:
            if arrival["mono_ns"] < first["mono_ns"]:
                continue
            if held_until(arrival) - lease[step] > first["at_ns"] / 1e9 + SLACK_SECONDS:
                result.blame("after", f"{number}: attempt {arrival['attempt']} of {step} was handed over when its undo had begun")
            else:
                result.counts["arrived late"] += 1


def _judge_left(number, seen, result):
    left = [step for step in operations.STEPS if seen.standing[step]]
    for step in left:
        result.blame("undone", f"{number}: undone, and the effect of {step} still stands")
    charged = sum(effect["amount_cents"] * (1 if effect["direction"] == "perform" else -1) for effect in seen.effects["charge"])
    if charged:
        result.blame("undone", f"{number}: undone, and {charged} cents are still charged")
    result.counts["undone with something left"] += bool(left or charged)


def _effects(seen, step, direction, before):
    return [effect for effect in seen.effects[step] if effect["direction"] == direction and effect["mono_ns"] < before["mono_ns"]]
