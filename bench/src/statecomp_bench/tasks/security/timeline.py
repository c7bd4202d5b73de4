"""One incident, many clocks: events of several sources brought to one time.

The shape: each source has its own way to write time and its own error, measured early and, for
some, measured again later; two tables at the end need every one of them, and one wrong sign or one
old offset puts events into the wrong order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from statistics import mean

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, joined, outside, people
from statecomp_bench.tasks.security.estate import chatter, hosts, revisions, swap, table

START = datetime(2025, 2, 18, tzinfo=UTC)
LOCAL = timedelta(hours=1)
KINDS = ("server", "appliance", "counter")  # ISO in UTC, ISO in local time, seconds since 1970
EVENTS = ("first-contact", "login", "new-account", "rights-raised", "file-staged", "archive-made",
          "upload-begun", "upload-ended", "account-deleted", "alarm", "host-isolated")  # fmt: skip
GUIDE = """# Timekeeping in investigations

## Clocks
- The offset of a clock is what it shows minus the true time; so it is subtracted from the stamp.
- docs/clocks.csv has the offsets in seconds. Later measurements replace earlier ones.
- Appliances, whose names begin with fw-, write local time, one hour ahead of UTC.
- Counters, whose names begin with ct-, write seconds since 1970, in UTC.

## Writing
- Times are UTC, to the second, with a trailing Z.
- Durations are given in whole minutes, rounded down.
- Internal accounts are masked: the first three characters, then three stars.
"""
PARSE = """
    # one parser
    import glob
    from datetime import datetime
    for path in sorted(glob.glob('logs/*.log'), reverse=True):
        stamps = [datetime.fromisoformat(line.split()[0]) for line in open(path)]
        print(path, min(stamps), max(stamps), len(stamps))
