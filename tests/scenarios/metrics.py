#!/usr/bin/env python3
"""What programs see of a real node: figures that are read strictly and move with the load, /healthz and /readyz, what its service manager is
told from the start to the end, and a unit that systemd takes."""

import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import harness
import orders
from harness import expect, fairlead, wait_until
from hostile_http import get
from place import deploy, place

ORDERS = 200
WATCHDOG_USEC = 400_000
LABEL = r'[a-z_]+="(?:[^"\\]|\\[\\n"])*"'
SAMPLE = re.compile(rf"(fairlead_[a-z0-9_]+)((?:\{{{LABEL}(?:,{LABEL})*\}})?) ([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")


def parse(page):
    """{series: value} of a page in Prometheus' text format; fails for anything that its own parser would not take, or take with a warning."""
    expect(page.endswith("\n"), "the last line of the page does not end")
    values, types, family, helped = {}, {}, None, None
    for line in page.splitlines():
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
            expect(helped not in types, f"{helped} stands there twice")
            continue
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            expect(family == helped, f"{family} has a TYPE and no HELP before it")
            expect(kind in ("counter", "gauge", "histogram"), f"{line}: what is that?")
            expect((kind == "counter") == family.endswith("_total"), f"{family} is a {kind}")
            types[family] = kind
            continue
        found = SAMPLE.fullmatch(line)
        expect(found, f"this line is neither HELP nor TYPE nor a sample: {line}")
        name, labels, value = found.groups()
        plain = re.sub(r"_(bucket|sum|count)$", "", name) if types.get(family) == "histogram" else name
        expect(plain == family, f"{name} stands below {family}")
        expect(name + labels not in values, f"{name}{labels} stands there twice")
        values[name + labels] = float(value)
    for family, kind in types.items():
        if kind == "histogram":
            check_histogram(family, values)
    return values


def check_histogram(family, values):
    series = {}
    for name, value in values.items():
        if found := re.fullmatch(rf'{family}_bucket\{{(.*?),?le="([^"]+)"\}}', name):
            series.setdefault(found[1], []).append((float(found[2].replace("+Inf", "inf")), value))
    expect(series, f"{family} has no buckets")
    for labels, buckets in series.items():
        braced = f"{{{labels}}}" if labels else ""
        expect(buckets == sorted(buckets) and [count for _, count in buckets] == sorted(count for _, count in buckets), f"{family}{braced}: buckets fall")
        expect(buckets[-1] == (math.inf, values[f"{family}_count{braced}"]), f"{family}{braced}: _count is not that of +Inf")
        expect(f"{family}_sum{braced}" in values, f"{family}{braced} has no _sum")


class listener:
    """The service manager's end of its socket."""

    def __init__(self, name):
        self.socket_ = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket_.bind("\0" + name[1:] if name.startswith("@") else name)
        self.socket_.setblocking(False)
        self.heard = []

    def listen(self):
        while True:
            try:
                self.heard.append(self.socket_.recv(4096).decode())
            except BlockingIOError:
                return self.heard

    def heard_at(self, word):
        """Where in what was heard it first stands; None: nowhere yet."""
        return next((at for at, said in enumerate(self.listen()) if word in said.splitlines()), None)


def unit(folder):
    """systemd itself reads the unit, with this build's program in it."""
    source = harness.ROOT / "config" / "systemd" / "fairlead.service"
    if shutil.which("systemd-analyze") is None:
        print("skipped  the unit: there is no systemd-analyze", flush=True)
        return
    text = source.read_text(encoding="utf-8")
    expect("ExecStart=/usr/bin/fairlead node" in text, f"{source} starts something else")
    copy = folder / "fairlead.service"
    copy.write_text(text.replace("/usr/bin/fairlead", str(harness.BINARY.resolve())), encoding="utf-8")
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=60)
    said = [line for line in checked.stderr.splitlines() if "fairlead" in line]
    expect(checked.returncode == 0 and not said, f"systemd-analyze verify: {checked.stderr.strip()}")
    stop = int(re.search(r"^TimeoutStopSec=(\d+)s$", text, flags=re.M)[1])
    expect(stop > 5, "the unit gives the node no more time to end than its shutdown_timeout")
    print("ok  systemd takes the unit", flush=True)


