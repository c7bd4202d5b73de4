"""Feeds of venues, rooms, and two bulletins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined, nouns, person
from statecomp_bench.tasks.shared import scattered
from statecomp_bench.tasks.web.pages import prose

VENUES = ("pier", "library", "foundry", "museum")
OLD = """import glob
for path in sorted(glob.glob('feeds/*.ics')):
    for line in open(path).read().splitlines()[:25]:
        print(path, line)
raise SystemExit('merge.py: feeds/pier.ics: local times found, cannot go on')
"""


@dataclass(frozen=True)
class Event:
    name: str
    venue: str
    title: str
    code: str
    hall: str
    floor: int
    start: datetime  # as the feed has it
    moved: tuple[datetime, ...]  # by the first bulletin, and by the second
    off: bool

    @property
    def shown(self) -> str:
        ahead = timedelta(hours=0 if self.venue == "pier" else 2)
        return f"{[self.start, *self.moved][-1] + ahead:%Y-%m-%d %H.%M}"


def events_of(rng: Random, level: int) -> list[Event]:
    names, opening = nouns(rng, 8 + 4 * level), datetime(2024, 6, 3, 8)
    events = []
    for number, name in enumerate(names):
        times = [
            opening + timedelta(days=rng.randrange(28), minutes=5 * rng.randrange(150))
            for _ in range(3)
        ]
        moves = (0, 1, 2, 0, 1, 0)[number % 6]
        one, two = nouns(rng, 2)
        events.append(
            Event(
                name,
                VENUES[number % len(VENUES)],
                f"{one.title()} evening with {person(rng)}",
                f"R-{1000 + 7 * number + rng.randrange(7)}",
                f"{two.title()} hall {hexadecimal(rng, 2)}",
                rng.randrange(1, 9),
                times[0],
                tuple(times[1 : 1 + moves]),
                number % 6 == 3,
            )
        )
    rng.shuffle(events)
    return events


def stamp(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%S}Z"


def feed(rng: Random, events: list[Event]) -> str:
    blocks = [
        f"BEGIN:VEVENT\nUID:{hexadecimal(rng, 8)}@feed\n"
        f"SUMMARY:{rng.choice(NOUNS).title()} tour with {person(rng)}\n"
        f"DTSTART:202405{rng.randrange(10, 29)}T{rng.randrange(10, 20)}3000Z\n"
        f"LOCATION:Q-{rng.randrange(100, 999)}\n"
        f"DESCRIPTION:{' '.join(sentence(rng) for _ in range(3))}\nEND:VEVENT"
        for _ in range(24)
    ]
    own = [
        f"BEGIN:VEVENT\nUID:{e.name}@feed\nSUMMARY:{e.title}\nDTSTART:{stamp(e.start)}\nLOCATION:{e.code}\n"
        f"DESCRIPTION:{' '.join(sentence(rng) for _ in range(3))}\nEND:VEVENT"
        for e in events
    ]
    return joined(["BEGIN:VCALENDAR", *scattered(rng, blocks, *own), "END:VCALENDAR"])


def bulletin(rng: Random, number: int, events: list[Event]) -> str:
    """The first moves what moves at all, the second moves again and calls off."""
    points = [
        f"The event {e.name} was moved once, to {stamp(e.moved[0])}." for e in events if e.moved
    ]
    if number == 2:
        points = [
            f"The event {e.name} was moved again, to {stamp(e.moved[1])}."
            for e in events
            if len(e.moved) > 1
        ]
        points += [f"The event {e.name} was called off." for e in events if e.off]
    rng.shuffle(points)
    text = "\n".join(f"{point}\n\n{prose(rng, 1, 7)}" for point in points)
    return f"# Bulletin {number}\n\n{text}\n{prose(rng, 3)}"
