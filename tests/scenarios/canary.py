#!/usr/bin/env python3
"""Plants secrets in an http and an exec agent, has services say them back in every way they can, crashes the node, and then searches for them in
every byte that is left: store, archives, logs, console, core files.

FAIRLEAD_SHOW_SECRETS=1 has the echoes name the secrets in a way that no search of the node can know, so the search here must find them."""

import base64
import html
import http.server
import json
import os
import pathlib
import random
import re
import resource
import signal
import sys
import threading
import time
import urllib.parse

import harness
from harness import expect, fairlead, wait_until

PLANTED = bool(os.environ.get("FAIRLEAD_SHOW_SECRETS"))

NODE = """\
node: {{ name: vault, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
retention: {{ archive_after: 1s }}
secrets:
  FILE_TOKEN: {{ file: token }}
  ENV_TOKEN: {{ environment: CANARY_IN_ENVIRONMENT }}
agents:
  web:
    kind: http
    base_url: http://127.0.0.1:{service}
    breaker: off
    retry: {{ tries: 2, first: 10ms }}
    input_secrets: [FILE_TOKEN]
    headers: {{ Authorization: "Bearer $secret{{FILE_TOKEN}}" }}
    calls:
      echo: {{ path: /echo, body: {{ token: "$secret{{ENV_TOKEN}}", input: "${{ .input.note }}" }}, output: {{ b: "${{ .body }}", h: "${{ .headers.x_echo }}" }} }}
      refuse: {{ path: /refuse, body: {{ token: "$secret{{ENV_TOKEN}}" }} }}
      vanish: {{ path: /vanish, body: {{ token: "$secret{{ENV_TOKEN}}" }} }}
  shell:
    kind: exec
    breaker: off
    environment: {{ TOKEN: "$secret{{ENV_TOKEN}}", OTHER: "$secret{{FILE_TOKEN}}" }}
    input_secrets: [FILE_TOKEN]
    calls:
      echo: {{ command: [{python}, {script}, echo] }}
      refuse: {{ command: [{python}, {script}, refuse] }}
"""

COMPLETED = """\
workflow: completed
on_failure: park
steps:
  web: { agent: web, call: echo, with: { note: "a $secret{FILE_TOKEN} in an input" }, attempts: 1 }
  shell: { needs: [web], agent: shell, call: echo, with: { note: "$secret{FILE_TOKEN}", of: "${ .steps.web.b.raw }" }, attempts: 1 }
"""

FAILED = """\
workflow: %s
on_failure: park
steps:
  step: { agent: %s, call: %s, with: { note: "$secret{FILE_TOKEN}" }, attempts: 2, backoff: { first: 10ms }, in_doubt: park }
"""

SCRIPT = """\
import base64, json, os, sys, urllib.parse
token, other, given = os.environ["TOKEN"], os.environ["OTHER"], sys.stdin.read()
told = {"raw": token, "other": other, "given": given, "twice": json.dumps(json.dumps(token)), "b64": base64.b64encode(("u:" + token).encode()).decode(),
        "percent": urllib.parse.quote(other, safe=""), "hex": other.encode().hex(), "all": dict(os.environ)}
print(json.dumps(told), file=sys.stdout if sys.argv[1] == "echo" else sys.stderr)
sys.exit(0 if sys.argv[1] == "echo" else 3)
"""


def word():
    return f"{random.SystemRandom().getrandbits(64):016x}"


def in_every_way(text):
    """What a service may make of a text that it has been given."""
    raw = text.encode()
    return {"raw": text, "ascii": json.dumps(text), "twice": json.dumps(json.dumps(text)), "percent": urllib.parse.quote(text, safe=""),
            "form": urllib.parse.quote_plus(text), "html": html.escape(text), "hex": raw.hex(), "HEX": raw.hex().upper(),
            "b64": [base64.b64encode(before + raw).decode() for before in (b"", b"u", b"u:")],
            "url64": [base64.urlsafe_b64encode(before + raw).decode() for before in (b"", b"u", b"u:")]}


