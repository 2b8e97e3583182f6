#!/usr/bin/env python3
"""The command line over the API of a real node, as from another machine: https with tokens of several roles, and the Unix socket. Commands do what they do
over the port between nodes; roles, payloads, names of operators and the audit are those of the API; and what would give a token away is refused. Then messages
that no command line would send.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_cli.py
"""

import http.client
import json
import os
import ssl

import harness
import openapi
from api_access import make_certificate, new_token
from api_dice import varint
from harness import expect, fairlead, wait_until

NODE = """node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
supervisor: {{ scan_period: 100ms }}
api:
  listen: 127.0.0.1:{api}
  socket: api.sock
  tls: {{ certificate: {tls}/cert.pem, key: {tls}/key.pem }}
access: {{ tokens_file: tokens.yaml }}
agents:
  hotel: {{ kind: native, handler: echo }}
  car:
    kind: http
    base_url: http://127.0.0.1:{nobody}
    retry: {{ tries: 1 }}
    calls: {{ rent: {{ path: /rent }} }}
"""
STAY = """workflow: stay
steps:
  room: { agent: hotel, call: echo, with: { word: "${ .input.word }" } }
"""
RENT = """workflow: rent
on_failure: park
steps:
  car: { agent: car, call: rent, attempts: 1 }
"""
YEARLY = """job: yearly
schedule: "0 0 1 1 *"
workflow: stay
input: { word: yearly }
"""
ROLES = {"admin": ["admin"], "operator": ["operator"], "viewer": ["viewer"], "deploy": ["deploy"], "client": ["client"], "both": ["viewer", "client"]}
SECRET = "chartreuse"  # in payloads


class desk:
    """The command line of one who has this token."""

    def __init__(self, address, token=None, ca=None):
        self.given = ["--node", address, *(["--token-file", token] if token else []), *(["--ca-file", ca] if ca else [])]

    def run(self, *words, **options):
        return fairlead(*words, *self.given, **options)

    def json(self, *words, code=0):
        done = self.run(*words, "--json")
        expect(done.returncode == code, f"`fairlead {' '.join(map(str, words))}` ended with {done.returncode} and not with {code}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def refused(self, exit_code, code, words, *command):
        """The error of a command that is refused with these words."""
        done = self.run(*command, "--json")
        said = json.loads(done.stderr.splitlines()[-1])["error"] if done.stderr else {}
        expect(done.returncode == exit_code and said.get("code") == code and words in said["sentence"] and said["remedy"],
               f"`fairlead {' '.join(map(str, command))}` was to be refused with {code}, '{words}': {done.returncode} {done.stdout}{done.stderr}")
        return said


class world:
    def __init__(self, box):
        self.folder = box.folder
        port, self.port, nobody = harness.free_ports(3)
        tls = self.folder / "tls"
        tls.mkdir()
        for name in ("ca", "other"):
            expect(fairlead("certificate", "create-ca", "--out", tls / name).returncode == 0, "create-ca")
        make_certificate(tls, "first")
        self.ca, self.other_ca = tls / "ca" / "ca.pem", tls / "other" / "ca.pem"
        self.tokens = {}
        for name, roles in ROLES.items():
            given = [word for role in roles for word in ("--role", role)]
            self.tokens[name] = new_token(self.folder / "tokens.yaml", f"{name}-1", *given)["token"]
            self.write(name + ".token", self.tokens[name] + "\n").chmod(0o600)
        config = self.write("node.yaml", NODE.format(port=port, api=self.port, tls=tls, nobody=nobody))
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        self.address = f"https://127.0.0.1:{self.port}"
        self.desks = {name: desk(self.address, self.folder / f"{name}.token", self.ca) for name in ROLES}

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def ask(self, method, path, token=None, body=None, kind="application/x-protobuf"):
        """(status, JSON or bytes) of one request that no command line sends."""
        context = ssl.create_default_context(cafile=self.ca)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=context)
        headers = {"Authorization": f"Bearer {self.tokens[token]}"} if token else {}
        if body is not None:
            headers["Content-Type"] = kind
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        raw, found = answer.read(), dict(answer.getheaders())
        connection.close()
        said = raw if found["Content-Type"] == "application/x-protobuf" else json.loads(raw)
        openapi.judge(method, path, answer.status, found, None if isinstance(said, bytes) else said)
        return answer.status, said


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def commands(here):
    """What operators do, from another machine."""
    admin = here.desks["admin"]
    admin.json("workflow", "deploy", here.write("stay.yaml", STAY), here.write("rent.yaml", RENT))
    expect({one["name"] for one in admin.json("workflow", "list")["workflows"]} == {"stay", "rent"}, "the workflows")
    expect("hotel" in admin.json("workflow", "show", "stay")["source"], "the source")
    said = admin.json("submit", "stay", "--id", "s-1", "--input", json.dumps({"word": SECRET}), "--wait")
    expect(said["state"] == "completed", f"{said}")
    shown = admin.json("task", "show", "s-1")
    expect(shown["input"] == {"word": SECRET} and shown["steps"][0]["output"] and shown["submitted_by"] == "admin-1", f"{shown}")
    watched = admin.run("task", "watch", "s-1", "--json")
    expect(watched.returncode == 0 and json.loads(watched.stdout.splitlines()[-1]), f"{watched.stdout}{watched.stderr}")
    batch = here.write("batch.jsonl", "".join(json.dumps({"id": f"b-{n}", "input": {"word": "b"}}) + "\n" for n in range(1_200)))
    said = admin.json("submit", "stay", "--batch", batch, "--wait", "--quiet")
    expect(said["submitted"] == 1_200 and said["completed"] == 1_200, f"{said}")
    first = admin.json("task", "list", "--limit", "1000")
    rest = admin.json("task", "list", "--limit", "1000", "--cursor", first["cursor"])
    expect(len(first["tasks"]) + len(rest["tasks"]) == 1_201 and not rest["cursor"], f"{len(first['tasks'])} {len(rest['tasks'])}")
    expect(admin.json("status")["node"] == "n1", "status")
    expect({one["agent"] for one in admin.json("agent", "list")["agents"]} == {"fairlead.operations", "hotel", "car"}, "agents")
    expect(admin.json("cluster", "status")["shards"], "cluster status")
    expect(admin.json("task", "doctor")["findings"] == [], "the doctor")
    expect(admin.run("console", "-c", "tasks --limit 1; nodes").returncode == 0, "the console")
    expect(admin.run("inspect", "tree").returncode == 0, "the tree")


