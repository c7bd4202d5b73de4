"""Meetings booked one after the other: each takes time away from those that follow."""

from __future__ import annotations

from importlib.resources import files
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import joined, person
from statecomp_bench.tasks.office.each import ROW_START, facts_about, lines_of, reads, rules_of
from statecomp_bench.tasks.office.meetings.data import (
    ROOMS,
    Meeting,
    Week,
    calendar_text,
    request_text,
    story,
)
from statecomp_bench.tasks.office.meetings.slots import DAYS
from statecomp_bench.tasks.office.papers import holds, prose, put, retired

BOOK = """
    # slot for NAME
    import os, sys
    sys.path.insert(0, 'tools')
    from slots import find
    free = [
        FREE
    ]
    rooms = {
        ROOMS
    }
    taken = {TAKEN}
    guests, urgent = int('{guests_NAME}'), '{urgent_NAME}' == 'yes'
    slot = find(free, int('{length_NAME}'), rooms, taken, seats=SIZE + guests,
                lunch={lunch}{exempt}, gap={gap}, ground={ground})
    os.makedirs('out/slots', exist_ok=True)
    open('out/slots/NAME.txt', 'w').write('booked NAME: ' + slot + '\\n')
    print('done')
"""
INVITE = """
    # invitation to NAME
    import os
    os.makedirs('out/invitations', exist_ok=True)
    day, span, room = '{slot_NAME}'.split()
    span = span.replace('-', ' h to ') + ' h'
    text = 'Meeting NAME\\nfor WHO\\n' + day + ', ' + span{dotted} + ', room ' + room
    text += '\\nDial-in code {code}\\nOrganised by {organiser_NAME}{extension_NAME}\\n'
    open('out/invitations/NAME.txt', 'w').write(text)
    print(text)
"""
TABLE = """
    # table of the week
    import json
    slots = {
        SLOTS
    }
    json.dump(slots, open('out/week.json', 'w'), indent=1)
    print(len(slots), 'meetings')
"""
RULES = rules_of(
    "rules",
    (
        "lunch",
        "no meeting touches the lunch hour",
        "no meeting may touch the lunch hour",
        "True",
        "False",
    ),
    (
        "exempt",
        "urgent meetings ignore lunch",
        "urgent meetings are exempt from",
        " and not urgent",
        "",
    ),
    ("gap", "people get 15 minutes between meetings", "pause of at least 15 minutes", "15", "0"),
    ("ground", "guests meet on floor 0", "with guests is held on floor 0", "guests > 0", "False"),
    (
        "dotted",
        "times carry a dot and an h",
        "times with a dot and an h",
        ".replace(':', '.')",
        ".replace(' h', '')",
    ),
)


def facts_of(week: Week) -> list[Fact]:
    facts = [Fact("code", "dial-in code", r"dial-in code of the week is (\S+)\.", "rooms")]
    for name in week.calendars:
        low = name.lower()
        facts += (
            Fact(
                f"free_{low}_{day.lower()}",
                f"free time of {name} on {day}",
                rf"Free on {day} for {name}: (.+)",
                f"calendar_{low}",
            )
            for day in DAYS
        )
        call = rf"\b{name} \.+ (\d{{4}})"
        facts.append(Fact(f"phone_{low}", f"extension of {name}", call, "phones"))
    for room in ROOMS:
        facts += facts_about(
            room,
            "rooms",
            ("seats", "seats in NAME", r"\| NAME \| seats (\S+) \|"),
            ("floor", "floor of NAME", r"\| NAME \| seats \S+ \| floor (\d) \|"),
            ("closed", "day off in NAME", r"\| NAME \| seats \S+ \| floor \d \| closed (\w+)"),
        )
    for meeting in week.meetings:
        name, seen = meeting.name, f"request_{meeting.name}"
        facts += (
            *facts_about(
                name,
                seen,
                ("length", "length of NAME", r"Length of NAME: (\d+)"),
                ("guests", "guests at NAME", r"Guests of NAME: (\d+)"),
                ("urgent", "urgency of NAME", r"Urgent \(NAME\): (\w+)"),
                ("organiser", "organiser of NAME", r"Organiser of NAME: (\w+)"),
            ),
            *facts_about(
                name, f"seen_{name}", ("slot", "slot of NAME", r"booked NAME: (\w+ \S+ \w+)")
            ),
        )
    return facts


def book(week: Week, place: int) -> str:
    meeting, before = week.meetings[place], week.meetings[:place]
    free = [
        "{" + ", ".join(f"'{d}': '{{free_{n.lower()}_{d.lower()}}}'" for d in DAYS) + "},"
        for n in meeting.who
    ]
    room = "'NAME': (int('{seats_NAME}'), int('{floor_NAME}'), '{closed_NAME}'),"
    taken = (f"'{{slot_{m.name}}}': {bool({*m.who} & {*meeting.who})}" for m in before)
    return put(
        BOOK.replace("FREE", ROW_START.join(free))
        .replace("ROOMS", lines_of(room, ROOMS))
        .replace("TAKEN", ", ".join(taken)),
        NAME=meeting.name,
        SIZE=str(len(meeting.who)),
    )


def booking_steps(week: Week, place: int) -> tuple[Step, Step]:
    name = week.meetings[place].name
    find_it = python(f"book_{name}", book(week, place), f"look for a slot for {name}", leaves=True)
    return find_it, shell(f"seen_{name}", f"cat out/slots/{name}.txt", f"note what {name} got")


