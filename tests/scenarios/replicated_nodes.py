"""The three nodes of config/replicated, which hold one shard together, as processes. Shared by the scenarios about them. With
`shards.count` and `shards.here` among their settings they hold several."""

import json
import re
import time

import cluster_nodes
import harness
import node_file
from harness import expect, wait_until
from hostile_http import get

CONFIG = harness.ROOT / "config" / "replicated"
NAMES = ("n1", "n2", "n3")
NODE_PORTS = dict(zip(NAMES, (7220, 7221, 7222)))
HTTP_PORTS = dict(zip(NAMES, (7320, 7321, 7322)))
SERVICE_PORTS = cluster_nodes.SERVICE_PORTS
FIXED_PORTS = (*NODE_PORTS.values(), *HTTP_PORTS.values(), *SERVICE_PORTS)
LAN = {"shards.election_timeout": "300ms", "shards.heartbeat": "30ms"}


class trio(cluster_nodes.nodes_together):
    """With a folder each; their files are those of config/replicated with other ports, paths and `settings`."""

    def __init__(self, box, service_ports, fixed=False, settings=None):
        """`fixed`: with the ports of config/replicated."""
        self.box_, self.folder = box, box.folder
        chosen = harness.free_ports(2 * len(NAMES))
        ports = {} if fixed else dict(zip((*NODE_PORTS.values(), *HTTP_PORTS.values()), chosen))
        self.ports = {**ports, **dict(zip(SERVICE_PORTS, service_ports))}
        self.nodes = {name: self._node(name, settings or {}) for name in NAMES}
        self.address = ",".join(node.address for node in self.nodes.values())

    def _node(self, name, settings):
        config = node_file.derive(CONFIG / f"{name}.yaml", self.folder / f"{name}.yaml", ports=self.ports,
                                  settings={"store.path": self.folder / name, **settings})
        return harness.node(self.box_, config, f"127.0.0.1:{self.port(NODE_PORTS[name])}", log=self.folder / f"{name}.log")

    def port(self, of_config):
        return self.ports.get(of_config, of_config)

    def stores(self):
        return [store for name in NAMES for store in self.stores_of(name)]

    def stores_of(self, name):
        """Each shard of several has a store of its own."""
        return sorted((self.folder / name).glob("shard-*")) or [self.folder / name]

    def start(self, seconds=30):
        for node in self.nodes.values():
            node.launch()
        return self.wait_for_leader(seconds)

    def leader(self):
        """The node that leads, as one that answers says; None: nobody says so."""
        shard = (self.status() or {"shards": [{}]})["shards"][0]
        return shard.get("node") if shard.get("up") else None

    def leaders(self):
        """The nodes that lead, shard by shard, as one that answers says; None: not every shard is led, or nobody says so."""
        shards = (self.status() or {"shards": []})["shards"]
        return [shard["node"] for shard in shards] if shards and all(shard["up"] for shard in shards) else None

    def wait_for_leader(self, seconds=30):
        return wait_until(self.leader, seconds, "a node leads the shard", every=0.02)

    def replications(self):
        """What the leader of each shard says of it, or without one a node that answers; empty: none does."""
        done = harness.fairlead("cluster", "status", "--json", node=self.address)
        return [shard["replication"] for shard in json.loads(done.stdout)["shards"]] if done.returncode == 0 else []

    def replication(self):
        """The same of the first shard, which is the only one in most scenarios; None: nobody says anything of it."""
        return next(iter(self.replications()), None)

    def whole(self):
        """One leads each shard, and the other two are at its heels."""
        shards = self.replications()
        return bool(shards) and all(
            known is not None and known["role"] == "leader" and known["may_lose_nodes"] == 1
            and all(one["behind_entries"] < 500 and not one["needs_copy"] for one in known["replicas"]) for known in shards)

    def launch_until_it_says(self, name, words, look):
        """The leader takes a node's former process to be there for an election timeout: whether it is back, only its own log says at once."""
        node = self.nodes[name]
        before = len(node.log.read_bytes())
        node.launch()
        wait_until(lambda: look() or re.search(words.encode(), node.log.read_bytes()[before:]), 60, f"the log of {name} says `{words}`", every=0.05)

    def figures(self, name):
        """Its page for machines; empty when it gives none."""
        try:
            status, _, body = get(self.port(HTTP_PORTS[name]), "/metrics", seconds=3)
        except OSError:
            return ""
        return body.decode() if status == 200 else ""

    def check(self, name=None):
        """Fails when a process, or that of `name`, has ended by itself."""
        for one in NAMES if name is None else (name,):
            node = self.nodes[one]
            expect(node.process.poll() is None, f"{one} ended with {node.process.returncode}: {node.last_words()}")

    def elections(self):
        """How often a Scheduler has begun, on all nodes."""
        return sum(len(re.findall("scheduler: loaded ", node.log.read_text(encoding="utf-8", errors="replace"))) for node in self.nodes.values())

    def end(self):
        done = harness.fairlead("cluster", "compare", node=self.address, seconds=120)
        # A node whose replica stands aside passes the question on to one that holds the shard alone.
        alone = "There is nothing to compare" in done.stderr
        expect(done.returncode == 0 or alone, f"the nodes do not have the same state at the end: {done.stdout}{done.stderr}")
        for name, node in self.nodes.items():
            code, _ = node.end()
            expect(code == 0, f"{name} ended with {code} after SIGTERM: {node.last_words()}")


def pause(seconds, look):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        look()
        time.sleep(0.02)
