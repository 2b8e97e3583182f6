#!/usr/bin/env python3
"""A crontab becomes jobs on a real node: what cannot be kept is refused by line, the commands run as cron would have run them, at their time and by
hand, with what they print in their tasks, and one that a kill has interrupted is not run again by itself."""

import json
import os
import pwd

import exec_node_death
import faked_clock
import harness
import launches
import place
from harness import expect, fairlead, fairlead_json, wait_until

HOME = pwd.getpwuid(os.geteuid()).pw_dir

# Every line is numbered, for the refusals.
CRONTAB = r"""# m h dom mon dow command
SHELL=/bin/bash
GREETING="hello  there"
MAILTO=ops@example.org
CRON_TZ=Europe/Berlin

# Greets whoever reads this.
30 2 * * *	echo "$GREETING from ${0##*/} in $PWD, $TZ"
0 4 * * 1-5	cat%first line%second, 100\%
61 * * * * /bin/true
@reboot /bin/true
5 4 * * *
*/5 1-3 * * sol /bin/true
0 5 1 1 * echo $$ >> "$PLACE/pids"; exec sleep 1000
"""
REFUSED = {10: "61", 11: "@reboot", 12: "no command", 13: "sol"}
ADDED_BY_HAND = "PLACE={place}\n"  # above the last line

BY_USER = "0 1 * * *\tnobody\tid -un\n0 2 * * * nobody\n"


def imported(here, path, *options):
    return fairlead("job", "import", path, *options, node=here.node.address)


def refused(here, path):
    done = imported(here, path)
    expect(done.returncode == 2, f"a crontab with lines that cannot be kept ended with {done.returncode}: {done.stderr}")
    lines = [line for line in done.stderr.splitlines() if line.startswith(f"{path}:")]
    for number, word in REFUSED.items():
        expect(any(line.startswith(f"{path}:{number}:") and word in line for line in lines), f"line {number} is not refused for its {word}: {done.stderr}")
    expect(len(lines) == len(REFUSED), f"more lines are refused than should be: {done.stderr}")
    expect(not launches.jobs(here.node.address), "jobs were made though lines were refused")
    print(f"ok  {len(lines)} lines are refused by number, and nothing is imported", flush=True)


def taken(here, path):
    """The others, once somebody has said so; and the node is told who is to run them."""
    done = imported(here, path, "--skip-refused", "--json")
    expect(done.returncode == 0, f"import --skip-refused ended with {done.returncode}: {done.stdout}{done.stderr}")
    answer = json.loads(done.stdout)
    agents = answer["missing_agents_yaml"]
    expect(sorted(one["line"] for one in answer["refused"]) == sorted(REFUSED), f"left out: {answer['refused']}")
    expect(agents.startswith("agents:\n  crontab:\n"), f"the agent that is missing: {agents!r}")
    code, _ = here.node.end()
    expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    text = here.config.read_text()
    here.config.write_text(text.replace("\nagents:\n", "\n" + agents))
    here.node.start(30)
    again = json.loads(imported(here, path, "--skip-refused", "--json").stdout)
    expect(again["missing_agents_yaml"] == "" and [one["created"] for one in again["deployed"]] == [False], f"a second import says {again}")
    jobs = launches.jobs(here.node.address)
    found = {job["schedule"]: name for name, job in jobs.items()}
    expect(sorted(found) == ["0 4 * * 1-5", "0 5 1 1 *", "30 2 * * *"] and {job["time_zone"] for job in jobs.values()} == {"Europe/Berlin"},
           f"the jobs are {jobs}")
    notes = fairlead_json("job", "show", found["30 2 * * *"], node=here.node.address)["notes"]
    expect(f"{path}:8:" in notes and "Greets whoever reads this" in notes, f"the notes of line 8: {notes}")
    return found


def printed(here, launch):
    """What the command of a launch has printed, once it has ended."""
    def ended():
        done = fairlead("task", "show", launch, "--json", node=here.node.address)
        task = json.loads(done.stdout) if done.returncode == 0 else {"state": ""}
        return task if task["state"] == "completed" else None
    task = wait_until(ended, 30, f"{launch} is completed, see {here.node.log}", every=0.05)
    return task["steps"][0]["output"]


def run_by_hand(here, job):
    done = fairlead("job", "run", job, "--json", node=here.node.address)
    expect(done.returncode == 0, f"job run ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["results"][0]["launch"]


def carried_out(here, jobs, clock):
    greeting = f"hello  there from bash in {HOME}, UTC"
    said = printed(here, run_by_hand(here, jobs["30 2 * * *"]))
    expect(said == greeting, f"the greeting is {said!r}")
    said = printed(here, run_by_hand(here, jobs["0 4 * * 1-5"]))
    expect(said == "first line\nsecond, 100%", f"what stands behind % became {said!r}")
    clock.set("2026-03-30T00:30:00.2Z")  # 02:30 in Berlin
    said = printed(here, f"{jobs['30 2 * * *']}@2026-03-30T00:30:00Z")
    expect(said == greeting, f"at its time the greeting is {said!r}")
    print("ok  commands run as cron would have run them, by hand and at their time", flush=True)


def interrupted(here, job, pids):
    launch = run_by_hand(here, job)
    wait_until(lambda: pids.exists() and pids.read_text().endswith("\n"), 30, "the command runs")
    here.node.kill()
    here.node.start(30)
    task = wait_until(lambda: (task := fairlead_json("task", "show", launch, node=here.node.address))["parked"] and task, 30, "the task is parked", every=0.05)
    started, = pids.read_text().split()
    wait_until(lambda: not exec_node_death.lives(started), 10, "the command has ended with its node")
    expect(task["steps"][0]["attempt"] == 1, f"the step that was interrupted: {task['steps'][0]}")
    print("ok  a command that a kill has interrupted waits for a person", flush=True)


def for_users(here, path):
    path.write_text(BY_USER)
    done = imported(here, path, "--user-column", "--print")
    expect(done.returncode == 2 and f"{path}:2:" in done.stderr and "command" in done.stderr, f"a user without a command: {done.returncode} {done.stderr}")
    path.write_text(BY_USER.splitlines()[0] + "\n")
    done = imported(here, path, "--user-column", "--print", "--json")
    expect(done.returncode == 0, f"import --user-column --print: {done.stderr}")
    answer = json.loads(done.stdout)
    expect('user: "nobody"' in answer["agents_yaml"] and "crontab-nobody:" in answer["agents_yaml"] and "id -un" in answer["jobs"][0]["yaml"],
           f"--user-column gives {answer}")
    expect(all("nobody" not in name for name in launches.jobs(here.node.address)), "--print has made jobs")
    print("ok  with a column for users each user has an agent", flush=True)


def run():
    with harness.sandbox("cron_import") as box:
        clock = faked_clock.clock(box.folder, "2026-03-30T00:28:30Z")
        here = place.place(box, "node", None, clock.prefix)
        here.node.start(30)
        tab = box.folder / "tab"
        tab.write_text(CRONTAB)
        refused(here, tab)
        lines = CRONTAB.splitlines(keepends=True)
        tab.write_text("".join(lines[:-1]) + ADDED_BY_HAND.format(place=box.folder) + lines[-1])
        jobs = taken(here, tab)
        carried_out(here, jobs, clock)
        interrupted(here, jobs["0 5 1 1 *"], box.folder / "pids")
        for_users(here, box.folder / "system")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
        checked = fairlead("store", "check", here.store)
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return 0


if __name__ == "__main__":
    harness.main(run)
