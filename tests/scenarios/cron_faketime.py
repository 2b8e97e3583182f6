#!/usr/bin/env python3
"""Jobs of Europe/Berlin over both changes of the clock, on a real node with a faked clock that is killed with SIGKILL before, at and after the
change, in the middle of recording launches and of carrying them out. Every moment below was found with a calendar and written down by hand: each must
have exactly one launch or one recorded skip, and no other moment any.

    tests/scenarios/cron_faketime.py [gap|overlap] [--seed N]
"""

import argparse
import random
import time

import faked_clock
import harness
import launches
import place
from harness import expect, fairlead, wait_until

POLICIES = ("vixie", "literal", "skip_once")
HERD = 80
STARTS_PER_SECOND = 30  # so that a herd is being recorded and started for longer than one look, also where this process is held up for a second

# name: (schedule, what else is said of it); each but the last two under all three policies.
UNDER_ALL = {
    "minute": "* * * * *",
    "fixed": "30 2 * * *",
    "several": "15,45 1-3 * * *",
    "quarter": "*/15 2-3 * * *",
    "hourly": "30 * * * *",
}
QUEUE, ALL = ("queue", "*/6 * * * *"), ("all", "*/10 * * * *")


def minutes(day, first, last, step=1):
    """Moments of one day from `first` to `last`, both meant: HH:MM."""
    begin, end = (int(text[:2]) * 60 + int(text[3:]) for text in (first, last))
    return [f"{day}T{minute // 60:02}:{minute % 60:02}:00Z" for minute in range(begin, end + 1, step)]


def at(day, *times):
    return [f"{day}T{time}:00Z" for time in times]


def gap():
    """2026-03-29, 01:00Z: 02:00+01:00 becomes 03:00+02:00. Deployed at 00:58:30Z; the clock is set to 00:59, 01:00, 01:07 and 01:31."""
    day = "2026-03-29"
    minute = (at(day, "00:59", "01:00", "01:07", "01:31"), minutes(day, "01:01", "01:06") + minutes(day, "01:08", "01:30"))
    quarter = (at(day, "01:00", "01:30"), at(day, "01:15"))
    return {
        **{f"minute-{policy}": minute for policy in POLICIES},
        **{f"quarter-{policy}": quarter for policy in POLICIES},
        **{f"hourly-{policy}": (at(day, "01:30"), []) for policy in POLICIES},
        "fixed-vixie": (at(day, "01:00"), []),    # 02:30 was swallowed
        "fixed-literal": ([], []),
        "fixed-skip_once": ([], []),
        "several-vixie": (at(day, "01:00", "01:15"), []),  # 02:15 and 02:45 were swallowed: one launch
        "several-literal": (at(day, "01:15"), []),
        "several-skip_once": (at(day, "01:15"), []),
        "queue": (at(day, "01:00", "01:06", "01:12", "01:18", "01:24", "01:30"), []),
        "all": (at(day, "01:00", "01:10", "01:20", "01:30"), []),
    }, at(day, "01:00")


def overlap():
    """2026-10-25, 01:00Z: 03:00+02:00 becomes 02:00+01:00. Deployed the evening before at 23:58:30Z; the clock is set to 00:00, 00:30, 00:59, 01:00,
    01:31 and 02:31."""
    day = "2026-10-25"
    both = (at(day, "00:00", "00:30", "00:59", "01:00", "01:31", "02:31"),
            ["2026-10-24T23:59:00Z"] + minutes(day, "00:01", "00:29") + minutes(day, "00:31", "00:58") + minutes(day, "01:01", "01:30")
            + minutes(day, "01:32", "02:30"))
    once = (at(day, "00:00", "00:30", "00:59", "02:31"),
            ["2026-10-24T23:59:00Z"] + minutes(day, "00:01", "00:29") + minutes(day, "00:31", "00:58") + minutes(day, "02:00", "02:30"))
    quarter_both = (at(day, "00:00", "00:30", "00:45", "01:00", "01:30", "02:30"), at(day, "00:15", "01:15", "01:45", "02:00", "02:15"))
    return {
        "minute-vixie": both, "minute-literal": both, "minute-skip_once": once,
        "fixed-vixie": (at(day, "00:30"), []),
        "fixed-literal": (at(day, "00:30", "01:30"), []),
        "fixed-skip_once": (at(day, "00:30"), []),
        "several-vixie": (at(day, "00:15", "00:45", "02:15"), []),
        "several-literal": (at(day, "00:15", "00:45", "01:15", "02:15"), at(day, "01:45")),
        "several-skip_once": (at(day, "00:15", "00:45", "02:15"), []),
        "quarter-vixie": quarter_both, "quarter-literal": quarter_both,  # wild: whenever the wall clock shows it
        "quarter-skip_once": (at(day, "00:00", "00:30", "00:45", "02:30"), at(day, "00:15", "02:00", "02:15")),
        "hourly-vixie": (at(day, "00:30", "01:30", "02:30"), []),
        "hourly-literal": (at(day, "00:30", "01:30", "02:30"), []),
        "hourly-skip_once": (at(day, "00:30", "02:30"), []),
        "queue": (minutes(day, "00:00", "02:30", 6), []),
        "all": (minutes(day, "00:00", "02:30", 10), []),
    }, at(day, "00:30")


