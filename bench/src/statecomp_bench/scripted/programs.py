"""One program in place of many calls, as readers write them.

Of 267 calls that readers of 108 hand-offs made 240 were programs of the shell or of Python, and in
55 hand-offs it was two: one that looks up whatever is missed, over all files at once, and prints
the lines that say it, and one that does all that is left.  A program fills in what an earlier part
of itself has found, as theirs do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from statecomp_bench.plan import Step
from statecomp_bench.scripted.hands import Called

PROGRAMMABLE = frozenset(("read_file", "write_file", "edit_file", "shell", "python", "list_files"))
READ_IN_PARTS = ("first", "last")
LOOK = """\
import re, subprocess
def show(run, *wanted):
    out = subprocess.run(run, shell=True, capture_output=True, text=True).stdout
    lines = (f'^(?:.*\\n){{0,AROUND}}.*?(?:{w}).*(?:\\n.*){{0,AROUND}}$' for w in wanted)
    found = (m[0] for one in lines for m in re.finditer(one, out, re.M))
    print(*(dict.fromkeys(found) if wanted else [out]), sep='\\n')
"""
DO = """\
import contextlib, io, re, subprocess
known = {}
def sh(command):
    out = subprocess.run(command, shell=True, capture_output=True, text=True)
    return out.stdout + out.stderr
def py(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(code, {'__name__': '__main__'})
        except Exception as error:
            print(type(error).__name__, error)
    return out.getvalue()
def do(how, run, wanted, quiet):
    out = how(re.sub(r'\\{(\\w+)\\}', lambda m: known.get(m[1], m[0]), run))
    lines = []
    for name, pattern in wanted.items():
        for m in re.finditer(f'^.*?(?:{pattern}).*$', out, re.M):
            known[name] = m[1].strip()
            lines.append(m[0])
    print(*(dict.fromkeys(lines) if quiet else out.splitlines()), sep='\\n')
"""
WRITE = """\
import os
os.makedirs(os.path.dirname({path!r}) or '.', exist_ok=True)
open({path!r}, 'w').write({content!r})"""
EDIT = """\
text = open({path!r}).read()
assert text.count({old!r}) == 1
open({path!r}, 'w').write(text.replace({old!r}, {new!r}))"""


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A call of the program: which values it shows, and whether nothing else is printed of it."""

    call: Called
    wanted: Mapping[str, str]  # patterns by name
    quiet: bool = True


def programmable(step: Step) -> bool:
    return step.tool in PROGRAMMABLE and not step.arguments.keys() & {*READ_IN_PARTS}


def look_up(parts: Sequence[ProgramPart], around: int = 0) -> Called:
    """Runs what shows the values and prints the lines with them, and with those around.

    Where no value is named it prints all, and that last: what a tool shows has an end.
    """
    ordered = sorted(parts, key=lambda part: not part.wanted)
    asked = (", ".join(map(repr, (_command(one.call), *one.wanted.values()))) for one in ordered)
    shown = "".join(f"show({one})\n" for one in asked)
    return "python", {"code": LOOK.replace("AROUND", str(around)) + shown}


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
    return str(call[1].get("code", "")).startswith((LOOK.partition("AROUND")[0], DO))


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
    code = _code(call)
    return str(given["command"]) if code is None else f"python3 - <<'PROGRAM'\n{code}\nPROGRAM"


def _code(call: Called) -> str | None:
    """What Python does it, where Python does."""
    tool, given = call
    if tool == "write_file":
        return WRITE.format(**given)
    if tool == "edit_file":
        return EDIT.format(**given)
    return str(given["code"]) if tool == "python" else None