def operators(here):
    """Tasks, alerts, agents and jobs; histories have the name of the token, whatever --by says."""
    operator = here.desks["operator"]
    parked = here.desks["admin"].run("submit", "rent", "--id", "r-1", "--wait")
    expect(parked.returncode == 1 and "parked" in parked.stdout, f"{parked.stdout}{parked.stderr}")
    operator.json("task", "retry", "r-1", "--by", "mallory", "--reason", "the car is there")
    history = wait_until(lambda: operator.json("task", "show", "r-1")["history"], 10, "a history")
    names = {event["who"] for event in history if event["who"]}
    expect(names == {"operator-1"}, f"{names}")
    alert = wait_until(lambda: operator.json("alert", "list")["alerts"], 10, "an alert")[0]
    operator.json("alert", "ack", alert["number"], "--note", "seen", "--by", "mallory")
    expect(operator.json("alert", "show", alert["number"])["acknowledged_by"] == "operator-1", "who has acknowledged it")
    operator.json("agent", "breaker", "open", "car", "--reason", "repairs")
    operator.json("agent", "breaker", "close", "car")
    deploy = here.desks["deploy"]
    job = deploy.json("job", "deploy", here.write("yearly.yaml", YEARLY))["jobs"][0]
    expect(job["created"], f"{job}")
    expect([one["job"] for one in deploy.json("job", "list")["jobs"]] == ["yearly"], "jobs")
    operator.json("job", "pause", "yearly", "--reason", "holidays", "--by", "mallory")
    shown = operator.json("job", "show", "yearly")
    expect("operator-1" in json.dumps(shown) and "mallory" not in json.dumps(shown), f"{shown}")
    operator.json("job", "resume", "yearly")
    operator.json("job", "run", "yearly")


def roles(here):
    """What a role does not give is refused, and says so."""
    viewer, deploy, client, both = (here.desks[name] for name in ("viewer", "deploy", "client", "both"))
    shown = viewer.json("task", "show", "s-1")
    expect(shown["input"] is None and all(step["input"] is None and step["output"] is None for step in shown["steps"]), f"{shown}")
    expect(SECRET not in viewer.run("task", "show", "s-1").stdout, "a payload is shown as text")
    viewer.refused(1, "forbidden", "the right act is missing", "task", "pause", "r-1")
    viewer.refused(1, "forbidden", "the right submit is missing", "submit", "stay")
    viewer.refused(1, "forbidden", "the right deploy is missing", "workflow", "deploy", here.folder / "stay.yaml")
    viewer.refused(1, "forbidden", "the right administer is missing", "node", "drain", "n1")
    viewer.refused(1, "forbidden", "the right deploy is missing", "job", "delete", "yearly", "--yes")
    deploy.refused(1, "forbidden", "the right see_own_tasks is missing", "task", "list")
    here.desks["operator"].refused(1, "forbidden", "the right deploy is missing", "job", "delete", "yearly", "--yes")
    for command in (("task", "list"), ("submit", "stay"), ("status",)):
        client.refused(1, "forbidden", "sees only its own tasks", *command)
    both.refused(2, "invalid_argument", "the right webhooks is missing", "submit", "stay", "--reply-webhook", "http://127.0.0.1:1/x")
    both.json("submit", "stay", "--id", "c-1", "--input", '{"word": "c"}', "--reply-client", "shop", "--wait")
    both.refused(1, "forbidden", "the right act is missing", "replies", "shop")
    events = here.desks["admin"].run("replies", "shop", "--json").stdout.splitlines()
    expect(events and all(json.loads(line)["task"] == "c-1" for line in events), f"{events}")


