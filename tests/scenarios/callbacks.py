#!/usr/bin/env python3
"""Callbacks of a real node whose API asks for tokens: a service accepts work and calls back without one, by a URL whose host is not the node's own. It
calls back late, early, twice, with other content, with faults, after its time, for an earlier round, and through kill -9; the task is cancelled
meanwhile; and what is forged, cut, too large or of a page of another site is refused. What was done is what the service has written down.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/callbacks.py
"""

import http.client
import http.server
import json
import os
import threading
import urllib.parse

import harness
import openapi
from api import api
from api_access import new_token
from harness import expect, fairlead, fairlead_json, wait_until
from workers import worker

HOST = "door.example"  # that the service is told; it connects to this machine

WORKFLOWS = {
    "sign": """workflow: sign
on_failure: park
steps:
  sign:
    agent: signer
    call: ask
    with: { task: "${ .task.id }", how: "${ .input.how? }" }
    timeout: 20s
    backoff: { first: 50ms, max: 50ms }
    callback: { timeout: 1h }
    undo: { call: withdraw, with: { task: "${ .task.id }" } }
  tell: { needs: sign, agent: signer, call: tell, with: { task: "${ .task.id }", signed: "${ .steps.sign }" }, undo: none }
""",
    "alone": """workflow: alone
on_failure: park
steps:
  sign: { agent: signer, call: ask, with: { task: "${ .task.id }", how: later }, callback: { timeout: 1h }, undo: none }
""",
    "brief": """workflow: brief
on_failure: park
steps:
  sign: { agent: signer, call: ask, with: { task: "${ .task.id }", how: later }, callback: { timeout: 700ms }, in_doubt: park, undo: none }
  tell: { needs: sign, agent: signer, call: tell, with: { task: "${ .task.id }", signed: "${ .steps.sign }" }, undo: none }
""",
    "again": """workflow: again
on_failure: park
steps:
  sign: { agent: signer, call: ask, with: { task: "${ .task.id }", how: later }, backoff: { first: 50ms, max: 50ms }, callback: { timeout: 700ms }, undo: none }
  tell: { needs: sign, agent: signer, call: tell, with: { task: "${ .task.id }", signed: "${ .steps.sign }" }, undo: none }
""",
    "rounds": """workflow: rounds
on_failure: park
steps:
  sign:
    agent: signer
    call: ask
    with: { task: "${ .task.id }", how: later }
    callback: { timeout: 1h }
    repeat: { until: "${ .steps.sign.last }", max: 5 }
    undo: none
  tell: { needs: sign, agent: signer, call: tell, with: { task: "${ .task.id }", signed: "${ .steps.sign }" }, undo: none }
""",
    "others": """workflow: others
on_failure: park
steps:
  typed: { agent: desk, call: type, with: null, callback: { timeout: 1h }, undo: none }
  worked: { agent: hand, call: carve, with: null, callback: { timeout: 1h }, undo: none }
  plain: { agent: hand, call: carve, with: null, undo: none }
""",
}
COMMAND = """#!/bin/sh
printf '%s\\n' "$FAIRLEAD_CALLBACK_URL" >> urls
"""


