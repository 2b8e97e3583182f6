#!/usr/bin/env python3
"""Results of tasks, and steps that are repeated until they have one, over a real node with a real jq worker: outputs by plain paths and by jq, told
by `submit --wait`, by the API and by a webhook, and hidden from whoever may not see payloads; one that cannot be computed, given by an operator; a
service that is asked again and again, through kill -9 between the rounds; inputs that do not fit the schema of their workflow, from the command line, the
API, a batch and a job.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/results.py
"""

import http.server
import json
import os
import threading

import harness
from api import api
from api_access import new_token
from harness import expect, fairlead, fairlead_json, wait_until

# Each attempt is written down when it begins and when it ends. A round is told by its key: the n-th key of a step gets `{"n": n}`, so a service that
# is asked again under the same key gives the same answer.
COMMAND = """#!/usr/bin/env python3
import fcntl, json, os, sys, time
step, key = os.environ["FAIRLEAD_TASK"] + "/" + os.environ["FAIRLEAD_STEP"], os.environ["FAIRLEAD_KEY"]
given = json.load(sys.stdin)
def write(what):
    with open("book", "a+") as book:
        fcntl.flock(book, fcntl.LOCK_EX)
        book.seek(0)
        keys = []
        for line in book:
            one = json.loads(line)
            if one["step"] == step and one["key"] not in keys:
                keys.append(one["key"])
        if key not in keys:
            keys.append(key)
        book.write(json.dumps({"step": step, "key": key, "what": what, "input": given}) + "\\n")
        return keys.index(key) + 1
n = write("begin")
time.sleep(0.05)
write("end")
print(json.dumps({"n": n, "next": "page " + str(n + 1)}))
"""

WORKFLOWS = {
    "plain": """workflow: plain
on_failure: park
output: { first: "${ .steps.first }", by: "${ .task.id }", left_out: "${ .steps.other }", exact: 12345678901234567890 }
steps:
  first: { agent: desk, call: ask, with: { n: 1 }, undo: none }
  other: { when: "${ .input.other }", agent: desk, call: ask, with: { n: 2 }, undo: none }
""",
    "computed": """workflow: computed
on_failure: park
output: '${ {sum: (.steps.first.n + .input.n), skipped: (.status | to_entries | map(select(.value == "skipped") | .key))} }'
steps:
  first: { agent: desk, call: ask, with: { n: 1 }, undo: none }
  other: { when: "${ .input.n > 100 }", agent: desk, call: ask, with: { n: 2 }, undo: none }
""",
    "large": """workflow: large
on_failure: park
output: "${ .input }"
steps:
  first: { agent: desk, call: ask, with: { n: 1 }, undo: none }
""",
    "odd": """workflow: odd
on_failure: park
output: '${ .input.n | if . == null then error("there is no number") else . end }'
steps:
  first: { agent: desk, call: ask, with: { n: 1 }, undo: none }
""",
    "poll": """workflow: poll
on_failure: park
output: { rounds: "${ .steps.decision.n }" }
steps:
  decision:
    agent: desk
    call: ask
    with: { cursor: "${ .steps.decision.next? }" }
    repeat: { until: "${ .steps.decision.n >= (.input.rounds // 1) }", every: 2s, max: 5 }
    undo: none
  tell: { needs: decision, agent: desk, call: ask, with: { seen: "${ .steps.decision.n }" }, undo: none }
""",
    "checked": """workflow: checked
on_failure: park
input:
  type: object
  properties:
    amount_cents: { type: integer, minimum: 1 }
    note: { type: string, maxLength: 3 }
  required: [amount_cents]
steps:
  first: { agent: desk, call: ask, with: { n: "${ .input.amount_cents }" }, undo: none }
""",
    "pages": """workflow: pages
on_failure: fail
steps:
  page:
    agent: desk
    call: ask
    with: { cursor: "${ .steps.page.next? }" }
    repeat: { until: "${ .steps.page.n == .input.pages }", max: 3 }
    undo: none
""",
}
ROLES = {"shop": ["client"], "desk": ["viewer"], "boss": ["admin"]}


