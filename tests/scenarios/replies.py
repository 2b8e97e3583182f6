#!/usr/bin/env python3
"""Tells submitters how their tasks go, over a real node: a client by name and a webhook, through refusals and kill -9."""

import http.server
import json
import threading

import harness
import place
from harness import expect, fairlead, wait_until

INPUT = '{"items": [{"sku": "NW-11", "quantity": 2}], "amount_cents": 2800, "address": {"city": "Reims"}}'


class receiver:
    """A webhook that remembers what came, and refuses while it is told to."""

    def __init__(self):
        self.refuse = False
        self.posts = []      # each a list of (task, sequence, kind)
        self.refused = 0
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if outer.refuse:
                    outer.refused += 1
                else:
                    outer.posts.append([(event["task"], event["sequence"], event["kind"]) for event in body["events"]])
                self.send_response(503 if outer.refuse else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    def fresh(self):
        """(task, sequence, kind) of what had not come before, by task and in order of arrival."""
        seen = {}
        for task, sequence, kind in (event for post in list(self.posts) for event in post):
            known = seen.setdefault(task, [])
            if all(sequence != other for other, _ in known):
                known.append((sequence, kind))
        return seen

    def has_end_of(self, tasks):
        seen = self.fresh()
        return all(any(kind == "completed" for _, kind in seen.get(task, [])) for task in tasks)


def submit(one, task, *options, code=0):
    done = fairlead("submit", "order", "--id", task, "--input", INPUT, *options, node=one.node.address, seconds=60)
    expect(done.returncode == code, f"submit {task} {options} ended with {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    return done


def replies(one, name, *options):
    done = fairlead("replies", name, "--json", *options, node=one.node.address)
    expect(done.returncode == 0, f"replies {name} ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def in_order(told, what):
    """Sequences 1, 2, … without a gap, from received to completed."""
    expect([sequence for sequence, _ in told] == list(range(1, len(told) + 1)), f"{what}: the sequences are {told}")
    expect(told[0][1] == "received" and told[-1][1] == "completed", f"{what}: it goes {told}")


def refusals(one, box):
    for options, says in ((("--reply-webhook", "ftp://host/x"), "does not begin with http"),
                          (("--reply-webhook", "http://user:pw@host/"), "user or a password"),
                          (("--reply-webhook", "http://host:99999/"), "no valid port"),
                          (("--reply-webhook", "http://" + "h" * 2050), "longer than 2048 bytes"),
                          (("--reply-client", "a b"), "client name"),
                          (("--reply-client", ""), "--reply-client is empty"),
                          (("--reply-client", "a", "--reply-webhook", "http://h/"), "--reply-webhook"),
                          (("--reply-steps",), "without a reply address")):
        done = submit(one, "refused", *options, code=2)
        expect(says in done.stderr, f"{options}: '{says}' is not in '{done.stderr}'")
    shown = fairlead("task", "show", "refused", node=one.node.address)
    expect(shown.returncode == 3, "a refused submission left a task behind")
    for arguments, code in ((("replies", "a b"), 2), (("replies", "a", "--keep", "--follow"), 2), (("replies",), 2)):
        done = fairlead(*arguments, node=one.node.address)
        expect(done.returncode == code, f"{arguments} ended with {done.returncode}: {done.stdout}{done.stderr}")
    batch = box.folder / "bad.jsonl"
    batch.write_text('{"id": "bad-reply", "reply": {"webhook": "gopher://h/"}}\n', encoding="utf-8")
    done = fairlead("submit", "order", "--batch", batch, "--json", node=one.node.address)
    answer = json.loads(done.stdout)
    expect(done.returncode == 1 and answer["refused"] == 1 and "webhook URL" in answer["refusals"][0]["error"], f"the batch: {done.stdout}")
    print("ok  what is no address is refused, and nothing is left of it", flush=True)


def a_client(one, box):
    for number in range(3):
        submit(one, f"c{number}", "--reply-client", "shop", "--reply-steps", "--wait")
    submit(one, "other", "--reply-client", "else", "--wait")
    batch = box.folder / "good.jsonl"
    lines = [{"id": "c3", "input": json.loads(INPUT)}, {"id": "quiet", "input": json.loads(INPUT), "reply": {"client": "batch"}}]
    batch.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = fairlead("submit", "order", "--batch", batch, "--wait", "--reply-client", "shop", "--reply-steps", node=one.node.address,
                    seconds=60)
    expect(done.returncode == 0, f"the batch: {done.stdout}{done.stderr}")

    kept = replies(one, "shop", "--keep")
    one.node.kill()
    one.node.start()
    taken = replies(one, "shop")
    expect(taken == kept, "what was kept is not what is given after a kill")
    expect(replies(one, "shop") == [], "what was taken comes again")
    for task in ("c0", "c1", "c2", "c3"):
        of_task = [event for event in taken if event["task"] == task]
        in_order([(event["sequence"], event["kind"]) for event in of_task], task)
        steps = [event["step"] for event in of_task if event["kind"] == "step" and event["step_state"] == "completed"]
        expect(steps == ["reserve", "charge", "ship"], f"{task}: the steps completed are {steps}")
    expect({event["task"] for event in taken} == {"c0", "c1", "c2", "c3"}, "another's events came")
    alone = replies(one, "batch")
    expect([(event["task"], event["kind"]) for event in alone] == [("quiet", "received"), ("quiet", "completed")], f"without steps: {alone}")
    text = fairlead("replies", "else", node=one.node.address)
    expect(text.returncode == 0 and "other" in text.stdout and "completed" in text.stdout, f"for people: {text.stdout}{text.stderr}")
    print("ok  a client fetches its events once, all and in order, and --keep leaves them", flush=True)


def same_task(one):
    submit(one, "same", "--reply-client", "first")
    submit(one, "same", "--reply-client", "first")
    submit(one, "same", "--reply-client", "second", code=4)
    print("ok  the same id with another reply address is another task, and refused", flush=True)


def a_webhook(one):
    hook = receiver()
    hook.refuse = True
    first = [f"w{number}" for number in range(20)]
    for task in first:
        submit(one, task, "--reply-webhook", hook.url, "--reply-steps")
    wait_until(lambda: hook.refused >= 2, 30, "the receiver is tried again")
    expect(not hook.posts, "a refused post counts as taken")
    hook.refuse = False
    second = [f"x{number}" for number in range(20)]
    for number, task in enumerate(second):
        submit(one, task, "--reply-webhook", hook.url, "--reply-steps")
        if number % 5 == 4:
            one.node.kill()
            one.node.start()
    wait_until(lambda: hook.has_end_of(first + second), 60, "every end has reached the webhook")
    for task, told in hook.fresh().items():
        in_order(told, task)
    wait_until(lambda: one.node.status() is not None, 10, "the node answers")
    posts = len(hook.posts)
    events = sum(len(post) for post in hook.posts)
    print(f"ok  {len(hook.fresh())} tasks told their webhook how they went, through {hook.refused} refusals and 4 kills: {events} events in "
          f"{posts} posts", flush=True)


def run():
    with harness.sandbox("replies") as box:
        services = harness.services(box, seed=1, max_seconds=300)
        one = place.place(box, "one", services)
        one.node.start()
        place.deploy(one.node)
        refusals(one, box)
        a_client(one, box)
        same_task(one)
        a_webhook(one)
        code, _ = one.node.end()
        expect(code == 0, f"the node ended with {code} after SIGTERM")
        checked = fairlead("store", "check", one.store, seconds=60)
        expect(checked.returncode == 0, f"`fairlead store check` ended with {checked.returncode}: {checked.stdout}{checked.stderr}")


if __name__ == "__main__":
    harness.main(run)
