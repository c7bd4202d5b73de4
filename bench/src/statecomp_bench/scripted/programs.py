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
    found = (m[0] for w in wanted for m in re.finditer(f'^.*?(?:{w}).*$', out, re.M))
    print(*dict.fromkeys(found), sep='\\n')
"""
DO = """\
import re, subprocess
known = {}
def do(run, wanted, quiet):
    run = re.sub(r'\\{(\\w+)\\}', lambda m: known.get(m[1], m[0]), run)
    out = subprocess.run(run, shell=True, capture_output=True, text=True)
    lines = []
    for name, pattern in wanted.items():
        for m in re.finditer(f'^.*?(?:{pattern}).*$', out.stdout, re.M):
            known[name] = m[1].strip()
            lines.append(m[0])
    print(*(dict.fromkeys(lines) if quiet else (out.stdout + out.stderr).splitlines()), sep='\\n')
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


def look_up(parts: Sequence[ProgramPart]) -> Called:
    """Runs what shows the values and prints the lines with them."""
    asked = (", ".join(map(repr, (_command(part.call), *part.wanted.values()))) for part in parts)
    return "python", {"code": LOOK + "".join(f"show({one})\n" for one in asked)}


def carry_out(parts: Sequence[ProgramPart]) -> Called:
    """Runs part after part, each with what the ones before it have found."""
    done = (f"do({_command(part.call)!r}, {dict(part.wanted)!r}, {part.quiet})\n" for part in parts)
    return "python", {"code": DO + "".join(done)}


def joined(calls: Sequence[Called]) -> tuple[Called, ...]:
    """Programs of ours one behind the other make one program."""
    others = [call for call in calls if not _ours(call)]
    code = "\n".join(str(given["code"]) for tool, given in filter(_ours, calls))
    return (*others, ("python", {"code": code})) if code else tuple(others)


def _ours(call: Called) -> bool:
    return str(call[1].get("code", "")).startswith((LOOK, DO))


def _command(call: Called) -> str:
    tool, given = call
    if tool == "read_file":
        return f"cat {quote(given['path'])}"
    if tool == "list_files":
        return f"ls -R {quote(given.get('path') or '.')}"
    if tool == "shell":
        return str(given["command"])
    code = str(given.get("code", ""))
    if tool == "write_file":
        code = WRITE.format(**given)
    elif tool == "edit_file":
        code = EDIT.format(**given)
    return f"python3 - <<'PROGRAM'\n{code}\nPROGRAM"
