#!/usr/bin/env python3
"""Signals of tasks, over the command line and the API of a real node: given early, late, twice under one key, once too often, under a wrong name and to
a task that has ended; one that does not come in time; by whom they may be given; and through kill -9. What the steps were given is what a command has
written down.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/signals.py
"""

import json
import os

import harness
import openapi
from api import api
from api_access import new_token
from harness import expect, fairlead, fairlead_json, wait_until

# Each attempt is written down once it is carried out. A task waits in its steps `ask` as long as there is a file `hold-TASK`.
COMMAND = """#!/usr/bin/env python3
import json, os, sys, time
task, step = os.environ["FAIRLEAD_TASK"], os.environ["FAIRLEAD_STEP"]
while step == "ask" and os.path.exists("hold-" + task):
    time.sleep(0.01)
with open("given", "a") as book:
    book.write(json.dumps({"step": task + "/" + step, "direction": os.environ["FAIRLEAD_DIRECTION"], "key": os.environ["FAIRLEAD_KEY"],
                           "input": json.load(sys.stdin)}) + "\\n")
print('{"asked": true}')
"""

WORKFLOWS = {
    "approve": """workflow: approve
on_failure: park
steps:
  ask: { agent: desk, call: book, with: { n: 1 }, undo: none }
  approval: { needs: ask, signal: approved, timeout: 1h }
  book: { needs: approval, agent: desk, call: book, with: { approval: "${ .steps.approval }" }, undo: none }
""",
    "two": """workflow: two
on_failure: park
steps:
  first: { signal: paid, timeout: 1h }
  second: { needs: first, signal: paid, timeout: 1h }
  book: { needs: [first, second], agent: desk, call: book, with: { first: "${ .steps.first }", second: "${ .steps.second }" }, undo: none }
""",
    "lenient": """workflow: lenient
on_failure: park
steps:
  answer: { signal: answered, timeout: 300ms, on_timeout: continue }
  book: { needs: answer, agent: desk, call: book, with: { status: "${ .status.answer }", answer: "${ .steps.answer }" }, undo: none }
""",
    "strict": """workflow: strict
on_failure: undo
steps:
  ask: { agent: desk, call: book, with: { n: 1 }, undo: { call: free, with: { n: 1 } } }
  answer: { needs: ask, signal: answered, timeout: 300ms, on_timeout: fail }
  book: { needs: answer, agent: desk, call: book, with: { n: 2 }, undo: none }
""",
}
ROLES = {"shop": ["client"], "desk": ["viewer"], "ops": ["operator"], "boss": ["admin"], "watcher": ["client", "viewer"]}


