"""The project as files: what is put into the folder that a client works in."""

from __future__ import annotations

import re
import sys
import sysconfig
from pathlib import Path

from benchmarks.clients.coding.parts import EXTRA, PARTS, CodingPart

PACKAGE = "toolkit"
TASK = (
    "This folder holds `toolkit`, a library of small modules. Its test run (`./check`) is red: "
    "nearly every module has one fault. Find each, mend the module and not its test, and check the "
    "module again before you go on to the next. Read README.md first and keep to its rules. When "
    "all is green, tell me in a few lines what was wrong."
)
_README = """# toolkit

Small modules that several of our services use. Each stands alone: `toolkit/NAME.py` with its test
`tests/test_NAME.py`.

## Rules

- A module is mended where the fault is. Tests are never changed to make them pass.
- One fault, one change: no reformatting, no renaming, no new helpers on the way.
- Names that callers use stay as they are; signatures too.
- After each change run `./check NAME`; the whole `./check` before you are done.

## Layout

| module | about |
|---|---|
{rows}

`./check` runs all tests, `./check NAME` those of one module, each with one line a test and a
traceback for what failed. Nothing needs to be installed.
"""
_CHECK = """#!/bin/sh
# ./check runs all tests, ./check NAME those of one module.
cd "$(dirname "$0")" || exit 2
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
if [ $# -eq 0 ]; then exec {python} -m unittest -v 2>&1; fi
exec {python} -m unittest -v "tests.test_$1" 2>&1
"""
_TEST = '''"""What {name} promises."""

import unittest

{helpers}from toolkit.{name} import {names}


class {title}Test(unittest.TestCase):
{methods}

if __name__ == "__main__":
    unittest.main()
'''
_METHOD = """    def test_{check}(self):
        found = {expression}
        self.assertEqual(found, {expected})
"""
_HELPERS = '''"""What the tests share."""

import tempfile

from toolkit.graphlib import TopologicalSorter
from toolkit.headers import Headers
from toolkit.netrc import netrc
from toolkit.robotparser import RobotFileParser
from toolkit.sched import scheduler

ENVIRON = {"wsgi.url_scheme": "http", "HTTP_HOST": "h"}


def sorter(graph):
    made = TopologicalSorter(graph)
    made.prepare()
    return made


def added(name, value, **parameters):
    headers = Headers([])
    headers.add_header(name, value, **parameters)
    return headers[name]


def parsed(text):
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return parser


def read(text):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(text)
        file.flush()
        return netrc(file.name)


def clock():
    return 100


def waited(seconds):
    pass


def ran(due):
    seen = []
    plan = scheduler(clock, waited)
    plan.enter(due, 1, seen.append, ("a",))
    plan.run(blocking=False)
    return seen


def deadline(due):
    plan = scheduler(clock, waited)
    plan.enter(due, 1, waited, (0,))
    return plan.run(blocking=False)


def ordered(*dues):
    plan = scheduler(clock, waited)
    for due in dues:
        plan.enter(due, 1, waited, (0,))
    return [event.time - clock() for event in plan.queue]


def filled(kind, size, count):
    queue = kind(size)
    for number in range(count):
        queue.put_nowait(number)
    return queue


def drained(kind, *items):
    queue = kind()
    for item in items:
        queue.put(item)
    return [queue.get() for _ in items]


def rounded(values):
    return tuple(round(value, 6) for value in values)
'''


def write_project(folder: Path) -> None:
    """Put the project, faults included, into an empty folder."""
    for name in (PACKAGE, "tests"):
        (folder / name).mkdir(parents=True)
    (folder / PACKAGE / "__init__.py").write_text('"""Small modules, each of its own."""\n')
    (folder / "tests" / "__init__.py").write_text(_HELPERS)
    for part in PARTS:
        code = library(part.source)
        broken = code.replace(part.right, part.wrong)
        if code.count(part.right) != 1 or broken.count(part.wrong) != 1:
            raise RuntimeError(f"{part.source} of this Python has no one line {part.right!r}")
        (folder / PACKAGE / f"{part.name}.py").write_text(broken, "utf-8")
        (folder / "tests" / f"test_{part.name}.py").write_text(_test_of(part), "utf-8")
    for name in EXTRA:
        (folder / PACKAGE / f"{name}.py").write_text(library(name), "utf-8")
    about = "\n".join(f"| `{part.name}` | {part.names} |" for part in PARTS)
    (folder / "README.md").write_text(_README.format(rows=about), "utf-8")
    script = folder / "check"
    script.write_text(_CHECK.format(python=sys.executable), "utf-8")
    script.chmod(0o755)


def library(source: str) -> str:
    """A module of the Python that runs this, as text."""
    return (Path(sysconfig.get_paths()["stdlib"]) / f"{source}.py").read_text("utf-8")


def line_of(part: CodingPart) -> int:
    """The number of the line that is wrong."""
    return library(part.source).splitlines().index(part.right) + 1


def _test_of(part: CodingPart) -> str:
    methods = "\n".join(
        _METHOD.format(check=check, expression=expression, expected=expected)
        for check, expression, expected in part.checks
    )
    used = set(re.findall(r"\w+", " ".join(expression for _, expression, _ in part.checks)))
    shared = [
        name for name in re.findall(r"^(?:def )?(\w+)(?:\(| =)", _HELPERS, re.M) if name in used
    ]
    helpers = f"from tests import {', '.join(shared)}\n" if shared else ""
    title = part.name.capitalize()
    named = {"name": part.name, "names": part.names, "title": title}
    return _TEST.format(**named, helpers=helpers, methods=methods)
