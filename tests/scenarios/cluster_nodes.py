"""The cluster of config/cluster as processes: two nodes that hold a shard each, two that run agents. Shared by the scenarios about it."""

import datetime
import json
import re
import time

import harness
import node_file
from harness import expect, fairlead, wait_until
from hostile_http import get

CONFIG = harness.ROOT / "config" / "cluster"
SHARDS = ("shard-a", "shard-b")
AGENTS = ("agents-a", "agents-b")
NAMES = SHARDS + AGENTS
NODE_PORTS = {"shard-a": 7200, "shard-b": 7201, "agents-a": 7210, "agents-b": 7211}
HTTP_PORTS = {"shard-a": 7290, "shard-b": 7291, "agents-a": 7300, "agents-b": 7301}
SERVICE_PORTS = (7101, 7102, 7103)
FIXED_PORTS = (*NODE_PORTS.values(), *HTTP_PORTS.values(), *SERVICE_PORTS)
LOST = re.compile(r"^(\S+Z) .*links: node (\S+) is not connected any more", re.M)


class nodes_together:
    """Nodes that a client asks as one: it takes the next of `address` when one is lost."""

    def status(self):
        """Of the first node that answers; None when none does."""
        done = fairlead("status", "--json", node=self.address)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def tasks(self):
        return harness.node(self.box_, None, self.address, log=self.folder / "none").tasks()

    def deploy(self, path, seconds=20):
        """Once every shard has it, all of the cluster has it."""
        def given():
            done = fairlead("workflow", "deploy", path, node=self.address)
            return done if done.returncode == 0 else None
        wait_until(given, seconds, f"{path} is deployed")


class cluster(nodes_together):
    """The four nodes with a folder each; their files are those of config/cluster with other ports and paths."""

    def __init__(self, box, service_ports, fixed=False):
        """`fixed`: with the ports of config/cluster."""
        self.folder = box.folder
        self.box_ = box
        chosen = harness.free_ports(len(NAMES) * 2)
        ports = {} if fixed else dict(zip((*NODE_PORTS.values(), *HTTP_PORTS.values()), chosen))
        self.ports = {**ports, **dict(zip(SERVICE_PORTS, service_ports))}
        self.nodes = {name: self._node(name) for name in NAMES}
        # All that a client has to know; it takes the next one when one is lost.
        self.address = ",".join(node.address for node in self.nodes.values())

    def _node(self, name):
        store = "store.path" if name in SHARDS else "node.data"
        config = node_file.derive(CONFIG / f"{name}.yaml", self.folder / f"{name}.yaml", ports=self.ports,
                                  settings={store: self.folder / name})
        return harness.node(self.box_, config, f"127.0.0.1:{self.port(NODE_PORTS[name])}", log=self.folder / f"{name}.log")

    def host(self, _name):
        return "127.0.0.1"

    def port(self, of_config):
        return self.ports.get(of_config, of_config)

    def stores(self):
        """Where the states of the two shards lie."""
        return [self.folder / "shard-a" / "shard-0", self.folder / "shard-b" / "shard-1"]

    def start(self, seconds=30):
        for node in self.nodes.values():
            node.launch()
        self.wait_until_whole(seconds)

    def wait_until_whole(self, seconds=30, names=NAMES):
        """Until these are connected with whom they are to be, and ready: an agent node is when every shard has its agents."""
        began = time.monotonic()
        for name in names:
            wait_until(lambda: self.whole(name), seconds, f"{name} is ready and connected with the others, see {self.nodes[name].log}", every=0.05)
        return time.monotonic() - began

    def whole(self, name):
        self.check(name)
        wanted = set(NAMES) - {name} if name in SHARDS else set(SHARDS)
        page = self.figures(name)
        return "\nfairlead_ready 1\n" in page and wanted <= set(re.findall(r'^fairlead_peer_connected\{peer="([^"]+)"\} 1$', page, re.M))

    def figures(self, name):
        """Its page for machines; empty when it gives none."""
        try:
            status, _, body = get(self.port(HTTP_PORTS[name]), "/metrics", seconds=3, host=self.host(name))
        except OSError:
            return ""
        return body.decode() if status == 200 else ""

    def notices(self, name, of, since):
        """When `name` wrote down that `of` is not connected any more, in seconds after `since` (Unix time); None: not yet."""
        text = self.nodes[name].log.read_text(encoding="utf-8", errors="replace")
        for moment, lost in LOST.findall(text):
            at = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
            if lost == of and at >= since - 0.002:  # the log's moments are in whole milliseconds
                return max(0.0, at - since)
        return None

    def check(self, name):
        """Fails when the process has ended."""
        node = self.nodes[name]
        expect(node.process.poll() is None, f"{name} ended with {node.process.returncode}: {node.last_words()}")

    def end(self):
        """All of them, orderly; agents first, as one would."""
        for name in (*AGENTS, *SHARDS):
            code, _ = self.nodes[name].end()
            expect(code == 0, f"{name} ended with {code} after SIGTERM: {self.nodes[name].last_words()}")


def peers_of(node):
    """What a node says of its connections; an empty list when it does not answer."""
    done = fairlead("console", "-c", "nodes", "--json", node=node.address)
    if done.returncode != 0:
        return []
    return json.loads(done.stdout)["peers"]


def ports_taken(wanted=FIXED_PORTS):
    """A sentence when one of the ports of config/cluster, or of those `wanted`, is in use; None: all are free."""
    taken = [port for port in wanted if harness.port_in_use(port)]
    if not taken:
        return None
    return (f"port {', '.join(map(str, taken))} on 127.0.0.1 is in use; the cluster wants {', '.join(map(str, wanted))}. Is another "
            f"cluster, demo or node running?")
