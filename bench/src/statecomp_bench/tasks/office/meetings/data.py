"""A week of calendars, rooms and requests; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import FIRST, joined, nouns, person
from statecomp_bench.tasks.office.meetings.slots import DAYS, blocks, clock, find
from statecomp_bench.tasks.office.papers import prose

ROOMS = ("Linden", "Aspen", "Rowan", "Alder")
Calendar = dict[str, str]


@dataclass(frozen=True)
class Meeting:
    name: str
    who: tuple[str, ...]
    length: int
    guests: int
    urgent: bool
    organiser: str


@dataclass(frozen=True)
class Week:
    calendars: dict[str, Calendar]
    rooms: dict[str, tuple[int, int, str]]
    meetings: tuple[Meeting, ...]
    extensions: dict[str, int]
    code: str
    slots: dict[str, str]


def free_time(rng: Random) -> str:
    """Two to three free blocks of a day, on the quarter hour."""
    found, start = [], 8 * 60 + 15 * rng.randrange(0, 5)
    while start < 17 * 60:
        stop = min(start + 15 * rng.randrange(5, 14), 18 * 60)
        found.append(f"{clock(start)}-{clock(stop)}")
        start = stop + 15 * rng.randrange(3, 8)
    return ", ".join(found)


def booked(
    calendars: dict[str, Calendar],
    rooms: dict[str, tuple[int, int, str]],
    meetings: tuple[Meeting, ...],
    broken: str = "",
) -> dict[str, str]:
    """The slots by the rules; or, to see what a rule is worth, with one of them broken."""
    slots: dict[str, str] = {}
    everyone = {meeting.name: set(meeting.who) for meeting in meetings}
    for meeting in meetings:
        taken = {slot: bool(everyone[other] & set(meeting.who)) for other, slot in slots.items()}
        slots[meeting.name] = find(
            [calendars[name] for name in meeting.who],
            meeting.length,
            rooms,
            taken,
            seats=len(meeting.who) + meeting.guests,
            lunch=broken != "lunch" and (broken == "exempt" or not meeting.urgent),
            gap=0 if broken == "gap" else 15,
            ground=broken != "ground" and meeting.guests > 0,
        )
    return slots


def story(rng: Random, level: int) -> Week:
    """Drawn again until every meeting finds a slot and every rule makes a difference."""
    while True:
        names = rng.sample(FIRST, 6 + level)
        calendars = {name: {day: free_time(rng) for day in DAYS} for name in names}
        sizes = rng.sample(range(5, 13), len(ROOMS))
        rooms = {
            room: (size, 0 if n < 2 else n - 1, rng.choice(DAYS) if n % 2 else "never")
            for n, (room, size) in enumerate(zip(ROOMS, sizes, strict=True))
        }
        meetings = tuple(
            Meeting(
                name=noun,
                who=tuple(sorted(rng.sample(names, 3))),
                length=rng.choice((45, 60, 75, 90)),
                guests=rng.choice((1, 2)) if place % 2 else 0,
                urgent=place in (2, 3),
                organiser=rng.choice(names),
            )
            for place, noun in enumerate(nouns(rng, 6 + level))
        )
        slots = booked(calendars, rooms, meetings)
        others = (
            booked(calendars, rooms, meetings, rule)
            for rule in ("lunch", "exempt", "gap", "ground")
        )
        if "none" not in slots.values() and all(other != slots for other in others):
            extensions = {name: rng.randrange(2000, 9999) for name in names}
            code = f"{rng.randrange(100, 999)}-{rng.randrange(1000, 9999)}"
            return Week(calendars, rooms, meetings, extensions, code, slots)


def calendar_text(rng: Random, name: str, calendar: Calendar) -> str:
    parts = [f"CALENDAR OF {name.upper()}, exported for the front desk\n\n{prose(rng, 6)}\n"]
    for day in DAYS:
        edges = [8 * 60, *(edge for block in blocks(calendar[day]) for edge in block), 18 * 60]
        rows = [
            f"{clock(a)} to {clock(b)}  {sentence(rng)} With {person(rng)}."
            for a, b in zip(edges[::2], edges[1::2], strict=True)
            if a < b
        ]
        notes = [f"  note {n}: {sentence(rng)}" for n in range(1, 10)]
        parts.append(f"{day}\n{joined([*rows, *notes])}Free on {day} for {name}: {calendar[day]}\n")
    return "\n".join(parts)


def request_text(rng: Random, meeting: Meeting) -> str:
    name = meeting.name
    return (
        f"REQUEST FOR A MEETING: {name}\n\n{prose(rng, 14)}\n\nLength of {name}: {meeting.length} "
        f"minutes\nGuests of {name}: {meeting.guests}\nUrgent ({name}): "
        f"{'yes' if meeting.urgent else 'no'}\nOrganiser of {name}: {meeting.organiser}\n\n"
        f"{prose(rng, 12)}\n"
    )
