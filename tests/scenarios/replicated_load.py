"""Three nodes that hold one shard or several, the services that their agents call, and a client that submits orders to them without end.
Shared by the scenarios that do something to these nodes meanwhile."""

import time

import kill_loop
from cluster_faults import customer, imperfect_services, short_leases
from harness import expect, wait_until

# A breaker that has opened may let one step through at a time for minutes, while its probes happen to fail.
BREAKERS_CLOSE_SECONDS = 300


class load:
    """`make(ports)`: the nodes, whose agents call services at these ports (replicated_nodes.trio)."""

    def __init__(self, box, seed, make, services=imperfect_services, seconds=30):
        self.services = services(box, seed)
        self.nodes = make(self.services.ports.values())
        self.nodes.start(seconds)
        self.nodes.deploy(short_leases(box.folder))
        self.client = customer(box, self.nodes.address, seed, self._under_way)
        self.client.start()

    def _under_way(self):
        return self.client.acknowledged - self.services.effects.get("dispatch", 0) - len(self.services.refused)

    def look(self):
        """To be called all the while."""
        self.services.look()
        self.client.check()

    def wait_for_work(self, fault):
        wait_until(lambda: self.look() or self.services.look() >= 5, BREAKERS_CLOSE_SECONDS, f"5 steps run at once, for the next {fault}", every=0.02)

    def finish(self):
        """No order is submitted any more, and all end."""
        self.client.finish(120)
        kill_loop.wait_for_all(self.nodes, self.services, self.client)
        self.client.history.add_ends(self.nodes.tasks())

    def judge(self, faults, woken=(), clocks_off=0):
        expect(self.client.acknowledged >= 3 * faults, "hardly anything was submitted: the run says nothing")
        return kill_loop.judge(self.nodes.stores(), self.services, self.client, woken, clocks_off)


class pause_meter:
    """The longest time without an acknowledged order."""

    def __init__(self, working):
        self.working, self.longest = working, 0

    def watch(self, seconds):
        self.longest, until, first = 0, time.monotonic() + seconds, self.working.client.acknowledged
        last, known = time.monotonic(), first

        def is_over():
            nonlocal last, known
            self.working.look()
            now = time.monotonic()
            if self.working.client.acknowledged > known:
                last, known = now, self.working.client.acknowledged
            self.longest = max(self.longest, now - last)
            return now > until and known > first
        wait_until(is_over, seconds + BREAKERS_CLOSE_SECONDS, "orders are taken", every=0.005)
