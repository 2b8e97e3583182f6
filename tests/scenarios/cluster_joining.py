#!/usr/bin/env python3
"""Nodes that cannot be in a cluster: each is refused with a sentence that both sides show, both stay up, and the cluster goes on working."""

import json
import shutil
import subprocess

import cluster_nodes
import harness
import node_file
from cluster_nodes import CONFIG, peers_of
from harness import expect, fairlead, fairlead_json, wait_until
from hostile_port import forwarder

ORDER = '{"amount_cents": 100, "items": [], "address": {}}'


class guest:
    """A node from outside, with a file made of one of the cluster's."""

    def __init__(self, box, whole, title, source, **settings):
        self.folder = box.folder / title
        self.folder.mkdir()
        port, http = harness.free_ports(2)
        self.port = port
        self.name = settings.get("node__name", source)
        ports = {**whole.ports, cluster_nodes.NODE_PORTS[source]: port, cluster_nodes.HTTP_PORTS[source]: http}
        own = {"store.path" if source in cluster_nodes.SHARDS else "node.data": "data"}
        config = node_file.derive(CONFIG / f"{source}.yaml", self.folder / "node.yaml", ports=ports,
                                  settings={**own, **{key.replace("__", "."): value for key, value in settings.items()}})
        checked = fairlead("config", "check", config)
        expect(checked.returncode == 0, f"{title}: {checked.stderr}")
        self.node = harness.node(box, config, f"127.0.0.1:{port}", log=self.folder / "node.log")


def refused(box, whole, title, source, sentences, **settings):
    """`sentences`: what each side says, in words that stand in the sentence."""
    one = guest(box, whole, title, source, **settings)
    host = whole.nodes["shard-a"]
    one.node.start(30)

    def said(node, other_address):
        for peer in peers_of(node):
            if peer["state"] == "refused" and all(word in peer["reason"] for word in sentences) and other_address in (peer["address"], peer["listens_on"]):
                return peer["reason"]
        return None

    here = wait_until(lambda: said(one.node, host.address), 20, f"{title}: the newcomer says why: {peers_of(one.node)}", every=0.2)
    there = wait_until(lambda: said(host, one.node.address), 20, f"{title}: shard-a says why: {peers_of(host)}", every=0.2)
    for who, log, of in (("the newcomer", one.node.log, f"the peer {host.address}"), ("shard-a", host.log, f"node {one.name}")):
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if f"{of} is refused: " in line and all(word in line for word in sentences)]
        expect(len(lines) == 1, f"{title}: the log of {who} says it {len(lines)} times and not once: {log}")
    expect(one.node.process.poll() is None, f"{title}: the newcomer ended with {one.node.process.returncode}: {one.node.last_words()}")
    expect(all(peer["state"] != "connected" for peer in peers_of(one.node)), f"{title}: the newcomer is connected all the same")
    whole.wait_until_whole()
    code, _ = one.node.end()
    expect(code == 0, f"{title}: the newcomer ended with {code}")
    print(f"ok  {title}: {here}" + ("" if here == there else f" | {there}"), flush=True)


def lost_disk(whole):
    """A node loses its folder and comes back under its name: refused until an operator has said that the former one is forgotten."""
    node, others = whole.nodes["agents-b"], [whole.nodes[name] for name in cluster_nodes.SHARDS]
    asked = whole.nodes["agents-a"].address  # which is not connected with agents-b itself
    connected = fairlead("node", "forget", "agents-b", node=asked)
    expect(connected.returncode == 1 and ("node agents-b is connected with node shard-" in connected.stderr or "node agents-b is running" in connected.stderr), f"it is connected: {connected}")
    node.kill()
    shutil.rmtree(whole.folder / "agents-b")
    node.launch()
    def refused_by(at, name):
        return any(peer["node"] == name and peer["state"] == "refused" and "fairlead node forget agents-b" in peer["reason"] for peer in peers_of(at))
    for other in others:
        wait_until(lambda: refused_by(other, "agents-b"), 30, f"it is refused with what to do: {peers_of(other)}", every=0.2)
    wait_until(lambda: sum(1 for peer in peers_of(node) if "fairlead node forget agents-b" in peer["reason"]) == 2, 30,
               f"it says so itself: {peers_of(node)}", every=0.2)
    told = fairlead_json("node", "forget", "agents-b", "--reason", "its disk is lost", "--by", "ann", node=asked)
    expect(told["node"] == "agents-b" and told["state"] == "forgotten" and set(cluster_nodes.SHARDS) <= set(told["asked"]), f"forgotten: {told}")
    whole.wait_until_whole(60)
    for other in others:
        expect("node agents-b was forgotten by ann: its disk is lost" in other.log.read_text(encoding="utf-8"), f"{other.log} does not say who it was")
    unheard = fairlead_json("node", "forget", "agents-z", node=asked)
    expect(unheard["state"] == "unknown", f"a node that nobody knows: {unheard}")
    print("ok  a node that lost its disk is taken once its former self is forgotten", flush=True)


