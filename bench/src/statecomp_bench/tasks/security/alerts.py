"""Sensors whose buffers are emptied by reading: blocks and report need what they held."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.output import log
from statecomp_bench.tasks.invented import nouns, outside, person
from statecomp_bench.tasks.shared import (
    SPOOL,
    each,
    facts_for,
    named,
    paper,
    rules_of,
    scattered,
    sealed,
)

GUIDE = """# Alerts

- An address is blocked for as many hours as its signature says, times three on critical segments.
- Block files name the address in defanged form: [.] for every dot.
- Signatures below weight 20 are reported but not blocked.
- The report is sorted by weight, the heaviest first; owners are written by their last name.

"""
DRAIN = (
    SPOOL
    + """
text = take(f'sensors/buffer/{sys.argv[1]}.spool')
print(text or f'{sys.argv[1]}: buffer empty, rotated after the last reading')
"""
)
BLOCK = """
    # block file for NAME
    import os
    os.makedirs('blocks', exist_ok=True)
    def number(text):
        return int(text) if text.isdigit() else 0
    weight, hours = number('{weight_NAME}'), number('{hours_NAME}')
    if '{segment_NAME}' == 'critical':
        hours = hours * {times}
    address = '{address_NAME}'{defanged}
    if {light}:
        print('NAME', 'is too light')
    else:
        open('blocks/NAME.txt', 'w').write(f'{address} {hours}\\n')
        print('NAME', address, hours)
"""
REPORT = """
    # report on all alerts
    def number(text):
        return int(text) if text.isdigit() else 0
    rows = [ROWS]
    rows.sort({heaviest})
    with open('report.csv', 'w') as file:
        for name, signature, weight, owner in rows:
            file.write(','.join([name, signature, str(weight), owner{last}]) + '\\n')
    print(open('report.csv').read())
