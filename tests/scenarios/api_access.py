#!/usr/bin/env python3
"""Who may use the API of a real node: tokens and what their roles allow, path by path; tokens that are wrong, expired, revoked or cut off; the file of
tokens changed while the node runs; TLS, and its certificate replaced without a stop; the Unix socket and users of the machine; the audit, through kill -9; names of hosts.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_access.py
"""

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time

import harness
import openapi
from api_roles import ALLOWED, EVERYBODY, ROLES
from harness import expect, fairlead, wait_until
from place import deploy, place

ORDER = {"workflow": "order", "input": {"items": [], "amount_cents": 100, "address": {}}}


class unix_connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


def ask(to, method, path, token=None, body=None, headers=None):
    """(status, JSON or None, headers) over a new connection that `to()` makes."""
    connection = to()
    given = {"Authorization": f"Bearer {token}"} if token else {}
    sent = json.dumps(body) if body is not None else None
    if sent is not None:
        given["Content-Type"] = "application/json"
    connection.request(method, path, sent, {**given, **(headers or {})})
    answer = connection.getresponse()
    stream = answer.getheader("Content-Type", "").startswith("text/event-stream")
    text = b"" if stream else answer.read()
    connection.close()
    said, found = json.loads(text) if text else None, dict(answer.getheaders())
    openapi.judge(method, path, answer.status, found, said, body)
    return answer.status, said, found


def refused(to, code, method, path, token=None, **more):
    status, said, headers = ask(to, method, path, token, **more)
    expect(status >= 400 and said["code"] == code, f"{method} {path} was answered with {status} {said} and not with {code}")
    return said, headers


def new_token(file, name, *options):
    done = fairlead("token", "create", name, *options, "--file", file, "--by", "anna", "--json")
    expect(done.returncode == 0, f"token create: {done.stderr}")
    return json.loads(done.stdout)


def id_of(token):
    return token.split("_")[1]


