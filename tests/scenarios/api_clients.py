"""Clients of the API for tests/scenarios/api_soak.py: what they do over and over, each on a thread of its own, and what they expect of it."""

import collections
import concurrent.futures
import http.client
import json
import socket
import ssl
import threading
import time

from api import pipelined, random_bytes, sizes, two_ways
from api_access import make_certificate, name_of, new_token, unix_connection
from api_fuzz import fuzzer
from harness import expect, fairlead, scenario_failed, wait_until

KEEPS = 40  # seconds after which a connection that is idle asks something: the node closes it after 60
LATE = 55  # seconds after which the node may have closed it, if this machine was so busy that it did not ask
PER_ADDRESS = 60  # idle connections of one address
HEAD_SECONDS = (4, 15)  # within which a client is sent away that never ends its head: 5, and the next look of a busy node
GONE = b"\1\0\0\0\0\0\0\0"  # SO_LINGER: close with a reset


class door:
    """Where clients knock: over TLS, or on the Unix socket."""

    def __init__(self, port, authority, path):
        self.port, self.path = port, str(path)
        self.context = ssl.create_default_context(cafile=authority)

    def secured(self, seconds=45, source=None):
        """Some requests wait for 30 s: a client has to have more patience than that."""
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=seconds, context=self.context, source_address=source)

    def local(self):
        return unix_connection(self.path)

    def raw_secured(self, seconds=20):
        return self.context.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=seconds), server_hostname="127.0.0.1")

    def raw_local(self, seconds=20):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(seconds)
        one.connect(self.path)
        return one


class soak_state:
    """What the threads share."""

    def __init__(self, at, token, stock):
        self.door, self.token, self.stock = at, token, stock
        self.over = threading.Event()
        self.kills = 0  # odd while the node is down
        self.failure = None
        self.counts = collections.Counter()
        self.statuses = collections.Counter()  # of the dice
        self.files = threading.Lock()  # certificate and key: a node that starts must find them whole
        self.guard_ = threading.Lock()
        self.acknowledged_ = []
        self.ids_ = 0

    def new_id(self, kind):
        with self.guard_:
            self.ids_ += 1
            return f"soak-{kind}-{self.ids_}"

    def acknowledge(self, ids):
        with self.guard_:
            self.acknowledged_ += ids

    def acknowledged(self):
        with self.guard_:
            return list(self.acknowledged_)

    def some_acknowledged(self, rng):
        with self.guard_:
            return rng.choice(self.acknowledged_) if self.acknowledged_ else None

    def whole(self, kills):
        """Nothing was killed since there had been so many kills, so what went wrong is a fault."""
        return kills % 2 == 0 and self.kills == kills

    def keep_on(self, clients, deed, rng):
        """On a thread: again and again until the time is over."""
        while not self.over.is_set():
            kills = self.kills
            try:
                deed(clients, rng)
                self.counts[deed.__name__] += 1
            except (OSError, http.client.HTTPException, ValueError, scenario_failed) as error:
                clients.drop()
                if self.whole(kills):
                    self.failure = f"{deed.__name__}: {type(error).__name__}: {error}"
                    self.over.set()
                    return
                self.counts["cut short"] += 1
                self.over.wait(0.05)


