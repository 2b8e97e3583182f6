#!/usr/bin/env python3
"""Holds the documentation to the program: commands and options are those of `fairlead --help`, the keys of configuration.md are those that
the program takes, and examples pass its checks. docs_test.py holds it to the repository.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/docs_program_test.py
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from docs_pages import BINARY, FOLDERS, PAGES, ROOT, blame, blocks_of, need_binary, options_in, report, run, spans_of, text_of

PLAIN_COMMANDS = {"curl", "mkdir", "cp", "kill", "perf"}  # what blocks of commands use besides our own


# ---- the command line ----

class command:
    """What `--help` says of one command."""

    def __init__(self, *words):
        self.words = words
        self.help = run(*words, "--help").stdout
        self.options = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.help, flags=re.M)) - {"--help"}
        listed = re.search(r"^Subcommands:\n(.*?)(?:\n\n|\Z)", self.help, flags=re.S | re.M)
        self.examples = re.findall(r"^  (fairlead .*)", self.help.partition("\nExamples:\n")[2], flags=re.M)
        names = re.findall(r"^  (\S+)", listed[1], flags=re.M) if listed else []
        self.below = [command(*words, name) for name in names]

    def leaves(self):
        # One that does something by itself has options of its own.
        alone = [self] if not self.below or (self.words and self.options) else []
        return alone + [leaf for one in self.below for leaf in one.leaves()]


@functools.cache
def commands():
    root = command()
    found = {leaf.words: leaf for leaf in root.leaves()}
    if len(found) < 10:
        sys.exit(f"`{BINARY} --help` names only {len(found)} commands: is it the binary?")
    return root, found


def command_in(words):
    """The command that the first words name, if any."""
    for length in (3, 2, 1):
        if tuple(words[:length]) in commands()[1]:
            return commands()[1][tuple(words[:length])]
    return None


def check_command_line():
    page = ROOT / "docs" / "cli.md"
    root, known = commands()
    common = options_in(re.search(r"^## Options of every command.*?(?=^## )", text_of(page), flags=re.S | re.M)[0].split("\n\n", 1)[1])
    told = {words: "" for words in known}
    for section in re.split(r"^### ", text_of(page), flags=re.M)[1:]:
        heading = re.match(r"`fairlead ([^`]*)`", section)
        one = command_in(heading[1].split()) if heading else None
        if one is None:
            blame(page, f"no command of the program is called `{section.splitlines()[0]}`")
        else:
            told[one.words] += section
    for words, one in known.items():
        name = " ".join(("fairlead", *words))
        if not told[words]:
            blame(page, f"{name} is missing")
            continue
        # Of the common options those count that the command has.
        stands = options_in(told[words]) - (root.options if words == ("help",) else set())
        for option in sorted(one.options - stands - common):
            blame(page, f"{name}: {option} is missing")
        for option in sorted(stands - one.options - (common if "--node" in one.options else set())):
            blame(page, f"{name}: the program has no {option}")
        for example in one.examples or (["an example in --help"] if words != ("help",) else []):
            check_command_in_block(page, example)
    for option in sorted(common - set().union(*(one.options for one in known.values()))):
        blame(page, f"no command has the common option {option}")

# ---- commands in blocks ----

def check_commands_in_blocks():
    seen = 0
    for page in PAGES:
        for language, block in blocks_of(page):
            for line in block.splitlines():
                if language == "sh" or re.match(r"(fairlead|\./dev|build/\S+/fairlead) ", line):
                    seen += 1
                    check_command_in_block(page, line)
    if seen < 10:
        blame(ROOT / "README.md", f"only {seen} commands were found in blocks: the pages or this check are wrong")


def check_command_in_block(page, line):
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        return blame(page, f"`{line}`: {error}")
    while words and (words[-1] == "&" or re.match(r"[A-Z_]+=", words[0])):
        words.pop(-1 if words[-1] == "&" else 0)
    if not words:
        return
    for word in words[1:]:
        if re.match(rf"({'|'.join(FOLDERS)})/", word) and not (ROOT / word).exists():
            blame(page, f"`{line}`: there is no {word}")
    if words[0] == "./dev":
        usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, timeout=60).stdout
        if len(words) < 2 or not re.search(rf"^  {re.escape(words[1])}\b", usage, flags=re.M):
            blame(page, f"`{line}`: ./dev help does not know it")
    elif words[0] == "python3":
        usage = subprocess.run(["python3", "-B", ROOT / words[1], "--help"], capture_output=True, text=True, timeout=60).stdout
        for option in [word for word in words[2:] if word.startswith("--")]:
            if option not in usage:
                blame(page, f"`{line}`: {words[1]} has no {option}")
    elif words[0] == "fairlead" or words[0].endswith("/bin/fairlead"):
        one = command_in(words[1:])
        if one is None:
            return blame(page, f"`{line}`: there is no such command")
        for option in options_in(" ".join(word for word in words if word.startswith("--"))) - one.options:
            blame(page, f"`{line}`: the command has no {option}")
    elif words[0] not in PLAIN_COMMANDS:
        blame(page, f"`{line}`: this check does not know {words[0]}")


# ---- the node file ----

# Values for keys whose row in the table gives no default that could be written into a file. By key, else by type.
VALUES = {"node.name": "n", "shards.replicas": "[l, m, n]", "node.peers": "[127.0.0.1:7200]", "http.listen": "127.0.0.1:7180", "api.listen": "127.0.0.1:7190", "api.socket": "api.sock", "callback_url": "https://fairlead.example", "api.hosts": "[node.example]", "api.tls": "{ certificate: localhost.pem, key: localhost-key.pem, client_ca: ca.pem }", "access.tokens_file": "tokens.yaml", "access.users": "{ root: [admin] }", "access.certificates": "[{ san: 'spiffe://example.org/agent', roles: [client] }]", "certificates.san": "cn:ben", "certificates.name": "ben", "certificates.roles": "[viewer]", "certificates.agents": "[payment]", "roles": "[shard, agent]", "store.path": "store", "log.file": "node.log", "agents.http.kind": "http",
          "agents.http.base_url": "http://127.0.0.1:1", "agents.http.headers": "{ X-Team: a }", "calls.path": "/a", "calls.url": "http://127.0.0.1:1/b",
          "calls.headers": "{ X-Call: a }", "agents.http.allow_hosts": "[127.0.0.1]", "agents.http.proxy": "http://127.0.0.1:2",
          "agents.http.no_proxy": "[localhost]", "agents.http.tls.ca_file": "tls.pem", "agents.http.tls.client_certificate": "tls.pem",
          "agents.http.tls.client_key": "tls.pem", "calls.idempotency.valid_for": "1h", "calls.lookup.path": "/b/{perform_key}",
          "calls.lookup.url": "http://127.0.0.1:1/c", "calls.lookup.headers": "{ X-Key: b }", "calls.lookup.done": "[200]",
          "calls.lookup.never_happened": "[410]", "calls.lookup.output": '{ a: "${ .body.a }" }',
          "calls.lookup.rules": "[{ status: 202, is: unknown }]",
          "calls.rules": "[{ status: 2xx, path: .body.a, equals: b, is: permanent, code: c, message: d }, { path: .body.a, one_of: [1], is: success }, { path: .body.a, present: true, is: success }]", "calls.body": '{ a: "${ .input.a }" }', "calls.output": '{ a: "${ .body.a }" }',
          "calls.statuses.success": "[2xx]", "calls.statuses.transient": "[503]", "calls.statuses.in_doubt": "[5xx]",
          "calls.statuses.permanent": "[4xx]", "agents.native.kind": "native", "agents.native.handler": "echo", "log.level": "info",
          "log.format": "text", "alerts.webhooks.url": "http://127.0.0.1:1/a", "alerts.commands.run": "[/bin/true, a]",
          "agents.exec.kind": "exec", "agents.exec.user": "0", "agents.exec.group": "0", "agents.exec.environment": "{ A: b }",
          "agents.exec.process.memory": "1GiB", "agents.exec.process.cpu": "60s", "agents.exec.process.files": "64",
          "agents.exec.process.processes": "64", "agents.exec.process.file_size": "1GiB", "exec.calls.command": '[/bin/sh, -c, "{a}"]',
          "exec.calls.exit_codes": "{ transient: [75] }", "exec.calls.idempotency.valid_for": "1h", "exec.calls.lookup.command": "[/bin/true]",
          "exec.calls.lookup.exit_codes": "{ done: [0] }", "exec.calls.retry": "{ tries: 2 }",
          "agents.any.labels": "{ zone: eu }", "agents.any.retry.tries": "3", "agents.any.retry.max": "5s", "agents.any.retry.try_timeout": "2s",
          "agents.any.breaker.slow": "2s", "agents.any.limits": "[{ call: echo, key: .a, concurrency: 1, rate: 5/s }]",
          "agents.any.input_secrets": "[]", "limits.call": "echo", "limits.key": ".a", "limits.concurrency": "1", "limits.rate": "5/s",
          "rules.status": "2xx", "rules.path": ".body.a", "rules.equals": "b", "rules.one_of": "[b]", "rules.present": "true", "rules.is": "permanent",
          "rules.code": "c", "rules.message": "d"}


WRITTEN_BELOW = ("agents", "caf", "secrets", "alerts.webhooks", "alerts.commands")  # by node_file, with what stands in them


def documented_keys():
    """{place: {key: default}} of configuration.md; the places are node, agents.http, calls, agents.native, agents.exec and exec.calls, agents.any (of every kind),
    limits, rules and certificates (an item of them) and the two kinds of alert targets."""
    page = ROOT / "docs" / "configuration.md"
    found = {"node": {}, "agents.http": {}, "calls": {}, "agents.native": {}, "agents.exec": {}, "exec.calls": {}, "agents.any": {}, "limits": {}, "rules": {}, "certificates": {}, "alerts.webhooks": {},
             "alerts.commands": {}}
    native = text_of(page).index("## Agents of kind native")
    for table in re.finditer(r"^\| Key(.*?)\|.*?\n\|[-| ]+\n((?:\|.*\n)+)", text_of(page), flags=re.M):
        target = re.search(r"alerts\.\w+", table[1])
        of_exec = "kind exec" in table[1]
        place = target[0] if target else ("exec.calls" if "calls.NAME" in table[1] else "agents.exec") if of_exec else "limits" if "`limits`" in table[1] else "rules" if "`rules`" in table[1] else "certificates" if "`access.certificates`" in table[1] else "agents.any" if "every kind" in table[1] else "calls" if "calls.NAME" in table[1] else "node" if "agents.NAME" not in table[1] else \
            "agents.native" if table.start() > native else "agents.http"
        for row in table[2].splitlines():
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            found[place][cells[0].strip("`")] = re.fullmatch(r"`([^`]+)`", cells[2]) and cells[2].strip("`")
    return found


def value_of(place, key, default):
    name = key if place == "node" else f"{place}.{key}"
    return VALUES.get(name) or default


def nested(keys, place, indent):
    """`keys` as block YAML, nested at their dots; {} values in VALUES and defaults are taken as they are."""
    lines, open_section = [], None
    for key, default in keys.items():
        section, _, last = key.rpartition(".")
        if section and section != open_section:
            lines.append(f"{' ' * indent}{section}:")
        open_section = section
        lines.append(f"{' ' * (indent + 2 * bool(section))}{last}: {value_of(place, key, default)}")
    return lines


def node_file(keys):
    """A node file in which every documented key stands."""
    calls = dict(keys["calls"])
    by_url = {key: default for key, default in calls.items() if key not in ("path", "lookup.path")}
    for key in ("url", "lookup.url"):
        calls.pop(key, None)
    http = {key: default for key, default in keys["agents.http"].items() if key != "calls"}
    plain = {key: default for key, default in keys["node"].items() if not key.startswith("alerts.") and key not in WRITTEN_BELOW}
    alerts = {key: default for key, default in keys["node"].items() if key.startswith("alerts.") and key not in WRITTEN_BELOW}
    lines = nested(plain, "node", 0) + ["agents:", "  one:"] + nested(http, "agents.http", 4) + ["    calls:"]
    for name, call in (("first", calls), ("second", by_url)):
        lines += [f"      {name}:"] + nested(call, "calls", 8)
    lines += ["  two:"] + nested(keys["agents.native"], "agents.native", 4) + nested(keys["agents.any"], "agents.any", 4)
    exec_agent = {key: default for key, default in keys["agents.exec"].items() if key != "calls"}
    lines += ["  three:"] + nested(exec_agent, "agents.exec", 4) + ["    calls:", "      first:"] + nested(keys["exec.calls"], "exec.calls", 8)
    lines += ["secrets:", "  ONE: { file: secret }"]
    lines += ["caf:", "  scheduler: { max-threads: 2 }"] + nested(alerts, "node", 0)
    for kind, name in (("webhooks", "one"), ("commands", "two")):
        lines += [f"  {kind}:", f"    {name}:"] + nested(keys[f"alerts.{kind}"], f"alerts.{kind}", 6)
    return "\n".join(lines) + "\n"


def check_configuration(folder):
    page, keys = ROOT / "docs" / "configuration.md", documented_keys()
    for place, found in keys.items():
        for key, default in found.items():
            if value_of(place, key, default) is None and key not in (*WRITTEN_BELOW, "calls"):
                blame(page, f"{key}: the table gives no default in backticks, and VALUES of this check has none either")
    whole, file = node_file(keys), folder / "node.yaml"
    os.umask(0o077)
    (folder / "secret").write_text("value", encoding="utf-8")
    (folder / "tls.pem").write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", encoding="utf-8")
    for words in ("certificate create-ca --out {0}", "certificate issue localhost --ca {0} --server --out {0}", "token create ann --role viewer --file {0}/tokens.yaml"):
        run(*words.format(folder).split())
    file.write_text(whole, encoding="utf-8")
    checked = run("config", "check", file)
    if checked.returncode != 0:
        blame(page, f"a node file of all documented keys is refused: {checked.stdout}{checked.stderr}")
    # A key that is not known is refused, or the check above would say nothing.
    for number, line in enumerate(whole.splitlines()):
        spoilt = re.sub(r"^( *)([a-z_]+):", r"\1\2_:", line)
        if spoilt == line or re.match(r" {2,6}(one|two|three|first|second|ONE):", line):
            continue
        lines = whole.splitlines()
        lines[number] = spoilt
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if run("config", "check", file).returncode == 0:
            blame(page, f"the program takes `{spoilt.strip()}` as it takes `{line.strip()}`")
    check_keys_of_the_source(page, keys)


def check_keys_of_the_source(page, keys):
    """Whatever word the reader asks a section for stands in some table."""
    words = {word for found in keys.values() for key in found for word in key.split(".")}
    source = "\n".join(text_of(file) for file in sorted((ROOT / "app" / "config").glob("*.cpp")))
    asked = set(re.findall(
        r"\b(?:section|root)\.(?:find|require|text|boolean|integer|size_bytes|duration_ms|word<[\w:]+>)\(\s*\"([\w-]+)\"", source))
    if len(asked) < 30:
        blame(page, f"only {len(asked)} keys were found in app/config: this check is wrong")
    for key in sorted(asked - words):
        blame(page, f"app/config/config*.cpp reads the key {key}, which no table has")
    for key in sorted(words - asked):
        blame(page, f"the table has the key {key}, which app/config/config*.cpp does not read")
    groups = set(re.findall(r'^ *\{"([a-z-]+)\.[a-z-]+", option_type::', source, flags=re.M))
    told = re.search(r"The sections are (.*?), with", text_of(page), flags=re.S)
    if not told or set(spans_of(told[1])) != groups:
        blame(page, f"the sections of CAF are {', '.join(sorted(groups))}")


# ---- examples ----

def check_examples(folder):
    """YAML blocks that are whole workflows, their tests, jobs or `agents` of a node file pass the program's checks."""
    seen, checks = 0, {"workflow": ("workflow", "check"), "test": ("workflow", "test"), "job": ("job", "deploy", "--check")}
    for workflow in (ROOT / "config" / "workflows").glob("*.yaml"):
        (folder / workflow.name).write_text(text_of(workflow), encoding="utf-8")
    for page in PAGES:
        for language, block in blocks_of(page):
            if language != "yaml":
                continue
            file = folder / "example.yaml"
            check = checks.get(block.split(":")[0])
            if check:
                file.write_text(block, encoding="utf-8")
                checked = run(*check, file)
            elif re.match(r"(agents|caf|alerts|undo_brake|replies):", block):
                named = sorted(set(re.findall(r"\$secret\{([\w.-]+)\}", block)))
                secrets = "".join(f"  {name}: {{ file: secret }}\n" for name in named)
                file.write_text("node: { name: n }\nstore: { path: store }\n" + (f"secrets:\n{secrets}" if named else "") + block, encoding="utf-8")
                checked = run("config", "check", file)
            else:
                continue
            seen += 1
            if checked.returncode != 0:
                blame(page, f"the example `{block.splitlines()[0]} …` is refused: {checked.stdout}{checked.stderr}")
    if seen < 4:
        blame(ROOT / "README.md", f"only {seen} examples were found: the pages or this check are wrong")


def main():
    need_binary()
    check_command_line()
    check_commands_in_blocks()
    with tempfile.TemporaryDirectory() as folder:
        check_configuration(pathlib.Path(folder))
        check_examples(pathlib.Path(folder))
    return report(f"{len(commands()[1])} commands, ")


if __name__ == "__main__":
    sys.exit(main())