class tokens_scenario:
    def __init__(self, box):
        self.file = box.folder / "tokens.yaml"
        self.tokens = {role: new_token(self.file, f"{role}-1", "--role", role)["token"] for role in ROLES}
        port, = harness.free_ports(1)
        self.place = place(box, "guarded", api=f"{{ listen: '127.0.0.1:{port}', hosts: [door.example] }}",
                           access=f"{{ tokens_file: {self.file} }}")
        self.node = self.place.node
        self.node.start()
        deploy(self.node)
        self.port = port
        self.to = lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def roles(self):
        """Every path with every role."""
        status, said, _ = ask(self.to, "PUT", "/v1/tasks/anna-1", self.tokens["client"], ORDER)
        expect(status == 201, f"{status} {said}")
        options = ask(self.to, "GET", "/v1/version")[0]
        expect(options == 200, "the version needs no token")
        for (method, path), roles in ALLOWED.items():
            open_to_all = path.startswith(("/v1/version", "/v1/problems/"))
            status, said, headers = ask(self.to, method, path, body={} if method != "GET" else None)
            expect(open_to_all or (status == 401 and said["code"] == "unauthenticated" and "Bearer" in headers["WWW-Authenticate"]),
                   f"{method} {path} without a token: {status} {said}")
            for role in ROLES:
                status, said, _ = ask(self.to, method, path, self.tokens[role], {} if method != "GET" else None)
                forbidden = status == 403 and said["code"] == "forbidden"
                expect(forbidden == (role not in roles), f"{method} {path} as {role}: {status} {said}")
                expect(status != 401 and status != 500, f"{method} {path} as {role}: {status} {said}")
        status, me, _ = ask(self.to, "GET", "/v1/me", self.tokens["operator"])
        expect(me["name"] == "operator-1" and me["kind"] == "token" and me["roles"] == ["operator"] and "act" in me["rights"]
               and "deploy" not in me["rights"] and me["expires_at"], str(me))
        expect(me["token"] == id_of(self.tokens["operator"]) and me["last_used_at"], str(me))

    def own_tasks(self):
        """A client knows only what it has submitted, and under the same name a later token knows it, too."""
        status, _, _ = ask(self.to, "PUT", "/v1/tasks/adm-1", self.tokens["admin"], ORDER)
        expect(status == 201, str(status))
        client = self.tokens["client"]
        refused(self.to, "not_found", "GET", "/v1/tasks/adm-1", client)
        refused(self.to, "not_found", "GET", "/v1/tasks/adm-1/events", client)
        refused(self.to, "not_found", "GET", "/v1/tasks/adm-1/input", client)
        refused(self.to, "not_found", "GET", "/v1/tasks/adm-1?wait=1s", client)
        _, listed, _ = ask(self.to, "GET", "/v1/tasks", client)
        expect([one["id"] for one in listed["items"]] == ["anna-1"] and listed["items"][0]["submitted_by"] == "client-1", str(listed))
        _, states, _ = ask(self.to, "POST", "/v1/tasks:states", client, {"ids": ["adm-1", "anna-1"]})
        expect(states["items"][0]["state"] is None and states["items"][1]["state"], str(states))
        _, all_, _ = ask(self.to, "GET", "/v1/tasks", self.tokens["viewer"])
        expect({one["id"] for one in all_["items"]} == {"anna-1", "adm-1"}, str(all_))
        _, seen, _ = ask(self.to, "GET", "/v1/tasks/anna-1", client)
        expect((seen["submitted_from"], seen["submitted_token"]) == ("127.0.0.1", id_of(client)), str(seen)[:400])
        again = new_token(self.file, "client-1", "--role", "client")["token"]
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks/anna-1", again)[0] == 200, 5, "a token that was made while the node runs")

    def others_ids(self):
        """A client does not learn by submitting what others have submitted, and takes no id of a launch."""
        client, same, other = self.tokens["client"], ORDER, {**ORDER, "priority": 1}
        said = [refused(self.to, "conflict", "PUT", "/v1/tasks/adm-1" + more, client, body=body)[0]["detail"]
                for body in (same, other) for more in ("", "?wait=1s")]
        expect(len(set(said)) == 1, str(said))
        _, batch, _ = ask(self.to, "POST", "/v1/tasks:batch", client, {"tasks": [{**same, "id": "adm-1"}, {**same, "id": "anna-1"}]})
        expect([one["code"] for one in batch["results"]] == ["conflict", "ok"], str(batch))
        refused(self.to, "invalid_argument", "PUT", "/v1/tasks/nightly@2099-11-28T03:00:00Z", client, body=ORDER)
        said, _ = refused(self.to, "invalid_argument", "PUT", "/v1/tasks/hook", client, body={**ORDER, "reply": {"webhook": "http://127.0.0.1:1/x"}})
        expect("webhooks is missing" in said["detail"], str(said))

    def replies(self):
        """A client takes its own status events, and an operator's administrator those of any."""
        own, other = "/v1/clients/client-1/replies:take", "/v1/clients/shop/replies:take"
        for name, role in (("client-1", "client"), ("shop", "admin")):
            status, said, _ = ask(self.to, "PUT", f"/v1/tasks/told-{name}", self.tokens[role], {**ORDER, "reply": {"client": name}})
            expect(status == 201, f"{status} {said}")
        _, said, _ = ask(self.to, "POST", own, self.tokens["client"], {"wait_ms": 20_000})
        expect({one["task"] for one in said["replies"]} == {"told-client-1"} and said["positions"], str(said))
        said, _ = refused(self.to, "forbidden", "POST", other, self.tokens["client"], body={})
        expect("another client" in said["detail"], str(said))
        _, said, _ = ask(self.to, "POST", other, self.tokens["admin"], {"wait_ms": 20_000})
        expect({one["task"] for one in said["replies"]} == {"told-shop"}, str(said))
        _, said, _ = ask(self.to, "GET", "/v1/audit?verb=take", self.tokens["admin"])
        expect([one["path"] for one in said["items"] if one["status"] == 200][:1] == [other], str(said))

    def jobs(self):
        """A job with a launch that is open is shown to whoever may look at jobs; a refused change changes nothing."""
        deploy, job = self.tokens["deploy"], {"job": "nightly", "schedule": "0 3 * * *", "workflow": "order", "input": ORDER["input"]}
        expect(ask(self.to, "PUT", "/v1/jobs/nightly", deploy, job)[0] == 201, "a job")
        expect(ask(self.to, "POST", "/v1/jobs/nightly/actions", self.tokens["operator"], {"verb": "run"})[0] == 200, "run")
        for role in ("deploy", "viewer", "operator"):
            status, said, _ = ask(self.to, "GET", "/v1/jobs/nightly", self.tokens[role])
            expect(status == 200, f"{role}: {said}")
        for method, path, headers in (("DELETE", "/v1/jobs/nightly?what=1", {}), ("DELETE", "/v1/jobs/nightly", {"If-Match": "1-a"}),
                                      ("DELETE", "/v1/workflows/order?what=1", {}), ("PUT", "/v1/jobs/nightly?what=1", {})):
            refused(self.to, "invalid_argument", method, path, deploy, headers=headers, body={**job, "notes": "changed"} if method == "PUT" else None)
        status, said, _ = ask(self.to, "GET", "/v1/jobs/nightly", deploy)
        expect(status == 200 and not said["notes"], str(said))

    def bodies_of_strangers(self):
        """What somebody unknown sends is not read: the answer comes before the body, and others are served."""
        for length in ("Content-Length: 4000000", "Transfer-Encoding: chunked"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as raw:
                raw.sendall(f"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{length}\r\n\r\n".encode())
                expect(raw.recv(4096).startswith(b"HTTP/1.1 401"), length)

    def payloads(self):
        _, seen, _ = ask(self.to, "GET", "/v1/tasks/anna-1", self.tokens["viewer"])
        expect(seen["input"] is None and all(step["input"] is None and step["output"] is None for step in seen["steps"]), str(seen)[:400])
        _, seen, _ = ask(self.to, "GET", "/v1/tasks/anna-1", self.tokens["client"])
        expect(seen["input"] == ORDER["input"], str(seen)[:400])
        both = new_token(self.file, "reader", "--role", "viewer", "--role", "payloads")["token"]
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks/anna-1/input", both)[1] == ORDER["input"], 5, "the right payloads")

    def history_has_the_name(self):
        done = ask(self.to, "POST", "/v1/tasks/adm-1/actions", self.tokens["operator"], {"verb": "pause", "reason": "look"})
        _, seen, _ = ask(self.to, "GET", "/v1/tasks/adm-1/history", self.tokens["viewer"])
        if done[0] == 200:  # it may have ended before
            expect(any(event["who"] == "operator-1" for event in seen["items"]), str(seen))

    def wrong_tokens(self):
        good = self.tokens["viewer"]
        for bad in ("x", good[:-1], good[:20] + ("A" if good[20] != "A" else "B") + good[21:], good + "a", good.upper()):
            status, said, _ = ask(self.to, "GET", "/v1/tasks", bad)
            # A token is unknown until its file was read again, so there may have been ten wrong ones in this minute.
            expect((status, said["code"]) in ((401, "unauthenticated"), (429, "overloaded")), f"{status} {said}")
        expect(ask(self.to, "GET", "/v1/tasks", None, headers={"Authorization": "Basic YTpi"})[0] in (401, 429), "another scheme")
        brief = new_token(self.file, "brief", "--role", "viewer", "--expires", "2s")["token"]
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks", brief)[0] == 200, 5, "a brief token is good")
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks", brief)[0] in (401, 429), 5, "and ends")
        gone = new_token(self.file, "gone", "--role", "viewer")
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks", gone["token"])[0] == 200, 5, "a token before it is revoked")
        expect(ask(self.to, "PUT", "/v1/tasks/later-1", self.tokens["admin"], {**ORDER, "delay": "1h"})[0] == 201, "a task that waits")
        stream = self.to()
        stream.request("GET", "/v1/tasks/later-1/events", headers={"Authorization": f"Bearer {gone['token']}"})
        answer = stream.getresponse()
        expect(answer.status == 200 and answer.readline() == b"retry: 2000\n", "a stream")
        expect(fairlead("token", "revoke", gone["id"], "--file", self.file).returncode == 0, "token revoke")
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks", gone["token"])[0] in (401, 429), 5, "it is refused within a second or so")
        got = ask(self.to, "POST", "/v1/tasks/later-1/actions", self.tokens["operator"], {"verb": "cancel"})
        expect(got[0] == 200, f"the task has news: {got}")
        rest = answer.read()
        stream.close()
        expect(b"event: bye" in rest and b"operator-1" not in rest, f"the stream of a token that was revoked: {rest}")
        too_many = lambda got: got[0] == 429 and got  # noqa: E731
        _, said, headers = wait_until(lambda: too_many(ask(self.to, "GET", "/v1/tasks", "wrong")), 20, "too many wrong tokens from one address")
        expect((said["retry_after_ms"], headers["Retry-After"]) == (60_000, "60"), str(said))
        for path, method in openapi.check().document.operations:
            target, body = re.sub(r"\{\w+\}", "x", path), None if method in ("get", "delete") else {}
            if not path.startswith(("/v1/version", "/v1/problems/", "/v1/callbacks/")):
                # Another minute may have begun, which counts anew.
                expect(any(ask(self.to, method.upper(), target, "wrong", body)[0] == 429 for _ in range(120)), f"{method} {path} is held back, too")
        expect(ask(self.to, "GET", "/v1/tasks", good)[0] == 200, "the right token is not held back")
        listed = json.loads(fairlead("token", "list", "--file", self.file, "--json").stdout)["tokens"]
        states = {one["name"]: one["state"] for one in listed}
        expect(states["gone"] == "revoked" and states["brief"] == "expired" and states["viewer-1"] == "valid", str(states))
        text = self.file.read_text()
        expect(not any(token in text for token in self.tokens.values()), "the file holds no token")

    def broken_file(self):
        """The tokens stay as they were while the file is wrong, and the log says so."""
        sound = self.file.read_text()
        for wrong in ("tokens: [", sound.replace("viewer", "boss"), sound + sound.split("tokens:\n")[1].splitlines()[0] + "\n"):
            self.file.write_text(wrong)
            wait_until(lambda: "the tokens stay as they were" in self.place.folder.joinpath("node.log").read_text(), 5, "the log warns")
            expect(ask(self.to, "GET", "/v1/tasks", self.tokens["viewer"])[0] == 200, "the former tokens stay")
        self.file.write_text(sound)
        later = new_token(self.file, "later", "--role", "viewer")["token"]
        wait_until(lambda: ask(self.to, "GET", "/v1/tasks", later)[0] == 200, 5, "the file is read again")

    def namespaces(self):
        """A token asks for its namespaces alone, and learns nothing of others."""
        made = new_token(self.file, "bill", "--role", "admin", "--namespace", "billing", "--namespace", "shop")
        expect(made["namespaces"] == ["billing", "shop"], str(made))
        bill, ann = made["token"], self.tokens["admin"]
        wait_until(lambda: ask(self.to, "GET", "/v1/me", bill)[0] == 200, 5, "the token is known")
        expect(ask(self.to, "GET", "/v1/me", bill)[1]["namespaces"] == ["billing", "shop"], "/v1/me")
        expect(ask(self.to, "GET", "/v1/me", ann)[1]["namespaces"] == ["default"], "without --namespace")
        for method, path in ALLOWED:
            body = {} if method != "GET" else None
            free = path in ("/v1/me", "/v1/version") or path.startswith("/v1/problems/")
            for more in ("", "?namespace=default", "?namespace=nothing"):
                status, said, _ = ask(self.to, method, path + more, bill, body)
                expect(status < 400 if free else (status, said["code"]) in ((403, "forbidden"), (429, "overloaded")), f"{method} {path}{more}: {status} {said}")
            status, said, _ = ask(self.to, method, path + "?namespace=billing", bill, body)
            expect(status < 400 if free else (status, said["code"]) == (404, "not_found") and "no namespace billing" in said["detail"],
                   f"{method} {path}: {status} {said}")
        said, _ = refused(self.to, "forbidden", "GET", "/v1/tasks?namespace=nothing", ann)
        expect("admin-1 may not use the namespace nothing" in said["detail"], str(said))
        refused(self.to, "invalid_argument", "GET", "/v1/tasks?namespace=", ann)
        refused(self.to, "invalid_argument", "GET", "/v1/tasks?namespace=default&namespace=default", ann)
        status, page, _ = ask(self.to, "GET", "/v1/tasks?namespace=default&page_size=1", ann)
        expect(status == 200 and ask(self.to, "GET", page["next"] + "&namespace=default", ann)[0] == 200, str(page))
        _, noted, _ = ask(self.to, "GET", "/v1/audit?who=bill&code=forbidden", ann)
        expect(any(one["path"] == "/v1/tasks" for one in noted["items"]), str(noted)[:300])
        done = fairlead("token", "create", "x", "--role", "viewer", "--namespace", "-x", "--file", self.file)
        expect(done.returncode == 2 and "no name of a namespace" in done.stderr, done.stderr)
        # Agents bind workers alone: a role that may be none contradicts them, and one more role does not.
        done = fairlead("token", "create", "x", "--role", "viewer", "--agent", "mail", "--file", self.file)
        expect(done.returncode == 2 and "--agent names agents" in done.stderr and "--role agent" in done.stderr, done.stderr)
        expect(new_token(self.file, "watching-mail", "--role", "viewer", "--role", "agent", "--agent", "mail")["agents"] == ["mail"], "both roles")

    def audit(self):
        """What was done and what was refused is in the audit, with who it was, and without tokens and payloads."""
        admin, path = self.tokens["admin"], "/v1/agents/nothing/actions"
        ask(self.to, "POST", path, self.tokens["operator"], {"verb": "drain", "reason": "new \"cable\""})
        _, page, _ = ask(self.to, "GET", f"/v1/audit?path={path}&who=operator-1&page_size=1", admin)
        one, = page["items"]
        expect(one["verb"] == "drain" and one["reason"] == "new \"cable\"" and one["from"] == "127.0.0.1" and one["kind"] == "token" and one["status"] >= 400,
               str(one))
        expect(one["token"] == id_of(self.tokens["operator"]) and one["object"] == "nothing" and one["state_after"] is None, str(one))
        said = [line for line in self.place.folder.joinpath("node.log").read_text().splitlines() if one["request_id"] in line]
        expect(len(said) <= 1 and all("operator-1" in line and path in line for line in said), f"refusals are in the log, some a minute: {said}")
        _, about, _ = ask(self.to, "GET", f"/v1/audit?object=later-1&token={id_of(self.tokens['operator'])}", admin)
        expect([(entry["verb"], entry["state_after"]) for entry in about["items"]] == [("cancel", "undone")], str(about))
        _, none, _ = ask(self.to, "GET", "/v1/audit?code=forbidden&page_size=1000", admin)
        expect({(one["who"], one["path"]) for one in none["items"]} >= {("viewer-1", "/v1/doctor"), ("client-1", "/v1/status"), ("deploy-1", "/v1/tasks")},
               str(none)[:400])
        _, unknown, _ = ask(self.to, "GET", "/v1/audit?code=unauthenticated&page_size=1000", admin)
        expect(unknown["items"] and all(one["who"] is None for one in unknown["items"]), str(unknown)[:300])
        # Page by page it is the same list, newest first.
        _, whole, _ = ask(self.to, "GET", "/v1/audit?page_size=1000", admin)
        pages, where = [], "/v1/audit?page_size=7"
        while where:
            _, page, _ = ask(self.to, "GET", where, admin)
            pages += page["items"]
            where = page["next"]
        expect(pages == whole["items"] and len(pages) > 100, f"{len(pages)} {len(whole['items'])}")
        expect([one["at"] for one in pages] == sorted((one["at"] for one in pages), reverse=True), "newest first")
        text = "".join(path.read_text() for path in self.place.folder.rglob("audit/*.jsonl"))
        expect("operator-1" in text and not any(token.split("_")[2] in text for token in self.tokens.values()), "no token is in the audit")
        expect("amount_cents" not in text, "no payload is in the audit")
        refused(self.to, "invalid_argument", "GET", "/v1/audit?cursor=x", admin)

    def killed(self):
        """After kill -9 everything that was answered is in the audit."""
        for number in range(20):
            ask(self.to, "POST", f"/v1/agents/kill{number}/actions", self.tokens["operator"], {"verb": "resume"})
        self.node.kill()
        with next(self.place.folder.rglob("audit/*.jsonl")).open("a") as file:
            file.write('{"at":"2026-')  # half a line, as a power cut leaves it
        self.node.start()
        ask(self.to, "POST", "/v1/agents/after/actions", self.tokens["operator"], {"verb": "resume"})
        _, page, _ = ask(self.to, "GET", "/v1/audit?page_size=21&verb=resume", self.tokens["admin"])
        expect([one["path"].split("/")[3] for one in page["items"]] == ["after", *(f"kill{number}" for number in reversed(range(20)))], str(page)[:600])

    def hosts(self):
        good = self.tokens["viewer"]
        expect(ask(self.to, "GET", "/v1/tasks", good, headers={"Host": "Door.Example:7190"})[0] == 200, "a name of api.hosts")
        refused(self.to, "misdirected", "GET", "/v1/tasks", good, headers={"Host": "evil.example"})
        refused(self.to, "cross_origin", "PUT", "/v1/tasks/x", self.tokens["admin"], body=ORDER, headers={"Origin": "https://evil.example"})

    def run(self):
        for part in (self.roles, self.own_tasks, self.others_ids, self.replies, self.jobs, self.bodies_of_strangers, self.payloads, self.history_has_the_name, self.wrong_tokens, self.broken_file, self.namespaces, self.audit, self.killed, self.hosts):
            part()
            print(f"ok  {part.__name__}", flush=True)
        code, _ = self.node.end()
        expect(code == 0, f"the node ended with {code}: {self.node.last_words()}")


def make_certificate(folder, name, days="30"):
    """Replaces the files as whoever renews them does: for a moment the key is not that of the certificate."""
    done = fairlead("certificate", "issue", name, "localhost", "127.0.0.1", "--ca", folder / "ca", "--server", "--days", days, "--out", folder)
    expect(done.returncode == 0, done.stderr)
    os.replace(folder / f"{name}-key.pem", folder / "key.pem")
    os.replace(folder / f"{name}.pem", folder / "cert.pem")


def name_of(port):
    """The certificate that the port shows now."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw, context.wrap_socket(raw) as over:
        expect(over.version() == "TLSv1.3", str(over.version()))
        shown = ssl.DER_cert_to_PEM_cert(over.getpeercert(True))
    done = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=shown, capture_output=True, text=True)
    return done.stdout.strip().split("=")[-1].strip()


def events_of_an_archived_task(to, token):
    """The stream of a task that has ended and is archived has its whole history, or what a client has missed of it."""
    def stream(more):
        connection = to()
        connection.request("GET", "/v1/tasks/t1/events", headers={"Authorization": f"Bearer {token}", **more})
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")], text
    status, said, _ = ask(to, "POST", "/v1/tasks/t1/actions", token, {"verb": "terminate", "now": True})
    expect(status == 200, str(said))
    wait_until(lambda: ask(to, "GET", "/v1/tasks?archived=true", token)[1]["items"], 20, "the task is archived")
    history = [event["sequence"] for event in ask(to, "GET", "/v1/tasks/t1/history", token)[1]["items"]]
    status, seen, text = stream({})
    expect(status == 200 and seen == history and "event: end" in text, f"{status} {seen} {history}")
    status, seen, text = stream({"Last-Event-ID": str(history[1])})
    expect(status == 200 and seen == history[2:] and "event: end" in text, f"{status} {seen} {history}")
    expect(stream({"Last-Event-ID": str(history[-1])})[0] == 204, "a client that has everything")
    # Whoever submits it once more is told how it ended.
    status, said, _ = ask(to, "PUT", "/v1/tasks/t1?wait=10s", token, ORDER)
    expect(status == 200 and said["state"] == "failed" and "terminated" in said["reason"], f"{status} {said}")


def tls(box):
    folder = box.folder / "tls"
    folder.mkdir()
    expect(fairlead("certificate", "create-ca", "--out", folder / "ca").returncode == 0, "create-ca")
    make_certificate(folder, "first", "5")
    port, = harness.free_ports(1)
    file = box.folder / "tls-tokens.yaml"
    token = new_token(file, "ben", "--role", "admin")["token"]
    one = place(box, "secured", api=f"{{ listen: '0.0.0.0:{port}', tls: {{ certificate: {folder}/cert.pem, key: {folder}/key.pem }} }}",
                access=f"{{ tokens_file: {file} }}", retention="{ archive_after: 1s, keep: 30d }")
    one.node.start()
    deploy(one.node)

    def to():
        context = ssl.create_default_context(cafile=folder / "ca" / "ca.pem")
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=context)

    expect(ask(to, "GET", "/v1/me", token)[1]["name"] == "ben", "over TLS")
    status, said, _ = ask(to, "PUT", "/v1/tasks/t1", token, ORDER)
    expect(status == 201, str(said))
    events_of_an_archived_task(to, token)
    kept = to()
    kept.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"})
    expect(json.loads(kept.getresponse().read())["name"] == "ben", "a connection that is kept")
    expect(name_of(port) == "first", "the certificate")
    log = one.folder / "node.log"
    expect("the certificate ends at" in log.read_text(), "five days before its end the log warns")
    make_certificate(folder, "second")
    wait_until(lambda: name_of(port) == "second", 5, "another certificate without a stop")
    kept.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"})
    expect(json.loads(kept.getresponse().read())["name"] == "ben", "connections stay over the change")
    (folder / "cert.pem").write_text("nothing")
    wait_until(lambda: "the former certificate stays" in log.read_text(), 5, "the log says that the file is wrong")
    expect(name_of(port) == "second", "the former certificate stays")
    # A client that speaks no TLS, an older TLS, or nothing at all harms nobody.
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
        expect(b"HTTP/1.1 200" not in raw.recv(4096), "plain HTTP is not answered")
    old = ssl.create_default_context()
    old.check_hostname, old.verify_mode, old.maximum_version = False, ssl.CERT_NONE, ssl.TLSVersion.TLSv1_2
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw, old.wrap_socket(raw):
            expect(False, "TLS 1.2 was taken")
    except (ssl.SSLError, OSError):
        pass
    silent = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(50)]
    expect(ask(lambda: http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=ssl._create_unverified_context()),
               "GET", "/v1/version")[0] == 200, "others are served meanwhile")
    began = time.monotonic()
    expect(all(one.recv(1) == b"" for one in silent) and time.monotonic() - began < 15, "silent connections end after five seconds")
    code, _ = one.node.end()
    expect(code == 0, f"the node ended with {code}: {one.node.last_words()}")


def unix(box):
    """Root and the node's own user may do everything on the socket, others what the node file says."""
    path = box.folder / "api.sock"
    one = place(box, "local", api=f"{{ socket: {path} }}", access="{ users: { nobody: [viewer] } }")
    one.node.start()
    deploy(one.node)
    to = lambda: unix_connection(path)  # noqa: E731
    _, me, _ = ask(to, "GET", "/v1/me")
    expect(me["kind"] == "user" and me["roles"] == ["admin"], str(me))
    status, said, _ = ask(to, "PUT", "/v1/tasks/u1", body=ORDER)
    expect(status == 201, str(said))
    if os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("curl"):
        os.chmod(box.folder, 0o755)

        def as_user(name, method, target):
            done = subprocess.run(["setpriv", f"--reuid={name}", "--regid=65534", "--clear-groups", "curl", "-s", "-X", method, "--unix-socket", path,
                                   f"http://localhost{target}"], capture_output=True, text=True)
            expect(done.stdout, f"curl: {done.stderr}")
            return json.loads(done.stdout)
        expect(as_user("nobody", "GET", "/v1/me")["roles"] == ["viewer"], "a user of access.users")
        expect(as_user("nobody", "POST", "/v1/doctor")["code"] == "forbidden", "a viewer")
        expect(as_user("daemon", "GET", "/v1/status")["code"] == "forbidden", "a user who is not named")
    expect(one.node.end()[0] == 0 and not path.exists(), "the socket goes with the node")
    # A socket that a killed node has left is replaced; a file of another kind is not.
    one.node.start()
    one.node.kill()
    expect(path.exists(), "kill -9 leaves it")
    one.node.start()
    expect(ask(to, "GET", "/v1/me")[0] == 200, "it is served again")
    expect(one.node.end()[0] == 0, one.node.last_words())
    path.write_text("of somebody else")
    one.node.launch()
    expect(one.node.process.wait(20) != 0 and path.read_text() == "of somebody else", "a file is not replaced")


def bad_start(box):
    """What would leave the node open to others is refused before it starts, as by `config check`, and nothing is made."""
    tokens = box.folder / "open.yaml"
    new_token(tokens, "x", "--role", "viewer")
    os.chmod(tokens, 0o644)
    for name, settings, words in (
            ("no-tls", {"api": "{ listen: '0.0.0.0:7190' }"}, "no TLS"),
            ("open-tokens", {"api": "{ }", "access": f"{{ tokens_file: {tokens} }}"}, "can be used by every user"),
            ("no-tokens", {"api": "{ }", "access": f"{{ tokens_file: {box.folder}/nothing.yaml }}"}, f"fairlead token create NAME --role ROLE --file {box.folder}/nothing.yaml")):
        one = place(box, name, **settings)
        one.node.launch()
        code = one.node.process.wait(20)
        expect(code == 2 and words in one.folder.joinpath("node.log").read_text(), f"{name}: {code}, {one.node.last_words()}")
        expect(not one.store.exists(), f"{name}: it has made a store")
        done = fairlead("config", "check", one.config)
        expect(done.returncode == 2 and words in done.stderr, f"{name}: config check: {done.returncode} {done.stdout}{done.stderr}")
    for words, code in ((("create", "a b", "--role", "viewer"), 2), (("create", "x", "--role", "boss"), 2), (("create", "x"), 2),
                        (("create", "x", "--role", "viewer", "--expires", "soon"), 2), (("revoke", "nobody"), 3)):
        done = fairlead("token", *words, "--file", box.folder / "tokens.yaml")
        expect(done.returncode == code, f"token {words}: {done.returncode} {done.stderr}")


def run():
    with harness.sandbox("api_access") as box:
        tokens_scenario(box).run()
        for part in (tls, unix, bad_start):
            part(box)
            print(f"ok  {part.__name__}", flush=True)
    openapi.check("api_access").write()
    return 0


if __name__ == "__main__":
    harness.main(run)
