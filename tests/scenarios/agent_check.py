#!/usr/bin/env python3
"""`fairlead agent check` names the rules that an agent breaks: one agent with one planted fault after another is checked, and each fault must be
found under its rule, and no other. The same agent without a fault keeps all rules, and so do the agents in docs/examples/workers.

The agent stands in this file: `agent_check.py --be FAULT` is it. An example in Node.js is left out where there is no node."""

import concurrent.futures
import http.client
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "workers"
OF_TWO_NODES = ("clings_to_node",)
AT_ONCE = 16
PATIENCE_S = 240

# The fault, the rule by which it must be found (0: what the API takes at all), and what it is.
FAULTS = {
    "counts_from_arrival": (1, "leases are counted from the arrival of the answer"),
    "knows_no_lease": (2, "leases are passed over", 1),
    "finishes_late": (2, "what is begun is finished and reported, however late"),
    "deaf_to_held": (2, "`held` of a heartbeat's answer is passed over"),
    "after_is_zero": (3, "`after` is always 0"),
    "after_is_counted": (3, "`after` counts takes, not answers"),
    "no_after": (3, "there is no `after`", 0),
    "reports_once": (4, "an outcome is sent once, whatever comes back", 7),
    "hasty": (4, "an outcome is repeated at once, whatever Retry-After says"),
    "never_content": (4, "an outcome is repeated though it is not held"),
    "own_key": (5, "the key of each request is the ticket", 6),
    "no_key": (5, "requests to the service have no key", 0, 6),
    "sure_of_nothing": (6, "a broken connection is a transient fault"),
    "sure_of_all": (6, "a broken connection is a success"),
    "always_done": (6, "each look-up says done"),
    "never_done": (6, "each look-up says never_happened"),
    "no_session": (7, "after 410 it registers as if it were new"),
    "empty_have": (7, "the registration after 410 lists no tickets"),
    "stays": (7, "410 is passed over"),
    "does_twice": (8, "an attempt that comes twice is done twice"),
    "takes_over": (8, "each registration has take_over"),
    "own_registration_key": (8, "the registration whose answer was lost is sent again under another key"),
    "other_name": (8, "the registration whose answer was lost is sent again as another instance"),
    "half_heads": (4, "an answer that ends in its head is taken for one without a body"),
    "blind_to_undo": (0, "an undo is performed"),
    "undoes_under_old_key": (5, "an undo has the key of its perform"),
    "slow_heart": (0, "the heartbeats of an attempt are too far from each other"),
    "deaf_to_409": (0, "on SIGTERM the worker is ended at once, whatever the node says"),
    "dies_at_once": (0, "SIGTERM ends it while it holds an attempt"),
    "clings_to_node": (7, "the other node is never asked"),
    "no_heartbeats": (0, "there are no heartbeats"),
    "no_kind": (0, "faults and outputs stand in one outcome", 6),
}

# ---- the agent ----

NO_ANSWER = (OSError, http.client.HTTPException, ValueError)


class gone(Exception):
    """410"""


def send(url, method, body=None, seconds=20.0, **headers):
    headers = {"Content-Type": "application/json", **headers} if body is not None else headers
    with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method), timeout=max(0.001, seconds)) as answer:
        return json.loads(answer.read() or b"null")  # http.client takes a head that breaks off for a whole one