def tokens(here):
    """Nobody gets in with less, and no token goes where it could be read."""
    good = here.folder / "viewer.token"
    wrong = here.write("wrong.token", here.tokens["viewer"][:-1] + "\n")
    wrong.chmod(0o600)
    desk(here.address, wrong, here.ca).refused(1, "unauthenticated", "token", "task", "list")
    desk(here.address, None, here.ca).refused(1, "unauthenticated", "has no token", "task", "list")
    for ca in (None, here.other_ca):
        desk(here.address, good, ca).refused(5, "unavailable", "certificate", "task", "list")
    desk(f"https://127.0.0.1:{here.port}/v1", good, here.ca).refused(2, "invalid_argument", "nothing follows the port", "status")
    desk("http://10.0.0.7:7190", good).refused(2, "invalid_argument", "clear text", "status")
    desk(f"https://viewer:{here.tokens['viewer']}@127.0.0.1:{here.port}", None, here.ca).refused(2, "invalid_argument", "a user or a password", "status")
    desk(here.node.address, good).refused(2, "invalid_argument", "--token-file", "status")
    wrong.write_text(here.tokens["viewer"])
    wrong.chmod(0o644)
    desk(here.address, wrong, here.ca).refused(2, "invalid_argument", "--token-file", "status")
    os.environ.update(FAIRLEAD_TOKEN=here.tokens["viewer"], FAIRLEAD_CA_FILE=str(here.ca))
    try:
        expect(desk(here.address).json("status")["node"] == "n1", "the token of the environment")
        expect(desk(f"127.0.0.1:1,{here.address}").json("status")["node"] == "n1", "the next address")
    finally:
        del os.environ["FAIRLEAD_TOKEN"], os.environ["FAIRLEAD_CA_FILE"]


def unix(here):
    """The system says who asks."""
    local = desk(f"unix:{here.folder}/api.sock")
    said = local.json("submit", "stay", "--id", "u-1", "--input", '{"word": "u"}', "--wait")
    expect(said["state"] == "completed", f"{said}")
    name = local.json("task", "show", "u-1")["submitted_by"]
    expect(name and name != "admin-1", f"{name}")
    local.json("submit", "stay", "--id", "u-2", "--delay", "1h")
    local.json("task", "terminate", "u-2", "--now", "--reason", "no more", "--by", "mallory")
    history = local.json("task", "show", "u-2")["history"]
    expect({event["who"] for event in history if event["who"]} == {name}, f"{history}")


def messages(here):
    """By hand: another's name, words of nodes, fields that are not known, other types."""
    status, said = here.ask("POST", "/v1/requests/Nothing", "viewer", b"")
    expect((status, said["code"]) == (404, "not_found"), f"{said}")
    status, said = here.ask("POST", "/v1/requests/StatusRequest", "viewer", b"{}", "application/json")
    expect((status, said["code"]) == (415, "unsupported_media_type"), f"{said}")
    for name, body in (("StatusRequest", field(15, 0)), ("StatusRequest", field(200, 1)), ("TaskShowRequest", b"\x0a\x7f"),
                       ("OperateRequest", field(1, field(200, 1)) + field(2, "r-1"))):
        status, said = here.ask("POST", f"/v1/requests/{name}", "admin", body)
        expect((status, said["code"]) == (400, "invalid_argument"), f"{name} {body}: {status} {said}")
    status, said = here.ask("POST", "/v1/requests/TaskShowRequest", "viewer", field(1, "s-1"))
    expect(status == 200 and SECRET.encode() not in said and b"s-1" in said, f"{said}")
    _, said = here.ask("POST", "/v1/requests/TaskShowRequest", "admin", field(1, "s-1"))
    expect(SECRET.encode() in said, f"{said}")
    here.desks["admin"].json("submit", "stay", "--id", "m-1", "--delay", "1h")
    action = field(1, 6) + field(4, "a look") + field(5, "mallory")  # cancel
    status, _ = here.ask("POST", "/v1/requests/OperateRequest", "operator", field(1, action) + field(2, "m-1"))
    history = here.desks["viewer"].json("task", "show", "m-1")["history"]
    expect(status == 200 and {event["who"] for event in history if event["who"]} == {"operator-1"}, f"{history}")
    many = b"".join(field(2, f"no-{i}") for i in range(25))
    status, _ = here.ask("POST", "/v1/requests/OperateRequest", "operator", field(1, action) + many)
    expect(status == 200, f"of 25 tasks that do not exist: {status}")
    forged = field(1, field(1, "m-2") + field(2, "stay") + field(9, "mallory") + field(12, field(1, "10.9.9.9") + field(2, "mallory")))
    here.ask("POST", "/v1/requests/SubmitRequest", "both", forged)
    shown = here.desks["viewer"].json("task", "show", "m-2")
    expect((shown["submitted_by"], shown["submitted_from"]) == ("both-1", "127.0.0.1") and shown["submitted_token"] in here.tokens["both"], str(shown)[:300])


