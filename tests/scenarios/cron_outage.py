#!/usr/bin/env python3
"""A node that was away for seven months, from one change of Berlin's clock to the other, and that is killed with SIGKILL while it records what it has
missed: each of some 330,000 times is a launch or a recorded skip, none is both, and what its window still allows is launched once."""

import argparse
import random
import time

import faked_clock
import harness
import launches
import place
from harness import expect, fairlead, wait_until

DEPLOYED, BACK = "2026-03-29T00:58:30Z", "2026-10-25T01:00:00.2Z"
KILLS = 4
READY = " is ready on "

# name: (schedule, what else is said, times outside the window: how many, from, to; superseded: how many, from, to; launched). Counted with a calendar.
JOBS = {
    # 210 days of 1,440 minutes, without the last 59, and with both ends
    "minute": ("* * * * *", "", (302_342, "2026-03-29T00:59:00Z", "2026-10-25T00:00:00Z"), (59, "2026-10-25T00:01:00Z", "2026-10-25T00:59:00Z"),
               ["2026-10-25T01:00:00Z"]),
    # 209 days and 22 hours, with both ends
    "hourly": ("30 * * * *", "dst: skip_once", (5_039, "2026-03-29T01:30:00Z", "2026-10-24T23:30:00Z"), None, ["2026-10-25T00:30:00Z"]),
    # The time that the gap swallowed, then 2 days of March, 30, 31, 30, 31, 31, 30 and 24 of October
    "fixed": ("30 2 * * *", "", (210, "2026-03-29T01:00:00Z", "2026-10-24T00:30:00Z"), None, ["2026-10-25T00:30:00Z"]),
    "literal": ("30 2 * * *", "dst: literal", (209, "2026-03-30T00:30:00Z", "2026-10-24T00:30:00Z"), None, ["2026-10-25T00:30:00Z"]),
    # 209 days and 12 hours in steps of 10 minutes, with both ends; then those of less than twelve hours ago
    "all": ("*/10 * * * *", "catch_up: { policy: all, within: 12h }\noverlap: queue", (30_169, "2026-03-29T01:00:00Z", "2026-10-24T13:00:00Z"), None,
            [f"2026-10-24T{minute // 60:02}:{minute % 60:02}:00Z" for minute in range(13 * 60 + 10, 24 * 60, 10)]
            + [f"2026-10-25T{time_}:00Z" for time_ in ("00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00")]),
}


def deploy(box, node):
    (workflow := box.folder / "charge.yaml").write_text(launches.WORKFLOW)
    (file := box.folder / "jobs.yaml").write_text("---\n".join(
        f'job: {name}\nschedule: "{schedule}"\ntime_zone: Europe/Berlin\nworkflow: charge\ninput: {{ launch: "${{ .launch.id }}" }}\n{more}\n'
        for name, (schedule, more, *_) in JOBS.items()))
    for words in (("workflow", "deploy", workflow), ("job", "deploy", file)):
        done = fairlead(*words, node=node.address)
        expect(done.returncode == 0, f"{words[0]} deploy: {done.stderr}")


def judge(job, records, reason, wanted):
    """Runs of skips that follow one another without a gap, and are so many in all."""
    runs = [(launches.moment_of(one["nominal"]), launches.moment_of(one["last_nominal"]) or launches.moment_of(one["nominal"]), one["count"])
            for one in records if one["state"] == "skipped" and one["skip"] == reason]
    found = (sum(count for *_, count in runs), runs[0][0], runs[-1][1]) if runs else None
    expect(found == wanted, f"{job}: {reason} are {found}, and not {wanted}")
    expect(all(one[1] < other[0] for one, other in zip(runs, runs[1:])), f"{job}: a time was skipped twice: {runs}")
    return len(runs)


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    dice = random.Random(options.seed)
    with harness.sandbox("cron_outage") as box:
        services = harness.services(box)
        clock = faked_clock.clock(box.folder, DEPLOYED)
        here = place.place(box, "node", services, clock.prefix)
        node, book = here.node, launches.ledger(services)
        node.start(30)
        deploy(box, node)
        node.kill()
        clock.set(BACK)
        for number in range(KILLS):
            node.launch()
            if number == KILLS - 1:
                # By then there are records, whatever has become of the kills before.
                wait_until(lambda: book.look().arrivals, 30, f"the first launch reaches its service, see {node.log}", every=0.003)
            else:
                wait_until(lambda: node.log.read_text().count(READY) == number + 2, 30, f"the node is ready, see {node.log}", every=0.003)
                time.sleep(dice.uniform(0, 0.3))
            node.kill()
        last_start = clock.now()
        node.start(30)
        wanted = {launches.name_of(job, moment) for job, (*_, launched) in JOBS.items() for moment in launched}
        wait_until(lambda: wanted <= set(book.look().effects), 40, f"all {len(wanted)} launches have their effect, see {node.log}", every=0.05)
        wait_until(lambda: not any(job["started"] + job["waiting"] for job in launches.jobs(node.address).values()), 30, "their tasks have ended", every=0.05)
        launches.judge_effects(book, wanted)
        counts, before = launches.jobs(node.address), []
        for job, (_, _, outside, superseded, launched) in JOBS.items():
            records = launches.history(node.address, job)
            before += [record for record in records if faked_clock.unix(record["recorded_at"]) < last_start]
            runs = judge(job, records, "outside_window", outside) + judge(job, records, "superseded", superseded)
            starts = [record for record in records if record["state"] != "skipped"]
            expect(runs == sum(1 for record in records if record["skip"] in ("outside_window", "superseded")) == len(records) - len(starts),
                   f"{job}: a skip has another reason: {launches.in_short(records)}")
            launches.judge_job(job, starts, launched, [])
            launches.judge_order(book, clock, job, starts)
            if "overlap: queue" in JOBS[job][1]:
                launches.judge_queue(book, job)
            skips = outside[0] + (superseded[0] if superseded else 0)
            expect((counts[job]["launched"], counts[job]["skipped"]) == (len(launched), skips),
                   f"{job} counts {counts[job]['launched']} launches and {counts[job]['skipped']} skips, and not {len(launched)} and {skips}")
        expect(before, "nothing was recorded before the last kill: the run says nothing")
        code, _ = node.end()
        expect(code == 0, f"the node ended with {code}: {node.last_words()}")
        checked = fairlead("store", "check", here.store)
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
        print(f"ok  {sum(outside[0] for _, _, outside, *_ in JOBS.values())} times skipped, {len(wanted)} launched; {KILLS} kills, {len(before)} records "
              f"were there before the last", flush=True)
    return 0


if __name__ == "__main__":
    harness.main(run)