"""
LOOK = """
    # events of SOURCE
    lines = open('logs/SOURCE.log').read().splitlines()
    for n, line in enumerate(lines):
        if '{case}' in line:
            print('\\n'.join(lines[max(0, n - {lines} // 2):n + {lines} // 4]))
"""
NORMAL = """
    # record of SOURCE
    import json, os
    from datetime import datetime, timedelta, timezone
    os.makedirs('records', exist_ok=True)
    stamp, source = '{stamp_N}', 'SOURCE'
    at = (datetime.fromtimestamp(int(stamp), timezone.utc) if stamp.isdigit()
          else datetime.fromisoformat(stamp))
    at = at {sign} timedelta(seconds=int('{offset_N}'))
    if source.startswith('fw-'){local}:
        at -= timedelta(hours=1)
    record = {'source': source, 'event': '{event_N}', 'stamp': stamp, 'offset': int('{offset_N}'),
              'utc': at.strftime('%Y-%m-%dT%H:%M:%S'){zulu}, 'account': '{account_N}'{mask}}
    json.dump(record, open('records/SOURCE.json', 'w'), indent=1)
    print(json.dumps(record))
"""
MERGE = """
    # merge
    import csv
    from datetime import datetime, timedelta, timezone
    rows = []
    for source, stamp, offset, event in [ROWS]:
        at = (datetime.fromtimestamp(int(stamp), timezone.utc).replace(tzinfo=None)
              if stamp.isdigit() else datetime.fromisoformat(stamp))
        at = at {sign} timedelta(seconds=int(offset))
        if source.startswith('fw-'){local}:
            at -= timedelta(hours=1)
        rows.append((at.strftime('%Y-%m-%dT%H:%M:%S'){zulu}, source, event))
    with open('timeline.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('utc', 'source', 'event'))
        out.writerows(sorted(rows))
    print(open('timeline.csv').read())
"""
SPANS = """
    # spans
    import csv, json
    from datetime import datetime
    at = {r['event']: datetime.fromisoformat(r['utc'].rstrip('Z'))
          for r in csv.DictReader(open('timeline.csv'))}
    spans = {}
    for name, (a, b) in {'dwell': ('first-contact', 'host-isolated'),
                         'upload': ('upload-begun', 'upload-ended'),
                         'detection': ('first-contact', 'alarm')}.items():
        seconds = (at[b] - at[a]).total_seconds()
        spans[name] = {as_duration}
    result = {'case': '{case}', 'lead': '{lead}', 'spans': spans,
              'target': '{target}', 'order': sorted(at, key=at.get)}
    json.dump(result, open('spans.json', 'w'), indent=1)
    print(json.dumps(result, indent=1))
"""


@dataclass(frozen=True)
class Source:
    name: str
    kind: str
    event: str
    account: str
    at: datetime  # the true time
    offset: int  # as it finally is
    first: int  # as first measured

    @property
    def stamp(self) -> str:
        return self.shown(self.at)

    def shown(self, at: datetime) -> str:
        shown = at + timedelta(seconds=self.offset)
        if self.kind == "counter":
            return str(int(shown.timestamp()))
        return f"{shown + (LOCAL if self.kind == 'appliance' else timedelta()):%Y-%m-%dT%H:%M:%S}"

    @property
    def utc(self) -> str:
        return f"{self.at:%Y-%m-%dT%H:%M:%SZ}"


def sources(rng: Random, count: int) -> list[Source]:
    """One event each; events lie closer together than clocks are wrong."""
    at = START + timedelta(hours=2, minutes=rng.randrange(40))
    made = []
    names = hosts(rng, count)
    events = [*EVENTS, *(f"probe-{n}" for n in range(count))]
    for n, name in enumerate(names):
        kind = KINDS[n % 3]
        prefix = {"server": "srv", "appliance": "fw", "counter": "ct"}[kind]
        offset = rng.choice((-1, 1)) * rng.randrange(400, 4000)
        first = offset + rng.choice((-1, 1)) * rng.randrange(600, 3000) if n % 4 == 1 else offset
        account = f"{rng.choice(('adm', 'ops', 'svc', 'web'))}{hexadecimal(rng, 6)}"
        made.append(Source(f"{prefix}-{name}", kind, events[n], account, at, offset, first))
        at += timedelta(minutes=rng.randrange(6, 29), seconds=rng.randrange(60))
    rng.shuffle(made)
    return made


def log_of(rng: Random, source: Source, case: str, target: str) -> str:
    lines = chatter(rng, START, 9, 170)
    tail = f" to {target}" if source.event == "upload-begun" else ""
    told = f"tag={case} event={source.event} account={source.account}{tail}"
    lines = sorted(
        [*lines, (source.at, f"audit[{rng.randrange(900)}]: {told}")], key=lambda line: line[0]
    )
    return joined([f"{source.shown(at)} {source.name} {text}" for at, text in lines])


def facts_of(found: list[Source]) -> list[Fact]:
    facts = [
        Fact("case", "case tag", r"tagged (CASE-\d+)"),
        Fact("lead", "lead of the case", r"Lead investigator: (\w+@[\w.]+\w)", "roster"),
    ]
    for n, s in enumerate(found):
        line, seen = rf"{s.name} audit\[\d+\]: tag=\S+ event=", f"look_{n:02d}"
        again = s.first != s.offset
        facts += [
            Fact(f"stamp_{n:02d}", f"stamp at {s.name}", rf"([\dT:-]+) {line}", seen),
            Fact(f"event_{n:02d}", f"event at {s.name}", rf"{line}([\w-]+)", seen),
            Fact(f"account_{n:02d}", f"account at {s.name}", rf"{line}[\w-]+ account=(\w+)", seen),
            Fact(f"offset_{n:02d}", f"offset at {s.name}", rf"\b{s.name},(-?\d+),",
                 "again" if again else "clocks"),
        ]  # fmt: skip
        if s.event == "upload-begun":
            target = r"event=upload-begun account=\w+ to ([\d.]+\d)"
            facts.append(Fact("target", "address of the upload", target, seen))
    return facts


RULES = (
    Norm("sign", "offsets are subtracted", "so it is subtracted from the stamp", "-", "+", "guide"),
    Norm("local", "appliances write local time", "write local time, one hour ahead of UTC", "",
         " and False", "guide"),
    Norm("zulu", "times end with a Z", "to the second, with a trailing Z", " + 'Z'", "", "guide"),
    Norm("mask", "internal accounts are masked", "three characters, then three stars",
         "[:3] + '***'", "", "guide"),
    Norm("as_duration", "durations are whole minutes", "given in whole minutes, rounded down",
         "int(seconds // 60)", "seconds", "guide"),
)  # fmt: skip


def plan_of(found: list[Source]) -> Plan:
    looks: list[Step] = []
    for n, s in enumerate(found):
        kinds = (
            f"cat logs/{s.name}.log | cut -d' ' -f3 | sort | uniq -c; tail -n 25 logs/{s.name}.log"
        )
        looks += [
            shell(f"kinds_{n:02d}", kinds, f"see what {s.name} records"),
            python(f"look_{n:02d}", LOOK.replace("SOURCE", s.name), f"find the event of {s.name}"),
        ]
    half = len(looks) // 4 * 2
    records = [
        python(f"record_{n:02d}", swap(NORMAL, SOURCE=s.name, _N=f"_{n:02d}"),
               f"write the record of {s.name}", group="records", leaves=True)
        for n, s in enumerate(found)
    ]  # fmt: skip
    rows = ", ".join(f"('{s.name}', '{{stamp_{n:02d}}}', '{{offset_{n:02d}}}', '{{event_{n:02d}}}')"
                     for n, s in enumerate(found))  # fmt: skip
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/timekeeping.md", "read about timekeeping", group="docs"),
        read("clocks", "docs/clocks.csv", "read the offsets of the clocks", group="docs"),
        read("roster", "docs/roster.md", "see who leads the case", group="docs"),
        python("parse", PARSE, "try one parser for all logs"),
        *looks[:half],
        read("again", "docs/clocks-again.csv", "read the second measurement"),
        *looks[half:],
        *records,
        python("merge", MERGE.replace("ROWS", rows), "merge all events", leaves=True),
        python("spans", SPANS, "work out the spans", leaves=True),
        shell("proof", "cat timeline.csv spans.json; head -n 20 records/*", "read it all again"),
    ]  # fmt: skip
    return Plan(tuple(facts_of(found)), RULES, tuple(steps), "The timeline is written.")


def check(found: list[Source], case: str, lead: str, target: str, left: Artefacts) -> Score:
    def record(s: Source) -> float:
        wanted = {"source": s.name, "event": s.event, "stamp": s.stamp, "offset": s.offset,
                  "utc": s.utc, "account": f"{s.account[:3]}***"}  # fmt: skip
        return share(left.json(f"records/{s.name}.json"), wanted)

    ordered = sorted(found, key=lambda s: s.at)
    at = {s.event: s.at for s in found}
    ends = {"dwell": ("first-contact", "host-isolated"), "upload": ("upload-begun", "upload-ended"),
            "detection": ("first-contact", "alarm")}  # fmt: skip
    spans = {name: int((at[b] - at[a]).total_seconds() // 60) for name, (a, b) in ends.items()}

    def merged() -> float:
        table_rows = left.rows("timeline.csv")
        found = {r["source"]: (r["utc"].removesuffix("Z"), r["event"]) for r in table_rows}
        right = share(found, {s.name: (s.utc.removesuffix("Z"), s.event) for s in ordered})
        in_order = [r["source"] for r in table_rows] == [s.name for s in ordered]
        return right if in_order else right / 2

    def marked() -> float:
        return mean(row["utc"].endswith("Z") for row in left.rows("timeline.csv"))

    known = {"case": case, "lead": lead, "target": target}
    return grade(
        part("records", 5, lambda: mean(map(record, found))),
        part("timeline", 4, merged),
        part("form of times", 1, marked),
        part("spans", 2, lambda: share(left.json("spans.json")["spans"], spans)),
        part("order", 1, lambda: left.json("spans.json")["order"] == [s.event for s in ordered]),
        *(part(name, 0.5, partial(lambda n: left.json("spans.json")[n] == known[n], name))
          for name in known),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    found = sources(rng, 10 + level)
    case, target = f"CASE-{rng.randrange(1000, 9999)}", outside(rng)
    lead = f"lead{rng.randrange(100, 999)}@northgate.example"
    names = people(rng, 60)

    def measured(offsets: list[tuple[str, int]]) -> str:
        others = [(f"node-{n:03d}", rng.randrange(-90, 90)) for n in range(55)]
        every = [*offsets, *others]
        rng.shuffle(every)
        return table(("clock", "offset", "by"), [(*row, rng.choice(names)) for row in every])

    desks = [f"| {n} | {who} |" for n, who in enumerate(names[:26])]
    made = {
        "docs/timekeeping.md": GUIDE + revisions(rng, 12),
        "docs/clocks.csv": measured([(s.name, s.first) for s in found]),
        "docs/clocks-again.csv": measured(
            [(s.name, s.offset) for s in found if s.first != s.offset]
        ),
        "docs/roster.md": joined(["# Roster", "", f"Lead investigator: {lead}", "", *desks]),
        **{f"logs/{s.name}.log": log_of(rng, s, case, target) for s in found},
    }
    told = (
        f"An incident is tagged {case}. Every log in logs/ (SOURCE.log, one for each of "
        f"{', '.join(s.name for s in found)}) has one line with that tag. For each source write "
        "records/SOURCE.json with source, event, stamp (as it stands in the log), offset (seconds, "
        "a number), utc and account. Then write timeline.csv (utc, source, event), in order of "
        "time, and spans.json with case, lead, target (the address of the upload), order (all "
        "events in order of time) and spans: dwell from first-contact to host-isolated, upload "
        "from upload-begun to upload-ended, detection from first-contact to alarm. "
        "docs/timekeeping.md says how clocks are read and values written; offsets are in "
        "docs/clocks.csv and, for some measured again while you work, in docs/clocks-again.csv, "
        "which you read half-way."
    )
    return Case(made, told, plan_of(found), lambda left: check(found, case, lead, target, left))


TASK = Task("security-timeline", "Security", "Put an incident's events on one clock", build)
