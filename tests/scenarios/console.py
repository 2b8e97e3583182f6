#!/usr/bin/env python3
"""The console as an operator and as a script use it: on a terminal with completion and history, with -c, from a pipe, as JSON, with bad
input, and through the loss of its node."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import harness
from desk_service import desk_service
from harness import BINARY, expect, fairlead, wait_until
from operator_desk import desk

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\r")


class terminal:
    """A console on a pseudo-terminal, and what it has shown."""

    def __init__(self, box, at, state):
        self.main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        environment = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": str(state)}
        self.process = box.start([BINARY, "console", "--node", at.node.address], stdin=other, stdout=other, stderr=other, env=environment,
                                 preexec_fn=self.take_terminal)
        os.close(other)
        self.shown = ""
        self.mark = 0
        self.says("Connected to node desk")
        self.says("desk> ")

    @staticmethod
    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def look(self):
        while select.select([self.main], [], [], 0)[0]:
            try:
                fresh = os.read(self.main, 65536)
            except OSError:  # the other end is closed
                return
            if not fresh:
                return
            self.shown += fresh.decode(errors="replace")

    def text(self):
        self.look()
        return ESCAPES.sub("", self.shown[self.mark:])

    def says(self, text, seconds=15, count=1):
        def found():
            return self.text().count(text) >= count
        try:
            wait_until(found, seconds, text)
        except harness.scenario_failed:
            raise harness.scenario_failed(f"the console never showed {text!r}: {self.text()[-1500:]!r}") from None

    def type(self, keys):
        self.look()
        self.mark = len(self.shown)
        os.write(self.main, keys.encode())

    def command(self, line, says, seconds=15):
        """Types a line and waits for what it shows and for the next prompt."""
        self.type(line + "\r")
        self.says(says, seconds)
        self.says("desk> ", seconds)

    def end(self, keys="\x04"):
        self.type(keys)
        code = self.process.wait(timeout=10)
        os.close(self.main)
        return code


def console(at, commands, *words, code=0, stdin=None):
    given = ["-c", commands] if commands is not None else []
    done = fairlead("console", *given, *words, node=at.node.address, stdin=stdin)
    expect(done.returncode == code, f"`console {commands!r}` ended with {done.returncode} instead of {code}: {done.stdout}{done.stderr}")
    return done


def documents(text):
    return [json.loads(line) for line in text.splitlines() if line]


def scripts(at):
    at.submit("fine")
    at.until_state("fine", "completed")
    at.parked("stuck")
    done = console(at, "nodes; tree\nactors --sort handled; shards; agents; tasks --parked; task stuck; steps stuck; history stuck; alerts; counters; status")
    for word in ("desk", "scheduler", "MAILBOX", "EPOCH", "shop", "stuck", "charge", "COUNTER", "PENDING"):
        expect(word in done.stdout, f"{word} is missing in: {done.stdout}")

    told = documents(console(at, "nodes; tree; actors; shards; agents shop; tasks; task stuck; steps stuck; history stuck; alerts; counters; status", "--json").stdout)
    expect(len(told) == 12, f"not one document a command: {len(told)}")
    nodes, tree, actors, shards, agents, tasks, task, steps, history, alerts, counters, status = told
    expect(nodes["node"] == "desk" and nodes["peers"] == [], f"nodes: {nodes}")
    expect(tree["outside"] == 0 and any(one["path"].endswith("scheduler") for one in tree["actors"]), f"tree: {tree}")
    expect(actors["actors"] and not any(one["guardian"] for one in actors["actors"]), f"actors: {actors}")
    expect(shards["shards"][0]["state"] == "up" and shards["shards"][0]["epoch"] >= 1, f"shards: {shards}")
    expect([one["agent"] for one in agents["agents"]] == ["shop"], f"agents: {agents}")
    expect({one["id"] for one in tasks["tasks"]} == {"fine", "stuck"} and task["parked"] and alerts["alerts"], f"tasks: {tasks}")
    expect(steps["steps"] == task["steps"] and history["history"] == task["history"], "steps and history are not those of the task")
    totals = {one["name"]: one["total"] for one in counters["counters"]}
    expect(totals["submitted"] == 2 and totals["completed"] == 1 and totals["parked"] == 1, f"counters: {counters}")
    expect(status["counts"]["parked"] == 1, f"status: {status}")

    twice = documents(console(at, "counters; counters", "--json").stdout)
    expect(twice[0]["seconds"] is None and twice[1]["seconds"] > 0, f"no rates at the second look: {twice}")
    looks = documents(console(at, "watch -n 1 --times 2 counters", "--json").stdout)
    expect(len(looks) == 2 and 0.9 < looks[1]["seconds"] < 10, f"watch: {looks}")
    print("ok  every look, as text and as JSON; rates and watch", flush=True)


def actions(at):
    at.service.answer("charge", "stuck", None)
    console(at, "retry stuck --by ana --reason 'it was; the bank'")
    shown = at.until_state("stuck", "completed")
    expect(any(one["who"] == "ana" and one["detail"] == "it was; the bank" for one in shown["history"]), f"history: {shown['history']}")
    console(at, "agent drain desk/shop; agents --draining", "--json")
    console(at, "agent resume desk/shop; agent breaker open shop; agent breaker close shop")
    done = console(at, "log level debug; log level info", "--json")
    expect([one["before"] for one in documents(done.stdout)] == ["info", "debug"], f"log levels: {done.stdout}")
    done = console(at, "node drain desk; nodes; node resume desk; nodes", "--json")
    expect([one.get("draining") for one in documents(done.stdout)] == [None, True, None, False], f"drain: {done.stdout}")
    at.submit("after")
    at.until_state("after", "completed")
    print("ok  it acts on tasks, agents, the node and its log", flush=True)


def bad_input(at):
    for text, code, says in (("nodez", 2, "Did you mean nodes"), ("task unheard", 3, "unheard"), ("tasks 'open", 2, "character 7"),
                             ("nodes --wrong", 2, "help nodes"), ("watch nodes", 2, "watch --times N COMMAND"),
                             ("watch jobs --times 1", 2, "watch --times N COMMAND"), ("watch retry fine", 2, "cannot be watched"),
                             ("retry fine", 1, "fine"), ("submit desk --input @-", 2, "standard input"), ("log level loud", 2, "loud"),
                             ("node drain nowhere", 3, "nowhere"), ("tree nowhere", 3, "nowhere"), ("counters --shard 9", 3, "shard 9")):
        done = console(at, text, code=code)
        expect(says in done.stderr and done.stderr.startswith("fairlead: "), f"{text!r}: {done.stderr}")
    done = console(at, "task unheard; nodez; status", code=3)
    expect("node" in done.stdout, "it did not go on after a command that failed")
    done = console(at, None, code=2, stdin="# a script\nstatus\n\nnodez\nquit\nstatus\n")
    expect(done.stdout.count("Tasks\n") == 1, f"not run line by line until quit: {done.stdout}")
    expect("desk>" not in done.stdout, "a prompt without a terminal")
    expect(console(at, "").stdout == "", "an empty text does something")
    done = fairlead("console", "-c", "status", node="127.0.0.1:1")
    expect(done.returncode == 5 and "No node answers" in done.stderr, f"without a node: {done.returncode} {done.stderr}")
    print("ok  bad input is refused by name, and the first failure is the exit code", flush=True)


def typed(box, at):
    state = box.folder / "state"
    first = terminal(box, at, state)
    first.command("task stu\t", "workflow  desk")
    first.command("tasks --wor\tdes\t", "stuck")
    first.type("node\t\t")
    first.says("nodes")
    first.type("\x03")
    first.says("desk> ")
    first.command("help node", "drain")
    first.command("nodez", "Did you mean nodes?")
    first.command(" task fine", "workflow  desk")
    first.type("watch -n 1 status\r")
    first.says("Every 1s: status", count=2)
    first.type("\r")
    first.says("desk> ")
    first.type("watch -n 1 nodes\r")
    first.says("Every 1s: nodes")
    first.type("\x03")
    first.says("desk> ")
    expect(first.end() == 0, "Ctrl-D does not end it well")
    kept = (state / "fairlead" / "console_history").read_text().splitlines()
    expect(kept[0] == "task stuck " or kept[0] == "task stuck", f"the history: {kept}")
    expect(not any("fine" in line for line in kept), f"what began with a blank is kept: {kept}")

    second = terminal(box, at, state)
    second.type("\x1b[A\x1b[A\r")  # two up
    second.says("Every 1s: status")
    second.type("\r")
    second.says("desk> ")
    expect(second.end("quit\r") == 0, "quit does not end it well")
    print("ok  editing, completion, history and watch on a terminal", flush=True)


def question(box, at):
    for name in ("ask-1", "ask-2"):
        at.parked(name, labels=["lot=q"])
    one = terminal(box, at, box.folder / "state2")
    one.type("cancel --label lot=q\r")
    one.says("type yes")
    one.type("no\r")
    one.says("Nothing was done")
    one.says("desk> ")
    one.type("cancel --label lot=q\r")
    one.says("type yes")
    one.type("yes\r")
    one.says("Done for 2 of 2 tasks.")
    one.says("desk> ")
    expect(one.end() == 0, "the end")
    print("ok  what cannot be taken back is asked about", flush=True)


def node_lost(box, at):
    one = terminal(box, at, box.folder / "state3")
    one.type("watch -n 1 status\r")
    one.says("Every 1s: status")
    at.node.kill()
    one.type("")
    one.says("fairlead: ", seconds=20)
    at.node.start()
    one.type("")
    one.says("Tasks", seconds=20)
    one.type("\r")
    one.says("desk> ")
    at.node.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        one.type("task f\t")
        one.look()
        one.type("\x03")
        one.says("desk> ", seconds=5)
        one.type("status\r")
        # The editor gives the terminal back while a command is under way.
        wait_until(lambda: termios.tcgetattr(one.main)[3] & termios.ICANON, 5, "the command is under way")
        one.type("\x03")
        one.says("does not wait", seconds=5)
        one.says("desk> ", seconds=5)
        expect(time.monotonic() - began < 10, "Ctrl-C does not free the prompt soon")
    finally:
        at.node.process.send_signal(signal.SIGCONT)
    one.command("status", "Tasks", seconds=30)
    expect(one.end() == 0, "the end")
    print("ok  a node that is lost and comes back, and one that is frozen", flush=True)


def run():
    with harness.sandbox("console") as box, desk_service() as service:
        at = desk(box, service)
        scripts(at)
        typed(box, at)
        actions(at)
        bad_input(at)
        question(box, at)
        node_lost(box, at)
        code, _ = at.node.end()
        expect(code == 0, f"the node ended with {code}: {at.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
