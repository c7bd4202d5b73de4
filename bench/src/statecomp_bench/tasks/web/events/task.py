"""An event calendar from several feeds; two bulletins move events, the second over the first."""

from __future__ import annotations

from random import Random

from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.invented import NOUNS, joined, nouns, person
from statecomp_bench.tasks.shared import each, scattered
from statecomp_bench.tasks.web.events.data import OLD, VENUES, Event, bulletin, events_of, feed
from statecomp_bench.tasks.web.events.plan import plan_of
from statecomp_bench.tasks.web.pages import guide, instruction, prose


def check(events: list[Event], programme: str, desk: str, left: Artefacts) -> Score:
    def entry(e: Event) -> dict[str, str]:
        return dict(left.json(f"data/events/{e.name}.json"))

    def timed(e: Event) -> bool:
        return entry(e)["start"] == e.shown

    def dated(e: Event) -> bool:
        return entry(e)["start"][:10] == e.shown[:10]

    def called(e: Event) -> bool:
        return entry(e)["title"] == f"Cancelled: {e.title}" and entry(e)["room"] == "-"

    def rows() -> list[str]:
        return [
            line.split('"')[1]
            for line in left.text("site/calendar.html").splitlines()
            if "<tr id=" in line
        ]

    on = [e for e in events if not e.off]
    order = [e.name for e in sorted(events, key=lambda e: (e.shown, e.name))]
    return grade(
        each("times as in the feeds", 2, [e for e in events if not e.moved], timed),
        each("times moved once", 2, [e for e in events if len(e.moved) == 1], timed),
        each("times moved twice", 2, [e for e in events if len(e.moved) == 2], timed),
        each("days", 2, events, dated),
        each("titles", 2, on, lambda e: entry(e)["title"] == e.title),
        each("rooms", 2, on, lambda e: entry(e)["room"].startswith(e.hall)),
        each("floors", 1, on, lambda e: entry(e)["room"].endswith(f" ({e.floor})")),
        each("called off", 2, [e for e in events if e.off], called),
        part("order of the page", 2, lambda: rows() == order),
        part(
            "programme",
            1,
            lambda: f"<caption>Events of {programme}</caption>" in left.text("site/calendar.html"),
        ),
        part("desk", 1, lambda: f"<p>Questions: {desk}</p>" in left.text("site/calendar.html")),
    )


def build(rng: Random, level: int) -> Case:
    events = events_of(rng, level)
    programme, desk = (
        f"{rng.choice(NOUNS)} {rng.choice(NOUNS)}",
        f"{person(rng).split()[0].lower()}@{'-'.join(nouns(rng, 2))}.example",
    )
    desks = [
        f"Desk for {noun}, {person(rng)}, room {rng.randrange(100, 999)}" for noun in nouns(rng, 25)
    ]
    rooms = [f"{e.code},{e.hall},{e.floor},{person(rng)}" for e in events]
    others = [
        f"Q-{n},{rng.choice(NOUNS).title()} room,{n % 7},{person(rng)}" for n in range(100, 190)
    ]
    made = {
        "docs/calendar.md": guide(__package__) + prose(rng, 6),
        "docs/desks.txt": joined(
            scattered(rng, desks, f"Desk for the calendar, {desk}, open until six")
        ),
        "data/rooms.csv": joined(scattered(rng, others, *rooms)),
        "bulletins/1.md": bulletin(rng, 1, events),
        "bulletins/2.md": bulletin(rng, 2, events),
        "tools/merge.py": OLD,
        **{f"feeds/{v}.ics": feed(rng, [e for e in events if e.venue == v]) for v in VENUES},
    }
    held = "; ".join(f"{v}: {', '.join(e.name for e in events if e.venue == v)}" for v in VENUES)
    once, twice = (", ".join(e.name for e in events if len(e.moved) == n) for n in (1, 2))
    off = ", ".join(e.name for e in events if e.off)
    told = instruction(__package__, programme=programme, held=held, once=once, twice=twice, off=off)
    return Case(made, told, plan_of(events), lambda left: check(events, programme, desk, left))


TASK = Task("web-events", "Web", "Make a calendar from feeds that two bulletins amend", build)
