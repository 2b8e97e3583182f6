#!/usr/bin/env python3
"""The demonstration: orders run through three unreliable services while the node that runs them is killed and started again.

Some orders can never be carried out: a card is declined, an address is unknown. What was done of those is undone.

Ends with a table and an audit from the services' own records; exits with 0 when the audit held, 1 when it did not, 75 when a port is taken.
"""

import argparse
import itertools
import json
import pathlib
import sys
import time

import harness
import node_file
import orders
import progress
from harness import expect, fairlead

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402

NODE_PORT = 7100
SERVICE_PORTS = (7101, 7102, 7103)
LIMIT_SECONDS = 115
REFUSED = 0.08  # the share of orders that fail for good
DOWN_SECONDS = 1.0  # how long the node stays away, so that one sees it


class show:
    """What the person watching sees: counts as the node last gave them, and what is happening."""

    def __init__(self, total, lines):
        self.total = total
        self.counts = {}
        self.up = False
        self.happening = "starting"
        self.began = time.monotonic()
        self.lines_ = lines
        self.marks_ = []  # (moment, ended), of the last seconds

    def take(self, status):
        self.up = status is not None
        if status is not None:
            self.counts = status["counts"]
            self.marks_ = self.marks_[-20:] + [(time.monotonic(), self.ended())]

    def completed(self):
        return self.counts.get("completed", 0) + self.counts.get("archived", 0)

    def ended(self):
        return self.completed() + self.counts.get("undone", 0) + self.counts.get("parked", 0)

    def say(self, text):
        self.lines_.say(f"{self._clock()} {text}")

    def nodes(self):
        return f"node {'up  ' if self.up else 'DOWN'}"

    def draw(self):
        parked = self.counts.get("parked", 0)
        running = max(0, self.counts.get("running", 0) + self.counts.get("undoing", 0) - parked)
        self.lines_.draw(f"{self._clock()} {self.nodes()} {self.lines_.bar(self.ended(), self.total)} "
                         f"{self.completed()}/{self.total} completed, {self.counts.get('undone', 0)} undone, {running} running, "
                         f"{self.counts.get('pending', 0)} pending, {parked} parked, {self._rate():.0f}/s | {self.happening}")

    def _rate(self):
        if len(self.marks_) < 2 or not self.up:
            return 0.0
        (first, before), (last, now) = self.marks_[0], self.marks_[-1]
        return max(0.0, (now - before) / max(last - first, 0.001))

    def _clock(self):
        return f"{time.monotonic() - self.began:5.1f} s"


def run():
    options = arguments()
    chosen = choose_orders(options)
    taken = [port for port in (NODE_PORT, *SERVICE_PORTS) if harness.port_in_use(port)]
    if taken:
        print(f"port {', '.join(map(str, taken))} on 127.0.0.1 is in use; the demo wants {NODE_PORT} for the node and 7101 to 7103 for the "
              f"services. Is another demo or node running?", file=sys.stderr)
        return 75
    with harness.sandbox("demo", options.folder) as box:
        screen = show(len(chosen), progress.progress())
        services = harness.services(box, SERVICE_PORTS, seed=options.seed, slow=0.05, unavailable=0.05, drop_before=0.02, drop_after=0.02,
                                    refuse=REFUSED, work_seconds=(0.1, 0.4), max_seconds=600)
        screen.say("three services are up: inventory 7101, payment 7102, shipping 7103; 5 % slow, 5 % 503, 4 % dropped connections")
        screen.say(f"{REFUSED:.0%} of the orders fail for good, at payment or at shipping, and are undone".replace("%", " %"))
        config = node_file.derive(harness.ROOT / "config" / "single.yaml", box.folder / "node.yaml",
                                  settings={"store.path": "store"})
        node = harness.node(box, config, f"127.0.0.1:{NODE_PORT}")
        screen.take(node.start())
        deploy(node)
        screen.say(f"the node is up; submitting {len(chosen)} orders")
        client, history = submit(box, node, chosen)
        resumed = watch(node, client, screen)
        answer = finish(box.folder, client, history, chosen)
        tasks = node.tasks()
        history.add_ends(tasks)
        screen.take(node.status())
        code, _ = node.end()
        expect(code == 0, f"the node ended with {code} after SIGTERM")
        verdict = audit.judge(services.records(), history.events)
        print_result(verdict, answer, [("tasks resumed after the kill", resumed)])
        print_next(box.folder, chosen, tasks)
    return 0 if verdict.held() else 1


def arguments(what=__doc__.splitlines()[0], folder=harness.ROOT / "data" / "demo", program="./dev demo"):
    parser = argparse.ArgumentParser(prog=program, description=what)
    parser.add_argument("--orders", metavar="FILE", help="JSON lines with order_id, items, amount_cents and address, instead of made-up orders")
    parser.add_argument("--count", type=int, help="how many orders; 1,000, or all of the file, when nothing is said")
    parser.add_argument("--seed", type=int, default=1, help="of the made-up orders and the services' faults")
    parser.add_argument("--folder", type=pathlib.Path, default=folder, help="emptied, and left with all that came of it")
    options = parser.parse_args()
    if options.count is not None and options.count < 1:
        parser.error("--count wants at least 1")
    return options