class signals_scenario:
    def __init__(self, box):
        self.box = box
        (command := box.folder / "desk.py").write_text(COMMAND)
        command.chmod(0o755)
        port, self.port = harness.free_ports(2)
        tokens = box.folder / "tokens.yaml"
        self.tokens = {name: new_token(tokens, name, *(word for role in roles for word in ("--role", role)))["token"] for name, roles in ROLES.items()}
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
api: {{ listen: "127.0.0.1:{self.port}" }}
access: {{ tokens_file: {tokens} }}
agents:
  desk:
    kind: exec
    concurrency: 32
    directory: {box.folder}
    environment: {{ PATH: "{os.environ['PATH']}" }}
    calls: {{ book: {{ command: [{command}] }}, free: {{ command: [{command}] }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.begin()
        for name, text in WORKFLOWS.items():
            (path := box.folder / f"{name}.yaml").write_text(text)
            self.run("workflow", "deploy", path)

    # ---- the node, and what the command has written down ----

    def begin(self):
        self.node.start()
        self.door = api(self.port)

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def ask(self, wanted, who, method, path, body=None, headers=None, **more):
        return self.door.expect(wanted, method, path, body, {"Authorization": f"Bearer {self.tokens[who]}", **(headers or {})}, **more)

    def give(self, wanted, who, task, name, body=None, key=None, headers=None, **more):
        """(headers, answer) of a signal over the API."""
        given = {"Idempotency-Key": f'"{key}"'} if key else {}
        return self.ask(wanted, who, "POST", f"/v1/tasks/{task.replace('/', '%2F')}/signals/{name}", body, {**given, **(headers or {})}, **more)

    def submit(self, workflow, task, *options):
        self.run("submit", workflow, "--id", task, *options)

    def hold(self, task):
        (self.box.folder / f"hold-{task}").touch()

    def let_go(self, task):
        (self.box.folder / f"hold-{task}").unlink()

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def until(self, task, check, what):
        def look():
            seen = self.shown(task)
            return seen if check(seen) else None
        return wait_until(look, 60, f"{task} {what}", every=0.05)

    def waits(self, task):
        return self.until(task, lambda seen: any(step["state"] == "waiting" for step in seen["steps"]), "waits for its signal")

    def ends(self, task, state="completed"):
        return self.until(task, lambda seen: seen["state"] == state, f"is {state}")

    def given(self, step, direction="perform"):
        """What the command got for the step, in the order in which it was carried out."""
        book = self.box.folder / "given"
        records = [json.loads(line) for line in book.read_text().splitlines()] if book.exists() else []
        return [record for record in records if record["step"] == step and record["direction"] == direction]

    def inputs(self, step, direction="perform"):
        return [record["input"] for record in self.given(step, direction)]

    # ---- parts ----

    def late(self):
        """The step waits already."""
        self.submit("approve", "late-1")
        seen = self.waits("late-1")
        step = seen["steps"][1]
        expect(step["waits_for"].startswith("waits for signal approved until ") and step["not_before"], f"{step}")
        expect([one["command"] for one in seen["what_helps"]] == ["fairlead task signal late-1 approved --data JSON"], f"{seen['what_helps']}")
        expect(seen["what_helps"][0]["request"]["path"] == "/v1/tasks/late-1/signals/approved", f"{seen['what_helps']}")
        refused = self.run("task", "retry", "late-1", "approval", code=1)
        expect("task skip" in refused, f"a retry of a step that waits: {refused}")
        expect(not self.inputs("late-1/book"), "nothing is booked without its approval")
        said = self.run("task", "signal", "late-1", "approved", "--data", '{"by": "ben", "sum": 12345678901234567890}', "--reason", "seen", "--by", "ana")
        expect(said == "task late-1: signal approved taken\n", f"the command says {said!r}")
        ended = self.ends("late-1")
        expect(self.inputs("late-1/book") == [{"approval": {"by": "ben", "sum": 12345678901234567890}}], f"booked with {self.inputs('late-1/book')}")
        found = [(one["event"], one["who"]) for one in ended["history"] if one["event"] in ("step_waiting", "task_signaled")]
        expect(found == [("step_waiting", ""), ("task_signaled", "ana")], f"{ended['history']}")
        self.submit("approve", "late-2")
        self.waits("late-2")
        _, said = self.give(202, "boss", "late-2", "approved")
        expect((said["id"], said["signal"], said["kept"], said["state"], said["repeated"]) == ("late-2", "approved", False, "running", False), f"{said}")
        self.ends("late-2")
        expect(self.inputs("late-2/book") == [{"approval": None}], "without data it is null")

    def early(self):
        """The step does not wait yet: an earlier one is in progress, or the task has not started."""
        self.hold("early-1")
        self.submit("approve", "early-1")
        self.submit("approve", "early-2", "--delay", "3s")
        for task in ("early-1", "early-2"):
            said = self.run("task", "signal", task, "approved", "--data", f'"for {task}"')
            expect(said == f"task {task}: signal approved kept until a step waits for it\n", f"the command says {said!r}")
            seen = self.shown(task)
            expect(seen["signals"] == [{"name": "approved", "size": len(f'"for {task}"'), "data": f"for {task}"}], f"{seen['signals']}")
        expect("\nsignals   approved (13 bytes)\n" in self.run("task", "show", "early-1"), "the text lists what is kept")
        _, seen = self.ask(200, "desk", "GET", "/v1/tasks/early-1")
        expect(seen["signals"] == [{"name": "approved", "size": 13, "data": None}], f"without the right to see payloads: {seen['signals']}")
        self.let_go("early-1")
        for task in ("early-1", "early-2"):
            expect(self.ends(task)["signals"] == [], "what is taken is kept no more")
            expect(self.inputs(f"{task}/book") == [{"approval": f"for {task}"}], f"booked with {self.inputs(f'{task}/book')}")

    def order(self):
        """Each signal is taken by one step, in the order of coming."""
        self.submit("two", "two-1")
        self.waits("two-1")
        expect(self.give(202, "boss", "two-1", "paid", {"data": 1})[1]["kept"] is False, "the first step takes it")
        self.until("two-1", lambda seen: seen["steps"][1]["state"] == "waiting", "waits for another one")
        self.give(202, "boss", "two-1", "paid", {"data": 2})
        self.ends("two-1")
        self.submit("two", "two-2", "--delay", "2s")
        for number in (1, 2, 3):
            expect(self.give(202, "boss", "two-2", "paid", {"data": number})[1]["kept"] is True, "it is kept")
        self.ends("two-2")
        for task in ("two-1", "two-2"):
            expect(self.inputs(f"{task}/book") == [{"first": 1, "second": 2}], f"booked with {self.inputs(f'{task}/book')}")

    def once(self):
        """The same key is the same signal; something else under it is refused."""
        self.submit("two", "once-1")
        self.waits("once-1")
        answers = [self.give(202, "boss", "once-1", "paid", {"data": "a"}, key="k1")[1] for _ in range(3)]
        expect([one["repeated"] for one in answers] == [False, True, True], f"{answers}")
        self.give(422, "boss", "once-1", "paid", {"data": "b"}, key="k1", code="key_reused")
        for words in ("taken", "was given before, with the same key"):
            said = self.run("task", "signal", "once-1", "paid", "--data", '"c"', "--key", "k2", "--by", "ana")
            expect(said == f"task once-1: signal paid {words}\n", f"the command says {said!r}")
        ended = self.ends("once-1")
        expect([one["event"] for one in ended["history"]].count("task_signaled") == 2, f"{ended['history']}")
        expect(self.inputs("once-1/book") == [{"first": "a", "second": "c"}], f"booked with {self.inputs('once-1/book')}")

    def refused(self):
        """What nobody takes is refused, and says why."""
        self.submit("approve", "full-1", "--delay", "1h")
        for number in range(16):
            self.give(202, "boss", "full-1", "approved", {"data": number})
        found, said = self.give(429, "boss", "full-1", "approved", {"data": 16}, code="overloaded")
        expect(found["Retry-After"] and "approved" in said["detail"], f"{found} {said}")
        self.run("task", "signal", "full-1", "approved", code=5)
        expect([one["data"] for one in self.shown("full-1")["signals"]] == list(range(16)), "16 are kept, in their order")
        _, said = self.give(404, "boss", "full-1", "aproved", code="not_found")
        expect("approved" in said["detail"] + said["remedy"], f"the refusal names the signals of the task: {said}")
        expect("approved" in self.run("task", "signal", "full-1", "aproved", code=3), "so does that of the command line")
        self.give(404, "boss", "nobody", "approved", code="not_found")
        self.run("task", "signal", "nobody", "approved", code=3)
        self.give(409, "boss", "late-1", "approved", code="wrong_state")
        self.run("task", "signal", "late-1", "approved", code=1)
        self.give(400, "boss", "full-1", "Approved", code="invalid_argument")
        self.give(400, "boss", "full-1", "approved", {"data": "a" * 262_143}, code="invalid_argument")
        self.give(400, "boss", "full-1", "approved", raw=b'{"data": {]}')
        self.give(400, "boss", "full-1", "approved", {"input": 1}, pointer="/input")
        self.run("task", "signal", "full-1", "Approved", code=2)
        self.run("task", "signal", "full-1", "approved", "--data", "{", code=2)
        self.run("task", "signal", "--parked", "approved", code=2)
        for path in ("/v1/tasks/full-1/actions", "/v1/tasks:act"):
            self.ask(400, "boss", "POST", path, {"verb": "signal"}, pointer="/verb")
        # A signal of a revision that is not the latest any more.
        self.submit("approve", "full-2", "--delay", "1h")
        tag = self.ask(200, "boss", "GET", "/v1/tasks/full-2")[0]["ETag"]
        self.give(202, "boss", "full-2", "approved", headers={"If-Match": tag})
        self.give(412, "boss", "full-2", "approved", headers={"If-Match": tag}, code="changed")
        expect(len(self.shown("full-2")["signals"]) == 1, "one was given")

    def untimely(self):
        """No signal comes in time."""
        self.submit("lenient", "lenient-1")
        ended = self.ends("lenient-1")
        expect(ended["steps"][0]["state"] == "timed_out" and ended["steps"][0]["output"] is None, f"{ended['steps'][0]}")
        expect(self.inputs("lenient-1/book") == [{"status": "timed_out", "answer": None}], f"booked with {self.inputs('lenient-1/book')}")
        expect([one["event"] for one in ended["history"]].count("step_timed_out") == 1, f"{ended['history']}")
        self.submit("lenient", "lenient-2", "--delay", "1s")
        self.give(202, "boss", "lenient-2", "answered", {"data": "yes"})
        self.ends("lenient-2")
        expect(self.inputs("lenient-2/book") == [{"status": "completed", "answer": "yes"}], f"booked with {self.inputs('lenient-2/book')}")
        self.submit("strict", "strict-1")
        ended = self.ends("strict-1", "undone")
        expect(ended["steps"][1]["fault"]["code"] == "signal_timeout", f"{ended['steps'][1]}")
        expect(self.inputs("strict-1/ask", "undo") == [{"n": 1}] and not self.inputs("strict-1/book"), "what was done is undone, and nothing follows")
        self.give(409, "boss", "strict-1", "answered", code="wrong_state")

    def who(self):
        """Whoever submits may signal; a client only its own tasks. The audit has who did, and not the data."""
        for who, task in (("shop", "shop/1"), ("boss", "boss/1")):
            self.ask(201, who, "PUT", f"/v1/tasks/{task.replace('/', '%2F')}", {"workflow": "approve"})
            self.waits(task)
        for who in ("desk", "ops"):
            _, said = self.give(403, who, "shop/1", "approved", code="forbidden")
            expect("submit" in said["detail"], f"{said}")
        for task, name in (("boss/1", "approved"), ("boss/1", "nothing"), ("nobody", "approved")):
            _, said = self.give(404, "shop", task, name, code="not_found")
            expect(said["detail"] == f"There is no task {task}." or said["detail"] == f"there is no task {task}", f"another's task is unknown: {said}")
        expect(self.shown("boss/1")["steps"][1]["state"] == "waiting", "another's task still waits")
        self.give(202, "shop", "shop/1", "approved", {"data": {"secret": "plum-tree"}, "reason": "by mail"})
        self.give(202, "watcher", "boss/1", "approved", {"data": {"secret": "plum-tree"}})
        for task in ("shop/1", "boss/1"):
            self.ends(task)
            expect(self.inputs(f"{task}/book") == [{"approval": {"secret": "plum-tree"}}], f"booked with {self.inputs(f'{task}/book')}")
        _, page = self.ask(200, "boss", "GET", "/v1/audit?verb=signal&object=shop/1")
        noted = [(one["who"], one["path"], one["reason"], one["status"]) for one in page["items"]]
        at = "/v1/tasks/shop%2F1/signals/approved"
        expect(("shop", at, "by mail", 202) in noted and "plum-tree" not in json.dumps(page), f"{page}")

    def killed(self):
        """kill -9 behind the answer, before a step has taken the signal and right behind it: nothing is lost, and nothing is given twice."""
        held = [f"kill-{number}" for number in range(8)]
        waiting = [f"taken-{number}" for number in range(8)]
        for task in held:
            self.hold(task)
        for task in held + waiting:
            self.submit("approve", task)
        for task in waiting:
            self.waits(task)
        for task in held:
            expect(self.give(202, "boss", task, "approved", {"data": task}, key=f"k-{task}")[1]["kept"] is True, f"{task}: it is kept")
        for task in waiting:
            self.give(202, "boss", task, "approved", {"data": task}, key=f"k-{task}")
        self.node.kill()
        self.begin()
        for task in held + waiting:
            # Of a task that has ended the answer may be that it has.
            status, _, said = self.door.ask("POST", f"/v1/tasks/{task}/signals/approved", {"data": task},
                                            {"Authorization": f"Bearer {self.tokens['boss']}", "Idempotency-Key": f'"k-{task}"'})
            expect((status == 202 and said["repeated"]) or (status == 409 and task in waiting), f"{task}: {status} {said}")
        for task in held:
            self.let_go(task)
        for task in held + waiting:
            expect(self.ends(task)["signals"] == [], f"{task} took its signal")
            done = self.given(f"{task}/book")
            # An attempt that the kill has cut off is made again, under the same key.
            expect(done and {json.dumps(one["input"]) for one in done} == {json.dumps({"approval": task})}, f"{task}: booked with {done}")
            expect(len({one["key"] for one in done}) == 1, f"{task}: booked under several keys: {done}")
        self.submit("approve", "later-1")
        self.waits("later-1")
        self.node.kill()
        self.begin()
        expect(self.shown("later-1")["steps"][1]["state"] == "waiting", "a step waits on behind a restart")
        self.give(202, "boss", "later-1", "approved", {"data": 1})
        self.ends("later-1")
        expect(self.inputs("later-1/book") == [{"approval": 1}], f"booked with {self.inputs('later-1/book')}")


def run():
    with harness.sandbox("signals") as box:
        here = signals_scenario(box)
        for part in (here.late, here.early, here.order, here.once, here.refused, here.untimely, here.who, here.killed):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    openapi.check("signals").write()
    return 0


if __name__ == "__main__":
    harness.main(run)
