#!/usr/bin/env python3
"""The demonstration on three nodes that hold one shard together: orders run, and a job launches one more every second, while the node that leads
is killed with `kill -9` again and again.

Ends with a table and an audit from the services' own records, which knows each second at which the job had to launch; exits with 0 when the audit
held, 1 when it did not, 75 when a port is taken.
"""

import json
import math
import sys
import time

import cluster_demo
import cluster_nodes
import demo
import faked_clock
import harness
import launches
import progress
import replicated_nodes
from harness import expect, fairlead, wait_until

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402

ACTS = 5  # each with a leader that is killed
JOB = "every-second"
ORDER = {"items": [{"sku": "NW-11", "quantity": 1}], "amount_cents": 1400, "address": {"city": "Reims"}}


class show(cluster_demo.show):
    """Two nodes are enough for a whole count, but not before one of them leads."""

    def take(self, status):
        if status is not None and all(shard["up"] for shard in status["shards"]):
            demo.show.take(self, status)


class stage(cluster_demo.stage):
    def __init__(self, *given):
        super().__init__(*given, victims=("leader",) * ACTS)
        self.gaps = []   # seconds without a leader
        self.kills = []  # Unix time

    def _kill(self, _name):
        self.leader_ = self.whole.wait_for_leader()
        super()._kill(self.leader_)
        self.kills.append(time.time())
        since = time.monotonic()
        self._until(lambda: self.whole.leader() not in (None, self.leader_))
        self.gaps.append(time.monotonic() - since)
        self.screen.say(f"{self.whole.wait_for_leader()} leads, {self.gaps[-1]:.1f} s after the kill")

    def _start(self, _name, number):
        super()._start(self.leader_, number)


def start_job(box, whole):
    (file := box.folder / "job.yaml").write_text(f'''job: {JOB}
schedule: "* * * * * *"
workflow: order
input: {json.dumps(ORDER)}
overlap: allow
catch_up: all
''')
    done = fairlead("job", "deploy", file, node=whole.address)
    expect(done.returncode == 0, f"the job could not be deployed: {done.stdout}{done.stderr}")


def launched(whole):
    """The times of a paused job go on to be recorded, as skipped."""
    return [one for one in launches.history(whole.address, JOB) if one["skip"] != "paused"]


def end_job(whole):
    """Gives the tasks that the job had to launch, one for each second since it was deployed, and when each launch was recorded."""
    created = json.loads(fairlead("job", "show", JOB, "--json", node=whole.address).stdout)["created_at"]
    done = fairlead("job", "pause", JOB, "--reason", "the demo ends", node=whole.address)
    expect(done.returncode == 0, f"the job could not be paused: {done.stdout}{done.stderr}")
    paused = math.floor(time.time())
    first = math.floor(faked_clock.unix(created)) + 1

    def last():
        records = launched(whole)
        return None if any(one["state"] in ("waiting", "started") for one in records) else math.floor(faked_clock.unix(records[-1]["nominal"]))
    newest = wait_until(last, 60, "all launches of the job have ended", every=0.1)
    expect(paused - 2 <= newest <= paused, f"the last launch is that of {faked_clock.utc(newest)}, and the job was paused at {faked_clock.utc(paused)}")
    due = [{"id": launches.name_of(JOB, faked_clock.utc(second)), "input": ORDER} for second in range(first, newest + 1)]
    return due, [faked_clock.unix(one["recorded_at"]) for one in launched(whole)]


def longest_wait(kills, recorded):
    return max(min(moment for moment in recorded if moment >= kill) - kill for kill in kills)


def run():
    options = demo.arguments(__doc__.splitlines()[0], harness.ROOT / "data" / "replicated_demo", "./dev demo --replicated")
    chosen = demo.choose_orders(options)
    if taken := cluster_nodes.ports_taken(replicated_nodes.FIXED_PORTS):
        print(taken, file=sys.stderr)
        return 75
    with harness.sandbox("replicated_demo", options.folder) as box:
        screen = show(len(chosen), progress.progress(), len(replicated_nodes.NAMES))
        services = harness.services(box, replicated_nodes.SERVICE_PORTS, seed=options.seed, slow=0.05, unavailable=0.05, drop_before=0.02, drop_after=0.02,
                                    refuse=demo.REFUSED, work_seconds=(0.1, 0.4), max_seconds=600)
        screen.say("three services are up: inventory 7101, payment 7102, shipping 7103; 5 % slow, 5 % 503, 4 % dropped connections")
        screen.say(f"{demo.REFUSED:.0%} of the orders fail for good, at payment or at shipping, and are undone".replace("%", " %"))
        whole = replicated_nodes.trio(box, replicated_nodes.SERVICE_PORTS, fixed=True)
        leader = whole.start(60)
        whole.deploy(harness.ROOT / "config" / "workflows" / "order.yaml")
        start_job(box, whole)
        screen.take(whole.status())
        screen.say(f"three nodes hold one shard, and {leader} leads it; a job launches an order every second; submitting {len(chosen)} orders")
        screen.happening = "all processes run"
        history = harness.history(box.folder / "history.jsonl")
        history.add_orders(chosen)
        scene = stage(box, whole, services, screen, chosen)
        scene.play()
        launched, recorded = end_job(whole)
        history.add_orders(launched)
        history.add("acknowledged", [one["id"] for one in launched])
        answer = scene.answers(history)
        history.add_ends(whole.tasks())
        whole.end()
        verdict = audit.judge(services.records(), history.events)
        demo.print_result(verdict, answer, [("launches of the job", len(launched)), ("leaders killed", len(scene.gaps)),
                                            ("longest time without a leader (s)", f"{max(scene.gaps):.1f}"),
                                            ("longest from a kill to the next launch (s)", f"{longest_wait(scene.kills, recorded):.1f}")])
    return 0 if verdict.held() else 1


if __name__ == "__main__":
    harness.main(run)
