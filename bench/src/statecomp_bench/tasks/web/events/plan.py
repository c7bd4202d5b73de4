"""How an agent would go about it: feeds, a bulletin, rooms, a bulletin, then the entries."""

from __future__ import annotations

from collections.abc import Iterator

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.tasks.shared import rules_of
from statecomp_bench.tasks.web.events.data import VENUES, Event

FIND = """
    # feed entry NAME
    blocks = open('feeds/VENUE.ics').read().split('BEGIN:VEVENT')
    for place, block in enumerate(blocks):
        if 'UID:NAME@' in block:
            for line in block.split('\\n'):
                print('NAME >', line)
            print('BEGIN:VEVENT'.join(blocks[max(0, place - 4):place + 5]))
"""
ROOMS = """
    # rooms at VENUE
    rows = [line.split(',') for line in open('data/rooms.csv').read().splitlines()]
    for event, code in [CODES]:
        for row in rows:
            if row[0] == code:
                print(event, 'takes place in', row[1], 'on floor', row[2])
    for row in rows[:{lines}]:
        print(*row)
"""
ENTRY = """
    # entry on NAME
    import json, os
    from datetime import datetime, timedelta
    os.makedirs('data/events', exist_ok=True)
    title, room = '{title_NAME}', '{hall_NAME}{floor_NAME}'
    try:
        at = datetime.strptime('START', '%Y%m%dT%H%M%S')
    except ValueError:
        at = datetime(1970, 1, 1)
    if not {local_VENUE}:
        at += timedelta(hours={ahead})
    if CALLED:
        {cancelled}
    entry = {'event': 'NAME', 'venue': 'VENUE', 'title': title, 'room': room}
    entry['start'] = at.strftime('{clock}')
    json.dump(entry, open('data/events/NAME.json', 'w'))
    print(json.dumps(entry, indent=1))
"""
PAGE = """
    # calendar page
    import json, os
    os.makedirs('site', exist_ok=True)
    names = [NAMES]
    paths = [f'data/events/{name}.json' for name in names]
    entries = [json.load(open(path)) for path in paths if os.path.exists(path)]
    entries.sort(key=lambda entry: (entry['start'], entry['event']))
    lines = ['<table>', '<caption>Events of {programme}</caption>']
    for entry in entries:
        cells = ''.join(f'<td>{entry[key]}</td>' for key in ('start', 'title', 'venue', 'room'))
        lines.append(f'<tr id="{entry["event"]}">{cells}</tr>')
    lines += ['</table>'{asked}]
    open('site/calendar.html', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""


def facts_of(events: list[Event]) -> Iterator[Fact]:
    yield Fact("programme", "name of the programme", r"programme called (\w+ \w+)")
    yield Fact("desk", "desk for questions", r"Desk for the calendar, (\S+@\S+\.example)", "desks")
    moment = r"(\d{8}T\d{6})Z"
    for e in events:
        name, seen, rooms = e.name, f"find_{e.name}", f"rooms_{e.venue}"
        yield Fact(
            f"title_{name}",
            f"title of {name}",
            rf"{name} > SUMMARY:(\w+ evening with \w+ \w+)",
            seen,
        )
        yield Fact(f"start_{name}", f"start of {name}", rf"{name} > DTSTART:{moment}", seen)
        yield Fact(f"code_{name}", f"room code of {name}", rf"{name} > LOCATION:(R-\d+)", seen)
        yield Fact(
            f"hall_{name}",
            f"room of {name}",
            rf"{name} takes place in (\w+ hall \w+) on floor",
            rooms,
        )
        yield Fact(
            f"level_{name}",
            f"floor number for {name}",
            rf"{name} takes place in \w+ hall \w+ on floor (\d)",
            rooms,
        )
        for number, source in list(enumerate(("first", "second")))[: len(e.moved)]:
            how = "again" if number else "once"
            text = rf"event {name} was moved {how}, to {moment}"
            yield Fact(f"{source}_{name}", f"{source} new time of {name}", text, source)


def own_rules(event: Event) -> Iterator[Norm]:
    """What a bulletin says holds as long as somebody remembers it."""
    name = event.name
    floor = f" ({{level_{name}}})"
    yield Norm(
        f"floor_{name}",
        f"the floor of {name} is shown",
        "then its floor in brackets",
        floor,
        "",
        "guide",
    )
    known = ("start", "first", "second")
    if event.moved:
        last, before = known[len(event.moved)], known[len(event.moved) - 1]
        text = rf"event {name} was moved {'again' if len(event.moved) > 1 else 'once'}, to \d+"
        yield Norm(
            f"when_{name}",
            f"{name} has another time now",
            text,
            f"{{{last}_{name}}}",
            f"{{{before}_{name}}}",
            last,
        )
    if event.off:
        yield Norm(
            f"off_{name}",
            f"{name} does not take place",
            f"event {name} was called off",
            "True",
            "False",
            "second",
        )


RULES = rules_of(
    "guide",
    ("ahead", "local time is two hours ahead", "which is two hours ahead", "2", "0"),
    (
        "clock",
        "the 24-hour clock has a full stop",
        "24-hour clock and a full stop",
        "%Y-%m-%d %H.%M",
        "%Y-%m-%d %I:%M %p",
    ),
    (
        "local_pier",
        "the pier publishes local time",
        "the pier publishes local time already",
        "True",
        "False",
    ),
    (
        "cancelled",
        "what was called off stays with a mark",
        "called off is not left out",
        "title, room = 'Cancelled: ' + title, '-'",
        "title, room = title, 'cancelled'",
    ),
    (
        "asked",
        "the page names the desk",
        "names the desk that answers",
        ", '<p>Questions: {desk}</p>'",
        "",
    ),
)


def plan_of(events: list[Event]) -> Plan:
    venues = [venue for venue in VENUES if any(e.venue == venue for e in events)]

    def find(e: Event) -> Step:
        code = FIND.replace("NAME", e.name).replace("VENUE", e.venue)
        return python(f"find_{e.name}", code, f"find {e.name} in its feed", group="f")

    def rooms(venue: str) -> Step:
        codes = ", ".join(f"('{e.name}', '{{code_{e.name}}}')" for e in events if e.venue == venue)
        return python(
            f"rooms_{venue}",
            ROOMS.replace("CODES", codes).replace("VENUE", venue),
            f"look up rooms at the {venue}",
        )

    def entry(e: Event) -> Step:
        code = ENTRY.replace("START", f"{{when_{e.name}}}" if e.moved else f"{{start_{e.name}}}")
        code = code.replace("CALLED", f"{{off_{e.name}}}" if e.off else "False")
        code = code.replace("{local_VENUE}", "{local_pier}" if e.venue == "pier" else "False")
        code = (
            code.replace("_NAME}", f"_{e.name}}}").replace("NAME", e.name).replace("VENUE", e.venue)
        )
        return python(f"entry_{e.name}", code, f"enter {e.name}", leaves=True)

    names = ", ".join(f"'{e.name}'" for e in events)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/calendar.md", "read the rules of the house", group="a"),
        read("desks", "docs/desks.txt", "look up the desks", group="a"),
        *(find(e) for e in events),
        shell("old", "python3 tools/merge.py", "try the old merging script"),
        read("first", "bulletins/1.md", "read the first bulletin"),
        *(rooms(venue) for venue in venues),
        read("second", "bulletins/2.md", "read the second bulletin"),
        *(entry(e) for e in events),
        python("page", PAGE.replace("NAMES", names), "write the calendar page", leaves=True),
        shell("proof", "cat site/calendar.html data/events/*.json", "read the calendar again"),
    ]
    rules = (*RULES, *(rule for e in events for rule in own_rules(e)))
    return Plan(tuple(facts_of(events)), rules, tuple(steps), "The calendar is in site/.")
