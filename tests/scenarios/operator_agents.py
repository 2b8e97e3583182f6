#!/usr/bin/env python3
"""Agents in trouble, on a real node: a service dies and its breaker opens, steps wait without using attempts up and say why, the service comes
back and everything completes. An operator opens and closes a breaker, drains an instance and lets it work again. Nobody is there, and an alert
says so."""

import http.server
import json
import subprocess
import threading

import harness
from harness import expect, fairlead, fairlead_json, wait_until

WORKFLOW = """
workflow: {name}
on_failure: park
steps:
  charge:
    agent: bank
    call: charge
    with: {{ order: "${{ .task.id }}" }}
    timeout: 20s
    attempts: 30
    backoff: {{ first: 20ms, factor: 1, max: 20ms }}
{more}"""


class bank_service:
    """POST /charge is answered with `status`; while `gate` is not set the answer is held back."""

    def __init__(self):
        self.status = 200
        self.gate = threading.Event()
        self.gate.set()
        self.arrivals = []  # orders
        service = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.arrivals.append(body["order"])
                service.gate.wait(60)
                self.send_response(service.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server_ = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server_.daemon_threads = True
        self.port = self.server_.server_address[1]
        threading.Thread(target=self.server_.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gate.set()
        self.server_.shutdown()
        self.server_.server_close()


class bank:
    """A node with the one agent."""

    instance = "n1/bank"

    def __init__(self, box, service):
        self.box = box
        self.service = service
        port, = harness.free_ports(1)
        config = box.folder / "node.yaml"
        config.write_text(f"""node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
supervisor: {{ scan_period: 100ms }}
alerts: {{ agent_absent_after: 1s }}
agents:
  bank:
    kind: http
    base_url: http://127.0.0.1:{service.port}
    concurrency: 4
    labels: {{ zone: eu }}
    retry: {{ tries: 1 }}
    breaker: {{ failure_percent: 50, window: 5s, at_least: 4, open: 300ms, canaries: 2 }}
    calls: {{ charge: {{ path: /charge }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        for name, more in (("pay", ""), ("pay_on_mars", "    labels: { zone: mars }\n")):
            path = box.folder / f"{name}.yaml"
            path.write_text(WORKFLOW.format(name=name, more=more))
            done = self.run("workflow", "deploy", path)
            expect(done.returncode == 0, f"deploy {name}: {done.stdout}{done.stderr}")

    def run(self, *words, **options):
        return fairlead(*words, node=self.node.address, **options)

    def ask(self, *words):
        return fairlead_json(*words, node=self.node.address)

    def done(self, *words):
        done = self.run("agent", *words)
        expect(done.returncode == 0, f"agent {' '.join(words)}: {done.returncode}, {done.stderr}")
        return done.stdout

    def refused(self, code, mentions, *words):
        done = self.run("agent", *words)
        expect(done.returncode == code and not done.stdout, f"agent {' '.join(words)}: {done.returncode} in place of {code}, {done.stdout}")
        for word in mentions:
            expect(word in done.stderr, f"agent {' '.join(words)} does not mention {word}: {done.stderr}")

    def submit(self, *names, workflow="pay"):
        for name in names:
            done = self.run("submit", workflow, "--id", name)
            expect(done.returncode == 0, f"submit {name}: {done.stderr}")

    def charge(self, name):
        return self.ask("task", "show", name)["steps"][0]

    def until_completed(self, *names):
        for name in names:
            wait_until(lambda: self.ask("task", "show", name)["state"] == "completed", 30, f"task {name} completes")

    def until_waits(self, name, *words):
        def look():
            why = self.charge(name)["waits_for"]
            return why if all(word in why for word in words) else None
        return wait_until(look, 20, f"task {name} waits, and says {words}")

    def of_service(self):
        found = [one for one in self.ask("status")["services"] if one["agent"] == "bank"]
        expect(len(found) == 1, f"the services are {found}")
        return found[0]

    def until_breaker(self, *states):
        def look():
            found = self.of_service()
            return found if found["breaker"] in states else None
        return wait_until(look, 30, f"the breaker is {' or '.join(states)}")

    def alerts(self, kind, state):
        return [one for one in self.ask("alert", "list", "--state", state)["alerts"] if one["kind"] == kind]


def dies_and_comes_back(at):
    at.submit("before")
    at.until_completed("before")
    expect(at.of_service()["breaker"] == "closed", "the breaker of a service that is well is not closed")

    at.service.status = 503
    first = [f"early-{i}" for i in range(6)]
    at.submit(*first)
    found = at.until_breaker("open", "half_open")
    expect("failed" in found["breaker_reason"], f"the breaker does not say why it is open: {found}")
    at.submit("late")
    why = at.until_waits("late", "waits for agent bank: breaker of bank is open until ")
    expect("failed" in why, f"the step does not say why the breaker is open: {why}")
    raised = wait_until(lambda: at.alerts("breaker_open", "open"), 10, "an alert about the breaker")
    expect(len(raised) == 1 and "bank" in raised[0]["sentence"], f"the alerts are {raised}")
    text = at.run("status").stdout
    expect("Services with waiting steps" in text and "breaker of bank" in text, f"`status` does not say so:\n{text}")

    # Three openings in a row: without a breaker every step would have used up dozens of attempts by then.
    wait_until(lambda: at.of_service()["openings"] >= 3, 20, "canaries fail, and the breaker opens again")
    expect(at.charge("late")["attempt"] == 0, f"the step that came last has used up attempts: {at.charge('late')}")
    expect(at.of_service()["waiting"] >= 1, "nothing is said to wait")

    at.service.status = 200
    at.until_completed(*first, "late")
    expect(at.charge("late")["attempt"] == 1, f"waiting counted as an attempt: {at.charge('late')}")
    attempts = sum(at.charge(name)["attempt"] for name in first)
    expect(attempts <= 6 + 4 + 10, f"{attempts} attempts were made of 6 steps while the service was away")
    at.until_breaker("closed")
    wait_until(lambda: not at.alerts("breaker_open", "open") and at.alerts("breaker_open", "resolved"), 10, "the alert is resolved")
    print("ok  a service dies, steps wait, it comes back, all complete", flush=True)


def operator_opens_and_closes(at):
    told = at.done("breaker", "open", "bank", "--by", "ana", "--reason", "they repair it")
    expect("until an operator closes it" in told, f"the command says {told}")
    found = at.of_service()
    expect((found["breaker"], found["breaker_by"], found["open_until"]) == ("open", "ana", None), f"the service is {found}")
    before = len(at.service.arrivals)
    at.submit("held")
    at.until_waits("held", "breaker of bank is open until an operator closes it", "they repair it")
    shown = at.done("show", "bank")
    expect("open until an operator closes it" in shown and "ana" in shown, f"`agent show` says:\n{shown}")

    code, _ = at.node.end()
    expect(code == 0, f"the node ended with {code}: {at.node.last_words()}")
    at.node.start()
    expect(at.of_service()["breaker"] == "open", "the breaker did not outlive the node")
    at.until_waits("held", "breaker of bank is open until an operator closes it")
    expect(len(at.service.arrivals) == before, "something was sent to the service behind an open breaker")

    told = json.loads(at.done("breaker", "close", "bank", "--by", "ana", "--json"))
    expect((told["agent"], told["breaker"]) == ("bank", "closed"), f"the command says {told}")
    at.until_completed("held")
    expect(at.charge("held")["attempt"] == 1, f"waiting counted as an attempt: {at.charge('held')}")
    print("ok  an operator opens and closes a breaker; it outlives the node", flush=True)


def drain(at):
    at.service.gate.clear()
    at.submit("slow")
    wait_until(lambda: "slow" in at.service.arrivals, 10, "the charge arrives")
    told = json.loads(at.done("drain", at.instance, "--no-wait", "--json", "--by", "ana"))
    expect(told == {"instance": at.instance, "state": "draining", "held": 1}, f"the command says {told}")
    at.submit("next")
    at.until_waits("next", "waits for agent bank: all instances are draining")
    line, = at.ask("agent", "list")["agents"]
    expect((line["draining"], line["drained_by"], line["held"]) == (True, "ana", 1), f"the instance is {line}")
    done = at.run("agent", "drain", at.instance, "--timeout", "300ms")
    expect(done.returncode == 5 and "still holds 1" in done.stderr, f"{done.returncode}, {done.stdout}{done.stderr}")

    waiting = at.box.start([harness.BINARY, "agent", "drain", at.instance, "--node", at.node.address], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    progress = waiting.stderr.readline()
    expect("still holds 1" in progress, f"the progress is {progress}")
    at.service.gate.set()
    told, complaint = waiting.communicate(timeout=20)
    expect(waiting.returncode == 0 and "is drained" in told, f"{waiting.returncode}, {told}{complaint}")
    at.until_completed("slow")
    expect("next" not in at.service.arrivals, "an instance that is draining was given more")
    at.done("resume", at.instance)
    at.until_completed("next")
    print("ok  drain waits until nothing is held, resume gives work again", flush=True)


def nobody_there(at):
    at.submit("far", workflow="pay_on_mars")
    at.until_waits("far", "waits for agent bank: no instance with labels zone=mars")
    raised = wait_until(lambda: at.alerts("agent_absent", "open"), 10, "an alert about the agent that is not there")
    expect(len(raised) == 1 and "bank" in raised[0]["sentence"], f"the alerts are {raised}")
    at.submit("near")
    at.until_completed("near")
    done = at.run("task", "cancel", "far")
    expect(done.returncode == 0, f"cancel: {done.stderr}")
    wait_until(lambda: not at.alerts("agent_absent", "open"), 10, "the alert is resolved")
    print("ok  steps that nobody can take wait, with an alert, and hold nobody up", flush=True)


def bad_input(at):
    at.refused(3, ["bnak", "bank"], "show", "bnak")
    at.refused(3, ["n1/bnak"], "drain", "n1/bnak")
    at.refused(3, ["n1/bnak"], "resume", "n1/bnak")
    at.refused(3, ["bnak"], "breaker", "open", "bnak")
    at.refused(2, ["agent"], "breaker", "open", "a b")
    at.refused(2, ["1000"], "breaker", "open", "bank", "--reason", "x" * 1_001)
    at.refused(2, ["INSTANCE"], "drain")
    expect(at.of_service()["breaker"] == "closed", "what was refused has changed something")
    print("ok  bad input changes nothing", flush=True)


def run():
    with harness.sandbox("operator_agents") as box, bank_service() as service:
        at = bank(box, service)
        dies_and_comes_back(at)
        operator_opens_and_closes(at)
        drain(at)
        nobody_there(at)
        bad_input(at)
        code, _ = at.node.end()
        expect(code == 0, f"the node ended with {code}: {at.node.last_words()}")
        checked = fairlead("store", "check", box.folder / "store")
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return 0


if __name__ == "__main__":
    harness.main(run)
