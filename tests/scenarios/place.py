"""A node with a folder of its own."""

import os
import shutil
import subprocess

import harness
import node_file
from harness import expect, fairlead


class place:
    """A folder with a node file whose store lies in it."""

    def __init__(self, box, name, services=None, prefix=(), **settings):
        self.folder = box.folder / name
        self.folder.mkdir()
        self.store = self.folder / settings.get("store__path", "store")
        self.port, = harness.free_ports(1)
        # Without services the agents get ports that nobody listens on: another's services may stand at those of config/.
        agents = services.ports.values() if services else harness.free_ports(3)
        ports = {7100: self.port, **dict(zip((7101, 7102, 7103), agents))}
        self.config = node_file.derive(harness.ROOT / "config" / "single.yaml", self.folder / "node.yaml", ports=ports,
                                       settings={"store.path": "store", **{key.replace("__", "."): value for key, value in settings.items()}})
        self.node = harness.node(box, self.config, f"127.0.0.1:{self.port}", self.folder / "node.log", prefix)

    def begin(self):
        """A store that a node has worked on."""
        self.node.start()
        deploy(self.node)
        code, _ = self.node.end()
        expect(code == 0, f"the node ended with {code}: {self.node.last_words()}")
        return self


def deploy(node):
    done = fairlead("workflow", "deploy", harness.ROOT / "config" / "workflows" / "order.yaml", node=node.address)
    expect(done.returncode == 0, f"deploy: {done.stderr}")


def expect_unharmed(node):
    """It takes a task, and ends in order when it is told to."""
    done = fairlead("submit", "order", "--id", "after-all", "--input", '{"amount_cents": 100, "items": [], "address": {}}', node=node.address)
    expect(done.returncode == 0, f"the node takes no tasks any more: {done.stderr}")
    code, _ = node.end()
    expect(code == 0, f"the node ended with {code}: {node.last_words()}")


def root_without_its_rights():
    """What to put before a command so that file modes bind it; None when that cannot be had."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        return None
    prefix = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override,-dac_read_search")
    return prefix if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else None


def refuses(what, config, codes, words, prefix=()):
    """The node does not start, says why, and leaves no doubt about what to look at."""
    done = subprocess.run([*prefix, str(harness.BINARY), "node", "--config", str(config)], capture_output=True, text=True, timeout=30,
                          cwd=harness.ROOT)
    expect(done.returncode in codes, f"{what}: exit code {done.returncode} instead of {codes}: {done.stderr[-500:]}")
    for word in map(str, words):
        expect(word in done.stderr, f"{what}: the message does not name {word!r}: {done.stderr[-500:]}")
    print(f"ok  {what}: {' '.join(done.stderr.strip().splitlines()[-2:])[:250]}", flush=True)
