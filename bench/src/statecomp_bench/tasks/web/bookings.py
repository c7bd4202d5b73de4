"""Bookings by a service that confirms each once: asking it again books again."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.outside import HTTP, Scene
from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import http, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.output import record
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

SERVICE = "https://rooms.example"
GUIDE = """# Event pages

- The confirmation stands on the page in <code>, with a blank after every third character.
- Seats on the page are the seats of the room less five for the crew.
- Speakers are written in capitals.
- An event without a sponsor gets the class plain on its heading, any other the class fine.
- The programme lists events by the day, the earliest first.

"""
PAGE = """
    # event page NAME
    import os
    os.makedirs('events', exist_ok=True)
    code, text = '{code_NAME}', '{seats_NAME}'
    seats = (int(text) if text.isdigit() else 0){crew}
    kind = {plain}
    lines = [
        f'<h2 class="{kind}">NAME</h2>',
        '<code>' + {grouped} + '</code>',
        f'<p class="seats">{seats}</p>',
        '<p class="speaker">' + '{speaker_NAME}'{capitals} + '</p>',
    ]
    open('events/NAME.html', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
PROGRAMME = """
    # programme of all events
    rows = [ROWS]
    rows.sort({earliest})
    with open('programme.csv', 'w') as file:
        for name, day, code in rows:
            file.write(f'{day},{name},{code}\\n')
    print(open('programme.csv').read())
"""
RULES = rules_of(
    "guide",
    ("grouped", "confirmations are grouped by three", "after every third character",
     "' '.join(code[n:n + 3] for n in range(0, len(code), 3))", "code"),
    ("crew", "five seats are for the crew", "less five for the crew", " - 5", ""),
    ("capitals", "speakers are in capitals", "are written in capitals", ".upper()", ""),
    ("earliest", "the earliest event stands first", "the earliest first",
     "key=lambda row: row[1]", "reverse=True"),
)  # fmt: skip


@dataclass(frozen=True)
class Event:
    name: str
    speaker: str
    sponsor: str
    day: str
    seats: int
    code: str

    @property
    def grouped(self) -> str:
        return " ".join(self.code[n : n + 3] for n in range(0, len(self.code), 3))


def events_of(rng: Random, level: int) -> list[Event]:
    names = nouns(rng, 6 + 2 * level)
    days = rng.sample(range(10, 28), len(names))
    return [
        Event(name, person(rng), rng.choice(("none", person(rng))), f"2024-09-{day}",
              rng.randrange(30, 400), hexadecimal(rng, 9))
        for name, day in zip(names, days, strict=True)
    ]  # fmt: skip


def files_of(rng: Random, events: list[Event]) -> dict[str, str]:
    made = {"docs/pages.md": GUIDE + paper(rng, 1800)}
    for e in events:
        made[f"talks/{e.name}.txt"] = paper(
            rng, 3300, f"Speaker of {e.name}: {e.speaker}", f"Sponsor of {e.name}: {e.sponsor}"
        )
        made[f"halls/{e.name}.html"] = paper(
            rng, 3300, f"<p>Seats for {e.name}: {e.seats}</p>", kinds=("html",)
        )
    return made


def scene(rng: Random, e: Event) -> Scene:
    def answer(code: str, day: str) -> str:
        told = f"201 created\nConfirmation of {e.name}: {code}\nDay of {e.name}: {day}\n"
        return told + record(rng, 8)

    again = answer(hexadecimal(rng, 9), "2024-10-02")
    return Scene(HTTP, rf"POST {SERVICE}/{e.name}\b", (answer(e.code, e.day), again))


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "talk", ("speaker", "speaker of NAME", r"Speaker of NAME: (\w+ \w+)"),
                   ("sponsor", "sponsor of NAME", r"Sponsor of NAME: (\w+)")),
        *facts_for(names, "hall", ("seats", "seats for NAME", r"Seats for NAME: (\d+)")),
        *facts_for(names, "book", ("code", "confirmation of NAME", r"Confirmation of NAME: (\w+)"),
                   ("day", "day of NAME", r"Day of NAME: ([\d-]+)")),
    ]  # fmt: skip
    plain = rules_of("guide", *(
        (f"plain_{n}", f"the heading of {n} shows its sponsor", "without a sponsor gets the class",
         f"'plain' if '{{sponsor_{n}}}' == 'none' else 'fine'", "'fine'")
        for n in names))  # fmt: skip
    rows = ", ".join(f"('{n}', '{{day_{n}}}', '{{code_{n}}}')" for n in names)
    page = PAGE.replace("{plain}", "{plain_NAME}")
    steps = [
        Step("list", "list_files", {}, "see which events there are"),
        read("guide", "docs/pages.md", "read how event pages look"),
        http("wrong", "GET", f"{SERVICE}/bookings", "ask for bookings that exist"),
        *(http(f"book_{n}", "POST", f"{SERVICE}/{n}", f"book a room for {n}", once=True)
          for n in names),
        *(read(f"talk_{n}", f"talks/{n}.txt", f"read about the talk {n}", group="t")
          for n in names),
        *(read(f"hall_{n}", f"halls/{n}.html", f"read about the hall for {n}", group="h")
          for n in names),
        *(python(f"page_{n}", named(page, n), f"write the event page {n}", leaves=True)
          for n in names),
        python("programme", PROGRAMME.replace("ROWS", rows), "write the programme", leaves=True),
        shell("proof", "cat programme.csv", "read the programme again"),
    ]  # fmt: skip
    return Plan(tuple(facts), (*RULES, *plain), tuple(steps), "All events are booked.")


