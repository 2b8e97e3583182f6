#!/usr/bin/env python3
"""What each command prints on a terminal of 80 columns, on a real node: no line is wider unless one word is, and the text is that of
tests/data/screens. FAIRLEAD_WRITE_SCREENS=1 writes these files anew."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time

import harness
from harness import expect, fairlead, fairlead_json, wait_until

COLUMNS = 80
SCREENS = harness.ROOT / "tests" / "data" / "screens"

NODE = """node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
supervisor: {{ scan_period: 100ms }}
agents:
  desk: {{ kind: native, handler: echo }}
  car:
    kind: http
    base_url: http://127.0.0.1:{closed}
    labels: {{ zone: eu, rack: b12 }}
    retry: {{ tries: 1 }}
    calls: {{ rent: {{ path: /rent }}, give_back: {{ path: /give_back }} }}
  shell:
    kind: exec
    calls:
      report: {{ command: [/bin/sh, -c, "echo 12 orders; echo 3 returns >&2"], output: log }}
"""
TRAVEL = """workflow: travel
on_failure: park
steps:
  book:
    agent: desk
    call: echo
    with: { trip: "${ .task.id }" }
  rent:
    agent: car
    call: rent
    needs: [book]
    attempts: 1
"""
REPORT = """workflow: report
steps:
  print: { agent: shell, call: report }
"""
WAITS = """workflow: waits
steps:
  nobody: { agent: hotel, call: reserve }