def scrape(port):
    status, headers, body = get(port, "/metrics")
    expect(status == 200, f"/metrics was answered with {status}: {body[:200]}")
    expect(headers["Content-Type"].startswith("text/plain; version=0.0.4"), f"/metrics is {headers['Content-Type']}")
    return parse(body.decode("utf-8"))


def verdict(port, path):
    """(status, reasons); (None, []) while nobody listens."""
    try:
        status, headers, body = get(port, path)
    except OSError:
        return None, []
    expect(headers["Content-Type"] == "application/json", f"{path} is {headers['Content-Type']}")
    answer = json.loads(body)
    expect((status == 200) == (not answer["reasons"]), f"{path} answers {status} with {answer}")
    return status, answer["reasons"]


def children(pid):
    return [int(one) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()]


def figures(here, port):
    wait_until(lambda: verdict(port, "/readyz")[0] == 200, 15, "the node is ready")
    expect(verdict(port, "/healthz") == (200, []), "a node that is ready is not healthy")
    before = scrape(port)
    for name in ("fairlead_build_info", "fairlead_actor_restarts_total", "fairlead_actor_mailbox_messages", "fairlead_agent_capacity",
                 "fairlead_service_breaker", "fairlead_store_max_bytes"):
        expect(any(series.startswith(name + "{") for series in before), f"there is no {name}")
    expect(before["fairlead_actors_outside_tree"] == 0, "actors live outside the tree")
    expect(before['fairlead_shard_up{shard="0"}'] == 1, "the shard is not up")

    batch = here.folder / "orders.jsonl"
    harness.write_batch(batch, orders.made_up(ORDERS, 7))
    done = fairlead("submit", "order", "--batch", batch, "--json", "--quiet", node=here.node.address, seconds=60)
    expect(done.returncode == 0, f"submit: {done.stderr}")

    def ended():
        now = scrape(port)
        over = [now.get(f'fairlead_tasks{{shard="0",state="{state}"}}', 0) for state in ("completed", "undone")]
        return now if sum(over) + now['fairlead_tasks_parked{shard="0"}'] == ORDERS else None

    after = wait_until(ended, 90, f"{ORDERS} orders have ended", every=1)

    def grew(series):
        return after[series] - before.get(series, 0)

    def sum_of(beginning):
        return sum(grew(series) for series in after if series.startswith(beginning))

    submitted = grew('fairlead_submissions_total{shard="0"}')
    expect(submitted == ORDERS, f"{submitted:g} submissions were counted, {ORDERS} made")
    expect(sum_of("fairlead_task_outcomes_total{") >= ORDERS, "not all ends were counted")
    completed = after['fairlead_tasks{shard="0",state="completed"}']
    expect(grew('fairlead_step_outcomes_total{shard="0",outcome="completed"}') >= 3 * completed, "steps of completed tasks were not counted")
    expect(grew('fairlead_hand_overs_total{shard="0"}') >= 3 * completed, "hand-overs were not counted")
    expect(sum_of("fairlead_agent_handed_over_total{") == grew('fairlead_hand_overs_total{shard="0"}'), "hand-overs to instances are others")
    for name in ("step", "task"):
        expect(grew(f'fairlead_{name}_duration_seconds_count{{shard="0"}}') > 0, f"no {name} was timed")
        expect(grew(f'fairlead_{name}_duration_seconds_sum{{shard="0"}}') > 0, f"{name}s took no time")
    commits = grew('fairlead_commits_total{shard="0"}')
    expect(commits > 0, "nothing was committed")
    expect(grew('fairlead_commit_duration_seconds_count{shard="0"}') == grew('fairlead_commit_bytes_count{shard="0"}') > 0, "commits were not measured")
    expect(grew('fairlead_store_used_bytes{shard="0"}') >= 0 and after['fairlead_store_used_bytes{shard="0"}'] > 0, "the store is empty")
    expect(sum_of("fairlead_actor_handled_total{") > ORDERS, "actors have handled next to nothing")
    expect(grew("fairlead_process_cpu_seconds_total") > 0, "no time was spent")
    resident = int(pathlib.Path(f"/proc/{here.node.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    expect(0.5 < after["fairlead_process_resident_bytes"] / resident < 2, "the memory in use is another")
    expect(abs(after["fairlead_process_open_fds"] - len(os.listdir(f"/proc/{here.node.process.pid}/fd"))) < 20, "the open files are others")
    print(f"ok  {len(after)} figures, and they move with {ORDERS} orders", flush=True)


def cheap(port):
    """However many scrape, the node is asked once a second."""
    handled = 'fairlead_actor_handled_total{actor="node/shards/0/core/scheduler"}'
    first = scrape(port)
    for _ in range(200):
        get(port, "/metrics")
    began = time.monotonic()
    last = scrape(port)
    if handled in first:
        # At most one question a second reaches it, whatever else a Scheduler without tasks hears of.
        expect(last[handled] - first[handled] < 150, f"200 scrapes gave the Scheduler {last[handled] - first[handled]} messages")
    expect(time.monotonic() - began < 5, "a scrape takes long")
    print("ok  scrapes do not reach the Scheduler each", flush=True)


def told(here, port, manager):
    ready = manager.heard_at("READY=1")
    expect(ready is not None, f"the service manager was not told that the node is ready: {manager.heard}")
    expect(any(line.startswith("STATUS=") for line in manager.heard[ready].splitlines()), "it was told no line for its status")
    beats = lambda: sum(1 for said in manager.listen() if "WATCHDOG=1" in said.splitlines())  # noqa: E731
    so_far = beats()
    wait_until(lambda: beats() >= so_far + 3, 10, "the watchdog hears of the node")
    for child in children(here.node.process.pid):
        environment = pathlib.Path(f"/proc/{child}/environ").read_bytes()
        expect(b"NOTIFY_SOCKET" not in environment and b"WATCHDOG_USEC" not in environment, f"process {child} could speak in the node's name")
    print("ok  the service manager is told that the node is ready and lives", flush=True)


def frozen(here, manager):
    """A process that does not run says nothing, and goes on saying so once it runs again."""
    here.node.process.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: pathlib.Path(f"/proc/{here.node.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T", 5, "it is stopped")
        so_far = len(manager.listen())
        # Nothing has to happen: the time in which a beat would have come is the test.
        time.sleep(3 * WATCHDOG_USEC / 1e6)
        expect(len(manager.listen()) == so_far, "the watchdog hears of a node that is frozen")
    finally:
        here.node.process.send_signal(signal.SIGCONT)
    wait_until(lambda: len(manager.listen()) > so_far, 10, "the watchdog hears of the node again")
    print("ok  a frozen node is silent", flush=True)


def end(here, port, manager):
    code, _ = here.node.end()
    expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    expect(manager.heard_at("STOPPING=1") is not None, f"the service manager was not told that the node stops: {manager.heard[-3:]}")
    expect(verdict(port, "/healthz")[0] is None, "somebody still answers")
    print("ok  the end", flush=True)


def run():
    with harness.sandbox("metrics") as box:
        unit(box.folder)
        services = harness.services(box)
        port, = harness.free_ports(1)
        here = place(box, "node", services=services, http__listen=f"127.0.0.1:{port}")
        name = f"@fairlead-metrics-{os.getpid()}"
        manager = listener(name)
        os.environ.update(NOTIFY_SOCKET=name, WATCHDOG_USEC=str(WATCHDOG_USEC))
        try:
            here.node.start()
        finally:
            del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
        deploy(here.node)
        figures(here, port)
        cheap(port)
        told(here, port, manager)
        frozen(here, manager)
        end(here, port, manager)
    return 0


if __name__ == "__main__":
    harness.main(run)
