#!/usr/bin/env python3
"""An operator meets an incident and follows nothing but what the program prints: cause and cure are each at most three commands away."""

import http.server
import itertools
import json
import re
import shlex
import threading
import time

import harness
from harness import expect, fairlead, fairlead_json, wait_until

NODE = """node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: {size} }}
supervisor: {{ scan_period: 100ms }}
alerts: {{ agent_absent_after: 1s }}
agents:
  car:
    kind: http
    base_url: http://127.0.0.1:{service}
    retry: {{ tries: 1 }}
    breaker: {{ failure_percent: 50, window: 5s, at_least: 4, open: 1m, canaries: 1 }}
    calls: {{ rent: {{ path: /rent }} }}
{more}"""
HOTEL = """  hotel: { kind: native, handler: echo }
"""
RENT = """workflow: rent
on_failure: park
steps:
  car:
    agent: car
    call: rent
    with: { days: "${ .input.nights + 1 }" }
    backoff: { first: 50ms, factor: 1, max: 50ms }
"""
STAY = """workflow: stay
steps:
  room: { agent: hotel, call: echo }
"""
TICK = """job: tick
schedule: "*/4 * * * * *"
workflow: {workflow}
overlap: allow
catch_up: {{ policy: latest, within: 1s }}
paused: {paused}
"""


class service:
    """A rental that answers, answers 503, or is away."""

    def __init__(self):
        self.status = 200
        self.port, = harness.free_ports(1)
        self.server_ = None

    def start(self):
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server_ = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.server_.daemon_threads = True
        threading.Thread(target=self.server_.serve_forever, daemon=True).start()

    def end(self):
        if self.server_ is not None:
            self.server_.shutdown()
            self.server_.server_close()
            self.server_ = None


class operator:
    """Runs commands, and counts them per incident. After the first it types only what the program has printed."""

    def __init__(self, here, incident):
        self.here = here
        self.incident = incident
        self.printed = ""
        self.commands = 0

    def run(self, command):
        self.commands += 1
        expect(self.commands <= 3, f"{self.incident}: more than three commands")
        done = fairlead(*shlex.split(command), node=self.here.node.address)
        expect(done.returncode == 0, f"{self.incident}: fairlead {command}: {done.returncode}, {done.stderr}")
        self.printed = done.stdout
        return done.stdout

    def follow(self, command):
        """A command that the program has printed, `...` for what is to be filled in by it: `fairlead task retry ...`."""
        found = re.search(command.replace("...", r"[^\n'`;]*"), self.printed)
        expect(found, f"{self.incident}: there is no `{command}` in\n{self.printed}")
        return self.run(found[0].removeprefix("fairlead ").strip().rstrip(".,:"))

    def show_alert(self, kind):
        """The number is in the list that was printed. Returns it."""
        number = re.search(r"(\d+) +open +" + kind, self.printed)
        expect(number, f"{self.incident}: no alert {kind} in\n{self.printed}")
        self.run(f"alert show {number[1]}")
        return number[1]

    def reads(self, *causes):
        for cause in causes:
            expect(re.search(cause, self.printed), f"{self.incident}: nobody could read `{cause}` in\n{self.printed}")
        self.commands = 0  # the cure is counted by itself