class clients:
    """Of one thread: a connection that is kept, and what is done with it."""

    def __init__(self, state, local=False):
        self.state, self.local_ = state, local
        self.connection_ = None
        self.kills_ = 0
        self.fuzzer_ = None
        self.idle_ = []  # (when it asked, connection)
        self.beginning_ = time.monotonic()

    def drop(self):
        if self.connection_ is not None:
            self.connection_.close()
        self.connection_ = None
        if self.fuzzer_ is not None:
            self.fuzzer_.connection = None
        for _, one in self.idle_:
            one.close()
        self.idle_ = []

    def connect(self):
        return self.state.door.local() if self.local_ else self.state.door.secured()

    def fields(self, token=None, more=None):
        """The Unix socket knows who asks without a token."""
        return {**({} if self.local_ else {"Authorization": f"Bearer {token or self.state.token}"}), **(more or {})}

    def ask(self, method, path, body=None, token=None, headers=None):
        """(status, JSON or None), over the connection that is kept."""
        if self.connection_ is None or self.kills_ != self.state.kills:
            self.drop()
            self.connection_, self.kills_ = self.connect(), self.state.kills
        sent = json.dumps(body) if body is not None else None
        given = {"Content-Type": "application/json"} if sent is not None else {}
        self.connection_.request(method, path, sent, {**given, **self.fields(token, headers)})
        answer = self.connection_.getresponse()
        text = answer.read()
        expect(answer.status < 500, f"{method} {path} was answered with {answer.status}: {text[:300]}")
        self.state.counts["requests"] += 1
        return answer.status, json.loads(text) if text else None

    def submit(self, kind, task, more=""):
        name = self.state.new_id(kind)
        status, said = self.ask("PUT", f"/v1/tasks/{name}{more}", task)
        expect(status in (201, 202), f"PUT {name}{more}: {status} {said}")
        self.state.acknowledge([name])
        return name

    # ---- what is right ----

    def right(self, rng):
        kind = rng.randrange(10)
        if kind < 5:
            self.submit("one", task_of(rng), rng.choice(["", "", "?wait=2s"]))
        elif kind < 8:
            name = self.state.some_acknowledged(rng)
            if name is not None:
                status, said = self.ask("GET", f"/v1/tasks/{name}")
                expect(status == 200 and said["id"] == name, f"GET {name}: {status} {said}")
        elif kind == 8:
            status, said = self.ask("GET", f"/v1/tasks?page_size={rng.choice([1, 20, 200])}" + rng.choice(["", "&state=running", "&label=soak:yes"]))
            expect(status == 200 and "items" in said, f"a list: {status} {said}")
        else:
            path = rng.choice(["status", "agents", "alerts", "openapi.json", "workflows/soak", "jobs", "me", "nodes", *(["audit"] if self.local_ else [])])
            status, said = self.ask("GET", "/v1/" + path)
            expect(status == 200, f"GET {path}: {status} {said}")
        self.state.over.wait(rng.random() * 0.02)

    def batches(self, rng):
        tasks = [{**task_of(rng), "id": self.state.new_id("many")} for _ in range(rng.randrange(1, 200))]
        for again in range(rng.choice([1, 1, 2])):
            status, said = self.ask("POST", "/v1/tasks:batch", {"tasks": tasks})
            expect(status == 200 and [one["code"] for one in said["results"]] == ["ok"] * len(tasks), f"a batch: {status} {str(said)[:500]}")
            expect({one["created"] for one in said["results"]} == {again == 0}, f"a batch, sent {again + 1} times: {str(said)[:500]}")
            if not again:
                self.state.acknowledge([one["id"] for one in tasks])
        self.state.over.wait(0.3 + rng.random())

    def streams(self, rng):
        """A stream is cut and taken up again until its task has ended: what was seen is the history, without a gap and without a double."""
        name = self.submit("seen", {"workflow": "soak_slow", "input": {"ms": rng.choice([1, 30, 150])}})
        seen, ended = [], False
        while not ended:
            kills, cut = self.state.kills, rng.choice([None, 1, 2, 3, 4])
            try:
                ended = self.follow(name, seen, cut)
            except (OSError, http.client.HTTPException):
                if self.state.whole(kills):
                    raise
                self.state.over.wait(0.05)
        while True:
            kills = self.state.kills
            try:
                status, page = self.ask("GET", f"/v1/tasks/{name}/history?page_size=1000")
                break
            except (OSError, http.client.HTTPException, scenario_failed):
                self.drop()
                if self.state.whole(kills):
                    raise
                self.state.over.wait(0.05)
        history = [event["sequence"] for event in page["items"]]
        expect(status == 200 and seen == history, f"the streams of {name} had the events {seen}, and its history has {history}")

    def follow(self, name, seen, cut):
        """Adds the events of one stream; True at the end of the task. `cut`: after so many of them the client goes."""
        connection = self.connect()
        try:
            last = {"Last-Event-ID": str(seen[-1])} if seen else {}
            connection.request("GET", f"/v1/tasks/{name}/events", headers=self.fields(more=last))
            answer = connection.getresponse()
            if answer.status == 503:
                raise http.client.HTTPException("the node is ending or beginning")
            expect(answer.status in (200, 204), f"the stream of {name} was answered with {answer.status}")
            self.state.counts["requests"] += 1
            fields = {}
            while line := answer.readline():
                if line.strip():
                    key, _, value = line.decode().rstrip("\n").partition(": ")
                    fields[key] = value
                    continue
                if "id" in fields:
                    seen.append(int(fields["id"]))
                    cut = cut - 1 if cut else None
                if fields.get("event") == "end":
                    return True
                if cut == 0:
                    return False
                fields = {}
            return answer.status == 204
        finally:
            connection.close()

    # ---- what is wrong ----

    def dice(self, rng):
        """Requests by the schemas of the OpenAPI document, as somebody who may look and submit."""
        if self.fuzzer_ is None:
            self.fuzzer_ = fuzzer(self.connect, rng, self.fields())
            self.fuzzer_.closes = (ConnectionError, ssl.SSLError, http.client.BadStatusLine)
            self.fuzzer_.statuses = self.state.statuses
        self.fuzzer_.throw()
        self.state.counts["requests"] += 1

    def hostile(self, rng):
        at = self.state.door
        random_bytes(at.raw_secured, None, rng)
        # Nobody asks for a token there, so that more of a request is looked at.
        for part in (two_ways, sizes, pipelined):
            part(at.raw_local, None, rng)
        self.state.counts["requests"] += 800
        self.state.over.wait(rng.random())

    def slow(self, rng):
        """Handshakes that end in the middle, and heads that come byte by byte."""
        at, standing, began = self.state.door, [], time.monotonic()
        for number in range(20):
            if number % 2:
                one = at.raw_secured()
                one.sendall(b"GET /v1/version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            else:
                one = socket.create_connection(("127.0.0.1", at.port), timeout=20)
                one.sendall(b"\x16\x03\x01\x02\x00\x01"[:rng.randrange(1, 6)])
            one.setblocking(False)
            standing.append((number % 2, one))
        while standing and not self.state.over.is_set():
            for trickles, one in list(standing):
                try:
                    if trickles:
                        one.send(b"a")
                    if one.recv(4096) == b"":
                        raise ConnectionResetError
                except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    continue
                except OSError:
                    standing.remove((trickles, one))
                    one.close()
            took = time.monotonic() - began
            expect(took < HEAD_SECONDS[1], f"{len(standing)} slow connections are open after {took:.0f} s")
            self.state.over.wait(0.2)
        expect(standing or time.monotonic() - began > HEAD_SECONDS[0], "slow connections were closed too early")
        for _, one in standing:
            one.close()

    def leave(self, rng):
        """In the middle of a handshake, a head, a body, an answer, a wait, and a stream."""
        at, name = self.state.door, self.state.some_acknowledged(rng)
        token = f"Authorization: Bearer {self.state.token}\r\n"
        common = f"HTTP/1.1\r\nHost: localhost\r\n{token}"
        requests = (f"GET /v1/tasks/{name} {common}", f"PUT /v1/tasks/half {common}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{{",
                    f"GET /v1/tasks?page_size=1000 {common}\r\n", f"GET /v1/tasks/soak-later?wait=30s&after=1 {common}\r\n",
                    f"GET /v1/tasks/soak-later/events {common}\r\n")
        for _ in range(20):
            if rng.random() < 0.2:
                one = socket.create_connection(("127.0.0.1", at.port), timeout=20)
                one.sendall(rng.randbytes(rng.randrange(1, 300)))
            else:
                one = at.raw_secured()
                one.sendall(rng.choice(requests).encode())
            if rng.random() < 0.3:
                self.state.over.wait(0.05)
            if rng.random() < 0.5:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, GONE)
            one.close()
        self.state.counts["requests"] += 20

    # ---- keys, and those who only stay ----

    def keys(self, rng):
        """Another certificate while connections stay, and a token that is revoked."""
        self.ask("GET", "/v1/me")
        kept = self.state.kills
        name = f"door-{rng.randrange(1 << 32)}"
        with self.state.files:
            make_certificate(self.state.folder / "tls", name)
        for left in (f"{name}.pem", f"{name}-key.pem"):
            (self.state.folder / "tls" / left).unlink(missing_ok=True)
        wait_until(lambda: name_of(self.state.door.port) == name, 10, "another certificate without a stop", every=0.2)
        if self.state.whole(kept):
            expect(self.ask("GET", "/v1/me")[0] == 200, "a connection stays over the change of the certificate")
        made = new_token(self.state.folder / "tokens.yaml", "brief", "--role", "viewer")
        wait_until(lambda: self.ask("GET", "/v1/me", token=made["token"])[0] == 200, 10, "a token is good", every=0.2)
        done = fairlead("token", "revoke", made["id"], "--file", self.state.folder / "tokens.yaml")
        expect(done.returncode == 0, f"token revoke: {done.stderr}")
        wait_until(lambda: self.ask("GET", "/v1/me", token=made["token"])[0] in (401, 429), 10, "a revoked token is refused", every=0.2)
        expect(self.ask("GET", "/v1/me")[0] == 200, "the other tokens stay")
        self.state.over.wait(rng.random() * 20)

    def idle(self, rng):
        """So many connections that stay and rarely ask; now and then one goes, and another comes."""
        if self.kills_ != self.state.kills:
            self.drop()
            self.kills_ = self.state.kills
        if len(self.idle_) < self.state.stock:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                numbers = range(len(self.idle_), min(len(self.idle_) + 50, self.state.stock))
                self.idle_ += pool.map(self.one_more, numbers)
        elif self.idle_ and rng.random() < 0.5:
            self.idle_.pop(rng.randrange(len(self.idle_)))[1].close()
        self.refresh()
        self.state.counts["idle now"] = len(self.idle_)
        if len(self.idle_) >= self.state.stock - 1:
            self.state.over.wait(0.1)

    def one_more(self, number):
        source = (f"127.0.{number // PER_ADDRESS // 250}.{number // PER_ADDRESS % 250 + 2}", 0)
        one = self.state.door.secured(source=source)
        self.ask_on(one)
        return time.monotonic(), one

    def ask_on(self, one):
        one.request("GET", "/v1/version")
        answer = one.getresponse()
        expect(answer.status == 200 and answer.read(), f"an idle connection was answered with {answer.status}")
        self.state.counts["requests"] += 1

    def refresh(self, after=KEEPS):
        """Has those ask that have not asked for so long."""
        kept = []
        for asked, one in self.idle_:
            quiet = time.monotonic() - asked
            if quiet > LATE:
                one.close()
                continue
            if quiet > after:
                self.ask_on(one)
                asked = time.monotonic()
            kept.append((asked, one))
        self.idle_ = kept


def task_of(rng):
    return {"workflow": "soak" if rng.random() < 0.9 else "soak_slow", "input": {"ms": rng.randrange(50), "text": "x" * rng.choice([1, 100, 5_000])},
            "labels": {"soak": "yes"}}
