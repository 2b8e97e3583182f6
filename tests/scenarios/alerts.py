#!/usr/bin/env python3
"""Alerts reach those who are meant to know: a webhook and a command, through a receiver that is away, a kill of the node between the post and
its record, and a flood. Operators list, show and acknowledge them."""

import http.server
import json
import threading

import harness
from harness import expect, fairlead, fairlead_json, wait_until

WORKFLOW = """workflow: doomed
on_failure: park
steps:
  charge:
    agent: bank
    call: charge
    with: {}
    attempts: 1
"""

AT_MOST = 5


class receiver(http.server.ThreadingHTTPServer):
    """Plays the webhook at /alerts, and at /charge the service that refuses everything for good."""

    daemon_threads = True
    # A flood of connections fits: those that are turned away come again after seconds.
    request_queue_size = 512

    def __init__(self):
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]
        self.posts = []        # (Idempotency-Key, message) of everything that arrived, answered or not
        self.answer = "200"    # or "503", or "never"
        self.closing = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def covered(self):
        """The numbers of all alerts that were told of, one by one or in a digest."""
        numbers = set()
        for _, message in list(self.posts):
            numbers |= set(numbers_of(message))
        return numbers

    def handle_error(self, *_):
        pass  # a client that goes away is what this is about


class handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = 422
        if self.path == "/alerts":
            self.server.posts.append((self.headers["Idempotency-Key"], json.loads(body)))
            if self.server.answer == "never":
                self.server.closing.wait(60)
                self.close_connection = True
                return
            code = int(self.server.answer)
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def numbers_of(message):
    if "digest" in message:
        return range(message["digest"]["first"], message["digest"]["last"] + 1)
    return [message["alert"]["number"]]


def write_files(box, hook, port):
    (box.folder / "doomed.yaml").write_text(WORKFLOW)
    script = box.folder / "page.sh"
    script.write_text(f'#!/bin/sh\n# Whole lines only, so that whoever reads sees no half of one.\ncat > "{box.folder}/one"\n'
                      f'echo "$1 $FAIRLEAD_ALERT_NUMBER $FAIRLEAD_ALERT_KIND $FAIRLEAD_ALERT_TASK $(cat "{box.folder}/one")" >> "{box.folder}/pages"\n')
    script.chmod(0o755)
    config = box.folder / "node.yaml"
    config.write_text(f"""node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
agents:
  bank:
    kind: http
    base_url: http://127.0.0.1:{hook.port}
    calls: {{ charge: {{ path: /charge }} }}
alerts:
  webhooks:
    ops: {{ url: "http://127.0.0.1:{hook.port}/alerts", at_most: {AT_MOST}, window: 2s }}
  commands:
    pager: {{ run: [{script}, --urgent], timeout: 5s }}
""")
    return config


def park(node, task):
    done = fairlead("submit", "doomed", "--id", task, "--input", "{}", node=node.address)
    expect(done.returncode == 0, f"submit {task}: {done.stderr}")


def alerts(node, *filters):
    return fairlead_json("alert", "list", *filters, node=node.address)["alerts"]


def reaches_both(box, node, hook):
    park(node, "t1")
    wait_until(lambda: hook.posts, 20, "the webhook is told of the parked task")
    key, message = hook.posts[0]
    expect(key == "fairlead-alert/n1/1", f"the key of the first alert is {key}")
    told = message["alert"]
    expect((message["node"], told["number"], told["kind"], told["state"], told["task"], told["workflow"])
           == ("n1", 1, "task_parked", "open", "t1", "doomed"), f"the webhook was told {message}")
    pages = box.folder / "pages"
    line = wait_until(lambda: pages.exists() and pages.read_text(), 20, "the command is run")
    expect(line.startswith("--urgent 1 task_parked t1 {"), f"the command was given {line!r}")
    expect(json.loads(line.split(" ", 4)[4]) == message, "the command and the webhook were told different things")
    print("ok  a parked task reaches the webhook and the command", flush=True)


