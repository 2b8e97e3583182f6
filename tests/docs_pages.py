"""What the tests of the documentation share: its pages, what stands on them, the program, and the problems that were found."""

import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = pathlib.Path(os.environ.get("FAIRLEAD_BIN", ROOT / "build" / "release" / "bin" / "fairlead"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("app", "actors", "store", "messages", "tests", "config", "docs")

problems = []


def blame(page, sentence):
    problems.append(f"{page.relative_to(ROOT) if page.is_absolute() else page}: {sentence}")


@functools.cache
def text_of(page):
    return page.read_text(encoding="utf-8")


@functools.cache
def prose_of(page):
    """Without fenced blocks."""
    return re.sub(r"^( *)```.*?^ *```$", "", text_of(page), flags=re.S | re.M)


def blocks_of(page):
    """(language, text) of each fenced block."""
    return re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text_of(page), flags=re.S | re.M)


def spans_of(text):
    """What stands in backticks, on one line or two."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]


def need_binary():
    if not BINARY.exists():
        sys.exit(f"there is no {BINARY}: build it, or set FAIRLEAD_BIN")


def run(*arguments):
    return subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=ROOT)


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def report(told):
    """The exit code."""
    for problem in problems:
        print(problem)
    print(f"{len(PAGES)} pages, {told}{len(problems)} problems")
    return 1 if problems else 0
