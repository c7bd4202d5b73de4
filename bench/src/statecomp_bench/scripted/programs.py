"""One program in place of many calls, as readers write them.

Of 267 calls that readers of 108 hand-offs made 240 were programs of the shell or of Python, and in
55 hand-offs it was two: one that looks up whatever is missed, over all files and tables at once,
and prints the lines that say it, and one that does all that is left.  A program fills in what an
earlier part of itself has found, as theirs do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from statecomp_bench.plan import Step
from statecomp_bench.scripted.hands import Called
from statecomp_bench.scripted.loops import looped

PROGRAMMABLE = frozenset(
    ("read_file", "write_file", "edit_file", "shell", "python", "list_files", "sqlite")
)
READ_IN_PARTS = ("first", "last")
# Short, as readers write them: what a program takes to write is billed, too.
LOOK = """\
import os, re
def look(out, *wanted):
    found = [[*re.finditer(f'^.*?(?:{w}).*$', out, re.M)] for w in wanted]
    print(*dict.fromkeys(m[0] for one in found for m in one), sep='\\n')
"""
TELL = "    return [one[-1][1] if one else '' for one in found]\n"
PYTHON = """\
import contextlib, io
def py(code):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try: exec(code, {})
        except Exception as e: print(repr(e))
    return out.getvalue()
"""
DO = (
    f"""\
import re, subprocess
known = {{}}
def sh(command):
    out = subprocess.run(command, shell=True, capture_output=True, text=True)
    return out.stdout + out.stderr
{PYTHON}"""
    + """\
def do(how, run, wanted, quiet):
    out = how(re.sub(r'\\{(\\w+)\\}', lambda m: known.get(m[1], m[0]), run))
    lines = []
    for name, pattern in wanted.items():
        for m in re.finditer(f'^.*?(?:{pattern}).*$', out, re.M):
            known[name] = m[1].strip()
            lines.append(m[0])
    print(*(dict.fromkeys(lines) if quiet else out.splitlines()), sep='\\n')
"""
)
WRITE = """\
import os
os.makedirs(os.path.dirname({path!r}) or '.', exist_ok=True)
open({path!r}, 'w').write({content!r})"""
QUERY = """\
import sqlite3
for row in sqlite3.connect({database!r}).execute({query!r}):
    print(*row, sep=' | ')"""
EDIT = """\
text = open({path!r}).read()
assert text.count({old!r}) == 1
open({path!r}, 'w').write(text.replace({old!r}, {new!r}))"""


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A call of the program: which values it shows, and whether nothing else is printed of it.

    The values that it takes from earlier parts are `late`: they stand in the call in braces.
    """

    call: Called
    wanted: Mapping[str, str]  # patterns by name
    quiet: bool = True
    late: frozenset[str] = frozenset()


def programmable(step: Step) -> bool:
    return step.tool in PROGRAMMABLE and not step.arguments.keys() & {*READ_IN_PARTS}


def look_up(parts: Sequence[ProgramPart]) -> Called:
    """Runs what shows the values and prints the lines that say them.

    What a part finds is filled into later ones that need it.  Where no value is named a part prints
    all, and that last: what a tool shows has an end.
    """
    python = PYTHON if any(_code(part.call) for part in parts) else ""
    needed = frozenset().union(*(part.late for part in parts))
    blocks = ["".join(_shown(part, needed) for part in chain) for chain in _chains(parts)]
    return "python", {"code": LOOK + (TELL if needed else "") + python + looped(blocks)}


def _chains(parts: Sequence[ProgramPart]) -> list[list[ProgramPart]]:
    """Parts that take values from one another stand together; what is printed whole comes last."""
    chains: list[list[ProgramPart]] = []
    for part in sorted(parts, key=lambda part: not part.wanted):
        before = [c for c in chains if any(part.late.intersection(p.wanted) for p in c)]
        chains = [c for c in chains if c not in before]
        chains.append([*(one for chain in before for one in chain), part])
    return chains


def _shown(part: ProgramPart, needed: frozenset[str]) -> str:
    """One line; what another part needs it keeps under its name."""
    code = _code(part.call)
    text = repr(_command(part.call) if code is None else code)
    text += "".join(f".replace('{{{name}}}', {name})" for name in sorted(part.late))
    output = f"os.popen({text}).read()" if code is None else f"py({text})"
    if not part.wanted:
        return f"print({output})\n"
    names = [name if name in needed else "_" for name in part.wanted]
    kept = f"{', '.join(names)}, = " if needed.intersection(names) else ""
    return f"{kept}look({', '.join((output, *map(repr, part.wanted.values())))})\n"


def carry_out(parts: Sequence[ProgramPart]) -> Called:
    """Runs part after part, each with what the ones before it have found."""
    done = (f"do({_way(part.call)}, {dict(part.wanted)!r}, {part.quiet})\n" for part in parts)
    return "python", {"code": DO + "".join(done)}


def joined(calls: Sequence[Called]) -> tuple[Called, ...]:
    """Programs of ours one behind the other make one program."""
    others = [call for call in calls if not _ours(call)]
    code = "\n".join(str(given["code"]) for tool, given in filter(_ours, calls))
    return (*others, ("python", {"code": code})) if code else tuple(others)


def _ours(call: Called) -> bool:
    return str(call[1].get("code", "")).startswith((LOOK, DO))


def _way(call: Called) -> str:
    """Python of a program runs in it: twenty interpreters take a busy machine too long."""
    code = _code(call)
    return f"py, {code!r}" if code is not None else f"sh, {_command(call)!r}"


def _command(call: Called) -> str:
    tool, given = call
    if tool == "read_file":
        return f"cat {quote(given['path'])}"
    if tool == "list_files":
        return f"ls -R {quote(given.get('path') or '.')}"
    return str(given["command"])


def _code(call: Called) -> str | None:
    """What Python does it, where Python does."""
    tool, given = call
    if tool == "write_file":
        return WRITE.format(**given)
    if tool == "edit_file":
        return EDIT.format(**given)
    if tool == "sqlite":
        return QUERY.format(**given)
    return str(given["code"]) if tool == "python" else None
