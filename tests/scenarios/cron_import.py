#!/usr/bin/env python3
"""A crontab becomes jobs on a real node: what cannot be kept is refused by line, the commands run as cron would have run them, at their time and by
hand, with what they print in their tasks, and one that a kill has interrupted is not run again by itself. Of an edited crontab the jobs of lines that
are gone are deleted when somebody says so, and none that may be needed."""

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
REFUSED = {10: "61", 11: "@reboot", 12: "command is missing", 13: "sol"}
ADDED_BY_HAND = "PLACE={place}\n"  # above the last line

BESIDE = ("crontab-by-hand", "report")  # begin nearly as imported jobs do, or not at all so
# Of control characters each takes six bytes of a job's input: more than a node takes, of a line that cron would run.
TOO_LARGE = "0 6 * * * echo " + "\x01" * 45_000 + "\n"
MANY = 1_100  # more than a page of a list

BY_USER = "0 1 * * *\tnobody\tid -un\n0 2 * * * nobody\n"


def imported(here, path, *options, stdin=None):
    return fairlead("job", "import", path, *options, node=here.node.address, stdin=stdin)


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


def ended(here, launch, state):
    """The task of a launch, once it has ended like this."""
    def task():
        done = fairlead("task", "show", launch, "--json", node=here.node.address)
        task = json.loads(done.stdout) if done.returncode == 0 else {"state": ""}
        return task if task["state"] == state else None
    return wait_until(task, 30, f"{launch} is {state}, see {here.node.log}", every=0.05)


def printed(here, launch, state="completed"):
    """What the command of a launch has printed, once it has ended."""
    ended(here, launch, state)
    log, = fairlead_json("job", "logs", launch.split("@")[0], launch, node=here.node.address)["logs"]
    expect(log["step"] == "run" and log["attempt"] == 1 and not log["cut"], f"the log of {launch}: {log}")
    return log["log"].rstrip("\n")


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
    task = ended(here, launch, "failed")
    started, = pids.read_text().split()
    wait_until(lambda: not exec_node_death.lives(started), 10, "the command has ended with its node")
    expect(task["steps"][0]["attempt"] == 1, f"the step that was interrupted: {task['steps'][0]}")
    expect(task["parked"] is False and "in_doubt: fail" in task["reason"], f"how it has failed: {task['reason']!r}")
    none = fairlead("task", "logs", launch, node=here.node.address)
    expect(none.returncode == 3 and "printed is kept" in none.stderr, f"a log that nobody has: {none.stdout}{none.stderr}")
    print("ok  a command that a kill has interrupted is not run twice, and its launch has failed", flush=True)


def failing(here):
    """Three failures in a row of a command raise an alert, and what it printed last is at hand."""
    done = fairlead("job", "add", "failing", "--schedule", "0 0 1 1 *", "--workflow", "crontab", "--alert-after", "3", "--input",
                    json.dumps({"script": "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo the disk is gone >&2; exit 3"}),
                    node=here.node.address)
    expect(done.returncode == 0, f"job add ended with {done.returncode}: {done.stderr}")
    for _ in range(3):
        launch = run_by_hand(here, "failing")
        task = ended(here, launch, "failed")
    expect("the disk is gone" in task["reason"], f"why it has failed: {task['reason']!r}")
    log, = fairlead_json("task", "logs", launch, node=here.node.address)["logs"]
    expect(log["cut"] and log["log"].endswith("\nline 19999\nthe disk is gone\n") and 60_000 < len(log["log"]) <= 65_536,
           f"the end of what it printed: {len(log['log'])} bytes, {log['log'][-100:]!r}")
    text = fairlead("job", "logs", "failing", node=here.node.address).stdout
    expect(text.startswith(f"==> {launch} run attempt 1 (only the end is kept) <==\n") and text.endswith("the disk is gone\n"),
           f"the log of the latest launch: {text[:100]!r}")
    alert, = [one for one in fairlead_json("alert", "list", node=here.node.address)["alerts"] if one["job"] == "failing"]
    expect(alert["kind"] == "job_failing" and "3" in alert["sentence"], f"the alert: {alert}")
    done = fairlead("job", "delete", "failing", "--yes", node=here.node.address)
    expect(done.returncode == 0, f"job delete ended with {done.returncode}: {done.stderr}")
    print("ok  a command that fails has failed, three times raise an alert, and the end of what it printed is kept", flush=True)


def prune_refused(here, path):
    """Whatever could delete what nobody meant."""
    before = set(launches.jobs(here.node.address))
    nothing = path.with_name("nothing")
    nothing.write_text("# m h dom mon dow command\nMAILTO=ops@example.org\n")
    for file, options, words in (
            (path, ("--prune",), [f"{path}:{line}:" for line in REFUSED]),
            (path, ("--prune", "--skip-refused"), [*(f"{path}:{line}:" for line in REFUSED), "--prune", "fairlead job delete"]),
            (path, ("--prune", "--skip-refused", "--json"), [*(f"{path}:{line}:" for line in REFUSED), "--prune"]),
            (path, ("--prune", "--skip-refused", "--print"), ["--prune", "--print"]),
            (path, ("--prune", "--skip-refused", "--prefix", ""), ["--prefix"]),
            (nothing, ("--prune",), ["no entries", "crontab/", "fairlead job delete"]),
            (nothing, ("--prune", "--json"), ["no entries"]),
            ("-", ("--prune",), ["standard input", "no entries"])):
        done = imported(here, file, *options, stdin="" if file == "-" else None)
        expect(done.returncode == 2 and all(word in done.stderr for word in words) and not done.stdout,
               f"import {file} {' '.join(options)} ended with {done.returncode}, and not with words about {words}: {done.stdout}{done.stderr}")
        expect(set(launches.jobs(here.node.address)) == before, f"import {file} {' '.join(options)} was refused and has changed the jobs")