class place:
    def __init__(self, box, service_port):
        self.folder = box.folder
        self.service_port = service_port
        self.port, = harness.free_ports(1)
        self.config = box.folder / "node.yaml"
        self.write()
        self.node = harness.node(box, self.config, f"127.0.0.1:{self.port}", box.folder / "node.log")

    def write(self, size="32MiB", more=""):
        self.config.write_text(NODE.format(port=self.port, service=self.service_port, size=size, more=more), encoding="utf-8")

    def deploy(self, kind, name, text):
        (self.folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        done = fairlead(kind, "deploy", self.folder / f"{name}.yaml", node=self.node.address)
        expect(done.returncode == 0, f"deploy {name}: {done.stderr}")

    def submit(self, workflow, task, value='{"nights": 2}'):
        return fairlead("submit", workflow, "--id", task, "--input", value, node=self.node.address)

    def show(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def alerted(self, kind):
        def there():
            return any(one["kind"] == kind for one in fairlead_json("alert", "list", node=self.node.address)["alerts"])

        wait_until(there, 20, f"an alert {kind} is raised")

    def ended(self, task, seconds=20):
        wait_until(lambda: self.show(task)["state"] == "completed", seconds, f"{task} is completed")


def service_away(here, rental):
    """The service behind an agent is down."""
    here.submit("rent", "i1")
    wait_until(lambda: "retried" in fairlead("task", "list", node=here.node.address).stdout, 10, "the step has failed once")
    who = operator(here, "service away")
    who.run("task list")
    who.reads(r"step car is retried: connection_refused")
    rental.start()
    who.run("agent list")
    # Its breaker has opened by then, or the step comes back by itself.
    if "open" in who.printed:
        who.run("agent breaker close car")
    here.ended("i1")


def breaker_open(here, rental):
    """The breaker is open, and the service well again."""
    rental.status = 503
    for number in range(6):
        here.submit("rent", f"i2-{number}")
    wait_until(lambda: fairlead_json("status", node=here.node.address)["services"][0]["breaker"] == "open", 20, "the breaker is open")
    who = operator(here, "breaker open")
    who.run("status")
    who.reads(r"car +open", r"failed.*http_503 \(\d+\)|http_503")
    rental.status = 200
    who.run("alert list")
    who.show_alert("breaker_open")
    who.follow("fairlead agent breaker close car")
    for number in range(6):
        here.ended(f"i2-{number}")


def poisoned_input(here, _rental):
    """An expression meets an input that it cannot take."""
    here.submit("rent", "i3", '{"nights": "three"}')
    wait_until(lambda: here.show("i3")["parked"], 10, "the task is parked")
    who = operator(here, "poisoned input")
    who.run("task list --parked")
    who.reads(r"i3 ", r"cannot be added")
    who.run("task show i3")
    found = re.search(r"fairlead (task retry i3 car --input) JSON", who.printed)
    expect(found, f"no remedy has the input: {who.printed}")
    who.run(found[1] + """ '{"days": 4}'""")
    here.ended("i3")


def missing_agent(here, _rental):
    """A step waits for an agent that no node has."""
    here.submit("stay", "i4")
    here.alerted("agent_absent")
    who = operator(here, "missing agent")
    who.run("alert list")
    who.reads(r"steps wait for agent hotel", r"no instance of hotel")
    who.show_alert("agent_absent")
    expect("node file" in who.printed, f"the remedy does not name the node file: {who.printed}")
    here.write(more=HOTEL)
    expect("fairlead node reload NODE" in who.printed, f"the remedy does not name the reload: {who.printed}")
    who.run("node reload n1")
    expect("agents added" in who.printed and "hotel" in who.printed, f"the reload took no agent: {who.printed}")
    here.ended("i4")


def missed_job(here, _rental):
    """The node was down while a job was due, and its times are too old to be caught up."""
    here.deploy("job", "tick", TICK.format(workflow="stay", paused="false"))
    wait_until(lambda: fairlead_json("job", "history", "tick", node=here.node.address)["launches"], 10, "the job is launched")
    here.node.kill()
    # The time in which nothing is there to launch it is the incident.
    down = time.monotonic()
    wait_until(lambda: time.monotonic() - down > 14, 20, "some times have passed, and are too old to be on time", every=0.2)
    here.node.start()
    here.alerted("job_missed")
    who = operator(here, "missed job")
    who.run("alert list")
    who.reads(r"job_missed .*tick.*")
    number = who.show_alert("job_missed")
    who.follow(r"fairlead job backfill tick --from \S+ --to \S+")
    wait_until(lambda: fairlead_json("alert", "show", number, node=here.node.address)["state"] == "resolved", 20, "the alert is resolved")


def paused_job(here, _rental):
    """Somebody has paused the job."""
    done = fairlead("job", "pause", "tick", "--by", "ana", "--reason", "audit", node=here.node.address)
    expect(done.returncode == 0, done.stderr)
    who = operator(here, "paused job")
    who.run("job list")
    line = next(one for one in who.printed.splitlines() if one.startswith("tick "))
    expect("paused" in line and " - " in line, f"NEXT of a paused job: {line}")
    who.run("job show tick")
    who.reads(r"paused since .* by ana", "audit")
    who.follow("fairlead job resume tick")
    expect(fairlead_json("job", "show", "tick", node=here.node.address)["paused"] is False, "the job is paused still")
    fairlead("job", "delete", "tick", node=here.node.address)


def full_store(here, _rental):
    """New tasks are refused because the store is full."""
    code, _ = here.node.end()
    expect(code == 0, "the node did not end")
    here.write(size="16MiB")
    here.node.start()
    (here.folder / "wide.json").write_text(json.dumps({"nights": 2, "note": "x" * 200_000}), encoding="utf-8")
    who = operator(here, "full store")
    numbers = itertools.count()

    def full():
        # What is not applied yet counts twice, so after a refusal there may be room for another task.
        done = here.submit("stay", f"i7-{next(numbers)}", f"@{here.folder / 'wide.json'}")
        expect(done.returncode == 0 or "full" in done.stderr, f"a task was refused for another reason: {done.stderr}")
        return done.returncode != 0 and "new tasks are refused" in fairlead("status", node=here.node.address).stdout
    wait_until(full, 30, "new tasks are refused")
    who.run("status")
    who.reads(r"of 16.0 MiB used", r"reserved for running tasks", r"new tasks are refused")
    who.run("alert list")
    who.show_alert("store_full")
    expect("store.max_size" in who.printed, f"the remedy does not name the key: {who.printed}")
    here.write(size="64MiB", more=HOTEL)
    here.node.end()
    here.node.start()
    expect(here.submit("stay", "i8").returncode == 0, "a task is refused still")
    here.ended("i8")


def run():
    rental = service()
    with harness.sandbox("incidents") as box:
        here = place(box, rental.port)
        here.node.start()
        here.deploy("workflow", "rent", RENT)
        here.deploy("workflow", "stay", STAY)
        try:
            for incident in (service_away, breaker_open, poisoned_input, missing_agent, missed_job, paused_job, full_store):
                incident(here, rental)
                print(f"ok  {incident.__doc__}", flush=True)
        finally:
            rental.end()
        here.node.end()
    return 0


if __name__ == "__main__":
    harness.main(run)
