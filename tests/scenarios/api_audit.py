#!/usr/bin/env python3
"""The audits of several nodes as one list: merged, by pages while more is noted, by node and time, with a node that is killed and comes back.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_audit.py
"""

import http.client

import harness
import node_file
import openapi
from api_access import ask, new_token
from harness import expect, fairlead, fairlead_json, wait_until
from metrics import scrape


class two_nodes:
    """Two nodes that hold a shard each, and whose API asks for tokens."""
    NAMES = ("shard-a", "shard-b")

    def __init__(self, box):
        file = box.folder / "both-tokens.yaml"
        self.token = new_token(file, "ana", "--role", "admin")["token"]
        ports = dict(zip((7200, 7201, 7290, 7291), harness.free_ports(4)))
        self.apis, self.figures_port = harness.free_ports(2), ports[7290]
        self.nodes = []
        for name, api, port in zip(self.NAMES, self.apis, (7200, 7201)):
            config = node_file.derive(harness.ROOT / "config" / "cluster" / f"{name}.yaml", box.folder / f"{name}.yaml", ports=ports, settings={
                "store.path": box.folder / name, "api": f"{{ listen: '127.0.0.1:{api}' }}", "access": f"{{ tokens_file: {file} }}"})
            self.nodes.append(harness.node(box, config, f"127.0.0.1:{ports[port]}", box.folder / f"{name}.log"))

    def ask(self, number, method, path, body=None):
        """(status, JSON) of the node; (None, None) while it does not serve."""
        try:
            return ask(lambda: http.client.HTTPConnection("127.0.0.1", self.apis[number], timeout=20), method, path, self.token, body)[:2]
        except OSError:
            return None, None

    def audit(self, number, query=""):
        status, page = self.ask(number, "GET", f"/v1/audit?{query}")
        expect(status == 200, f"{status} {page}")
        return page

    def is_whole(self):
        return all(status == 200 and page["missing"] == [] for status, page in (self.ask(number, "GET", "/v1/audit") for number in (0, 1)))

    def drain(self, agent):
        """At the one node or the other. There is no such agent, and that somebody tried is noted."""
        status, said = self.ask(agent % 2, "POST", f"/v1/agents/n1%2Fa{agent}/actions", {"verb": "drain", "reason": f"{agent}"})
        expect(status >= 400, f"{status} {said}")