class signer:
    """The service: it accepts what it is asked for, and calls back when it is told to."""

    def __init__(self, port):
        self.port = port      # of the node's API
        self.requests = []    # in the order of coming
        self.answers = []     # to its callbacks: (status, what was said)
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"null")
                status, said = outer.take(urllib.parse.urlsplit(self.path), {name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(status)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, where, headers, body):
        one = {"path": where.path, "key": headers["idempotency-key"], "body": body, "task": body["task"], "attempt": int(headers["fairlead-attempt"]),
               "in_doubt": headers.get("fairlead-in-doubt"), "url": headers.get("fairlead-callback-url")}
        if where.path == "/ask":
            seen = {one["url"], headers["x-notify"], body["notify"], *urllib.parse.parse_qs(where.query)["then"]}
            expect(len(seen) == 1 and one["url"].startswith(f"http://{HOST}:{self.port}/base/v1/callbacks/"), f"the URL of the callback is {seen}")
        else:
            expect(one["url"] is None, f"{where.path} has a callback: {headers}")
        self.requests.append(one)
        how = body.get("how") or ""
        if how.startswith("early"):
            self.post(one["url"], {"signed": one["task"]})
        return (500, b"broken") if how == "early, then broken" else (202, b"<html>Thank you</html>")

    def of(self, task, path="/ask"):
        return [one for one in list(self.requests) if one["task"] == task and one["path"] == path]

    def latest(self, task, count=1):
        """The URL of the latest request about the task, once there are so many."""
        return wait_until(lambda: len(found := self.of(task)) >= count and found[-1]["url"], 30, f"the service is asked {count} times for {task}")

    def told(self, task):
        """What the step behind was given, each request under its key."""
        return {one["key"]: one["body"]["signed"] for one in self.of(task, "/tell")}

    def post(self, url, body=None, behind="", raw=None, method="POST", headers=None):
        """(status, what was said), over a connection of its own, as a proxy in front of the node passes it on."""
        where = urllib.parse.urlsplit(url)
        expect(where.path.startswith("/base/"), f"the base of {url}")
        path = where.path.removeprefix("/base") + behind
        sent = raw if raw is not None else json.dumps(body).encode()
        # A list is sent piece by piece: its length is not said before.
        chunked = isinstance(sent, list)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Host": where.netloc, **({"Content-Type": "application/json"} if sent else {}), **({"Transfer-Encoding": "chunked"} if chunked else {})}
        connection.request(method, path, iter(sent) if chunked else sent, {**given, **(headers or {})}, encode_chunked=chunked)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        said = json.loads(text) if text else None
        openapi.judge(method, path, answer.status, dict(answer.getheaders()), said, body if raw is None else None)
        self.answers.append((answer.status, said))
        return answer.status, said


class callbacks_scenario:
    def __init__(self, box):
        self.box = box
        port, self.port = harness.free_ports(2)
        self.service = signer(self.port)
        (command := box.folder / "type.sh").write_text(COMMAND)
        command.chmod(0o755)
        tokens = box.folder / "tokens.yaml"
        self.tokens = {name: new_token(tokens, name, "--role", role)["token"] for name, role in (("boss", "admin"), ("hand", "agent"))}
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
api: {{ listen: "127.0.0.1:{self.port}" }}
access: {{ tokens_file: {tokens} }}
callback_url: http://{HOST}:{self.port}/base/
agents:
  signer:
    kind: http
    base_url: {self.service.url}
    breaker: off
    retry: {{ tries: 1 }}
    calls:
      ask:
        path: "/ask?then={{callback_url}}"
        headers: {{ X-Notify: "{{callback_url}}" }}
        body: {{ task: "${{ .input.task }}", how: "${{ .input.how }}", notify: "${{ .callback_url }}" }}
      tell: {{ path: /tell, output: {{ told: true }} }}
      withdraw: {{ path: /withdraw, output: {{ withdrawn: true }} }}
  desk:
    kind: exec
    directory: {box.folder}
    environment: {{ PATH: "{os.environ['PATH']}" }}
    calls: {{ type: {{ command: [{command}] }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.begin()
        for name, text in WORKFLOWS.items():
            (path := box.folder / f"{name}.yaml").write_text(text)
            self.run("workflow", "deploy", path)

    def begin(self):
        self.node.start()
        wait_until(lambda: harness.port_in_use(self.port), 10, "the API is served")
        self.door = api(self.port)

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def ask(self, wanted, who, method, path, body=None, **more):
        return self.door.expect(wanted, method, path, body, {"Authorization": f"Bearer {self.tokens[who]}"}, **more)

    def submit(self, workflow, task, how="later"):
        self.run("submit", workflow, "--id", task, "--input", json.dumps({"how": how}))

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def until(self, task, check, what):
        def look():
            seen = self.shown(task)
            return seen if check(seen) else None
        return wait_until(look, 60, f"{task} {what}", every=0.05)

    def waits(self, task):
        return self.until(task, lambda seen: seen["steps"][0]["state"] == "waiting", "waits for its callback")

    def parks(self, task):
        return self.until(task, lambda seen: seen["parked"], "is parked")

    def ends(self, task, state="completed"):
        return self.until(task, lambda seen: seen["state"] == state, f"is {state}")

    def answer(self, wanted, url, body=None, behind="", result=None, code=None, **more):
        status, said = self.service.post(url, body, behind, **more)
        expect(status == wanted, f"a callback was answered with {status} and not with {wanted}: {said}")
        expect(result is None or said == {"result": result}, f"a callback was answered with {said} and not with {result}")
        expect(code is None or said["code"] == code, f"a callback was refused with {said} and not with {code}")
        return said

    def once(self, task, output, keys=1):
        """The task has ended: the service was asked under so many keys, and what it said was told under one."""
        ended = self.ends(task)
        expect(ended["steps"][0]["output"] == output, f"{task}: the output is {ended['steps'][0]['output']}")
        expect(len({one["key"] for one in self.service.of(task)}) == keys, f"{task}: the service was asked {self.service.of(task)}")
        told = self.service.told(task)
        expect(list(told.values()) == [output], f"{task}: told was {told}")
        return ended

    # ---- parts ----

    def late(self):
        """The callback comes long after the agent's answer."""
        self.submit("sign", "late-1")
        url = self.service.latest("late-1")
        seen = self.waits("late-1")
        step = seen["steps"][0]
        expect(step["waits_for"].startswith("waits for its callback until ") and step["not_before"] and not step["complete_by"], f"{step}")
        expect(step["doubtful"] and step["fault"]["code"] == "callback_awaited" and step["output"] is None, f"{step}")
        expect([one["end"] for one in step["attempts"]] == ["accepted"], f"{step['attempts']}")
        text = self.run("task", "show", "late-1")
        expect("waits for its callback until " in text and "callback_awaited" not in text.split("History")[0], f"the text: {text}")
        expect([one["command"].split()[2] for one in seen["what_helps"]] == ["retry", "settle", "settle"], f"{seen['what_helps']}")
        shown = fairlead_json("agent", "show", "signer", node=self.node.address)
        expect(all(one["held"] == 0 for one in shown["instances"]), f"the agent holds nothing: {shown}")
        expect(not self.service.told("late-1"), "nothing follows before the callback")
        output = {"at": "2026-12-24", "sum": 12345678901234567890}
        self.answer(200, url, output, result="accepted")
        ended = self.once("late-1", output)
        events = [(one["event"], one["who"]) for one in ended["history"] if one["event"] in ("step_accepted", "step_answered")]
        expect(events == [("step_accepted", ""), ("step_answered", "127.0.0.1")], f"{ended['history']}")
        self.submit("sign", "late-2")
        url = self.service.latest("late-2")
        self.waits("late-2")
        self.answer(200, url, raw=b"", result="accepted")
        self.once("late-2", None)

    def twice(self):
        """The same again changes nothing, and something else is refused."""
        self.submit("sign", "twice-1")
        url = self.service.latest("twice-1")
        self.waits("twice-1")
        self.answer(200, url, raw=b'{"n": 1}', result="accepted")
        self.answer(200, url, raw=b' {"n":1}\n', result="repeated")
        self.once("twice-1", {"n": 1})
        self.answer(200, url, {"n": 1}, result="repeated")
        self.answer(422, url, {"n": 2}, code="key_reused")
        self.answer(422, url, {"kind": "permanent"}, "/fail", code="key_reused")
        self.once("twice-1", {"n": 1})

    def early(self):
        """The service calls back before it answers; the callback counts whatever it answers then."""
        for task, how in (("early-1", "early"), ("early-2", "early, then broken")):
            self.submit("sign", task, how)
            ended = self.once(task, {"signed": task})
            expect(len(self.service.of(task)) == 1, f"{task}: one request was enough: {self.service.of(task)}")
            kept = [one["detail"] for one in ended["history"] if one["event"] == "step_answered"]
            expect(kept == ["it counts once the attempt in progress has ended"], f"{ended['history']}")
        expect([one for one in self.service.answers if one[1] == {"result": "kept"}] == [(200, {"result": "kept"})] * 2, f"{self.service.answers}")

    def faults(self):
        """The work was not done: the key is over, and so is its URL."""
        self.submit("sign", "fault-1")
        first = self.service.latest("fault-1")
        self.waits("fault-1")
        self.answer(200, first, {"kind": "transient", "code": "busy"}, "/fail", result="accepted")
        second = self.service.latest("fault-1", 2)
        self.waits("fault-1")
        expect(first != second, "another attempt has another URL")
        self.answer(422, first, 1, code="key_reused")
        self.answer(200, first, {"code": "busy", "kind": "transient"}, "/fail", result="repeated")
        self.answer(200, second, {"code": "declined", "message": "not today"}, "/fail", result="accepted")
        seen = self.parks("fault-1")
        fault = seen["steps"][0]["fault"]
        expect((fault["kind"], fault["code"], fault["message"]) == ("permanent", "declined", "not today"), f"{fault}")
        expect(not seen["steps"][0]["doubtful"], f"nothing is in doubt: {seen['steps'][0]}")
        self.run("task", "retry", "fault-1", "sign")
        self.answer(200, self.service.latest("fault-1", 3), 3, result="accepted")
        self.once("fault-1", 3, keys=3)

    def untimely(self):
        """No callback comes in time."""
        self.submit("brief", "brief-1")
        seen = self.parks("brief-1")
        expect(seen["steps"][0]["fault"]["code"] == "callback_timeout" and seen["steps"][0]["doubtful"], f"{seen['steps'][0]}")
        self.answer(200, self.service.latest("brief-1"), "after all", result="accepted")
        self.once("brief-1", "after all")
        self.submit("again", "again-1")
        self.service.latest("again-1", 3)
        asked = self.service.of("again-1")
        expect(len({(one["key"], one["url"]) for one in asked}) == 1 and [one["attempt"] for one in asked][:3] == [1, 2, 3],
               f"it is asked again under the same key, with the same URL: {asked}")
        status, said = self.service.post(asked[0]["url"], {"signed": True})
        expect(status == 200 and said["result"] in ("accepted", "kept"), f"{status} {said}")
        self.once("again-1", {"signed": True})
        # A step that an operator has settled, and a task that has ended.
        self.submit("sign", "settled-1")
        url = self.service.latest("settled-1")
        self.waits("settled-1")
        self.run("task", "settle", "settled-1", "sign", "--completed", '"by hand"', "--reason", "called them")
        self.answer(409, url, 1, code="wrong_state")
        self.once("settled-1", "by hand")
        self.answer(409, url, 1, code="wrong_state")

    def operators(self):
        """A retry sends it again at once under the same key; pause holds what follows; a callback counts meanwhile."""
        self.submit("sign", "again-2")
        first = self.service.latest("again-2")
        self.waits("again-2")
        self.run("task", "retry", "again-2", "sign")
        expect(self.service.latest("again-2", 2) == first, "the same URL")
        self.waits("again-2")
        self.run("task", "pause", "again-2")
        self.answer(200, first, "in the pause", result="accepted")
        expect(self.shown("again-2")["steps"][0]["state"] == "completed" and not self.service.told("again-2"), "the step behind waits")
        self.run("task", "resume", "again-2")
        self.once("again-2", "in the pause")
        # Who says that it never happened ends the key, and a URL that was not used with it.
        self.submit("sign", "never-1")
        first = self.service.latest("never-1")
        self.waits("never-1")
        self.run("task", "settle", "never-1", "sign", "--never-happened", "--reason", "they know nothing of it")
        second = self.service.latest("never-1", 2)
        expect(first != second, "another URL")
        for behind in ("", "/fail"):
            said = self.answer(409, first, {}, behind, code="wrong_state")
            expect("earlier performance of step sign of task never-1" in said["detail"], f"{said}")
        self.waits("never-1")
        self.answer(200, second, 2, result="accepted")
        self.once("never-1", 2, keys=2)

    def rounds(self):
        """Each round has a URL of its own."""
        self.submit("rounds", "rounds-1")
        urls = []
        for number in (1, 2, 3):
            urls.append(self.service.latest("rounds-1", number))
            self.waits("rounds-1")
            for former in urls[:-1]:
                is_latest = former == urls[-2]  # that was taken
                self.answer(422 if is_latest else 409, former, {"last": True}, code="key_reused" if is_latest else "wrong_state")
            self.answer(200, urls[-1], {"last": number == 3, "n": number}, result="accepted")
        expect(len(set(urls)) == 3, f"{urls}")
        self.once("rounds-1", {"last": True, "n": 3}, keys=3)

    def cancelled(self):
        """The task is cancelled while it waits: its step may have been done."""
        self.submit("sign", "cancel-1")
        url = self.service.latest("cancel-1")
        self.waits("cancel-1")
        self.run("task", "cancel", "cancel-1")
        self.ends("cancel-1", "undone")
        found = self.service.of("cancel-1", "/withdraw")
        expect([one["in_doubt"] for one in found] == ["true"], f"{found}")
        self.answer(409, url, 1, code="wrong_state")
        expect(not self.service.told("cancel-1"), "nothing follows")

    def refused(self):
        """What nobody gave out, or is no JSON, changes nothing."""
        self.submit("alone", "door-1")
        url = self.service.latest("door-1")
        self.waits("door-1")
        base, text = url.rsplit("/", 1)
        other = self.service.latest("cancel-1").rsplit("/", 1)[1]
        swapped = {"A": "B"}
        forged = [text[:-1] + swapped.get(text[-1], "A"), text[:20] + swapped.get(text[20], "A") + text[21:], text[:-1], text + "AA", text[:-22] + other[-22:],
                  "x", "A" * 40]
        for wrong in forged:
            for behind in ("", "/fail"):
                self.answer(404, f"{base}/{wrong}", {}, behind, code="not_found")
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            for behind in ("", "/fail"):
                self.answer(405, url, behind=behind, method=method, raw=b"", code="method_not_allowed")
        for behind in ("", "/fail"):
            self.answer(403, url, {}, behind, headers={"Origin": "https://evil.example"}, code="cross_origin")
            self.answer(403, url, {}, behind, headers={"Sec-Fetch-Site": "cross-site"}, code="cross_origin")
            self.answer(421, url, {}, behind, headers={"Host": "evil.example"}, code="misdirected")
            self.answer(415, url, {}, behind, headers={"Content-Type": "text/plain"}, code="unsupported_media_type")
            self.answer(400, url, raw=b"{", behind=behind, code="invalid_argument")
            self.answer(400, url, {}, behind + "?why=1", code="invalid_argument")
            self.answer(413, url, raw=[b'"', *[b"a" * 65_536] * 16, b'"'], behind=behind, code="too_large")
        known = {"Authorization": f"Bearer {self.tokens['boss']}"}
        self.answer(413, url, raw=b'"' + b"a" * 1_048_575 + b'"', headers=known, code="too_large")
        for body in ({"kind": "in_doubt"}, {"code": "a" * 65}, {"message": "a" * 1_025}, {"codes": "x"}, [1]):
            self.answer(400, url, body, "/fail", code="invalid_argument")
        expect(self.shown("door-1")["steps"][0]["state"] == "waiting", "it waits all the same")
        # As large as it may be, with a type of its own, and with a token that nobody knows.
        output = "a" * 1_048_574
        self.answer(200, url, output, result="accepted", headers={"Content-Type": "application/cloudevents+json", "Authorization": "Bearer x"})
        ended = self.ends("door-1")
        expect(ended["steps"][0]["output"] == output, "the whole of it is the output")

    def others(self):
        """A command and a worker over HTTP get the URL, too; a step without a callback has none."""
        hand = worker(self.port, "hand", "hand-1", calls=("carve",), token=self.tokens["hand"], capacity=4)
        hand.register()
        self.submit("others", "others-1")
        found = {one["step"]: one for one in hand.until(2)}
        expect(found["plain"]["callback_url"] is None, f"{found['plain']}")
        urls = self.box.folder / "urls"
        typed = wait_until(lambda: urls.exists() and urls.read_text().split(), 30, "the command has its URL")
        expect(set(hand.complete(list(found.values()))) == {"accepted"}, "the worker accepts")
        seen = self.until("others-1", lambda seen: [one["state"] for one in seen["steps"]] == ["waiting", "waiting", "completed"], "waits twice")
        expect(seen["steps"][1]["output"] is None, "what the worker said is no output")
        self.answer(200, typed[0], "typed", result="accepted")
        self.answer(200, found["worked"]["callback_url"], "worked", result="accepted")
        ended = self.ends("others-1")
        expect([one["output"] for one in ended["steps"][:2]] == ["typed", "worked"], f"{ended['steps']}")
        hand.end()

    def killed(self):
        """kill -9 between acceptance and callback, and right behind the answer to one: nothing is lost, and nothing is done twice."""
        waiting = [f"kill-{number}" for number in range(8)]
        answered = [f"told-{number}" for number in range(8)]
        for task in waiting + answered:
            self.submit("sign", task)
        for task in waiting + answered:
            self.service.latest(task)
            self.waits(task)
        for task in answered:
            self.answer(200, self.service.latest(task), task, result="accepted")
        self.node.kill()
        self.begin()
        for task in answered:
            self.answer(200, self.service.latest(task), task, result="repeated")
        for task in waiting:
            expect(self.shown(task)["steps"][0]["state"] == "waiting", f"{task} waits on behind a restart")
            self.answer(200, self.service.latest(task), task, result="accepted")
        for task in waiting + answered:
            self.once(task, task)
            expect(len(self.service.of(task)) == 1, f"{task}: the service was asked once: {self.service.of(task)}")

    def noted(self):
        """The audit has who called back for which step; neither it nor the log has a URL."""
        _, page = self.ask(200, "boss", "GET", "/v1/audit?verb=callback&object=fault-1&page_size=1000")
        noted = [(one["path"], one["reason"], one["from"], one["who"], one["status"], one["code"]) for one in reversed(page["items"])]
        path, step = "/v1/callbacks/{callback}", "step 1 of the workflow"
        expect(noted == [(path + "/fail", step, "127.0.0.1", None, 200, None), (path, step, "127.0.0.1", None, 422, "key_reused"),
                         (path + "/fail", step, "127.0.0.1", None, 200, None), (path + "/fail", step, "127.0.0.1", None, 200, None),
                         (path, step, "127.0.0.1", None, 200, None)], f"{noted}")
        texts = {one["url"].rsplit("/", 1)[1] for one in self.service.requests if one["url"]}
        kept = self.node.log.read_text(errors="replace")
        for file in (self.box.folder / "store").rglob("*.jsonl"):
            kept += file.read_text()
        expect(path in kept, "the audit is among what is looked at")
        for task in ("late-1", "early-2", "fault-1", "cancel-1"):
            kept += json.dumps(self.shown(task))
        expect(not [text for text in texts if text in kept], "a URL is in the log, the audit or a task")


def run():
    with harness.sandbox("callbacks") as box:
        here = callbacks_scenario(box)
        for part in (here.late, here.twice, here.early, here.faults, here.untimely, here.operators, here.rounds, here.cancelled, here.refused, here.others,
                     here.killed, here.noted):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    openapi.check("callbacks").write()
    return 0


if __name__ == "__main__":
    harness.main(run)
