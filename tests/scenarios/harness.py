"""What every scenario needs: the real binary, the three services, a scratch folder, waiting with deadlines, and an end to all of it."""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVICES = ROOT / "tests" / "services"
BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BIN", ROOT / "build" / "release" / "bin" / "fairlead"))
sys.path.insert(0, str(SERVICES))

import journal  # noqa: E402
import operations  # noqa: E402


class scenario_failed(Exception):
    """The sentence is for a person."""


def expect(truth, sentence):
    if not truth:
        raise scenario_failed(sentence)


def wait_until(condition, seconds, what, every=0.02):
    """Returns the first truthy value of `condition`; after `seconds` without one the scenario fails, naming `what`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise scenario_failed(f"waited {seconds:g} s in vain for this: {what}")
        time.sleep(every)


class port_ranges:
    """Ranges of ports, each held by a lock until this process ends: a node that is down for a while must find its port free again, although
    other scenarios take ports beside this one."""

    FIRST, END, SIZE = 20000, 30000, 100  # below the ports that the system gives to outgoing connections

    def __init__(self):
        self.locks_ = []
        self.unused_ = []
        self.given_ = []
        self.one_at_a_time_ = threading.Lock()

    def take(self):
        """A port that nobody listens on. None is given twice while there is another."""
        with self.one_at_a_time_:
            while True:
                if not self.unused_ and not self._hold_another():
                    expect(self.given_, f"other scenarios hold all ports from {self.FIRST} to {self.END - 1}")
                    self.unused_, self.given_ = self.given_, []
                port = self.unused_.pop()
                self.given_.append(port)
                if not port_in_use(port):
                    return port

    def _hold_another(self):
        folder = pathlib.Path(tempfile.gettempdir()) / f"fairlead-ports-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        held = {pathlib.Path(one.name).name for one in self.locks_}
        begins = [one for one in range(self.FIRST, self.END, self.SIZE) if str(one) not in held]
        random.SystemRandom().shuffle(begins)
        for begin in begins:
            lock = open(folder / str(begin), "w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            self.locks_.append(lock)
            self.unused_ = list(range(begin, begin + self.SIZE))
            random.SystemRandom().shuffle(self.unused_)
            return True
        return False


PORTS = port_ranges()


def free_ports(count):
    return [PORTS.take() for _ in range(count)]


def port_in_use(port):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def listens(address):
    """Whether a process listens at the port of HOST:PORT. Where only asking can tell, as on another host: True."""
    host, _, port = address.rpartition(":")
    if not host.startswith("127."):
        return True
    try:
        rows = [row.split() for name in ("tcp", "tcp6") for row in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]
    except FileNotFoundError:
        return True
    return any(row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == int(port) for row in rows)


def until_parent_ends(command):
    """The command, so that the kernel kills it when this process ends, however that happens."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else list(command)


def fairlead(*arguments, node=None, seconds=30, stdin=None):
    """Runs the binary to its end."""
    command = [str(BINARY), *map(str, arguments)] + (["--node", node] if node else [])
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds, input=stdin, cwd=ROOT)
    except subprocess.TimeoutExpired:
        raise scenario_failed(f"`fairlead {' '.join(map(str, arguments))}` did not end within {seconds} s") from None


