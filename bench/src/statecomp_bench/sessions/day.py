"""A day of work: code, logs, pay, a web page, and in the evening a note about all four."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from statecomp_bench.plan import Fact, Plan
from statecomp_bench.sessions.session import Errand, WorkSession
from statecomp_bench.steps import shell, write
from statecomp_bench.task import Artefacts, Case, Score, grade, part
from statecomp_bench.tasks import task_named

# Seeds shuffle names; the note asks for some of this one.
SEED = 1
NOTE = "notes/handover.md"
MODULE, CENTRE = "harbour", "Dock"
INSTRUCTION = (
    f"Write {NOTE}: five lines in this order and nothing else. `freight VERSION` with the version "
    f"that is in the package now; `{MODULE} OWNER` with the name CODEOWNERS has for "
    f"freight/{MODULE}.py; `incident LEAD DWELL` with the lead and the minutes of dwell as in "
    f"spans.json; `{CENTRE} NUMBER` with the number under which that cost centre is posted; "
    "`calendar CAPTION` with the caption of the table on the page."
)
CONTENT = (
    f"freight {{version}}\n{MODULE} {{owner}}\nincident {{lead}} {{dwell}}\n"
    f"{CENTRE} {{number}}\ncalendar {{caption}}\n"
)


def day() -> WorkSession:
    tariffs = task_named("code-tariffs").case(SEED)
    timeline = task_named("security-timeline").case(SEED)
    payroll = task_named("office-payroll").case(SEED)
    events = task_named("web-events").case(SEED)
    return WorkSession(
        "session",
        (
            Errand("tariffs", "Good morning! The parcels first.", tariffs),
            Errand("timeline", "Thank you. Security needs us next; the logs are in.", timeline),
            Errand("payroll", "Good. Now something quite different: pay.", payroll),
            Errand("events", "Thanks. One more before the note for tomorrow.", events),
            Errand(
                "handover",
                "All done for today, so the note for Greta, who takes over tomorrow. What you "
                "still know you need not open again.",
                handover(tariffs, timeline, payroll, events),
                looks_back=True,
            ),
        ),
    )


def handover(tariffs: Case, timeline: Case, payroll: Case, events: Case) -> Case:
    """Its first steps are the other cases': they were taken long ago, and their values linger."""
    version, owners = (tariffs.plan.step[name] for name in ("version_now", "owners"))
    spans, heirs = timeline.plan.step["proof"], payroll.plan.step["heirs"]
    page = events.plan.step["proof"]
    lookups = {"version": version, "owners": owners, "spans": spans, "heirs": heirs, "page": page}
    # The id of a step is its plan's own, and two of these share one.
    known = tuple(replace(step, id=name) for name, step in lookups.items())
    facts = (
        Fact("version", "version of freight now", r'^__version__ = "([\d.]+)"', "version"),
        Fact("owner", f"person behind {MODULE}", rf"^freight/{MODULE}\.py (@\S+)", "owners"),
        Fact("lead", "person who leads the incident", r'"lead": "([^"]+)"', "spans"),
        Fact("dwell", "minutes of dwell", r'"dwell": (\d+)', "spans"),
        Fact("number", f"number for {CENTRE}", rf"centre {CENTRE} is posted under (\d+)", "heirs"),
        Fact("caption", "caption on the page", r"<caption>([^<]+)</caption>", "page"),
    )
    steps = (
        *known,
        write("note", NOTE, CONTENT, "put the note down"),
        shell("proof", f"cat {NOTE}; ls notes", "see that the note is complete"),
    )
    closing = f"The note is in {NOTE}. See you tomorrow."
    return Case({}, INSTRUCTION, Plan(facts, (), steps, closing), check)


def check(left: Artefacts) -> Score:
    """Each line of the note beside what the day's files say."""

    def found(file: str, pattern: str) -> str:
        return str(re.findall(pattern, left.text(file))[-1])

    def incident() -> str:
        spans = left.json("spans.json")
        return f"{spans['lead']} {spans['spans']['dwell']}"

    lines: Mapping[str, Callable[[], str]] = {
        "freight": lambda: found("freight/__init__.py", r'__version__ = "(.+)"'),
        MODULE: lambda: found("CODEOWNERS", rf"freight/{MODULE}\.py (\S+)"),
        "incident": incident,
        CENTRE: lambda: found("payroll/heirs.txt", rf"{CENTRE} is posted under (\d+)"),
        "calendar": lambda: found("site/calendar.html", "<caption>(.+)</caption>"),
    }
    note = partial(left.text, NOTE)
    return grade(
        *(part(name, 1, partial(_stands, note, name, value)) for name, value in lines.items()),
        part("in order, and nothing else", 1, lambda: _names(note()) == list(lines)),
    )


def _stands(note: Callable[[], str], name: str, value: Callable[[], str]) -> bool:
    return f"{name} {value()}" in note().splitlines()


def _names(note: str) -> list[str]:
    return [line.partition(" ")[0] for line in note.splitlines()]