"""
JOBS = """job: nightly-report
schedule: "30 2 * * *"
time_zone: Europe/Berlin
workflow: report
---
job: old-report
schedule: "0 4 * * 0"
workflow: report
paused: true
"""

# Each is a screen: its name, and the command.
COMMANDS = {
    "task-list": "task list",
    "task-list-utc": "task list --utc",
    "task-list-columns": "task list --columns task,state --sort task",
    "task-list-parked": "task list --parked --workflow travel",
    "task-list-empty": "task list --workflow nothing",
    "task-show-parked": "task show trip-1",
    "task-show-completed": "task show report-1",
    "task-show-waits": "task show waits-1",
    "task-logs": "task logs report-1",
    "task-doctor": "task doctor",
    "task-skip-refused": "task skip report-1 print --reason x",
    "task-retry-done": "task retry trip-2",
    "task-show-unknown": "task show nope",
    "status": "status",
    "agent-list": "agent list",
    "agent-show": "agent show car",
    "agent-show-instance": "agent show n1/car",
    "agent-drain": "agent drain n1/desk",
    "agent-resume": "agent resume n1/desk",
    "agent-breaker-open": "agent breaker open car --reason maintenance",
    "agent-breaker-close": "agent breaker close car",
    "alert-list": "alert list",
    "alert-show": "alert show 1",
    "alert-ack": "alert ack 1 --by ana --note \"the rental is down\"",
    "audit-none": "audit",
    "audit-help": "audit --help",
    "job-list": "job list",
    "job-show": "job show nightly-report",
    "job-show-paused": "job show old-report",
    "job-history": "job history nightly-report",
    "job-logs": "job logs nightly-report",
    "job-next": "job next \"30 2 * * *\" --tz Europe/Berlin --after 2026-03-27T00:00:00Z --count 3",
    "job-pause": "job pause nightly-report --by ana --reason audit",
    "job-resume": "job resume nightly-report --by ana",
    "workflow-list": "workflow list",
    "workflow-show": "workflow show travel",
    "workflow-check": "workflow check travel.yaml",
    "node-reload": "node reload",
    "node-drain": "node drain n1",
    "node-resume": "node resume n1",
    "node-log-level": "node log-level info",
    "inspect-nodes": "inspect nodes",
    "inspect-steps": "inspect steps waits-1",
    "inspect-unknown-node": "inspect tree n9",
    "config-check": "config check node.yaml",
    "certificate-no-name": "certificate issue n_1 --ca ca",
    "certificate-no-authority": "certificate issue n1 --ca ca",
    "version": "version",
    "unknown-command": "tsk list",
    "too-many-words": "job show nightly-report and more",
    "unknown-option": "task list --colums task",
    "help": "help",
}


def at_terminal(here, words):
    """The output of the command at a terminal, which has stdout and stderr, and its exit code. It runs in the folder of the files."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FAIRLEAD_OPERATOR")}
    environment.update(FAIRLEAD_NODE=here.node.address, NO_COLOR="1", TERM="xterm")
    process = subprocess.Popen([harness.BINARY.resolve(), *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment, cwd=here.folder)
    os.close(theirs)
    output = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # Linux says so at the end
            break
        if not more:
            break
        output += more
    os.close(ours)
    return output.decode().replace("\r\n", "\n"), process.wait(timeout=30)


def steady(text, here):
    """Without what differs from run to run: times, durations, sizes, hashes, ports, paths, and with them the widths of columns."""
    # Where a sentence is broken depends on the lengths of what is replaced.
    lines = []
    for line in text.splitlines():
        broken = lines and len(lines[-1]) > 50 and not lines[-1].isupper() and re.match(r" {4,}[a-zA-Z0-9(]", line)
        if broken:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    text = "\n".join(lines)
    for what, by in ((str(here.folder), "FOLDER"), (str(here.port), "PORT"), (str(here.closed), "CLOSED")):
        text = text.replace(what, by)
    text = re.sub(r"has\s+read\s+FOLDER/node.yaml\s+again\.\s+Nothing\s+has\s+changed", "has read FOLDER/node.yaml again. Nothing has changed", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)", "TIME", text)
    text = re.sub(r"\b(in )?\d+(ms|s|m|h|d)( ago)?\b", lambda found: "AGE" if found[1] or found[3] else "DURATION", text)
    text = re.sub(r"\bafter\s+\d+ ms:", lambda found: re.sub(r"\d+", "0", found[0]), text)  # of libcurl, on a busy machine
    text = re.sub(r"\b[0-9a-f]{32}\b", "HASH", text)
    text = re.sub(r"\b[0-9a-f]{12}$", "VERSION", text, flags=re.M)
    text = re.sub(r"\b\d+(\.\d)? (B|KiB|MiB)\b", "SIZE", text)
    # A commit of the last 100 ms is in the journal only, and not every file system writes past the page cache.
    text = re.sub(r",\s+SIZE\s+not\s+applied\s+yet|,\s+written\s+through\s+the\s+page\s+cache", "", text)
    text = re.sub(r"\b\d+ commits?\b", "COMMITS", text)
    text = re.sub(r"by \S+@\S+", "by OPERATOR", text)
    text = re.sub(r"\b\d{10}\b", "INCARNATION", text)
    text = re.sub(r"  (\d+ ms|-)$", "  LATENCY", text, flags=re.M)
    return "\n".join(re.sub(r" {2,}", "  ", line).rstrip() for line in text.splitlines()) + "\n"


def check(here, name, command, failures):
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
    text, _ = at_terminal(here, words)
    for line in text.splitlines():
        # A word that has no room on the screen stays whole.
        if len(line) > COLUMNS and max(map(len, line.split())) < COLUMNS - 20:
            failures.append(f"{name}: a line of {len(line)} characters: {line}")
    if "\x1b" in text:
        failures.append(f"{name}: colours though NO_COLOR is set")
    seen = f"$ fairlead {command}\n" + steady(text, here)
    kept = SCREENS / f"{name}.txt"
    if os.environ.get("FAIRLEAD_WRITE_SCREENS"):
        SCREENS.mkdir(exist_ok=True)
        kept.write_text(seen, encoding="utf-8")
    elif not kept.exists() or kept.read_text(encoding="utf-8") != seen:
        failures.append(f"{name} is not {kept.name} any more:\n{seen}")


class place:
    def __init__(self, box):
        self.folder = box.folder
        self.port, self.closed = harness.free_ports(2)
        self.config = box.folder / "node.yaml"
        self.config.write_text(NODE.format(port=self.port, closed=self.closed), encoding="utf-8")
        self.node = harness.node(box, self.config, f"127.0.0.1:{self.port}", box.folder / "node.log")

    def run(self, *words):
        done = fairlead(*words, node=self.node.address)
        expect(done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr}")

    def state(self, task):
        shown = fairlead_json("task", "show", task, node=self.node.address)
        return "parked" if shown["parked"] else shown["state"]

    def prepare(self):
        for name, text in (("travel", TRAVEL), ("report", REPORT), ("waits", WAITS), ("jobs", JOBS)):
            (self.folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        for name in ("travel", "report", "waits"):
            self.run("workflow", "deploy", self.folder / f"{name}.yaml")
        self.run("job", "deploy", self.folder / "jobs.yaml", "--by", "ana")
        for task in ("trip-1", "trip-2"):
            self.run("submit", "travel", "--id", task, "--label", "version=2.1", "--label", "shop=berlin")
            wait_until(lambda: self.state(task) == "parked", 20, f"{task} is parked")
        self.run("submit", "report", "--id", "report-1", "--wait")
        self.run("submit", "waits", "--id", "waits-1")
        self.run("job", "run", "nightly-report", "--by", "ana")

        def launched():
            launches = fairlead_json("job", "history", "nightly-report", node=self.node.address)["launches"]
            return launches and launches[0]["state"] == "completed"

        wait_until(launched, 20, "the launch has completed")
        launched_at = time.monotonic()
        # Ages of two digits for as long as the screens take: the widths of columns, and which of them have room, hang on that.
        wait_until(lambda: time.monotonic() - launched_at > 11, 20, "ages have two digits", every=0.5)


def colours(here):
    environment_has = os.environ.pop("NO_COLOR", None)
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")} | {"TERM": "xterm", "FAIRLEAD_NODE": here.node.address}
    process = subprocess.Popen([harness.BINARY, "task", "list", "--parked"], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    process.wait(timeout=30)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    if environment_has is not None:
        os.environ["NO_COLOR"] = environment_has
    expect("\x1b[31mrunning, parked\x1b[0m" in text, f"a parked task is not red: {text!r}")
    done = fairlead("task", "list", "--parked", node=here.node.address)
    expect("\x1b" not in done.stdout and max(map(len, done.stdout.splitlines())) > COLUMNS, "a pipe is not as wide as it likes, and without colours")


def run():
    with harness.sandbox("screens") as box:
        here = place(box)
        here.node.start()
        here.prepare()
        failures = []
        for name, command in COMMANDS.items():
            check(here, name, command, failures)
            if name == "task-retry-done":
                wait_until(lambda: here.state("trip-2") == "parked", 20, "the retried step has failed again")
        unknown = {one.stem for one in SCREENS.glob("*.txt")} - set(COMMANDS)
        if unknown:
            failures.append(f"no command has the screens {', '.join(sorted(unknown))}")
        colours(here)
        for failure in failures:
            print(failure, file=sys.stderr, flush=True)
        expect(not failures, f"{len(failures)} screens are not as they should be")
        print(f"ok  {len(COMMANDS)} screens of {COLUMNS} columns", flush=True)
        here.node.end()
    return 0


if __name__ == "__main__":
    harness.main(run)
