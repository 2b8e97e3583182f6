"""Node files derived from the ones in config/: the same file with other ports, another store and the like, so that scenarios run what
a newcomer runs."""

import re


def derive(source, target, ports=None, settings=None):
    """Writes `source` to `target` with `ports` ({old: new}) replaced wherever `:OLD` stands, and `settings` ({"store.path": text}) set,
    those that the file does not have yet included. The journal's files are small unless `settings` say otherwise, and the API of config/ is
    left out, whose port is the same for all."""
    text = re.sub(r"^api: .*:7190 .*\n", "", source.read_text(encoding="utf-8"), flags=re.M)
    replaced = {str(old): str(new) for old, new in (ports or {}).items()}
    if replaced:
        text = re.sub(rf":({'|'.join(replaced)})\b", lambda match: ":" + replaced[match.group(1)], text)
    # Quickly made, so that hundreds of nodes do not write gigabytes of zeros.
    for place, value in {"journal.segment_size": "1MiB", **(settings or {})}.items():
        text = _set(text, place.split("."), str(value))
    target.write_text(text, encoding="utf-8")
    return target


def _set(text, path, value):
    """Sets a scalar in block-style YAML maps, found by indentation."""
    lines = text.splitlines()
    begin, end, indent = 0, len(lines), 0
    for depth, name in enumerate(path):
        at = _find(lines, begin, end, indent, name)
        last = depth == len(path) - 1
        if at is None:
            lines[end:end] = [f"{'  ' * (len(path[:depth]) + i)}{key}:" for i, key in enumerate(path[depth:])]
            lines[end + len(path) - depth - 1] += f" {value}"
            return "\n".join(lines) + "\n"
        if last:
            lines[at] = f"{' ' * indent}{name}: {value}"
            return "\n".join(lines) + "\n"
        begin, end = at + 1, _end_of(lines, at + 1, end, indent)
        indent = next((_indent(line) for line in lines[begin:end] if _content(line)), indent + 2)
    raise AssertionError("an empty path")


def _find(lines, begin, end, indent, name):
    return next((i for i in range(begin, end) if _content(lines[i]) and _indent(lines[i]) == indent
                 and re.match(rf"{re.escape(name)}\s*:", lines[i].strip())), None)


def _end_of(lines, begin, end, indent):
    inside = begin
    for i in range(begin, end):
        if _content(lines[i]):
            if _indent(lines[i]) <= indent:
                break
            inside = i + 1
    return inside


def _content(line):
    return line.strip() and not line.strip().startswith("#")


def _indent(line):
    return len(line) - len(line.lstrip(" "))