def its_own_peer(box, whole):
    """What is not another node is no peer. A file that says so is refused; through a forwarder the node finds out by itself."""
    one = guest(box, whole, "own_peer", "agents-a", node__name="agents-c")
    file, text = one.folder / "node.yaml", (one.folder / "node.yaml").read_text(encoding="utf-8")

    def with_peer(address):
        expect("peers: [" in text, "the node file has no list of peers")
        file.write_text(text.replace("peers: [", f"peers: [{address}, "), encoding="utf-8")
        return address

    with_peer(f"127.0.0.1:{one.port}")
    checked = fairlead("config", "check", file)
    expect(checked.returncode == 2 and "this is the node's own address" in checked.stderr, f"a node that names itself: {checked.stderr}")
    address = with_peer(f"127.0.0.1:{forwarder(one.port).port}")
    one.node.start(30)
    def own():
        return next((peer for peer in peers_of(one.node) if peer["address"] == address and "itself" in peer["reason"]), None)
    found = wait_until(own, 20, f"the node says that the address is its own: {peers_of(one.node)}", every=0.2)
    wait_until(lambda: sum(1 for peer in peers_of(one.node) if peer["state"] == "connected") == 2, 20, "the node is connected with the two others", every=0.2)
    expect(one.node.process.poll() is None, "the node ended")
    code, _ = one.node.end()
    expect(code == 0, f"the node ended with {code}")
    print(f"ok  a node that is its own peer: {found['reason']}", flush=True)


def no_node(box, whole):
    """Who answers with something else than a node is no peer either, and is named."""
    port, = harness.free_ports(1)
    talker = box.start(["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1"], cwd=box.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: harness.port_in_use(port), 20, "the web server listens")
    one = guest(box, whole, "web_server", "agents-a", node__name="agents-d", node__peers=f"[127.0.0.1:{port}]")
    one.node.start(30)
    def told():
        return next((peer["reason"] for peer in peers_of(one.node) if peer["state"] != "connected" and peer["reason"]), None)
    why = wait_until(told, 20, f"the node says why it is alone: {peers_of(one.node)}", every=0.2)
    expect(one.node.process.poll() is None, "the node ended")
    one.node.end()
    talker.kill()
    print(f"ok  a peer that is a web server: {why}", flush=True)


def moved(box, whole):
    """A shard goes to another node, by its folder and two node files, and everything is still there."""
    before = {task["id"] for task in whole.tasks()}
    for name in cluster_nodes.SHARDS:
        code, _ = whole.nodes[name].end()
        expect(code == 0, f"{name} ended with {code}: {whole.nodes[name].last_words()}")
    (whole.folder / "shard-b" / "shard-1").rename(whole.folder / "shard-a" / "shard-1")
    host = whole.folder / "shard-a.yaml"
    node_file.derive(host, host, settings={"shards": "{ count: 2, here: [0, 1] }"})
    node = whole.nodes["shard-a"]
    node.start(30)
    wait_until(lambda: "\nfairlead_ready 1\n" in whole.figures("agents-a"), 30, "agents-a is registered with both shards", every=0.1)
    done = fairlead("submit", "order", "--batch", "-", "--wait", "--json", "--quiet", node=node.address,
                    stdin="".join(f'{{"id": "moved-{number}", "input": {ORDER}}}\n' for number in range(8)))
    expect(done.returncode == 0, f"not all orders were completed: {done.stdout}{done.stderr}")
    after = {task["id"] for task in node.tasks()}
    expect(before <= after and len(after) == len(before) + 8, f"tasks before {len(before)}, after {len(after)}")
    for name in ("agents-a", "agents-b", "shard-a"):
        code, _ = whole.nodes[name].end()
        expect(code == 0, f"{name} ended with {code}: {whole.nodes[name].last_words()}")
    print(f"ok  a shard moved to another node with its {len(before)} tasks", flush=True)


def run():
    with harness.sandbox("cluster_joining") as box:
        services = harness.services(box)
        whole = cluster_nodes.cluster(box, services.ports.values())
        whole.start(60)
        whole.deploy(harness.ROOT / "config" / "workflows" / "order.yaml")
        refused(box, whole, "same_name", "agents-a", ["another node named agents-a"])
        refused(box, whole, "another_cluster", "agents-a", ["of cluster warehouse", "of cluster orders"], node__name="agents-c", node__cluster="warehouse")
        refused(box, whole, "another_count", "shard-b", ["3 shards"], node__name="shard-c", shards="{ count: 3, here: [2] }",
                node__peers=f"[{whole.nodes['shard-a'].address}]")
        refused(box, whole, "claimed_twice", "shard-b", ["shard 0 of node shard-a is of an earlier lineage", "node shard-c holds"], node__name="shard-c",
                shards="{ count: 2, here: [0] }", node__peers=f"[{whole.nodes['shard-a'].address}]")
        lost_disk(whole)
        its_own_peer(box, whole)
        no_node(box, whole)
        orders = "".join(f'{{"id": "order-{number}", "input": {ORDER}}}\n' for number in range(8))  # of both shards, with all but certainty
        done = fairlead("submit", "order", "--batch", "-", "--wait", "--json", "--quiet", node=whole.address, stdin=orders)
        expect(done.returncode == 0 and json.loads(done.stdout)["submitted"] == 8, f"the cluster carries out no orders any more: {done.stdout}{done.stderr}")
        moved(box, whole)
    return 0


if __name__ == "__main__":
    harness.main(run)
