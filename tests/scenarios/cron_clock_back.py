#!/usr/bin/env python3
"""The clock of a node reads an hour too late for a while and is then set right, with a kill in between: an alert says that jobs stand still,
`fairlead job rewind` lets them go on, and what was launched too early is not launched again when its time comes."""

import json

import faked_clock
import harness
import launches
import place
from harness import expect, fairlead, fairlead_json, wait_until

DAY = "2026-06-01"


def at(*times):
    return [f"{DAY}T{time}:00Z" for time in times]


def between(first, last):
    """Minutes of the hour from 12:00 on, both meant."""
    return at(*(f"{12 + minute // 60:02}:{minute % 60:02}" for minute in range(first, last + 1)))


# By the minute. 12:01 comes on time. Then the clock reads 13:01: the minutes between are skipped, 13:01 is launched, an hour early. Set right, and rewound at
# 12:04: what was skipped up to then stays skipped, what lies ahead is forgotten. 12:05 comes as it should, later 13:00 in place of those before it. 13:01
# had its launch.
LAUNCHED = at("12:01", "12:05", "13:00", "13:01", "13:02")
SKIPPED = between(2, 4) + between(6, 59)


def started(node, book, moment):
    wait_until(lambda: f"tick@{moment}" in book.look().effects, 30, f"the launch of {moment} has its effect, see {node.log}")
    # A launch ends when its agent says so; the clock is not to be set in between.
    wait_until(lambda: (job := launches.jobs(node.address)["tick"])["started"] + job["waiting"] == 0, 30, "its task has ended")


def behind(node, *filters):
    return [alert for alert in fairlead_json("alert", "list", *filters, node=node.address)["alerts"] if alert["kind"] == "clock_behind"]


def in_order(node, book, clock):
    clock.set(f"{DAY}T12:01:00.2Z")
    started(node, book, f"{DAY}T12:01:00Z")
    clock.set(f"{DAY}T13:01:00.2Z")
    started(node, book, f"{DAY}T13:01:00Z")
    expect(not behind(node), "an alert stands though the clock has never gone back")


def set_right(node, book, clock):
    clock.set(f"{DAY}T12:02:30Z")
    alert, = wait_until(lambda: behind(node), 20, "the alert about the clock is raised")
    expect(alert["state"] == "open" and "13:01" in alert["sentence"] and "fairlead job rewind" in alert["remedy"], f"the alert says {alert}")
    node.kill()
    node.start(30)
    again = behind(node, "--all")
    expect([one["number"] for one in again] == [alert["number"]] and again[0]["state"] == "open", f"after a restart these alerts stand: {again}")
    print("ok  a clock that was set back raises one alert, over a restart too", flush=True)


def stands_still(node, book, clock):
    """Times up to the latest one that was launched count as done: the Scheduler looks at the clock, and launches none of them."""
    clock.set(f"{DAY}T12:04:30Z")
    before = launches.jobs(node.address)["tick"]
    expect(before["mark"].startswith(f"{DAY}T13:01"), f"the mark stands at {before['mark']}")
    done = fairlead("job", "run", "other", node=node.address)
    expect(done.returncode == 0, f"a job cannot be run by hand while the clock is behind: {done.stderr}")
    wait_until(lambda: any(one.startswith("other@") for one in book.look().effects), 20, "a launch by hand is carried out while the clock is behind")
    expect(sorted(name for name in book.arrivals if name.startswith("tick@")) == [f"tick@{one}" for one in at("12:01", "13:01")],
           f"launched behind the mark: {sorted(book.arrivals)}")


def rewound(node, book, clock):
    marks = launches.jobs(node.address)["tick"]["mark"]
    would = json.loads(fairlead("job", "rewind", "--dry-run", "--json", node=node.address).stdout)["results"]
    expect([one["job"] for one in would] == ["tick"] and would[0]["times"][0].startswith(f"{DAY}T12:05:00")
           and would[0]["passed_over"] == 1 and "would be set back" in would[0]["sentence"], f"a dry run of a rewind: {would}")
    expect(launches.jobs(node.address)["tick"]["mark"] == marks and behind(node), "a dry run has rewound")
    done = fairlead("job", "rewind", "--json", node=node.address)
    expect(done.returncode == 0 and [one["job"] for one in json.loads(done.stdout)["results"]] == ["tick"], f"job rewind: {done.stdout}{done.stderr}")
    again = fairlead("job", "rewind", node=node.address)
    expect(again.returncode == 0 and "No job is ahead" in again.stdout, f"a second rewind: {again.stdout}{again.stderr}")
    wait_until(lambda: not behind(node), 20, "the alert is resolved")
    node.kill()
    node.start(30)
    clock.set(f"{DAY}T12:05:00.2Z")
    started(node, book, f"{DAY}T12:05:00Z")
    clock.set(f"{DAY}T13:00:00.2Z")
    started(node, book, f"{DAY}T13:00:00Z")
    clock.set(f"{DAY}T13:01:00.2Z")
    wait_until(lambda: launches.jobs(node.address)["tick"]["mark"] >= f"{DAY}T13:01", 20, "13:01 has come for the second time")
    clock.set(f"{DAY}T13:02:00.2Z")
    started(node, book, f"{DAY}T13:02:00Z")
    print("ok  after a rewind it goes on, and launches nothing again", flush=True)


def run():
    with harness.sandbox("cron_clock_back") as box:
        services = harness.services(box)
        clock = faked_clock.clock(box.folder, f"{DAY}T12:00:30Z")
        here = place.place(box, "node", services, clock.prefix)
        node, book = here.node, launches.ledger(services)
        node.start(30)
        (workflow := box.folder / "charge.yaml").write_text(launches.WORKFLOW)
        (jobs := box.folder / "jobs.yaml").write_text("---\n".join(
            f'job: {name}\nschedule: "{schedule}"\nworkflow: charge\ninput: {{ launch: "${{ .launch.id }}" }}\n'
            for name, schedule in (("tick", "* * * * *"), ("other", "0 0 1 1 *"))))
        for words in (("workflow", "deploy", workflow), ("job", "deploy", jobs)):
            done = fairlead(*words, node=node.address)
            expect(done.returncode == 0, f"{words[0]} deploy: {done.stderr}")
        in_order(node, book, clock)
        set_right(node, book, clock)
        stands_still(node, book, clock)
        rewound(node, book, clock)
        records = launches.history(node.address, "tick")
        launches.judge_job("tick", records, LAUNCHED, SKIPPED)
        launches.judge_effects(book, [f"tick@{one}" for one in LAUNCHED] + [record["id"] for record in launches.history(node.address, "other")])
        code, _ = node.end()
        expect(code == 0, f"the node ended with {code}: {node.last_words()}")
        checked = fairlead("store", "check", here.store)
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return 0


if __name__ == "__main__":
    harness.main(run)
