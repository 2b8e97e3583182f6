"""Workers of agents over the API of a node, as a program in another language would write them: with an HTTP client and nothing else."""

import json
import socket
import struct
import threading
import time

from api import api
from harness import expect

GONE = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset


class worker:
    """One process of an agent. It remembers the tickets that it holds, as a real one does."""

    def __init__(self, port, agent, instance, calls=("send",), token=None, **more):
        self.port, self.instance = port, instance
        self.headers_ = {"Authorization": f"Bearer {token}"} if token else {}
        self.to_ = api(port, 90)       # of takes
        self.reports_ = api(port, 90)  # of everything else, while a take waits
        self.registration = {"agent": agent, "instance": instance, "calls": list(calls), **more}
        self.id = self.session = self.incarnation = None
        self.after = 0
        self.held = {}  # ticket -> attempt
        self.ends = {}  # ticket -> end of the lease, by time.monotonic()

    def ask(self, wanted, method, path, body=None, to=None, **more):
        return (to or self.reports_).expect(wanted, method, path, body, headers=self.headers_, **more)

    def register(self, wanted=201, code=None, pointer=None, key=None, **more):
        """With what is given besides; what the node says."""
        headers = {**self.headers_, **({"Idempotency-Key": key} if key else {})}
        found, said = self.reports_.expect(wanted, "POST", "/v1/workers", {**self.registration, **more}, headers=headers, code=code, pointer=pointer)
        if wanted == 201:
            expect(found["Location"] == f"/v1/workers/{said['worker']}", f"{found}")
            self.id, self.session, self.incarnation = said["worker"], said["session"], said["incarnation"]
            self.after = 0
        return said

    def move(self, port):
        """Goes on at another node with all that it holds."""
        self.port, self.to_, self.reports_ = port, api(port, 90), api(port, 90)
        return self.again()

    def again(self):
        return self.register(session=self.session, have=list(self.held))

    def path(self, verb):
        return f"/v1/workers/{self.id}/{verb}"

    def take(self, most=8, wait_ms=2_000, after=None):
        """The attempts that are new to it; all of an answer are kept in `held`."""
        sent = time.monotonic()
        body = {"max": most, "wait_ms": wait_ms, "after": self.after if after is None else after}
        _, said = self.ask(200, "POST", self.path("take"), body, to=self.to_)
        if said["attempts"]:
            self.after = said["answer"]
        return self.hold(said, sent)

    def hold(self, said, sent):
        new = []
        for one in said["attempts"]:
            if one["ticket"] not in self.held:
                new.append(one)
            self.held[one["ticket"]] = one
            self.ends[one["ticket"]] = sent + (said["waited_ms"] + one["lease_ms"]) / 1_000
        return new

    def until(self, count, seconds=20, most=8):
        """Takes until so many attempts have come."""
        found, end = [], time.monotonic() + seconds
        while len(found) < count:
            expect(time.monotonic() < end, f"{self.instance} got {len(found)} attempts in {seconds} s and not {count}")
            found += self.take(most, 1_000)
        return found

    def take_half(self, most=8, wait_ms=5_000):
        """Sends a take and leaves in the middle of its answer: what has come of it."""
        body = json.dumps({"max": most, "wait_ms": wait_ms, "after": self.after}).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", "Content-Type": "application/json", "Content-Length": len(body),
                                                                 **self.headers_}.items())
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as one:
            one.sendall(f"POST {self.path('take')} HTTP/1.1\r\n{head}\r\n".encode() + body)
            came = one.recv(40)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, GONE)
        expect(came.startswith(b"HTTP/1.1 200"), f"the answer to a take begins with {came}")
        return came

    def ask_again(self, path, body, seconds=15):
        """A report is sent again as long as a shard has not answered (503)."""
        end = time.monotonic() + seconds
        while True:
            status, found, said = self.reports_.ask("POST", path, body, self.headers_)
            if status != 503 or time.monotonic() > end:
                expect(status == 200, f"POST {path} was answered with {status}: {said}")
                return said
            expect(int(found["Retry-After"]) >= 1, f"{found}")
            time.sleep(0.05)

    def heartbeat(self, ticket, **more):
        """The answer to one heartbeat."""
        sent = time.monotonic()
        said = self.ask_again(self.path("heartbeats"), {"items": [{"ticket": ticket, **more}]})
        one, = said["items"]
        expect(one["ticket"] == ticket and one["cancel"] != one["held"], f"{one}")
        if one["held"] and ticket in self.ends:
            self.ends[ticket] = sent + one["lease_ms"] / 1_000
        return one

    def report(self, *items):
        """The answers to outcomes, which are not held any more once they were answered."""
        said = self.ask_again(self.path("outcomes"), {"items": list(items)})
        for one in said["items"]:
            self.held.pop(one["ticket"], None)
        expect([one["ticket"] for one in said["items"]] == [one["ticket"] for one in items], f"{said}")
        return [one["result"] for one in said["items"]]

    def complete(self, attempts, output=lambda one: {"sent": one["task"]}):
        return self.report(*({"ticket": one["ticket"], "output": output(one)} for one in attempts))

    def work(self, count, seconds=60, deed=lambda one: {"sent": one["task"]}):
        """Carries out so many attempts; all outcomes are accepted."""
        done, end = [], time.monotonic() + seconds
        while len(done) < count:
            expect(time.monotonic() < end, f"{self.instance} did {len(done)} of {count} attempts in {seconds} s")
            for one in self.take(self.registration.get("capacity", 1), 1_000):
                expect(self.report({"ticket": one["ticket"], "output": deed(one)}) == ["accepted"], f"an outcome of {one} is not accepted")
                done.append(one)
        return done

    def drain(self):
        return self.ask(202, "POST", self.path("drain"))[1]

    def end(self, wanted=204, abandon=False, code=None):
        return self.ask(wanted, "DELETE", f"/v1/workers/{self.id}" + ("?abandon=true" if abandon else ""), code=code)[1]


class waiting_take:
    """A take on a thread and a connection of its own."""

    def __init__(self, of, **body):
        self.said = self.status = None
        self.began = time.monotonic()
        self.thread_ = threading.Thread(target=self._ask, args=(api(of.port, 90), of.path("take"), {"after": of.after, **body}, of.headers_), daemon=True)
        self.thread_.start()

    def _ask(self, to, path, body, headers):
        self.status, _, self.said = to.ask("POST", path, body, headers)
        self.seconds = time.monotonic() - self.began

    def end(self, seconds=70):
        self.thread_.join(seconds)
        expect(self.status is not None, f"a take was not answered within {seconds} s")
        return self.status, self.said