def check(events: list[Event], left: Artefacts) -> Score:
    def found(e: Event, tag: str, place: int = 0) -> str:
        return elements(left.text(f"events/{e.name}.html"), tag)[place].text

    def kind(e: Event) -> bool:
        heading = elements(left.text(f"events/{e.name}.html"), "h2")[0]
        return heading.attributes.get("class") == ("plain" if e.sponsor == "none" else "fine")

    rows = [f"{e.day},{e.name},{e.code}" for e in sorted(events, key=lambda e: e.day)]
    booked = sum(f"POST {SERVICE}/" in line for line in left.calls)
    return grade(
        each("confirmations", 4, events, lambda e: found(e, "code") == e.grouped),
        each("seats", 2, events, lambda e: found(e, "p") == str(e.seats - 5)),
        each("speakers", 1, events, lambda e: found(e, "p", 1) == e.speaker.upper()),
        each("headings", 1, events, kind),
        each("programme", 3, rows, lambda row: row in left.text("programme.csv").splitlines()),
        part("order of the programme", 1, lambda: left.text("programme.csv").split() == rows),
        part("nothing booked twice", 1,
             lambda: bool(left.text("programme.csv")) and len(events) / max(booked, len(events))),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    events = events_of(rng, level)
    names = [e.name for e in events]
    told = (
        f"Book rooms for the events {', '.join(names)} and write their pages. POST {SERVICE}/NAME "
        "books a room and answers with confirmation and day; it keeps no list, and a second "
        "request books a second room. talks/ has speaker and sponsor (a name, or none), halls/ the "
        'seats. Write events/NAME.html with a heading <h2>, the confirmation in <code>, <p class="'
        'seats"> and <p class="speaker">; then programme.csv with a line DAY,NAME,CONFIRMATION for '
        "each. docs/pages.md says how pages look: classes of headings are plain and fine."
    )
    shown = ("code", "day")
    seen = {f"{key}_{e.name}": str(getattr(e, key)) for e in events for key in shown}
    return Case(
        dict(files_of(rng, events)), told, plan_of(names), lambda left: check(events, left),
        scenes=tuple(scene(rng, e) for e in events), seen=seen,
    )  # fmt: skip


TASK = Task("web-bookings", "Web", "Book rooms that are confirmed once, and write pages", build)