def choose_orders(options):
    if options.orders is None:
        return list(orders.made_up(options.count or 1000, options.seed))
    try:
        chosen = list(itertools.islice(orders.from_file(options.orders), options.count))
    except (OSError, ValueError) as error:
        sys.exit(f"--orders: {error}")
    if not chosen:
        sys.exit(f"--orders: there is no order in {options.orders}")
    return chosen


def deploy(node):
    done = fairlead("workflow", "deploy", harness.ROOT / "config" / "workflows" / "order.yaml", node=node.address)
    expect(done.returncode == 0, f"the workflow could not be deployed: {done.stderr.strip()}")


def submit(box, node, chosen):
    """Starts the client, which stays on through the node's death."""
    history = harness.history(box.folder / "history.jsonl")
    history.add_orders(chosen)
    harness.write_batch(box.folder / "orders.jsonl", chosen)
    return start_client(box, node), history


def start_client(box, node, batch="orders", answer="submit"):
    """On a batch that was written; one that was given before is the same tasks."""
    with open(box.folder / f"{answer}.json", "wb") as out, open(box.folder / f"{answer}.log", "wb") as log:
        return box.start([harness.BINARY, "submit", "order", "--batch", box.folder / f"{batch}.jsonl", "--wait", "--json", "--quiet", "--node",
                          node.address], stdout=out, stderr=log)


def watch(node, client, screen):
    """Shows progress to the end, kills the node when half is completed; gives the number of tasks it took up again."""
    resumed = None
    screen.happening = "reserve, charge, ship; refund and release where that fails"
    while client.poll() is None:
        screen.take(node.status())
        screen.draw()
        if resumed is None and screen.completed() >= screen.total // 2:
            resumed = kill_and_restart(node, screen)
        expect(screen.up, f"the node does not answer any more: {node.last_words()}")
        expect(time.monotonic() - screen.began < LIMIT_SECONDS, f"not ended after {LIMIT_SECONDS} s: {screen.counts}")
        time.sleep(0.1)
    expect(resumed is not None, "everything had ended before the node could be killed: try a greater --count")
    return node.status()["resumed_tasks"]


def kill_and_restart(node, screen):
    node.kill()
    screen.up = False
    screen.say(f"kill -9 of the node (process {node.process.pid}) with {screen.completed()} of {screen.total} orders completed")
    screen.happening = "the node is dead, the services and the client are still there"
    back = time.monotonic() + DOWN_SECONDS
    while time.monotonic() < back:
        screen.draw()
        time.sleep(0.1)
    status = node.start()
    screen.take(status)
    screen.say(f"the node is back (process {node.process.pid}) and goes on from its store")
    screen.happening = "going on from the last durable state"
    return status["resumed_tasks"]


def finish(folder, client, history, chosen, answer="submit"):
    """Takes the client's own account into the history."""
    log = folder / f"{answer}.log"
    try:
        answer = json.loads((folder / f"{answer}.json").read_text(encoding="utf-8"))
    except ValueError:
        words = log.read_text(encoding="utf-8").strip()
        raise harness.scenario_failed(f"`fairlead submit` ended with {client.returncode} and gave no result: {words}") from None
    told = answer["submitted"] + answer["already"] + answer["refused"]
    expect(told == len(chosen), f"`fairlead submit` says what became of {told} of {len(chosen)} orders")
    refused = {refusal["id"] for refusal in answer["refusals"]}
    history.add("acknowledged", [order["id"] for order in chosen if order["id"] not in refused])
    return answer


def print_result(verdict, answer, more):
    counts = verdict.counts
    rows = [("orders acknowledged", counts["acknowledged"]), ("completed", counts["completed"]),
            ("refused for good by a service", counts["refused for good"]), ("undone", counts["undone"]),
            ("undone, and still charged or reserved", counts["undone with something left"] or "none"), ("parked", counts["parked"]),
            ("tries (requests that reached a service)", counts["requests"]),
            ("seconds", f"{answer['seconds']:.1f}"), *more]
    if answer["refused"]:
        rows.insert(1, ("orders refused", answer["refused"]))
    width = max(len(name) for name, _ in rows)
    print()
    for name, value in rows:
        print(f"  {name:<{width}}  {value:>8}")
    print()
    print(audit.table(verdict))
    print("\nThe audit held." if verdict.held() else "\nTHE AUDIT DID NOT HOLD.")


def print_next(folder, chosen, tasks):
    undone = [task["id"] for task in tasks if task["state"] == "undone"]
    folder, binary = (path.relative_to(harness.ROOT) if path.is_relative_to(harness.ROOT) else path for path in (folder, harness.BINARY))
    print(f"""
What to try next:
  {binary} store check {folder}/store
  {binary} node --config {folder}/node.yaml &
  {binary} task list --state undone --limit 5
  {binary} task show {undone[0] if undone else chosen[0]['id']}
  less {folder}/node.log""")


if __name__ == "__main__":
    harness.main(run)