"""
RULES = rules_of(
    "guide",
    ("times", "critical segments count three times", "times three on critical", "3", "2"),
    ("defanged", "addresses are defanged", "in defanged form", ".replace('.', '[.]')", ""),
    ("light", "weights below 20 are not blocked", "below weight 20 are reported", "weight < 20",
     "False"),
    ("heaviest", "the heaviest alert stands first", "the heaviest first",
     "key=lambda row: -row[2]", ""),
    ("last", "owners are written by last name", "by their last name", ".split()[-1]", ""),
)  # fmt: skip


@dataclass(frozen=True)
class Alert:
    name: str
    address: str
    signature: str
    weight: int
    hours: int
    segment: str
    owner: str

    @property
    def block(self) -> str:
        hours = self.hours * (3 if self.segment == "critical" else 1)
        return f"{self.address.replace('.', '[.]')} {hours}\n"

    @property
    def row(self) -> str:
        return f"{self.name},{self.signature},{self.weight},{self.owner.split()[-1]}"


def alerts_of(rng: Random, level: int) -> list[Alert]:
    names = nouns(rng, 6 + 2 * level)
    weights = rng.sample(range(5, 99), len(names))
    return [
        Alert(name, outside(rng), f"S{rng.randrange(1000, 9999)}", weight, rng.randrange(2, 40),
              rng.choice(("critical", "normal")), person(rng))
        for name, weight in zip(names, weights, strict=True)
    ]  # fmt: skip


def files_of(rng: Random, alerts: list[Alert]) -> dict[str, str]:
    made = {"docs/alerts.md": GUIDE + paper(rng, 1800), "sensors/drain.py": DRAIN}
    for a in alerts:
        shown = f"Alert at {a.name}: source {a.address}, signature {a.signature}"
        buffer = scattered(rng, log(rng, 14).splitlines(), shown)
        made[f"sensors/buffer/{a.name}.spool"] = sealed("\n".join(buffer))
        made[f"signatures/{a.name}.txt"] = paper(
            rng, 3200, f"Weight at {a.name}: {a.weight}", f"Hours at {a.name}: {a.hours}"
        )
        made[f"segments/{a.name}.txt"] = paper(
            rng, 3000, f"Segment of {a.name}: {a.segment}", f"Owner of {a.name}: {a.owner}"
        )
    return made


def plan_of(names: list[str]) -> Plan:
    shown = r"Alert at NAME: source [\d.]+, signature (S\d+)"
    facts = [
        *facts_for(names, "drain",
                   ("address", "source at NAME", r"Alert at NAME: source ([\d.]+)"),
                   ("signature", "signature at NAME", shown)),
        *facts_for(names, "weigh", ("weight", "weight at NAME", r"Weight at NAME: (\d+)"),
                   ("hours", "hours at NAME", r"Hours at NAME: (\d+)")),
        *facts_for(names, "segment", ("segment", "segment of NAME", r"Segment of NAME: (\w+)"),
                   ("owner", "owner of NAME", r"Owner of NAME: (\w+ \w+)")),
    ]  # fmt: skip
    rows = ", ".join(
        f"('{n}', '{{signature_{n}}}', number('{{weight_{n}}}'), '{{owner_{n}}}')" for n in names
    )
    steps = [
        Step("list", "list_files", {}, "see what the sensors left"),
        read("guide", "docs/alerts.md", "read how alerts are handled"),
        *(shell(f"drain_{n}", f"python3 sensors/drain.py {n}", f"drain the sensor {n}", once=True)
          for n in names),
        shell("wrong", "cat sensors/archive/*.log", "look for archived buffers"),
        *(read(f"weigh_{n}", f"signatures/{n}.txt", f"read the signature notes for {n}", group="w")
          for n in names),
        *(read(f"segment_{n}", f"segments/{n}.txt", f"read about the segment {n}", group="s")
          for n in names),
        *(python(f"block_{n}", named(BLOCK, n), f"decide on a block for {n}", leaves=True)
          for n in names),
        python("report", REPORT.replace("ROWS", rows), "write the report", leaves=True),
        shell("proof", "cat report.csv; ls blocks", "read the report again"),
    ]  # fmt: skip
    return Plan(tuple(facts), RULES, tuple(steps), "The alerts are handled.")


def check(alerts: list[Alert], left: Artefacts) -> Score:
    heavy = [a for a in alerts if a.weight >= 20]

    def light() -> bool:
        left.text("report.csv")
        return not any(
            (left.root / f"blocks/{a.name}.txt").exists() for a in alerts if a not in heavy
        )

    rows = [a.row for a in sorted(alerts, key=lambda a: -a.weight)]
    return grade(
        each("blocks", 5, heavy, lambda a: left.text(f"blocks/{a.name}.txt") == a.block),
        part("light ones are not blocked", 1, light),
        each("report", 4, rows, lambda row: row in left.text("report.csv").splitlines()),
        part("order of the report", 1, lambda: left.text("report.csv").splitlines() == rows),
        part("nothing else in the report", 1,
             lambda: len(left.text("report.csv").splitlines()) == len(rows)),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    alerts = alerts_of(rng, level)
    names = [a.name for a in alerts]
    told = (
        f"Handle the alerts of the sensors {', '.join(names)}. `python3 sensors/drain.py NAME` "
        "prints what a sensor holds and empties it. signatures/ has weight and hours, segments/ "
        "the kind of segment (critical or normal) and its owner. Write blocks/NAME.txt with "
        "`ADDRESS HOURS` for each address to be blocked, and report.csv with a line "
        "NAME,SIGNATURE,WEIGHT,OWNER for every alert. docs/alerts.md says what is blocked, and how."
    )
    shown = ("address", "signature")
    seen = {f"{key}_{a.name}": str(getattr(a, key)) for a in alerts for key in shown}
    return Case(
        dict(files_of(rng, alerts)), told, plan_of(names), lambda left: check(alerts, left),
        seen=seen,
    )  # fmt: skip


TASK = Task("security-alerts", "Security", "Handle alerts from buffers that rotate", build)