def operations(here):
    """They are shown to whoever may look, also without the right to payloads, and controlled by whoever may act. Nobody submits one."""
    operator, viewer = here.desks["operator"], here.desks["viewer"]
    here.desks["admin"].json("submit", "stay", "--id", "o-1", "--delay", "1h")
    what = {"verb": "cancel", "ids": ["o-1"], "reason": "no more"}
    _, found = here.ask("POST", "/v1/tasks:act", "operator", json.dumps({**what, "dry_run": True}).encode(), "application/json")
    status, begun = here.ask("POST", "/v1/tasks:act", "operator", json.dumps({**what, "confirm": found["confirm"]}).encode(), "application/json")
    expect(status == 202, f"{status} {begun}")
    wait_until(lambda: operator.json("operation", "show", begun["id"])["state"] == "done", 20, "the operation is done")
    _, said = here.ask("GET", f"/v1/operations/{begun['id']}", "viewer")
    expect((said["verb"], said["by"], said["reason"], said["count"], said["done"]) == ("cancel", "operator-1", "no more", 1, 1), f"{said}")
    for one in (viewer, operator):
        expect(one.json("operation", "show", begun["task"]) == said, f"{said}")
        expect(one.json("operation", "list")["operations"] == [said], f"{said}")
    expect(viewer.run("operation", "list", "--quiet").stdout == begun["id"] + "\n", "its id")
    viewer.refused(3, "not_found", "There is no operation none", "operation", "show", "none")
    viewer.refused(1, "forbidden", "the right act is missing", "operation", "stop", begun["id"])
    operator.refused(3, "not_found", "There is no operation none", "operation", "stop", "none")
    operator.refused(1, "wrong_state", "already", "operation", "pause", begun["id"])
    here.desks["both"].refused(2, "invalid_argument", "the node's own operations", "submit", "stay", "--id", "fairlead:operation:abd")
    # The word of a node, which no client has.
    forged = field(1, field(1, "o-2") + field(2, "fairlead-operation")) + field(3, 1)
    _, said = here.ask("POST", "/v1/requests/SubmitRequest", "both", forged)
    expect(b"submitted by the node alone" in said, f"{said}")


def audit(here):
    """Who did what to which task, and what was refused."""
    _, said = here.ask("GET", "/v1/audit?page_size=1000", "admin")
    seen = {(one["who"], one["path"], one["verb"], one["reason"], one["code"]) for one in said["items"]}
    path = "/v1/requests/OperateRequest"
    for wanted in (("operator-1", "/v1/tasks/r-1/actions", "retry", "the car is there", None),
                   ("operator-1", "/v1/tasks/m-1/actions", "cancel", "a look", None),
                   ("operator-1", "/v1/jobs/yearly/actions", "pause", "holidays", None),
                   ("operator-1", "/v1/agents/car/actions", "breaker_open", "repairs", None),
                   *(("operator-1", f"/v1/tasks/no-{i}/actions", "cancel", "a look", "not_found") for i in range(25))):
        expect(wanted in seen, f"{wanted} is not in the audit: {sorted(map(str, seen))}")
    kept = {(who, where, code) for who, where, _, _, code in seen}
    lists = "/v1/requests/TaskListRequest"
    for wanted in (("viewer-1", path, "forbidden"), ("client-1", lists, "forbidden"), (None, "/v1/me", "unauthenticated"),
                   ("deploy-1", "/v1/jobs/yearly", None)):
        expect(wanted in kept, f"{wanted} is not in the audit: {sorted(map(str, kept))}")
    text = json.dumps(said)
    expect("mallory" not in text and SECRET not in text and not any(token in text for token in here.tokens.values()), "the audit has what it must not have")


def run():
    with harness.sandbox("api_cli") as box:
        here = world(box)
        for part in (commands, operators, roles, tokens, unix, messages, operations, audit):
            part(here)
            print(f"ok  {part.__name__}", flush=True)
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    openapi.check("api_cli").write()
    return 0


if __name__ == "__main__":
    harness.main(run)
