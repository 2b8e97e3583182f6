"""A shard on three nodes, with the agents of config/cluster on each. Shared by the scenarios about it."""

import os
import re
import time

import cluster_nodes
import harness
from harness import expect, wait_until

os.environ["FAIRLEAD_UNFINISHED"] = "1"  # replicated shards are not complete yet

NAMES = ("n1", "n2", "n3")
AGENTS = harness.ROOT / "config" / "cluster" / "agents-a.yaml"
SERVICE_PORTS = (7101, 7102, 7103)


class trio(cluster_nodes.nodes_together):
    def __init__(self, box, service_ports, election="300ms", heartbeat="30ms"):
        self.box_, self.folder = box, box.folder
        ports = harness.free_ports(2 * len(NAMES))
        self.ports_, self.http_ports = dict(zip(NAMES, ports)), dict(zip(NAMES, ports[len(NAMES):]))
        self.timing_ = f"election_timeout: {election}, heartbeat: {heartbeat}"
        agents = AGENTS.read_text(encoding="utf-8")
        agents = agents[agents.index("agents:"):]
        for given, chosen in zip(SERVICE_PORTS, service_ports):
            agents = agents.replace(f":{given}", f":{chosen}")
        self.nodes = {name: self._node(name, agents) for name in NAMES}
        self.address = ",".join(node.address for node in self.nodes.values())

    def _node(self, name, agents):
        peers = ", ".join(f"127.0.0.1:{port}" for other, port in self.ports_.items() if other != name)
        path = self.folder / f"{name}.yaml"
        path.write_text(f"""node: {{ name: {name}, cluster: orders, listen: 127.0.0.1:{self.ports_[name]}, peers: [{peers}] }}
shards: {{ count: 1, here: [0], replicas: [{", ".join(NAMES)}], {self.timing_} }}
store: {{ path: {self.folder / name}, max_size: 1GiB }}
journal: {{ segment_size: 1MiB }}
http: {{ listen: 127.0.0.1:{self.http_ports[name]} }}
{agents}""", encoding="utf-8")
        return harness.node(self.box_, path, f"127.0.0.1:{self.ports_[name]}", log=self.folder / f"{name}.log")

    def stores(self):
        return [self.folder / name for name in NAMES]

    def start(self, seconds=30):
        for node in self.nodes.values():
            node.launch()
        return self.wait_for_leader(seconds)

    def leader(self):
        """The node that leads, as one that answers says; None: nobody says so."""
        shard = (self.status() or {"shards": [{}]})["shards"][0]
        return shard.get("node") if shard.get("up") else None

    def wait_for_leader(self, seconds=30):
        return wait_until(self.leader, seconds, "a node leads the shard", every=0.02)

    def check(self):
        """Fails when a process has ended by itself."""
        for name, node in self.nodes.items():
            expect(node.process.poll() is None, f"{name} ended with {node.process.returncode}: {node.last_words()}")

    def elections(self):
        """How often a Scheduler has begun, on all nodes."""
        return sum(len(re.findall("scheduler: loaded ", node.log.read_text(encoding="utf-8", errors="replace"))) for node in self.nodes.values())

    def end(self):
        for name, node in self.nodes.items():
            code, _ = node.end()
            expect(code == 0, f"{name} ended with {code} after SIGTERM: {node.last_words()}")


def pause(seconds, look):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        look()
        time.sleep(0.02)
