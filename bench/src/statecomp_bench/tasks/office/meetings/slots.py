"""The first slot of a meeting; the source of this module is also a program of the workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

DAYS = ("Tue", "Wed", "Thu")
STEP = 15


def minutes(text: str) -> int:
    hour, minute = text.strip().split(":")
    return int(hour) * 60 + int(minute)


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def blocks(text: str) -> list[tuple[int, int]]:
    """`09:00-10:30, 13:00-16:00` as minutes of the day; nothing for `none`."""
    pairs = (block.split("-") for block in text.split(",") if "-" in block)
    return [(minutes(start), minutes(stop)) for start, stop in pairs]


def candidates(free: Sequence[Mapping[str, str]], length: int) -> Iterator[tuple[str, int]]:
    for day in DAYS:
        times = [blocks(calendar[day]) for calendar in free]
        for start in range(8 * 60, 18 * 60, STEP):
            if all(any(a <= start and start + length <= b for a, b in mine) for mine in times):
                yield day, start


def find(
    free: Sequence[Mapping[str, str]],
    length: int,
    rooms: Mapping[str, tuple[int, int, str]],
    taken: Mapping[str, bool],
    *,
    seats: int,
    lunch: bool,
    gap: int,
    ground: bool,
) -> str:
    """`Tue 10:00-11:00 Linden`, or `none`.

    `rooms` are seats, floor and the day a room is closed; `taken` are slots that were given away,
    each with whether somebody of this meeting takes part; `lunch` keeps 12:00 to 13:00 free;
    `ground` asks for a room on floor 0.  The smallest room that fits is taken.
    """
    for day, start in candidates(free, length):
        stop = start + length
        if lunch and start < 13 * 60 and stop > 12 * 60:
            continue
        busy = set()
        clash = False
        for slot, shared in taken.items():
            if slot == "none":
                continue
            when, span, room = slot.split()
            first, last = blocks(span)[0]
            if when == day and start < last and stop > first:
                busy.add(room)
            pause = gap if shared else 0
            clash = clash or (
                shared and when == day and start < last + pause and stop + pause > first
            )
        fitting = [
            (size, name)
            for name, (size, floor, closed) in rooms.items()
            if size >= seats and name not in busy and closed != day and not (ground and floor)
        ]
        if fitting and not clash:
            return f"{day} {clock(start)}-{clock(stop)} {min(fitting)[1]}"
    return "none"
