"""Examples on a page that are marked to run, and what they must print.

A fence behind `<!-- runs -->` runs; one behind `<!-- prints -->` is what the Python before it
prints.  In a console the lines behind a command are its output.  `...` stands for anything, as in
doctest.  The blocks of a page run in order and share their names and their folder.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

from statecomp.cli.app import main as product
from statecomp_bench.cli.app import main as bench
from tests.command import ended

BLOCK = re.compile(
    r"^<!-- (?P<what>runs|prints) -->\n```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PROGRAMS = {"statecomp": product, "statecomp-bench": bench}


@dataclass(frozen=True)
class Example:
    """Some Python or one command, the line it stands on, and what it must print if that is told."""

    kind: str
    text: str
    line: int
    prints: str | None = None


def examples(page: str) -> list[Example]:
    """The examples of a page, in their order."""
    found: list[Example] = []
    for block in BLOCK.finditer(page):
        line = page.count("\n", 0, block.start()) + 1
        if block["what"] == "prints":
            found[-1] = replace(found[-1], prints=block["text"])
        elif block["kind"] == "console":
            found += _commands(block["text"], line)
        else:
            found.append(Example(block["kind"], block["text"], line))
    return found


def run(page: Path, folder: Path) -> int:
    """Run the examples of a page in a folder; how many there were."""
    names: dict[str, object] = {"__name__": "example"}
    found = examples(page.read_text("utf-8"))
    for example in found:
        place = f"{page.name}:{example.line}"
        printed = _python(example.text, names, place) if example.kind == "python" else ""
        if example.kind == "console":
            printed = _command(example.text, folder, place)
        if example.prints is not None:
            agrees = OutputChecker().check_output(
                example.prints, printed, ELLIPSIS | NORMALIZE_WHITESPACE
            )
            assert agrees, f"{place}: {example.text}\nprinted:\n{printed}"
    return len(found)


def _commands(text: str, line: int) -> Iterator[Example]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, prints = part.partition("\n")
        yield Example("console", command, line, prints)


def _python(code: str, names: dict[str, object], place: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, place, "exec"), names)  # noqa: S102  the point is that it runs
    return printed.getvalue()


def _command(text: str, folder: Path, place: str) -> str:
    program, *arguments = shlex.split(text)
    words = [
        word for given in arguments for word in sorted(map(str, folder.glob(given))) or [given]
    ]
    environ = {"COLUMNS": "200", "STATECOMP_STORE": str(folder / "ledger.sqlite")}
    done = ended(PROGRAMS[program], [program, *words], folder, environ)
    assert done.returncode == 0, f"{place}: {text}\n{done.stderr}"
    return done.stdout