def pruned(here, path, found):
    """The same crontab once it can be kept as a whole, with its first line edited."""
    address = here.node.address
    for name in BESIDE:
        done = fairlead("job", "add", name, "--schedule", "0 0 1 1 *", "--workflow", "crontab", "--input", '{"script": "true"}', node=address)
        expect(done.returncode == 0, f"job add ended with {done.returncode}: {done.stderr}")
    prune_refused(here, path)
    old, kept = found["30 2 * * *"], {found["0 4 * * 1-5"], found["0 5 1 1 *"]}
    known = launches.history(address, found["0 4 * * 1-5"])
    expect(len(known) >= 1, "nothing is known of a job that was run by hand")
    edited = "".join(line for number, line in enumerate(path.read_text().splitlines(keepends=True), 1) if number not in REFUSED)
    edited = edited.replace("30 2 * * *", "45 2 * * *")

    path.write_text(edited + TOO_LARGE)
    done = imported(here, path, "--prune", "--json")
    answer = json.loads(done.stdout)
    codes = [one["code"] for one in answer["applied"]["jobs"]]
    expect(done.returncode != 0 and codes.count("ok") == len(codes) - 1 == 3, f"a job that is too large ended with {done.returncode} and {codes}")
    expect("Nothing is deleted" in done.stderr and answer["deleted"] == [] and answer["others"] == [old],
           f"a job was refused, and of those that are gone it says {answer['deleted']}, {answer['others']}: {done.stderr}")
    done = imported(here, path, "--prune")
    expect(done.returncode != 0 and "Nothing is deleted" in done.stderr and "is deleted" not in done.stdout, f"a job was refused: {done.stdout}{done.stderr}")
    expect(old in launches.jobs(address), "a job was refused, and another one was deleted")

    path.write_text(edited)
    done = imported(here, path)
    expect(done.returncode == 0 and f"fairlead job delete {old}\n" in done.stderr and "--prune" in done.stderr, f"who does not ask is not told: {done.stderr}")
    expect(old in launches.jobs(address), "nobody has asked for a job to be deleted")
    done = imported(here, path, "--prune", "--by", "ana")
    expect(done.returncode == 0 and [line for line in done.stdout.splitlines() if "delete" in line] == [f"Job {old} is deleted."],
           f"import --prune ended with {done.returncode}: {done.stdout}{done.stderr}")
    expect("fairlead job delete" not in done.stderr, f"what has been deleted is named as what stays: {done.stderr}")
    jobs = launches.jobs(address)
    new = next(name for name, job in jobs.items() if job["schedule"] == "45 2 * * *")
    expect(set(jobs) == {new, *kept, *BESIDE}, f"after import --prune the jobs are {sorted(jobs)}")
    expect(fairlead("job", "show", old, node=address).returncode == 3, f"{old} is shown though it is deleted")
    expect(f"job {old} was deleted by ana: no longer in {path}" in here.node.log.read_text(), "the node's log does not say who deleted the job, and why")
    expect(launches.history(address, found["0 4 * * 1-5"]) == known, "a job of a line that is as it was has another history")
    launch = run_by_hand(here, new)
    printed(here, launch)
    expect([one["id"] for one in launches.history(address, new) if one["state"] != "skipped"] == [launch], f"the history of {new}")

    done = imported(here, path, "--prune", "--skip-refused", "--json")
    answer = json.loads(done.stdout)
    expect(done.returncode == 0 and answer["deleted"] == answer["others"] == [], f"with nothing to leave out and to delete: {done.returncode} {answer}")
    path.write_text(edited.replace("45 2 * * *", "# 45 2 * * *"))
    done = imported(here, path, "--prune", "--json")
    deleted = json.loads(done.stdout)["deleted"]
    expect(done.returncode == 0 and deleted == [{"job": new, "code": "ok", "error": "", "remedy": ""}], f"a line that is gone: {done.returncode} {deleted}")
    expect(set(launches.jobs(address)) == {*kept, *BESIDE}, "a line is gone, and its job is not, or more than it is")
    print("ok  jobs of lines that are gone are deleted when all else is done, and no others", flush=True)


def pruned_by_the_thousand(here, path):
    path.write_text("".join(f"0 0 1 1 * true {number}\n" for number in range(MANY)))
    done = imported(here, path, "--prefix", "many/")
    expect(done.returncode == 0, f"{MANY} lines: {done.returncode} {done.stderr}")
    path.write_text("0 0 1 1 * true 0\n")
    done = imported(here, path, "--prefix", "many/", "--prune", "--json")
    deleted = json.loads(done.stdout)["deleted"]
    expect(done.returncode == 0 and len({one["job"] for one in deleted}) == MANY - 1, f"{len(deleted)} jobs are deleted: {done.returncode} {done.stderr}")
    left = [name for name in launches.jobs(here.node.address) if name.startswith("many/")]
    expect(len(left) == 1 and left[0] not in {one["job"] for one in deleted}, f"these jobs are left: {left}")
    expect(set(BESIDE) < set(launches.jobs(here.node.address)), "jobs with another beginning are gone")
    print(f"ok  {MANY - 1} jobs are deleted at once", flush=True)


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
        failing(here)
        pruned(here, tab, jobs)
        pruned_by_the_thousand(here, box.folder / "long")
        for_users(here, box.folder / "system")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
        checked = fairlead("store", "check", here.store)
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return 0


if __name__ == "__main__":
    harness.main(run)