class faulty_agent:
    def __init__(self, fault):
        self.fault_ = fault
        self.nodes_, self.service_ = os.environ["FAIRLEAD_API"].split(","), os.environ["SERVICE_URL"]
        self.held_ = {}
        self.session_, self.worker_, self.after_ = None, "", 0
        self.registrations_ = 0
        self.ending_ = threading.Event()

    def is_(self, *faults):
        return self.fault_ in faults

    def post(self, path, body, once=False):
        """The answer, and the moment from which leases count. `body`: or what makes it, each time."""
        while True:
            stamp, pause = time.monotonic(), 1.0
            try:
                key = {"Idempotency-Key": self.registration_key()} if path == "/v1/workers" else {}
                answer = send(self.nodes_[0] + path, "POST", json.dumps(body() if callable(body) else body).encode(), **key)
                if answer is None and not self.is_("half_heads"):
                    raise ValueError("the answer ends in its head")
                return answer, time.monotonic() if self.is_("counts_from_arrival") else stamp
            except urllib.error.HTTPError as refused:
                if refused.code == 410:
                    raise gone from None
                if refused.code not in (429, 502, 503, 504):
                    raise SystemExit(f"{path}: {refused.code} {refused.read().decode()}") from None
                pause = 0.1 if self.is_("hasty") else float(refused.headers.get("Retry-After") or 1)
            except NO_ANSWER:
                if not self.is_("clings_to_node"):
                    self.nodes_.append(self.nodes_.pop(0))
            if once:
                return None, stamp
            time.sleep(pause)

    def registration_key(self):
        self.registrations_ += 1
        return f"{os.getpid()}-{self.registrations_ if self.is_('own_registration_key') else 0}"

    def me(self):
        new = self.is_("no_session")
        other = self.registrations_ if self.is_("other_name") and not self.session_ else 0
        self.name_ = self.name_ if self.session_ else f"faulty-{os.getpid()}-{other}"
        return {"agent": "faulty", "instance": self.name_, "calls": ["send"], "lookups": ["send"], "capacity": 2,
                "session": None if new else self.session_,
                "have": [] if self.is_("empty_have") else [one["ticket"] for one in self.held_.values()], "take_over": self.is_("takes_over")}

    def register(self):
        made, _ = self.post("/v1/workers", self.me)
        self.session_, self.worker_, self.after_ = made["session"], "/v1/workers/" + made["worker"], 0

    def perform(self, one):
        left = one["end"] - time.monotonic()
        undoes = one["direction"] == "undo"
        key = one["perform_key"] if undoes and self.is_("undoes_under_old_key") else one["ticket"] if self.is_("own_key") else one["idempotency_key"]
        key = {} if self.is_("no_key") else {"Idempotency-Key": key}
        to = self.service_ + ("/undo" if undoes and not self.is_("blind_to_undo") else "")
        seconds = 20 if self.is_("finishes_late", "deaf_to_held", "knows_no_lease") else left
        try:
            send(to, "POST", json.dumps(one["input"]).encode(), seconds, **key)
        except NO_ANSWER as why:
            kind = "transient" if self.is_("sure_of_nothing") else "in_doubt"
            if not self.is_("sure_of_all"):
                return {"fault": {"kind": kind, "code": "no_answer", "message": str(why)}, **({"output": None} if self.is_("no_kind") else {})}
        return {"output": {"sent": True}}

    def look_up(self, one):
        for fault, word in {"always_done": "done", "never_done": "never_happened"}.items():
            if self.is_(fault):
                return {"verdict": word}
        try:
            send(f"{self.service_}?key={one['perform_key']}", "GET", None, one["end"] - time.monotonic())
            return {"verdict": "done"}
        except urllib.error.HTTPError as refused:
            return {"verdict": "never_happened" if refused.code == 410 else "unknown"}
        except NO_ANSWER:
            return {"verdict": "unknown"}

    def work(self, one):
        out = self.look_up(one) if one["direction"] == "lookup" else self.perform(one)
        if time.monotonic() < one["end"] or self.is_("knows_no_lease", "finishes_late"):
            one["outcome"] = {"ticket": one["ticket"], **out}
        one["ended"] = True

    def beat(self):
        share = 1.7 if self.is_("slow_heart") else 1 / 3
        for one in list(self.held_.values()):
            needs_one = one["heartbeat_ms"] and "ended" not in one and not self.is_("no_heartbeats")
            if not needs_one or time.monotonic() < one["beat"] + share * one["heartbeat_ms"] / 1000:
                continue
            answer, stamp = self.post(self.worker_ + "/heartbeats", {"items": [{"ticket": one["ticket"], "sequence": time.time_ns()}]})
            one["beat"] = stamp
            if not self.is_("deaf_to_held"):
                one["end"] = stamp + answer["items"][0]["lease_ms"] / 1000 if answer["items"][0]["held"] else 0

    def report(self):
        items = [one["outcome"] for one in self.held_.values() if "outcome" in one]
        if not items:
            return
        once = self.is_("reports_once")
        answer, _ = self.post(self.worker_ + "/outcomes", {"items": items}, once)
        for item in answer["items"] if answer else items:
            if not (self.is_("never_content") and item["result"] == "not_held"):
                for name in [name for name, one in self.held_.items() if one["ticket"] == item["ticket"] and "outcome" in one]:
                    del self.held_[name]

    def take(self):
        body = {"max": 2 - min(1, len(self.held_)), "wait_ms": 100, "after": 0 if self.is_("after_is_zero") else self.after_}
        if self.is_("no_after"):
            del body["after"]
        if self.is_("after_is_counted"):
            self.after_ += 1
        answer, stamp = self.post(self.worker_ + "/take", body, once=self.is_("after_is_counted"))
        if answer is None:
            return
        if not self.is_("after_is_counted"):
            self.after_ = answer["answer"]
        for place, one in enumerate(answer["attempts"]):
            one.update(end=stamp + (answer["waited_ms"] + one["lease_ms"]) / 1000, beat=stamp)
            name = f"{one['ticket']} {place}" if self.is_("does_twice") else one["ticket"]
            if name not in self.held_ and (time.monotonic() < one["end"] or self.is_("knows_no_lease")):
                self.held_[name] = one
                threading.Thread(target=self.work, args=(one,), daemon=True).start()

    def leave(self):
        try:
            send(self.nodes_[0] + self.worker_, "DELETE")
        except urllib.error.HTTPError as refused:
            if refused.code != 410 and not self.is_("deaf_to_409"):
                raise SystemExit(f"DELETE: {refused.code} {refused.read().decode()}") from None

    def run(self):
        if not self.is_("dies_at_once"):
            signal.signal(signal.SIGTERM, lambda *_: self.ending_.set())
        self.register()
        while True:
            try:
                if self.ending_.is_set() and (not self.held_ or self.is_("deaf_to_409")):
                    return self.leave()
                self.report()
                for name, one in list(self.held_.items()):
                    if "ended" in one and "outcome" not in one:
                        del self.held_[name]
                self.beat()
                if self.ending_.is_set():
                    time.sleep(0.05)
                else:
                    self.take()
            except gone:
                if self.is_("reports_once"):
                    self.held_.clear()
                if self.is_("stays"):
                    time.sleep(0.2)
                else:
                    self.register()


