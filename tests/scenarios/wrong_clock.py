#!/usr/bin/env python3
"""Clocks that are wrong, and the real node: a month ahead for ten seconds, which must cost nothing that was acknowledged; and 1970, as a board without a
battery has it before it is told the time, which must not keep the node from starting ever after."""

import time

import faked_clock
import harness
import place
from harness import expect, fairlead, fairlead_json, wait_until

INPUT = '{"items": [{"sku": "NW-11", "quantity": 2}], "amount_cents": 2800, "address": {"city": "Reims"}}'
RIGHT, MONTH_AHEAD, RIGHT_AGAIN = "2026-11-20T12:00:00Z", "2026-12-21T12:00:30Z", "2026-11-20T12:01:00Z"
LOOKS = 12  # seconds within which archiver and couriers look at least once


def submit(one, task, *options):
    done = fairlead("submit", "order", "--id", task, "--input", INPUT, "--wait", *options, node=one.node.address, seconds=60)
    expect(done.returncode == 0, f"submit {task} ended with {done.returncode}: {done.stdout}{done.stderr}; see {one.node.log}")


def started(box, name, services, clock, **settings):
    one = place.place(box, name, services, clock.prefix, **settings)
    one.node.start(30)
    place.deploy(one.node)
    return one


def events(one):
    done = fairlead("replies", "shop", "--keep", "--json", node=one.node.address)
    expect(done.returncode == 0, f"replies ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def archives(one):
    folder = one.store / "archive"
    return sorted(day.name for day in folder.iterdir() if (day / "data.mdb").exists()) if folder.exists() else []


def completed(one, task, archived):
    shown = fairlead_json("task", "show", task, node=one.node.address)
    expect((shown["state"], shown["archived"]) == ("completed", archived), f"{task}: {shown['state']}, archived: {shown['archived']}")


def ended(one):
    code, _ = one.node.end()
    expect(code == 0, f"the node ended with {code}: {one.node.last_words()}")
    checked = fairlead("store", "check", one.store, seconds=60)
    expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")


def a_month_ahead(box, services):
    clock = faked_clock.clock(box.folder, RIGHT)
    usual = started(box, "usual", services, clock)
    hasty = started(box, "hasty", services, clock, retention="{ archive_after: 1s, keep: 30d }")
    for number in range(3):
        submit(usual, f"o{number}", "--reply-client", "shop")
    submit(hasty, "h0")
    wait_until(lambda: archives(hasty), 60, f"the task is archived, see {hasty.node.log}", every=0.2)
    before = events(usual)
    expect(len(before) == 6, f"two status events of each of three tasks: {before}")

    clock.set(MONTH_AHEAD)
    submit(usual, "o3", "--reply-client", "shop")
    submit(hasty, "h1")
    time.sleep(LOOKS)
    clock.set(RIGHT_AGAIN)
    submit(usual, "o4", "--reply-client", "shop")
    time.sleep(LOOKS)

    after = events(usual)
    expect(after[:6] == before and len(after) == 10, f"of {len(before)} status events, and four that came since, these are left: {after}")
    for task in ("o0", "o1", "o2", "o3", "o4"):
        completed(usual, task, False)
    completed(hasty, "h0", True)
    expect(archives(hasty) and not archives(usual), f"archives: {archives(hasty)}, {archives(usual)}")
    told = fairlead_json("alert", "list", "--all", node=usual.node.address)["alerts"]
    expect(not told, f"alerts: {told}")
    for one in (usual, hasty):
        ended(one)
    print("ok  a clock that was a month ahead for some seconds has cost no status event, no record and no archive", flush=True)


def in_1970(box, services):
    clock = faked_clock.clock(box.folder, "1970-01-01T00:10:00Z")
    one = started(box, "board", services, clock, retention="{ archive_after: 1s, keep: 30d }")
    submit(one, "early")
    time.sleep(LOOKS)
    completed(one, "early", False)
    one.node.kill()
    clock.set(RIGHT)
    one.node.start(30)
    wait_until(lambda: archives(one), 60, f"the task is archived, see {one.node.log}", every=0.2)
    expect(archives(one) == ["2026-11-20"], f"archives: {archives(one)}")
    one.node.kill()
    one.node.start(30)
    submit(one, "late")
    time.sleep(LOOKS)
    completed(one, "early", True)
    ended(one)
    print("ok  a node that has completed a task in 1970 starts and serves under the right clock, and keeps the record", flush=True)


def run():
    with harness.sandbox("wrong_clock") as box:
        services = harness.services(box)
        a_month_ahead(box, services)
        in_1970(box, services)
    return 0


if __name__ == "__main__":
    harness.main(run)