def invite(meeting: Meeting) -> Step:
    code = put(INVITE, NAME=meeting.name, WHO=", ".join(meeting.who))
    return python(f"invite_{meeting.name}", code, f"invite people to {meeting.name}", leaves=True)


def plan_of(week: Week) -> Plan:
    meetings = week.meetings
    extension = tuple(
        Norm(
            f"extension_{m.name}",
            f"the invitation to {m.name} ends with an extension",
            "ends with the extension of the organiser",
            f", extension {{phone_{m.organiser.lower()}}}",
            "",
            "rules",
        )
        for m in meetings
    )
    names = [m.name for m in meetings]
    table = TABLE.replace("SLOTS", lines_of("'NAME': '{slot_NAME}',", names))
    booking = [step for place in range(len(meetings)) for step in booking_steps(week, place)]
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("rules", "desk/rules.md", "read the house rules", group="a"),
        read("rooms", "desk/rooms.txt", "read about the rooms", group="a"),
        read("phones", "desk/phones.txt", "open the telephone list", group="a"),
        *reads("calendar", "calendars", week.calendars, "open the calendar of", "c"),
        shell(
            "tool",
            "python3 tools/slots.py --help; tail -n {lines} tools/slots.py",
            "see how the slot finder works",
        ),
        *reads("request", "requests", names, "read the request for", "r"),
        shell("wrong", "python3 tools/book.py --week all", "try to book all at once"),
        *booking,
        python("table", table, "write the table of all slots", leaves=True),
        *map(invite, meetings),
    ]
    return Plan(
        tuple(facts_of(week)), (*RULES, *extension), tuple(steps), "All meetings are booked."
    )


def check(week: Week, left: Artefacts) -> Score:
    slots = week.slots

    def times() -> float:
        return share(
            {m: _slot(left, m)[:2] for m in slots}, {m: s.split()[:2] for m, s in slots.items()}
        )

    def rooms() -> float:
        return share(
            {m: _slot(left, m)[2:] for m in slots}, {m: s.split()[2:] for m, s in slots.items()}
        )

    def invited(meeting: Meeting) -> float:
        day, span, room = slots[meeting.name].split()
        start, stop = span.replace(":", ".").split("-")
        call = f"extension {week.extensions[meeting.organiser]}"
        words = (
            f"{day}, {start} h to {stop} h,",
            f"room {room}",
            week.code,
            meeting.organiser,
            call,
        )
        return holds(left, f"out/invitations/{meeting.name}.txt", words)

    return grade(
        part("times", 5, times),
        part("rooms", 3, rooms),
        part("week", 2, lambda: share(left.json("out/week.json"), slots)),
        part("invitations", 5, lambda: sum(map(invited, week.meetings)) / len(slots)),
    )


def _slot(left: Artefacts, name: str) -> list[str]:
    """What was booked for a meeting; nothing where there is no such file."""
    if not (left.root / f"out/slots/{name}.txt").is_file():
        return []
    return left.text(f"out/slots/{name}.txt").partition(f"booked {name}: ")[2].split()


def instruction(week: Week) -> str:
    wanted = "; ".join(f"{m.name} ({', '.join(m.who)})" for m in week.meetings)
    return (
        "Book the meetings of next week (Tue, Wed, Thu), one after the other, in this order, "
        f"with these participants: {wanted}. The requests are in requests/, the calendars in "
        "calendars/, rooms and telephone extensions in desk/, the house rules in desk/rules.md. "
        "A meeting that is booked takes its people and its room from those after it. For each "
        "meeting write out/slots/MEETING.txt with one line 'booked MEETING: DAY START-STOP ROOM' "
        "(times as 10:00-11:00), then out/week.json (meeting to 'DAY START-STOP ROOM'), then an "
        "invitation out/invitations/MEETING.txt with a line 'DAY, START h to STOP h, room ROOM', "
        "the dial-in code, the organiser and what the house rules ask for. tools/slots.py finds "
        "slots."
    )


def build(rng: Random, level: int) -> Case:
    week = story(rng, level)
    rooms = joined(
        [
            f"| {r} | seats {s} | floor {f} | closed {c} | {sentence(rng)}"
            for r, (s, f, c) in week.rooms.items()
        ]
    )
    phones = [f"{name} {'.' * 20} {number}" for name, number in week.extensions.items()]
    phones += [
        f"{person(rng)[:1]}. {person(rng).split()[1]} {'.' * 14} {rng.randrange(2000, 9999)}"
        for _ in range(60)
    ]
    rng.shuffle(phones)
    made: dict[str, str | bytes] = {
        "desk/rules.md": files(__package__).joinpath("rules.md").read_text("utf-8"),
        "desk/rooms.txt": f"{prose(rng, 20)}\n\n{rooms}\nThe dial-in code of the week is "
        f"{week.code}.\n\n{prose(rng, 10)}\n",
        "desk/phones.txt": joined(phones),
        "tools/slots.py": files(__package__).joinpath("slots.py").read_text("utf-8"),
        "tools/book.py": retired("the calendar server of 2021 is gone; use slots.py"),
    }
    made |= {
        f"calendars/{n.lower()}.txt": calendar_text(rng, n, c) for n, c in week.calendars.items()
    }
    made |= {f"requests/{m.name}.txt": request_text(rng, m) for m in week.meetings}
    return Case(made, instruction(week), plan_of(week), lambda left: check(week, left))


TASK = Task("office-meetings", "Office", "Book meetings by calendars and house rules", build)