# ---- the check ----

def check(name, command, *options):
    words = [str(harness.BINARY), "agent", "check", "--json", *options, "--", *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    expect(done.returncode in (0, 1) and done.stdout, f"the check of {name} ended with {done.returncode}: {done.stderr[-2000:]}")
    report = json.loads(done.stdout)
    expect((done.returncode == 0) == report["ok"] == (not report["findings"]), f"exit code {done.returncode} of {name} is not that of {report}")
    return report


def kept(name, command, *options):
    report = check(name, command, *options)
    expect(report["ok"], f"{name} keeps the rules, and the tester says {report['findings']}")
    unseen = [one["rule"] for one in report["rules"] if one["verdict"] != "kept"]
    expect(not unseen, f"of {name} the tester has not seen rules {unseen}")
    return f"ok  {name} keeps all rules"


def broken(fault):
    rule, what, *also = FAULTS[fault]
    report = check(fault, [sys.executable, "-B", __file__, "--be", fault], *["--two-nodes"] * (fault in OF_TWO_NODES))
    rules = {one["rule"] for one in report["findings"]}
    sentences = "\n      ".join(f"{one['rule']}: {one['sentence']}" for one in report["findings"])
    expect(rule in rules, f"{fault} ({what}) breaks rule {rule}, and the tester says:\n      {sentences}")
    expect(rules <= {rule, *also}, f"{fault} ({what}) breaks rule {rule} alone, and the tester says:\n      {sentences}")
    return f"ok  {fault}: {sentences}"


class forgetful_service(http.server.BaseHTTPRequestHandler):
    """Does everything anew, whatever the key is, and finds whatever it is asked for."""

    count = 0

    def do_POST(self):  # noqa: N802 (http.server's name)
        type(self).count += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self):  # noqa: N802
        body = json.dumps({"count": type(self).count}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def check_service(*arguments):
    done = harness.fairlead("agent", "check", "--json", *arguments, "--input", '{"order": "A-1", "amount_cents": 5}')
    expect(done.returncode in (0, 1), f"the check of a service ended with {done.returncode}: {done.stderr}")
    return {one["about"] for one in json.loads(done.stdout)["findings"]}


def of_services():
    """A service that keeps keys passes; one that does not is found out in each of the three ways."""
    with harness.sandbox("agent_check") as box:
        ports = harness.services(box).ports
        found = check_service(f"http://127.0.0.1:{ports['payment']}/charges", "--undo", f"http://127.0.0.1:{ports['payment']}/charges/refund")
        expect(not found, f"the payment service keeps its keys, and the tester finds fault with {found}")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), forgetful_service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    found = check_service(url, "--undo", url, "--lookup", url + "?key={perform_key}")
    refused = harness.fairlead("agent", "check", "--two-nodes", url)
    expect(refused.returncode == 2 and "--two-nodes cannot be combined with a URL" in refused.stderr, f"{refused}")
    server.shutdown()
    expect(found == {"key", "lookup", "undo"}, f"the forgetful service is only found out by {found}")
    print("ok  services: one that keeps keys, and one that forgets them", flush=True)


def of_sizes():
    """Examples can be read as a whole: 30 to 60 lines of code."""
    for name in ("agent.py", "agent.mjs"):
        lines = [line.strip() for line in (EXAMPLES / name).read_text().splitlines()]
        code = [line for line in lines if line and not line.startswith(("#", "//"))]
        expect(30 <= len(code) <= 60, f"{name} has {len(code)} lines of code")


def faults_of_this_run():
    """All with --all; else one of each rule: an agent takes half a minute."""
    if "--all" in sys.argv:
        return list(FAULTS)
    first = {}
    for fault, (rule, *_) in FAULTS.items():
        first.setdefault(rule, fault)
    return list(first.values())


def run():
    of_sizes()
    of_services()
    faults = faults_of_this_run()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(kept, "the agent without a fault", [sys.executable, "-B", __file__, "--be", "nothing"]),
                pool.submit(kept, "agent.py", [sys.executable, "-B", EXAMPLES / "agent.py"], "--two-nodes")]
        node = shutil.which("node")
        if node:
            jobs.append(pool.submit(kept, "agent.mjs", [node, EXAMPLES / "agent.mjs"], "--two-nodes"))
        else:
            print("agent.mjs is left out: there is no node here", flush=True)
        jobs += [pool.submit(broken, fault) for fault in faults]
        failed = 0
        for job in jobs:
            try:
                print(job.result(), flush=True)
            except (harness.scenario_failed, subprocess.TimeoutExpired) as why:
                failed += 1
                print(f"FAILED  {why}", flush=True)
    print(f"{len(faults)} faults", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--be"]:
        sys.exit(faulty_agent(sys.argv[2]).run())
    import harness
    from harness import expect

    harness.main(run)
