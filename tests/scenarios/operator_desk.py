"""A node with one agent and the workflows that the operator's scenario runs on it."""

import json

import harness
from harness import expect, fairlead, fairlead_json, wait_until

CALLS = ("reserve", "release", "charge", "refund", "ship")

WORKFLOW = """
workflow: {name}
on_failure: park
steps:
  reserve:
    agent: {agent}
    call: reserve
    with: {{ order: "${{ .task.id }}" }}
    timeout: 10s
    undo: {{ call: release, with: {{ order: "${{ .task.id }}" }}, attempts: 1 }}
  charge:
    needs: [reserve]
    agent: shop
    call: charge
    with: {{ order: "${{ .task.id }}", amount: "${{ .input.amount }}" }}
    timeout: 10s
    attempts: 2
    backoff: {{ first: 10ms, factor: 1, max: 10ms }}
    undo: {{ call: refund, with: {{ order: "${{ .task.id }}" }}, attempts: 1 }}
  ship:
    needs: [charge]
    agent: shop
    call: ship
    with: {{ order: "${{ .task.id }}", receipt: '${{ .steps.charge.receipt // "none" }}' }}
    timeout: 10s
    undo: none
    pivot: {pivot}
"""


class desk:
    def __init__(self, box, service):
        self.service = service
        port, = harness.free_ports(1)
        calls = "".join(f"      {call}: {{ method: POST, path: /{call} }}\n" for call in CALLS)
        config = box.folder / "node.yaml"
        config.write_text(f"node: {{ name: desk, listen: '127.0.0.1:{port}' }}\nroles: [shard, agent]\nstore: {{ path: store }}\n"
                          f"supervisor: {{ scan_period: 100ms }}\nagents:\n  shop:\n    kind: http\n"
                          f"    base_url: http://127.0.0.1:{service.port}\n    concurrency: 16\n    calls:\n{calls}")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        for name, agent, pivot in (("desk", "shop", "false"), ("one_way", "shop", "true"), ("nobody_home", "nobody", "false")):
            path = box.folder / f"{name}.yaml"
            path.write_text(WORKFLOW.format(name=name, agent=agent, pivot=pivot))
            done = self.run("workflow", "deploy", path)
            expect(done.returncode == 0, f"deploy {name}: {done.stdout}{done.stderr}")

    def run(self, *words, **options):
        return fairlead(*words, node=self.node.address, **options)

    def task(self, *words):
        return self.run("task", *words)

    def show(self, name):
        return fairlead_json("task", "show", name, node=self.node.address)

    def submit(self, name, workflow="desk", amount=5, labels=()):
        words = [word for label in labels for word in ("--label", label)]
        done = self.run("submit", workflow, "--id", name, "--input", json.dumps({"amount": amount}), *words)
        expect(done.returncode == 0, f"submit {name}: {done.stderr}")
        return name

    def until(self, name, what, holds, seconds=20):
        def look():
            shown = self.show(name)
            return shown if holds(shown) else None
        return wait_until(look, seconds, f"task {name} {what}")

    def until_parked(self, name):
        return self.until(name, "is parked", lambda shown: shown["parked"])

    def until_state(self, name, state):
        return self.until(name, f"is {state}", lambda shown: shown["state"] == state and not shown["parked"])

    def parked(self, name, call="charge", status=422, **options):
        """A task that is parked over the answer to a call."""
        self.service.answer(call, name, status)
        self.submit(name, **options)
        return self.until_parked(name)

    def done(self, *words):
        """A command that must be taken."""
        taken = self.task(*words)
        expect(taken.returncode == 0, f"`fairlead task {' '.join(map(str, words))}` ended with {taken.returncode}: {taken.stderr.strip()}")
        return taken

    def refused(self, code, named, *words, task=None):
        """A command that must be refused with this exit code and a sentence that names all this; `task` is as it was then."""
        before = self.show(task) if task else None
        answer = self.task(*words)
        command = f"`fairlead task {' '.join(map(str, words))}`"
        expect(answer.returncode == code, f"{command} ended with {answer.returncode} instead of {code}: {answer.stdout}{answer.stderr}")
        expect(answer.stderr.startswith("fairlead: ") or "\nfairlead: " in answer.stderr, f"{command} gives no sentence: {answer.stderr}")
        for word in named:
            expect(word in answer.stderr, f"{command} does not name {word!r}: {answer.stderr}")
        if task:
            expect(self.show(task) == before, f"{command} was refused and has changed the task all the same")
        print(f"ok  refused: {answer.stderr.splitlines()[0] if answer.stderr.startswith('fairlead') else answer.stderr.splitlines()[-2]}", flush=True)


def step(shown, path):
    return next(one for one in shown["steps"] if one["path"] == path)


def commands(shown):
    return [one["command"] for one in shown["what_helps"]]


def operator_events(shown):
    return [(event["event"], event["who"], event["detail"]) for event in shown["history"] if event["event"].startswith("operator_")]