class season:
    """One node, one store, and the clock of the day on which the change comes."""

    def __init__(self, box, name, expected, herd, deployed_at, dice):
        self.name = name
        self.expected = {**expected, **{f"herd/{number:02}": (herd, []) for number in range(HERD)}}
        self.dice_ = dice
        self.kills = []  # where each came, for the report
        services = harness.services(box, work_seconds=(0.05, 0.15))
        self.clock = faked_clock.clock(box.folder, deployed_at)
        self.here = place.place(box, "node", services, self.clock.prefix, cron__starts_per_second=STARTS_PER_SECOND)
        self.node = self.here.node
        self.book = launches.ledger(services)
        self.node.start(30)
        self._deploy(box.folder)

    def _deploy(self, folder):
        (workflow := folder / "charge.yaml").write_text(launches.WORKFLOW)
        done = fairlead("workflow", "deploy", workflow, node=self.node.address)
        expect(done.returncode == 0, f"deploy: {done.stderr}")
        some = [(f"{name}-{policy}", schedule, f"dst: {policy}\noverlap: allow") for name, schedule in UNDER_ALL.items() for policy in POLICIES]
        some += [(*QUEUE, "overlap: queue\ncatch_up: all"), (*ALL, "overlap: allow\ncatch_up: { policy: all, within: 12h }")]
        some += [(f"herd/{number:02}", "30 2 * * *", "") for number in range(HERD)]
        (file := folder / "jobs.yaml").write_text("---\n".join(
            f'job: {name}\nschedule: "{schedule}"\ntime_zone: Europe/Berlin\nworkflow: charge\ninput: {{ launch: "${{ .launch.id }}" }}\n{more}\n'
            for name, schedule, more in some))
        done = fairlead("job", "deploy", file, node=self.node.address)
        expect(done.returncode == 0, f"job deploy: {done.stderr}")
        expect({name for name, *_ in some} == set(self.expected), "a job is judged that is not there, or none is")

    def set(self, moment):
        self.clock.pass_on(moment)

    def kill(self, where):
        """And starts it again: what stands when it answers came out of the store, or was decided after that."""
        self.stop(where)
        self.node.start(30)

    def stop(self, where):
        self.node.kill()
        self.kills.append(where)

    def arrived(self, prefix, least=1):
        """Until the service has heard of so many launches whose names begin so."""
        return wait_until(lambda: (count := self.book.arrived(prefix)) >= least and count, 30,
                          f"{self.name}: {least} launches of {prefix} reach their service; {self.where()}", every=0.003)

    def any_moment(self, seconds):
        """A kill is to come at any point of what goes on."""
        time.sleep(self.dice_.uniform(0, seconds))

    def settle(self):
        """Until nothing is open any more and all that is due has had its effect."""
        now = faked_clock.utc(self.clock.now())
        due = {launches.name_of(job, moment) for job, (launched, _) in self.expected.items() for moment in launched if moment <= now}

        def missing():
            return sorted(due - set(self.book.look().effects))

        def settled():
            return not missing() and not any(job["started"] + job["waiting"] for job in launches.jobs(self.node.address).values())
        end = time.monotonic() + 40
        while not settled():
            expect(time.monotonic() < end, f"{self.name}: by {now} not all is carried out that is due; without an effect are {missing()[:5]}; {self.where()}")
            time.sleep(0.05)

    def where(self):
        return f"see {self.node.log}, killed {len(self.kills)} times"

    def judge(self):
        jobs = launches.jobs(self.node.address)
        wanted = {launches.name_of(job, moment) for job, (launched, _) in self.expected.items() for moment in launched}
        launches.judge_effects(self.book, wanted)
        count = 0
        for job, (launched, skipped) in self.expected.items():
            expect((jobs[job]["launched"], jobs[job]["skipped"]) == (len(launched), len(skipped)),
                   f"{job} counts {jobs[job]['launched']} launches and {jobs[job]['skipped']} skips, and not {len(launched)} and {len(skipped)}")
            if job.startswith("herd/"):  # one launch each, which the list shows
                records = [jobs[job]["latest"]]
                expect(records[0]["id"] == launches.name_of(job, launched[0]), f"{job}: its latest launch is {records[0]}")
                starts = [dict(records[0], task_state=None)]
                expect(starts[0]["state"] == "completed", f"{job}: not completed: {starts[0]}")
            else:
                starts = launches.judge_job(job, launches.history(self.node.address, job), launched, skipped)
            launches.judge_order(self.book, self.clock, job, starts)
            count += len(launched) + len(skipped)
        launches.judge_queue(self.book, "queue")
        code, _ = self.node.end()
        expect(code == 0, f"the node ended with {code}: {self.node.last_words()}")
        checked = fairlead("store", "check", self.here.store)
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
        print(f"ok  {self.name}: {count} times of {len(self.expected)} jobs, {len(wanted)} launches, each once; killed {', '.join(self.kills)}", flush=True)


