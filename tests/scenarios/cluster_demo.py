#!/usr/bin/env python3
"""The demonstration on a cluster: orders run through three unreliable services while each kind of process is killed in turn.

Two nodes hold a shard each, two run the agents. Killed with `kill -9` and started again are an agent node, a shard node, the other agent node,
the other shard node, and the client, while orders run.

Ends with a table and an audit from the services' own records; exits with 0 when the audit held, 1 when it did not, 75 when a port is taken.
"""

import sys
import time

import cluster_nodes
import demo
import harness
import progress
from harness import expect

sys.path.insert(0, str(harness.SERVICES))
import audit  # noqa: E402

LIMIT_SECONDS = 170
VICTIMS = ("agents-a", "shard-b", "agents-b", "shard-a", "client")  # one in each act
LOOK_SECONDS = 0.5  # between two looks at the cluster


class show(demo.show):
    """Of all nodes at once. While a shard is away its tasks are not counted by anybody, so that the last whole count stands."""

    def __init__(self, total, lines, nodes=len(cluster_nodes.NAMES)):
        super().__init__(total, lines)
        self.down = set()
        self.all_ = nodes

    def nodes(self):
        return f"{self.all_ - len(self.down)} of {self.all_} nodes"

    def take(self, status):
        if not self.down:
            super().take(status)


class stage:
    """One act for each that is killed: a part of the orders is submitted, and the kill comes while they run, however fast the machine is."""

    def __init__(self, box, whole, services, screen, chosen, victims=VICTIMS):
        self.box, self.whole, self.services, self.screen, self.victims = box, whole, services, screen, victims
        share = -(-len(chosen) // len(victims))
        self.parts = [chosen[at:at + share] for at in range(0, len(chosen), share)]
        expect(len(self.parts) == len(victims), f"{len(chosen)} orders are too few for {len(victims)} acts: try a greater --count")
        self.clients = []
        self.looked = 0.0

    def play(self):
        """Returns when all clients have ended by themselves."""
        before = 0
        for number, (victim, part) in enumerate(zip(self.victims, self.parts)):
            harness.write_batch(self.box.folder / f"orders-{number}.jsonl", part)
            self.clients.append(self._client(number))
            # Stragglers of the acts before are not waited for.
            self._until(lambda: self._ended() >= 0.8 * before + 0.3 * len(part))
            before += len(part)
            expect(self._ended() < before, f"all orders had ended before {victim} could be killed")
            self._kill(victim)
            back = time.monotonic() + demo.DOWN_SECONDS
            self._until(lambda: time.monotonic() >= back)
            self._start(victim, number)
        self._until(lambda: all(client.poll() is not None for client in self.clients))
        self._until(lambda: self.screen.ended() >= self.screen.total)

    def _client(self, number):
        return demo.start_client(self.box, self.whole, f"orders-{number}", f"submit-{number}")

    def _ended(self):
        """By the services: what they have shipped, and what they have refused for good."""
        self.services.look()
        return self.services.effects.get("dispatch", 0) + len(self.services.refused)

    def _until(self, condition):
        while not condition():
            expect(time.monotonic() - self.screen.began < LIMIT_SECONDS, f"not ended after {LIMIT_SECONDS} s: {self.screen.counts}")
            self._look()
            self.screen.draw()
            time.sleep(0.05)

    def _look(self):
        if time.monotonic() - self.looked < LOOK_SECONDS:
            return
        for name in self.whole.nodes:
            if name not in self.screen.down:
                self.whole.check(name)
        self.screen.take(self.whole.status())
        self.looked = time.monotonic()

    def _kill(self, name):
        process = self.clients[-1] if name == "client" else self.whole.nodes[name].process
        process.kill()
        process.wait()
        if name != "client":
            self.screen.down.add(name)
        self.screen.say(f"kill -9 of {'the ' if name == 'client' else ''}{name} (process {process.pid}) with {len(self.services.running)} steps "
                        f"at the services")
        self.screen.happening = f"{name} is dead, the others go on"

    def _start(self, name, number):
        if name == "client":
            self.clients[-1] = self._client(number)
            self.screen.say("the client submits the same orders again: what was taken is known, and taken once")
        else:
            self.whole.nodes[name].start(30)
            self.screen.down.discard(name)
            self.screen.say(f"{name} is back (process {self.whole.nodes[name].process.pid})")
        self.screen.happening = "all processes run"

    def answers(self, history):
        """What the clients told, as one."""
        told = [demo.finish(self.box.folder, client, history, part, f"submit-{number}")
                for number, (client, part) in enumerate(zip(self.clients, self.parts))]
        return {"refused": sum(one["refused"] for one in told), "seconds": time.monotonic() - self.screen.began}


def run():
    options = demo.arguments(__doc__.splitlines()[0], harness.ROOT / "data" / "cluster_demo", "./dev demo --cluster")
    chosen = demo.choose_orders(options)
    if taken := cluster_nodes.ports_taken():
        print(taken, file=sys.stderr)
        return 75
    with harness.sandbox("cluster_demo", options.folder) as box:
        screen = show(len(chosen), progress.progress())
        services = harness.services(box, cluster_nodes.SERVICE_PORTS, seed=options.seed, slow=0.05, unavailable=0.05, drop_before=0.02, drop_after=0.02,
                                    refuse=demo.REFUSED, work_seconds=(0.1, 0.4), max_seconds=600)
        screen.say("three services are up: inventory 7101, payment 7102, shipping 7103; 5 % slow, 5 % 503, 4 % dropped connections")
        screen.say(f"{demo.REFUSED:.0%} of the orders fail for good, at payment or at shipping, and are undone".replace("%", " %"))
        whole = cluster_nodes.cluster(box, cluster_nodes.SERVICE_PORTS, fixed=True)
        whole.start(60)
        whole.deploy(harness.ROOT / "config" / "workflows" / "order.yaml")
        screen.take(whole.status())
        screen.say(f"four nodes are up and connected: {', '.join(cluster_nodes.NAMES)}; submitting {len(chosen)} orders")
        screen.happening = "all processes run"
        history = harness.history(box.folder / "history.jsonl")
        history.add_orders(chosen)
        scene = stage(box, whole, services, screen, chosen)
        scene.play()
        answer = scene.answers(history)
        tasks = whole.tasks()
        history.add_ends(tasks)
        whole.end()
        verdict = audit.judge(services.records(), history.events)
        demo.print_result(verdict, answer, [("processes killed", len(VICTIMS))])
        print_next(box.folder)
    return 0 if verdict.held() else 1


def print_next(folder):
    folder, binary = (path.relative_to(harness.ROOT) if path.is_relative_to(harness.ROOT) else path for path in (folder, harness.BINARY))
    print(f"""
What to try next:
  {binary} store check {folder}/shard-a/shard-0
  less {folder}/shard-b.log
  ./dev cluster""")


if __name__ == "__main__":
    harness.main(run)