def fairlead_json(*arguments, node=None, seconds=30):
    """What a command prints with --json; fails with the command's own sentence."""
    done = fairlead(*arguments, "--json", node=node, seconds=seconds)
    expect(done.returncode == 0, f"`fairlead {' '.join(map(str, arguments))}` ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def with_dice(parser):
    """The options of a scenario that throws dice, and these."""
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    return options, random.Random(options.seed)


def change_store(folder, how):
    """Has tests/scenarios/change_store.cpp change a store whose node is not running. False: FAIRLEAD_CHANGE_STORE does not name that program."""
    helper = os.environ.get("FAIRLEAD_CHANGE_STORE")
    if not helper:
        return False
    done = subprocess.run([helper, str(folder), how], capture_output=True, text=True)
    expect(done.returncode == 0, f"change_store {folder} {how}: {done.stderr}")
    return True


class sandbox:
    """A scratch folder and processes; all of them end with the `with` block. The folder is kept when the block fails."""

    def __init__(self, name, folder=None):
        self.folder = (pathlib.Path(folder) if folder else BINARY.parent.parent / "scenarios" / f"{name}-{os.getpid()}").resolve()
        self.keep = folder is not None
        self.processes_ = []

    def __enter__(self):
        mark = self.folder / ".scratch"
        expect(not self.folder.exists() or mark.exists() or not any(self.folder.iterdir()),
               f"{self.folder} holds something that is not from here, so it is not emptied")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        mark.touch()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        return self

    def __exit__(self, kind, _error, _trace):
        for process in reversed(self.processes_):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        if kind is None and not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif kind is not None:
            print(f"what is left of this run stands in {self.folder}", file=sys.stderr)
        return False

    def start(self, command, **options):
        # A session of its own: Ctrl-C on the terminal is for this program, which then ends all the others.
        process = subprocess.Popen(until_parent_ends(map(str, command)), start_new_session=True, **options)
        self.processes_.append(process)
        return process


class services:
    """The three services, each with its own record file, and what their records say so far."""

    def __init__(self, box, ports=(0, 0, 0), **options):
        self.paths = {name: box.folder / f"{name}.jsonl" for name in operations.SERVICES}
        self.ports = {}
        self.running = {}   # (service, request) -> arrival, of requests that are neither answered nor given up
        self.effects = {}   # operation -> effects so far
        self.refused = set()  # orders that a service has refused for good
        self.arrivals = 0
        self.followers_ = {name: journal.follower(path) for name, path in self.paths.items()}
        flags = [word for key, value in options.items()
                 for word in (f"--{key.replace('_', '-')}", *map(str, () if value is True else value if isinstance(value, tuple) else (value,)))]
        started = {}
        for name, port in zip(self.paths, ports):
            started[name] = box.start([sys.executable, SERVICES / "service.py", "--name", name, "--port", port, "--record",
                                       self.paths[name], "--with-parent", *flags], stdout=subprocess.PIPE, text=True)
        for name, process in started.items():
            ready = process.stdout.readline().split()
            expect(ready, f"the {name} service could not be started")
            self.ports[name] = int(ready[1])

    def look(self):
        """Reads what was recorded since the last look; gives the number of requests being worked on."""
        for name, follower in self.followers_.items():
            for record in follower.fresh():
                place = (name, record["request"])
                if record["record"] == "arrival":
                    self.arrivals += 1
                    self.running[place] = record
                elif record["record"] in ("answer", "gone"):
                    self.running.pop(place, None)
                    if "refused" in record:
                        self.refused.add(record["order"])
                elif record["record"] == "effect_end":
                    self.effects[record["operation"]] = self.effects.get(record["operation"], 0) + 1
        return len(self.running)

    def records(self):
        return [record for path in self.paths.values() for record in journal.read(path)]


class node:
    """One node of a config file, started as often as one likes."""

    def __init__(self, box, config, address, log=None, prefix=()):
        """`prefix`: what stands before the command, when it is to run somewhere else than here."""
        self.box_ = box
        self.config_ = config
        self.prefix_ = prefix
        self.address = address
        self.log = pathlib.Path(log or box.folder / "node.log")
        self.process = None
        self.woken = []  # when it went on after it was frozen, in seconds since 1970

    def launch(self):
        """Starts the process and waits for nothing."""
        with open(self.log, "ab") as log:
            self.process = self.box_.start([*self.prefix_, BINARY, "node", "--config", self.config_], stdout=log, stderr=log, cwd=ROOT)

    def start(self, seconds=15):
        """Returns once it answers, with what it says."""
        self.launch()
        return wait_until(self._answers, seconds, f"the node answers at {self.address}, see {self.log}", every=0.01)

    def _answers(self):
        expect(self.process.poll() is None, f"the node ended with {self.process.returncode}: {self.last_words()}")
        return listens(self.address) and self.status()  # a command that asks too early takes the processor from the node that starts

    def status(self):
        """None when it does not answer."""
        done = fairlead("status", "--json", node=self.address)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        """Stops it in the middle of whatever it does; it keeps its connections and says nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.woken.append(time.time())
        self.process.send_signal(signal.SIGCONT)

    def end(self, number=signal.SIGTERM, seconds=6):
        """Asks it to end; (exit code, seconds it took)."""
        began = time.monotonic()
        self.process.send_signal(number)
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise scenario_failed(f"the node did not end within {seconds} s of {signal.Signals(number).name}") from None
        return code, time.monotonic() - began

    def last_words(self, lines=3):
        return " / ".join(self.log.read_text(errors="replace").strip().splitlines()[-lines:])

    def tasks(self, *filters):
        """Every task, over all pages."""
        found, cursor = [], ""
        while True:
            page = fairlead_json("task", "list", "--limit", "1000", *filters, *(["--cursor", cursor] if cursor else []), node=self.address)
            found += page["tasks"]
            cursor = page["cursor"]
            if not cursor:
                return found


class history:
    """The client's own record, in the form that the audit reads."""

    def __init__(self, path):
        self.path = path
        self.events = []
        self.file_ = open(path, "a", encoding="utf-8")

    def add(self, event, ids, **fields):
        for number in ids:
            line = {"event": event, "id": number, **fields}
            self.events.append(line)
            self.file_.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.file_.flush()

    def add_orders(self, orders):
        for order in orders:
            self.add("submitted", [order["id"]], input=order["input"])

    def add_ends(self, tasks):
        for task in tasks:
            self.add("final", [task["id"]], state=task["state"], parked=task["parked"], reason=task.get("reason", ""))


def write_batch(path, orders):
    with open(path, "w", encoding="utf-8") as file:
        for order in orders:
            file.write(json.dumps(order, ensure_ascii=False) + "\n")


def give_batch(folder, history, orders, address, again=False):
    """Submits orders to the workflow kill_order, all of which are taken; the command's answer. `again`: ids that may be known."""
    if not again:
        history.add_orders(orders)
    write_batch(folder / "batch.jsonl", orders)
    answer = fairlead_json("submit", "kill_order", "--batch", folder / "batch.jsonl", "--quiet", node=address, seconds=60)
    expect(answer["submitted"] + answer["already"] == len(orders) and not answer["refusals"], f"not all was taken: {answer}")
    if not again:
        history.add("acknowledged", [order["id"] for order in orders])
    return answer


def main(run):
    """Runs a scenario; a failed one says so in one sentence."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell that runs this in the background has it ignored
    if not BINARY.exists():
        sys.exit(f"there is no {BINARY}: ./dev build")
    try:
        sys.exit(run() or 0)
    except scenario_failed as failure:
        sys.exit(f"FAILED: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