class receiver:
    """A webhook that remembers the events that came."""

    def __init__(self):
        self.events = []
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.events += json.loads(self.rfile.read(int(self.headers["Content-Length"])))["events"]
                self.send_response(204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/results"

    def end_of(self, task):
        def look():
            return next((event for event in list(self.events) if event["task"] == task and event["kind"] == "completed"), None)
        return wait_until(look, 30, f"the webhook hears that {task} is completed")


class results_scenario:
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
    concurrency: 8
    directory: {box.folder}
    environment: {{ PATH: "{os.environ['PATH']}" }}
    calls: {{ ask: {{ command: [{command}] }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.hook = receiver()
        self.begin()
        for name, text in WORKFLOWS.items():
            (path := box.folder / f"{name}.yaml").write_text(text)
            self.run("workflow", "deploy", path)

    # ---- the node, and what the command has written down ----

    def begin(self):
        self.node.start()
        self.door = api(self.port)

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address, seconds=60)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout if code in (0, 1) else done.stderr

    def ask(self, wanted, who, method, path, body=None, **more):
        return self.door.expect(wanted, method, path, body, {"Authorization": f"Bearer {self.tokens[who]}"}, **more)[1]

    def submit(self, workflow, task, value, *options, code=0):
        return self.run("submit", workflow, "--id", task, "--input", json.dumps(value), *options, code=code)

    def result(self, workflow, task, value, *options):
        """What `submit --wait --json` says."""
        return json.loads(self.submit(workflow, task, value, "--wait", "--json", *options))

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def until(self, task, check, what):
        def look():
            seen = self.shown(task)
            return seen if check(seen) else None
        return wait_until(look, 60, f"{task} {what}", every=0.05)

    def book(self, step):
        book = self.box.folder / "book"
        records = [json.loads(line) for line in book.read_text().splitlines()] if book.exists() else []
        return [record for record in records if record["step"] == step]

    def rounds(self, step):
        """The keys of its rounds, in their order. No round begins before the one before it has ended, and none is performed twice."""
        records = self.book(step)
        keys = list(dict.fromkeys(record["key"] for record in records))
        wanted = [(key, what) for key in keys for what in ("begin", "end")]
        expect([(record["key"], record["what"]) for record in records] == wanted, f"{step}: rounds overlap, or are repeated: {records}")
        return keys

    # ---- parts ----

    def told(self):
        """The output of a completed task, by plain paths and by jq, wherever it is shown."""
        address = ("--reply-webhook", self.hook.url)
        wanted = {"first": {"n": 1, "next": "page 2"}, "by": "plain-1", "left_out": None, "exact": 12345678901234567890}
        said = self.result("plain", "plain-1", {"other": False}, *address)
        expect((said["state"], said["output"]) == ("completed", wanted), f"submit --wait --json says {said}")
        expect(self.shown("plain-1")["output"] == wanted, "task show has it")
        expect("\noutput    {" in self.run("task", "show", "plain-1"), "so has its text")
        expect(self.ask(200, "boss", "GET", "/v1/tasks/plain-1")["output"] == wanted, "so has the API")
        expect(self.ask(200, "boss", "GET", "/v1/tasks/plain-1?payloads=none")["output"] is None, "where payloads are wanted")
        expect(self.ask(200, "desk", "GET", "/v1/tasks/plain-1")["output"] is None, "and may be seen")
        expect(self.hook.end_of("plain-1")["output"] == wanted, f"the webhook hears {self.hook.events}")

        text = self.submit("computed", "computed-1", {"n": 41}, "--wait")
        expect('\nOutput: {"sum":42,"skipped":["other"]}\n' in text, f"submit --wait says {text}")
        said = self.ask(201, "shop", "PUT", "/v1/tasks/computed-2?wait=30s", {"workflow": "computed", "input": {"n": 1}})
        expect(said["output"] == {"sum": 2, "skipped": ["other"]}, f"PUT with wait says {said}")
        said = self.result("pages", "none-1", {"pages": 1})
        expect(said["state"] == "completed" and said["output"] is None, f"a workflow without an output: {said}")

        long = "x" * 5_000
        expect(self.result("large", "large-1", long, *address)["output"] == long, "a long output is whole")
        expect(self.hook.end_of("large-1")["output"] is None, "and is not in the status event")
        self.run("task", "undo", "plain-1", "--reason", "tested")
        expect(self.until("plain-1", lambda seen: seen["state"] == "undone", "is undone")["output"] is None, "an undone task has none")

    def settled(self):
        """An output that cannot be computed parks its task: it is computed again, or an operator gives it."""
        for task in ("odd-1", "odd-2"):
            self.submit("odd", task, {}, "--wait", code=1)
        parked = self.shown("odd-1")
        commands = [one["command"] for one in parked["what_helps"]]
        expect(parked["parked"] and parked["reason"].startswith("the output of the task: "), f"{parked['reason']}")
        expect(commands[:2] == ["fairlead task retry odd-1", "fairlead task settle odd-1 --output JSON --reason TEXT"], f"{commands}")
        expect(parked["what_helps"][1]["request"]["body"] == {"verb": "settle_completed", "output": "JSON", "reason": "TEXT"}, f"{parked['what_helps']}")
        self.run("task", "retry", "odd-1")
        self.until("odd-1", lambda seen: seen["parked"], "is parked again")
        self.run("task", "settle", "odd-1", "--output", '{"n": 7}', code=2)  # without a reason
        self.run("task", "settle", "odd-1", "first", "--output", "1", "--reason", "tested", code=2)
        self.run("task", "settle", "odd-1", "--output", '{"n": 7}', "--reason", "tested")
        ended = self.until("odd-1", lambda seen: seen["state"] == "completed", "is completed by an operator")
        expect(ended["output"] == {"n": 7} and "operator_settle" in [one["event"] for one in ended["history"]], f"{ended}")
        act = ("POST", "/v1/tasks/odd-2/actions")
        self.ask(400, "boss", *act, {"verb": "settle_completed", "reason": "tested"}, pointer="/step")
        self.ask(400, "boss", *act, {"verb": "settle_completed", "output": 8}, pointer="/reason")
        self.ask(200, "boss", *act, {"verb": "settle_completed", "output": 8, "reason": "tested"})
        expect(self.until("odd-2", lambda seen: seen["state"] == "completed", "is completed over the API")["output"] == 8, "as it was given")
        self.ask(409, "boss", *act, {"verb": "settle_completed", "output": 9, "reason": "tested"}, code="wrong_state")
        expect(len(self.rounds("odd-1/first")) == 1, "its step was performed once")

    def repeated(self):
        """Rounds go on until the expression is true, one at a time, also through kill -9 between them."""
        self.submit("poll", "poll-1", {"rounds": 4})
        for ended in (1, 2):
            def waits(seen, wanted=ended):
                step = seen["steps"][0]
                return step["state"] == "waiting" and step["rounds"] == wanted
            seen = self.until("poll-1", waits, f"waits behind round {ended}")
            step = seen["steps"][0]
            expect(step["waits_for"].startswith("waits for its next round until ") and step["not_before"], f"{step}")
            expect([one["command"] for one in seen["what_helps"]] == ["fairlead task retry poll-1 decision"], f"{seen['what_helps']}")
            self.node.kill()
            self.begin()
        text = self.run("task", "show", "poll-1")
        expect(", round " in text or " rounds" in text, f"the text has the round: {text}")
        ended = self.until("poll-1", lambda seen: seen["state"] == "completed", "is completed")
        step = ended["steps"][0]
        expect((step["rounds"], step["output"], ended["output"]) == (4, {"n": 4, "next": "page 5"}, {"rounds": 4}), f"{step}, {ended['output']}")
        expect(len(self.rounds("poll-1/decision")) == 4, f"four rounds under four keys: {self.book('poll-1/decision')}")
        given = [record["input"] for record in self.book("poll-1/decision") if record["what"] == "begin"]
        expect(given == [{"cursor": None}, {"cursor": "page 2"}, {"cursor": "page 3"}, {"cursor": "page 4"}], f"{given}")
        expect([one["event"] for one in ended["history"]].count("step_repeated") == 4, f"{ended['history']}")
        expect(len(self.rounds("poll-1/tell")) == 1, "what follows is performed once")

        self.submit("poll", "poll-2", {"rounds": 2})
        self.until("poll-2", lambda seen: seen["steps"][0]["state"] == "waiting", "waits for its second round")
        self.run("task", "retry", "poll-2", "decision")
        self.until("poll-2", lambda seen: seen["state"] == "completed", "is completed at once")
        expect(len(self.rounds("poll-2/decision")) == 2, "by its second round")

        said = json.loads(self.submit("pages", "pages-1", {"pages": 3}, "--wait", "--json"))
        expect(said["state"] == "completed" and len(self.rounds("pages-1/page")) == 3, f"three pages at once: {said}")
        said = json.loads(self.submit("pages", "pages-2", {"pages": 4}, "--wait", "--json", code=1))
        seen = self.shown("pages-2")
        expect(said["state"] == "failed" and seen["steps"][0]["fault"]["code"] == "repeat_exhausted", f"{said}, {seen['steps'][0]}")
        expect(len(self.rounds("pages-2/page")) == 3 and seen["output"] is None, "after three rounds there is no fourth")

    def checked(self):
        """An input that does not fit the schema of its workflow is refused by whatever way it comes, and leaves nothing behind."""
        wrong, right = {"amount_cents": "12", "note": "long"}, {"amount_cents": 12}
        sentence = ("input does not fit the schema of workflow checked: /amount_cents: must be an integer, found a string; "
                    "/note: must have at most 3 characters, found 4")
        said = self.submit("checked", "checked-1", wrong, code=2)
        expect(sentence in said and "fairlead workflow show checked" in said, f"submit says {said}")
        expect("must be an object, found null" in self.run("submit", "checked", "--id", "checked-1", code=2), "without an input")
        put = ("PUT", "/v1/tasks/checked-1")
        problem = self.ask(400, "shop", *put, {"workflow": "checked", "input": wrong}, code="invalid_argument", pointer="/input/amount_cents")
        expect([(one["pointer"], one["sentence"]) for one in problem["errors"]] ==
               [("/input/amount_cents", "must be an integer, found a string"), ("/input/note", "must have at most 3 characters, found 4")],
               f"PUT says {problem}")
        self.ask(400, "shop", *put, {"workflow": "checked"}, pointer="/input")
        said = self.ask(200, "shop", "POST", "/v1/tasks:batch", {"tasks": [
            {"id": "checked-2", "workflow": "checked", "input": right}, {"id": "checked-3", "workflow": "checked", "input": []}]})["results"]
        expect([one["created"] for one in said] == [True, False] and "must be an object, found an array" in said[1]["error"], f"the batch: {said}")
        (lines := self.box.folder / "lines").write_text("".join(
            json.dumps({"id": task, "input": value}) + "\n" for task, value in (("checked-4", wrong), ("checked-5", right))))
        said = json.loads(self.run("submit", "checked", "--batch", lines, "--json", code=1))
        expect((said["submitted"], said["refused"]) == (1, 1) and sentence in said["refusals"][0]["error"], f"the lines: {said}")
        for task in ("checked-1", "checked-3", "checked-4"):
            self.run("task", "show", task, code=3)
        self.submit("checked", "checked-1", right, "--wait")

        job = self.box.folder / "job.yaml"
        job.write_text("job: checked\nschedule: \"0 0 1 1 *\"\nworkflow: checked\ninput: { amount_cents: \"${ .launch.nominal_utc }\" }\n")
        said = self.run("job", "deploy", job, code=2)
        expect("checked, input: the input does not fit the schema of workflow checked: /amount_cents: must be an integer" in said, f"job deploy says {said}")
        job.write_text("job: checked\nschedule: \"0 0 1 1 *\"\nworkflow: checked\ninput: { amount_cents: \"${ .launch.nominal_unix_s }\" }\n")
        self.run("job", "deploy", job)
        said = self.run("job", "run", "checked", "--input", json.dumps(wrong), code=2)
        expect(sentence in said, f"job run says {said}")

        (path := self.box.folder / "checked.yaml").write_text(WORKFLOWS["checked"].replace("type: integer, minimum: 1", "type: string"))
        self.run("workflow", "deploy", path)
        expect(not json.loads(self.submit("checked", "checked-1", right, "--json"))["created"], "what was taken is known as taken")
        expect("skipped: the input does not fit the schema" in self.run("job", "run", "checked", code=1), "a launch that does not fit any more is a skip")
        shown = fairlead_json("workflow", "show", "checked", node=self.node.address)["input"]
        expect(shown["properties"]["amount_cents"] == {"type": "string"}, f"workflow show has {shown}")
        path.write_text(WORKFLOWS["checked"].replace("maxLength: 3", "pattern: x"))
        done = fairlead("workflow", "check", path)
        expect(done.returncode == 2, f"workflow check: {done}")
        said = done.stdout + done.stderr
        expect("checked.yaml:7:36: input.properties.note.pattern: the time that a regular expression takes has no bound" in said, f"workflow check says {said}")


def run():
    with harness.sandbox("results") as box:
        here = results_scenario(box)
        for part in (here.told, here.settled, here.repeated, here.checked):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