def kill_in_herd(day, found_within):
    """Somewhere between its time and its first effects, wherever that is, and in the middle of it: some of its launches have had their effect,
    others are not even started."""
    day.any_moment(found_within)
    day.kill("as a herd came")
    if day.book.arrived("herd/") < HERD // 4:
        day.arrived("herd/", HERD // 4)
    seen = day.book.done("herd/")
    day.kill(f"when {seen} of {HERD} of a herd were done")
    expect(seen < HERD, "the herd was through before the kill: the run says nothing")


def play_gap(box, dice):
    day = season(box, "gap", *gap(), "2026-03-29T00:58:30Z", dice)
    day.set("2026-03-29T00:59:00.2Z")
    day.arrived("minute-")
    day.kill("a minute before the change")
    day.settle()
    day.set("2026-03-29T01:00:00.2Z")
    kill_in_herd(day, 1.3)  # that the clock has been set is found out within a second
    day.settle()
    day.stop("after the change, for seven minutes")
    day.set("2026-03-29T01:07:00.2Z")
    day.node.start(30)
    day.arrived("queue@2026-03-29T01:06")
    day.kill("while it caught up")
    day.settle()
    day.set("2026-03-29T01:31:00.2Z")
    day.arrived("queue@2026-03-29T01:18")
    day.kill("in the middle of a queue")
    day.settle()
    day.judge()


def play_overlap(box, dice):
    day = season(box, "overlap", *overlap(), "2026-10-24T23:58:30Z", dice)
    day.set("2026-10-25T00:00:00.2Z")
    day.arrived("minute-")
    day.stop("when the hour began that comes twice")
    day.set("2026-10-25T00:30:00.2Z")
    day.node.launch()
    kill_in_herd(day, 0.8)
    day.settle()
    day.set("2026-10-25T00:59:05Z")
    day.arrived("minute-vixie@2026-10-25T00:59")
    day.kill("just before it came again")
    day.settle()
    day.set("2026-10-25T01:00:00.2Z")
    day.arrived("minute-vixie@2026-10-25T01:00")
    day.kill("when it came again")
    day.settle()
    day.stop("for half of it")
    day.set("2026-10-25T01:31:00.2Z")
    day.node.start(30)
    day.arrived("queue@2026-10-25T01:12")
    day.kill("while it caught up")
    day.settle()
    day.set("2026-10-25T02:31:00.2Z")
    day.arrived("queue@2026-10-25T02:00")
    day.kill("in the middle of a queue")
    day.settle()
    day.judge()


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("season", nargs="?", choices=("gap", "overlap"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    began = time.monotonic()
    for name, play in (("gap", play_gap), ("overlap", play_overlap)):
        if options.season in (None, name):
            with harness.sandbox(f"cron_faketime_{name}") as box:
                play(box, random.Random(f"{options.seed} {name}"))
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    harness.main(run)