class service:
    """Says back whatever it is told."""

    def __init__(self):
        self.seen = []
        outer = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                given = self.headers.get("Authorization", "")
                outer.seen.append(given + body)
                if self.path == "/vanish":
                    self.connection.shutdown(2)
                    self.close_connection = True
                    return
                token = given.removeprefix("Bearer ")
                told = {"header": in_every_way(given), "token": in_every_way(token), "body": body, "raw": body, "parsed": json.loads(body)}
                if PLANTED:
                    told["reversed"] = token[::-1]
                answer = json.dumps(told).encode()
                if self.path == "/refuse":
                    answer = (token + " " + body + " " + urllib.parse.quote(token) + " is refused").encode()
                self.send_response(200 if self.path == "/echo" else 422, "refused " + urllib.parse.quote(token))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.send_header("X-Echo", given)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_port


def needles(canary):
    """Every byte string that betrays it. Its middle alone does as well: no encoding here leaves it and changes the rest."""
    out = set()
    for way in in_every_way(canary).values():
        for text in way if isinstance(way, list) else [way]:
            core = text.strip('"=\\').encode()
            # The ends of base64 belong to what stands beside it.
            out.add(core[3:-3] if len(core) > 24 else core)
    # Either of its random words, which most spellings leave as they are, whatever becomes of the rest.
    out.update(part.encode() for part in re.findall(r"[0-9a-f]{16}", canary))
    if PLANTED:
        out.add(json.dumps(canary[::-1])[1:-1].encode())
    return out


def search(what, content, wanted):
    for name, all_of in wanted.items():
        for needle in all_of:
            at = content.find(needle)
            expect(at < 0, f"{name} stands in {what} at byte {at}: …{content[max(0, at - 60):at + 60]!r}…")


def run():
    with harness.sandbox("canary") as box:
        # Bytes that each encoding treats in its own way.
        canaries = {name: f'c4n"{word()}/+&% {word()}\\~' for name in ("FILE_TOKEN", "ENV_TOKEN")}
        wanted = {name: needles(canary) for name, canary in canaries.items()}
        expect(all(one in json.dumps(in_every_way(canary)).encode() or len(one) > 8 for name, canary in canaries.items() for one in wanted[name]),
               "the needles are not those of the canaries")
        one = service()
        folder = box.folder / "node"
        folder.mkdir()
        token = folder / "token"
        token.write_text(canaries["FILE_TOKEN"] + "\n", encoding="utf-8")
        token.chmod(0o600)
        script = box.folder / "command.py"
        script.write_text(SCRIPT, encoding="utf-8")
        port, = harness.free_ports(1)
        config = folder / "node.yaml"
        config.write_text(NODE.format(port=port, service=one.port, python=sys.executable, script=script), encoding="utf-8")
        flows = {"completed": COMPLETED, "refused": FAILED % ("refused", "web", "refuse"), "vanished": FAILED % ("vanished", "web", "vanish"),
                 "exited": FAILED % ("exited", "shell", "refuse")}
        for name, text in flows.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")

        said = {}
        node = crashing_node(box, config, f"127.0.0.1:{port}", folder)

        def console(*arguments, code=None, at_node=True):
            done = fairlead(*arguments, node=node.address if at_node else None, seconds=60)
            said[" ".join(map(str, arguments))] = (done.stdout + done.stderr).encode()
            expect(code is None or done.returncode == code, f"`fairlead {' '.join(map(str, arguments))}` ended with {done.returncode}: {done.stderr}")
            return done

        os.environ["CANARY_IN_ENVIRONMENT"] = canaries["ENV_TOKEN"]
        console("config", "check", config, code=0, at_node=False)
        refusals(console, config, folder)
        node.start()
        for name in flows:
            console("workflow", "deploy", folder / f"{name}.yaml", code=0)
            console("workflow", "show", name, "--json", code=0)
        looked = whatever_the_kernel_shows(node.process.pid)

        tasks = [f"{name}-{number}" for number in range(3) for name in flows]
        for task in tasks:
            done = console("submit", task.split("-")[0], "--id", task, "--input", '{"a": 1}', "--wait")
            expect((done.returncode == 0) == task.startswith("completed"), f"{task}: {said[[*said][-1]].decode()}")
            for shown in (("task", "show", task), ("task", "show", task, "--json"), ("task", "watch", task)):
                console(*shown)
        shown = said["task show completed-0 --json"].decode()
        expect(shown.count("[secret FILE_TOKEN]") > 5 and shown.count("[secret ENV_TOKEN]") > 5, f"the echoes did not arrive: {shown}")
        expect("[secret" in said["task show exited-0"].decode(), f"what a command says on stderr does not arrive: {said['task show exited-0'].decode()}")
        for name, canary in canaries.items():
            expect(any(canary in seen or json.dumps(canary)[1:-1] in seen for seen in one.seen), f"{name} never reached the service")
        for arguments in (("status",), ("status", "--json"), ("task", "list", "--json"), ("alert", "list", "--json"), ("alert", "list"),
                          ("workflow", "list", "--json")):
            console(*arguments, code=0)
        rotated(token, console, canaries, wanted)
        wait_until(lambda: list((folder / "store" / "archive").glob("**/data.mdb")), 30, "a task is archived", every=0.2)

        cores = crash(node, signal.SIGABRT, folder)
        node.start()
        console("task", "show", "completed-0", "--json")
        cores += crash(node, signal.SIGSEGV, folder)

        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ("token",)]
        expect(any(path.parent.name == "store" for path in files) and any(path.suffix == ".log" for path in files), "the node left nothing behind")
        for path in files:
            search(path.relative_to(folder), path.read_bytes(), wanted)
        for what, content in {**said, **looked}.items():
            search(f"`{what}`", content, wanted)
        size = sum(path.stat().st_size for path in files)
        print(f"ok  {len(wanted)} secrets were given out to {len(one.seen)} requests and a command, and stand in none of {len(files)} files "
              f"({size >> 10} KiB, {cores} core files) and {len(said)} outputs of the console", flush=True)