def operators(node):
    one, = alerts(node)
    expect((one["number"], one["state"], one["task"]) == (1, "open", "t1"), f"alert list says {one}")
    expect(node.status()["alerts"]["unresolved"] == 1, "the status does not count the alert")
    done = fairlead("alert", "ack", "1", "99", "--by", "ana", "--note", "on it", node=node.address)
    expect(done.returncode == 3 and "99" in done.stderr, f"ack of an alert that is not there: {done.returncode} {done.stderr}")
    shown = fairlead_json("alert", "show", "1", node=node.address)
    expect((shown["state"], shown["acknowledged_by"], shown["note"]) == ("acknowledged", "ana", "on it"), f"alert show says {shown}")
    expect(alerts(node, "--state", "open") == [] and len(alerts(node, "--task", "t1")) == 1, "the filters of alert list do not hold")
    for words, code in ((("show", "99"), 3), (("show", "one"), 2), (("ack",), 2), (("list", "--state", "loud"), 2)):
        done = fairlead("alert", *words, node=node.address)
        expect(done.returncode == code and done.stderr, f"alert {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    print("ok  operators list, show and acknowledge", flush=True)


def killed_between_post_and_record(node, hook):
    """The post has arrived, the answer never has: after the restart it is posted again under the same key."""
    hook.answer = "never"
    seen = len(hook.posts)
    park(node, "t2")
    wait_until(lambda: len(hook.posts) > seen, 20, "the second alert is on its way")
    node.kill()
    hook.answer = "200"
    hook.closing.set()
    node.start()
    wait_until(lambda: len(hook.posts) > seen + 1, 20, "the second alert is posted again after the kill")
    again = [key for key, _ in hook.posts[seen:]]
    expect(again == ["fairlead-alert/n1/2"] * 2, f"posted around the kill: {again}")
    print("ok  an alert under way when the node is killed is delivered again, and no other", flush=True)


def receiver_away(box, node, hook):
    hook.answer = "503"
    park(node, "t3")
    wait_until(lambda: " 3 task_parked t3 " in (box.folder / "pages").read_text(), 20, "the command is told while the webhook fails")
    seen = wait_until(lambda: sum(3 in numbers_of(m) for _, m in hook.posts) >= 2 and len(hook.posts), 20, "the webhook is tried again")
    hook.answer = "200"
    wait_until(lambda: len(hook.posts) > seen, 20, "the webhook is tried until it answers")
    print("ok  a receiver that is away is tried again and delays nobody else", flush=True)


def flood(box, node, hook):
    tasks = box.folder / "flood.jsonl"
    harness.write_batch(tasks, [{"id": f"flood-{i}", "input": {}} for i in range(200)])
    before = len(hook.posts)
    done = fairlead("submit", "doomed", "--batch", tasks, node=node.address, seconds=60)
    expect(done.returncode == 0, f"submit --batch: {done.stderr}")
    wait_until(lambda: node.status()["alerts"]["unresolved"] == 203, 60, "all of the flood are parked", every=0.1)
    wait_until(lambda: hook.covered() == set(range(1, 204)), 60, "every alert of the flood is told of", every=0.1)
    sent = [message for _, message in hook.posts[before:]]
    expect(any("digest" in message for message in sent), "no digest was sent")
    expect(len(sent) < 100, f"{len(sent)} messages for 200 alerts")
    last = 3
    for message in sent:
        first, *_, newest = (*numbers_of(message), max(numbers_of(message)))
        expect(first <= last + 1 <= newest + 1, f"after alert {last} came {message}")
        last = max(last, newest)
    print(f"ok  {len(sent)} messages told of 200 alerts", flush=True)


def resolved(node, hook):
    done = fairlead("task", "cancel", "t1", "--by", "ana", "--reason", "not wanted any more", node=node.address)
    expect(done.returncode == 0, f"task cancel: {done.stderr}")
    wait_until(lambda: fairlead_json("alert", "show", "1", node=node.address)["state"] == "resolved", 20, "the alert is resolved")
    expect(all(one["number"] != 1 for one in alerts(node)) and any(one["number"] == 1 for one in alerts(node, "--all", "--limit", "1000")),
           "a resolved alert stands in the wrong lists")
    key, message = wait_until(lambda: next((one for one in hook.posts if one[1].get("event") == "resolved"), None), 20, "the webhook hears of the end")
    told = message["alert"]
    expect((key, told["number"], told["state"]) == ("fairlead-alert/n1/1/resolved", 1, "resolved") and told["resolved_at"], f"it heard {key} {message}")
    done = fairlead("brake", "release", "--by", "ana", node=node.address)
    expect(done.returncode == 1 and "brake" in done.stderr, f"release of a brake that is not on: {done.returncode} {done.stdout}{done.stderr}")
    print("ok  an alert is resolved with what it is about", flush=True)


def run():
    hook = receiver()
    with harness.sandbox("alerts") as box:
        port, = harness.free_ports(1)
        node = harness.node(box, write_files(box, hook, port), f"127.0.0.1:{port}")
        node.start()
        done = fairlead("workflow", "deploy", box.folder / "doomed.yaml", node=node.address)
        expect(done.returncode == 0, f"deploy: {done.stderr}")
        reaches_both(box, node, hook)
        operators(node)
        killed_between_post_and_record(node, hook)
        receiver_away(box, node, hook)
        flood(box, node, hook)
        resolved(node, hook)
        node.end()
        checked = fairlead("store", "check", box.folder / "store")
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
    return 0


if __name__ == "__main__":
    harness.main(run)