def audit_of_all(box):
    """One list has what two nodes have noted, in order, also while more is noted; a node that is killed is named, and its entries come back with it."""
    both = two_nodes(box)
    for node in both.nodes:
        node.launch()
    wait_until(both.is_whole, 30, "the nodes are connected")
    for agent in range(8):
        both.drain(agent)
    first = both.audit(0, "verb=drain")
    entries = first["items"]
    expect(first["missing"] == [] and first["next"] is None, str(first))
    expect(sorted((one["reason"], one["node"]) for one in entries) == [(str(agent), two_nodes.NAMES[agent % 2]) for agent in range(8)], str(entries))
    expect([one["at"] for one in entries] == sorted((one["at"] for one in entries), reverse=True), f"newest first: {entries}")
    expect(both.audit(1, "verb=drain")["items"] == entries, "the other node has the same list")

    seen, where, agent = [], "/v1/audit?verb=drain&page_size=3", 8
    while where:
        _, page = both.ask(agent // 2 % 2, "GET", where)
        seen += page["items"]
        where = page["next"]
        for _ in range(2):
            both.drain(agent)
            agent += 1
    expect(seen == entries, f"pages skip or repeat what was noted: {seen}")

    expect({one["node"] for one in both.audit(0, "verb=drain&node=shard-b")["items"]} == {"shard-b"}, "of one node")
    middle = entries[3]["at"]
    later, earlier = both.audit(0, f"verb=drain&since={middle}")["items"], both.audit(0, f"verb=drain&until={middle}")["items"]
    expect(all(one["at"] >= middle for one in later) and entries[3] in later, str(later))
    expect(all(one["at"] < middle for one in earlier) and later + earlier == both.audit(0, "verb=drain")["items"], f"{later} {earlier}")
    expect(both.ask(0, "GET", "/v1/audit?node=nothing")[0] == 404, "there is no such node")

    told = fairlead_json("audit", "--verb", "drain", "--limit", "1000", node=both.nodes[1].address)
    expect(told["entries"] == both.audit(0, "verb=drain")["items"] and told["missing"] == [] and told["cursor"] == "", str(told)[:600])
    table = fairlead("audit", "shard-b", "--verb", "drain", "--limit", "2", node=both.nodes[0].address)
    expect(table.returncode == 0 and table.stdout.count("shard-b") == 3 and "--cursor shard-b=" in table.stdout, table.stdout)

    refused_at_the_door(both)
    over_the_port(both)
    figures(both)

    both.nodes[1].kill()
    wait_until(lambda: both.audit(0)["missing"], 20, "the node that was killed is named")
    left = both.audit(0, "verb=drain")
    expect({one["node"] for one in left["items"]} == {"shard-a"} and len(left["missing"]) == 1 and "shard-b" in left["missing"][0], str(left))
    expect(both.ask(0, "GET", "/v1/audit?node=shard-b")[0] == 409, "the only node that is asked for is away")
    table = fairlead("audit", "--verb", "drain", node=both.nodes[0].address)
    expect(table.returncode == 5 and "shard-a" in table.stdout and "shard-b" in table.stderr, f"{table.returncode} {table.stdout} {table.stderr}")
    both.nodes[1].launch()
    wait_until(both.is_whole, 30, "it is connected again")
    expect(both.audit(0, "verb=drain&who=ana")["items"] == told["entries"], "its entries are there again")
    for node in both.nodes:
        expect(node.end()[0] == 0, node.last_words())


def refused_at_the_door(both):
    """A change that is refused before anybody asks who sends it is noted with where it came from; one that is refused later, with who sent it."""
    path = "/v1/alerts:ack"

    def sent(method, token=None, **headers):
        return ask(lambda: http.client.HTTPConnection("127.0.0.1", both.apis[0], timeout=20), method, path, token, {}, headers)[0]

    def noted():
        return sorted((one["method"], one["status"], one["code"], one["who"], one["from"]) for one in both.audit(1, f"path={path}")["items"])

    expect(sent("POST", Origin="https://evil.example") == 403, "a page of another site")
    expect(sent("POST", **{"Content-Type": "text/plain"}) == 415, "no JSON")
    expect(sent("POST", Host="evil.example") == 421, "another host")
    expect(sent("PATCH", both.token) == 405, "a method that the path does not have")
    wanted = [("PATCH", 405, "method_not_allowed", "ana", "127.0.0.1"), ("POST", 403, "cross_origin", None, "127.0.0.1"),
              ("POST", 415, "unsupported_media_type", None, "127.0.0.1"), ("POST", 421, "misdirected", None, "127.0.0.1")]
    wait_until(lambda: noted() == wanted, 10, "what was refused at the door is noted")


def over_the_port(both):
    """What the command line changes is noted by the node that it asks, and once; what it only looks at, checks or submits is not."""
    address = both.nodes[1].address
    fairlead("agent", "drain", "n1/nothing", "--no-wait", "--by", "eve", "--reason", "new cable", node=address)
    one, = both.audit(0, "who=eve")["items"]
    expect((one["node"], one["kind"], one["path"], one["verb"], one["reason"], one["from"], one["code"])
           == ("shard-b", "program", "/v1/agents/n1%2Fnothing/actions", "drain", "new cable", None, "not_found"), str(one))
    workflow = harness.ROOT / "config" / "workflows" / "order.yaml"
    expect(fairlead("workflow", "deploy", workflow, node=address).returncode == 0, "it is deployed")
    submitted = fairlead("submit", "order", "--id", "noted-1", "--input", '{"items": [], "amount_cents": 100, "address": {}}', node=address)
    expect(submitted.returncode == 0, submitted.stderr)
    expect(fairlead("task", "pause", "noted-1", "--by", "eve", node=address).returncode == 0, "it is paused")
    kinds = [(one["node"], one["method"], one["path"], one["verb"], one["code"]) for one in both.audit(0)["items"] if one["kind"] == "program"]
    expect(kinds[:2] == [("shard-b", "POST", "/v1/tasks/noted-1/actions", "pause", None), ("shard-b", "POST", "/v1/workflows", None, None)] and len(kinds) == 3,
           str(kinds))
    for query in ("verb=pause", "path=/v1/tasks/noted-1/actions", "object=noted-1"):
        one, = both.audit(1, query)["items"]
        expect(one["who"] == "eve" and one["status"] == 200 and one["token"] is None and one["object"] == "noted-1", str(one))
        expect(one["state_after"].endswith(", paused"), str(one))
    expect(both.ask(0, "POST", "/v1/tasks/noted-1/actions", {"verb": "resume"})[0] == 200, "it goes on")
    touched = both.audit(1, "object=noted-1")["items"]
    expect([(one["kind"], one["verb"], one["token"]) for one in touched] == [("token", "resume", both.token.split("_")[1]), ("program", "pause", None)],
           f"who has touched the task, by any way in: {touched}")
    table = fairlead("audit", "--object", "noted-1", "--token", both.token.split("_")[1], node=address)
    expect(table.returncode == 0 and "resume" in table.stdout and "pause " not in table.stdout, table.stdout)


def figures(both):
    """/metrics has what the API has answered, and what the audit has."""
    expect(ask(lambda: http.client.HTTPConnection("127.0.0.1", both.apis[0], timeout=20), "GET", "/v1/me")[0] == 401, "without a token")
    seen = scrape(both.figures_port)
    expect(seen["fairlead_audit_entries_total"] > 4 and seen["fairlead_audit_entries_lost_total"] == 0, str(seen))
    expect(seen['fairlead_token_expires_seconds{token="ana"}'] > 80 * 86_400, str(seen))
    for method, code in (("GET", 200), ("GET", 401), ("POST", 404)):
        expect(seen[f'fairlead_api_requests_total{{method="{method}",code="{code}"}}'] >= 1, f"{method} {code}")
    expect(seen["fairlead_api_request_duration_seconds_count"] > 10 and seen["fairlead_api_streams"] == 0, "answers are counted, and no stream is open")


def run():
    with harness.sandbox("api_audit") as box:
        audit_of_all(box)
    openapi.check("api_audit").write()
    return 0


if __name__ == "__main__":
    harness.main(run)