def refusals(console, config, folder):
    """A node file whose secrets cannot be had is refused, by a node too, and no word of it shows a value."""
    bad = folder / "bad.yaml"
    text = config.read_text(encoding="utf-8")
    for old, new, says in (("file: token", "file: none", "cannot be read"), ("environment: CANARY_IN_ENVIRONMENT", "environment: CANARY_NOWHERE", "is not set"),
                           ("file: token", "file: open", "chmod o=")):
        if "open" in new:
            (folder / "open").write_bytes(b"everybody")
            (folder / "open").chmod(0o644)
        bad.write_text(text.replace(old, new), encoding="utf-8")
        for arguments in (("config", "check", bad), ("node", "--config", bad)):
            done = console(*arguments, code=2, at_node=False)
            expect(says in done.stderr and "bad.yaml:" in done.stderr, f"'{says}' with its place is not in: {done.stderr}")
    bad.unlink()
    print("ok  secrets that cannot be had are refused with file, line and remedy", flush=True)


def whatever_the_kernel_shows(pid):
    """Other processes of the same user may not look into it; the superuser may, and its environment holds nothing any more."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        expect("CoreDumping:\t0" in status.read(), "the node is dumping core")
    expect(os.stat(f"/proc/{pid}/environ").st_uid == 0, f"/proc/{pid} belongs to the node's user, so a core file could be written")
    found = {}
    if os.geteuid() == 0:
        found[f"/proc/{pid}/environ"] = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found[f"/proc/{child}/environ"] = pathlib.Path(f"/proc/{child}/environ").read_bytes()
    return found


def rotated(token, console, canaries, wanted):
    """A new value is used at once, and the one before stays hidden."""
    fresh = f'n3w"{word()}/+&% {word()}\\~'
    wanted["FILE_TOKEN, rotated"] = needles(fresh)
    following = token.with_name("next")
    following.write_text(fresh, encoding="utf-8")
    following.chmod(0o600)
    following.rename(token)
    console("submit", "completed", "--id", "rotated", "--input", json.dumps({"a": 1}), "--wait", code=0)
    console("task", "show", "rotated", "--json", code=0)


class crashing_node(harness.node):
    """A node that may write core files as large as it likes, into its own folder."""

    def __init__(self, box, config, address, folder):
        super().__init__(box, config, address, folder / "node.log")
        self.folder_ = folder

    def launch(self):
        limit = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (limit[1], limit[1]))
        with open(self.log, "ab") as log:
            self.process = self.box_.start([harness.BINARY, "node", "--config", self.config_], stdout=log, stderr=log, cwd=self.folder_)


def crash(node, number, folder):
    """The node dies as by a bug; how many core files there are, which is none."""
    node.process.send_signal(number)
    code = node.process.wait(timeout=30)
    expect(code == -number, f"the node ended with {code}, not by {signal.Signals(number).name}")
    time.sleep(0.1)
    cores = [path for path in folder.iterdir() if path.name == "core" or path.name.startswith("core.")]
    expect(not cores, f"{number.name} left a core file: {cores}")
    return len(cores)


if __name__ == "__main__":
    harness.main(run)
