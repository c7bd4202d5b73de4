"""Backups: which generation is damaged, which copy replaces it, what may be pruned.

The shape: many items that differ in a digit (dates, slots, digests), a checksum run that really
fails, files that must be restored byte by byte, and a list of legal holds that changes half-way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from random import Random
from statistics import mean

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, people
from statecomp_bench.tasks.security.estate import revisions, swap, table

CLASSES = ("gold", "silver", "bronze")
RETENTION = """# Retention of backups

## How many
{counts}

## Which
- The newest generations are kept. A damaged generation does not count, and it is pruned.
- The oldest generation of a set is kept as well, whatever its class, unless it is damaged.
- Nothing of a set on legal hold is pruned, not even what is damaged. Holds: docs/holds.md.

## Reports
- Digests in reports are shortened to their last ten digits.
- The slot of an offsite copy is reported by its number alone, without the word.
"""
CATALOGUE = """
    # offsite copies of SET
    import csv
    rows = list(csv.DictReader(open('offsite/catalogue.csv')))
    hits = [n for n, r in enumerate(rows) if (r['set'], r['date']) == ('SET', '{damaged_N}')]
    for n in hits:
        for r in rows[max(0, n - {lines} // 4):n + {lines} // 4]:
            print(r['slot'], r['set'], r['date'], r['operator'], r['label'])
    for place, n in enumerate(hits, 1):
        print(f"SET copy {place} is in {rows[n]['slot']}")
"""
RESTORE = """
    # restore SET
    import hashlib, json, os, shutil
    os.makedirs('restored', exist_ok=True)
    used = 'none'
    for slot in ('{copy1_N}', '{copy2_N}'):
        path = f'offsite/{slot}/SET.bak'
        if hashlib.sha256(open(path, 'rb').read()).hexdigest() == '{digest_N}':
            shutil.copy(path, 'restored/SET-{damaged_N}.bak')
            used = slot
        else:
            print(slot, 'holds something else')
    report = {'set': 'SET', 'class': '{class_N}', 'damaged': '{damaged_N}',
              'slot': used{number}, 'digest': '{digest_N}'{short}}
    json.dump(report, open('restored/SET.json', 'w'), indent=1)
    print(json.dumps(report))
"""
PRUNE = """
    # prune list of SET
    import os
    os.makedirs('prune', exist_ok=True)
    dates = sorted(name[:-4] for name in os.listdir('vault/SET') if name.endswith('.bak'))
    good = [d for d in dates if d != '{damaged_N}']
    keep = {'gold': '{gold}', 'silver': '{silver}', 'bronze': '{bronze}'}.get('{class_N}', '0')
    kept = set({damaged_out}[-int(keep):]){oldest}
    gone = [d for d in dates if d not in kept]
    if 'SET' in '{holds}'.split(', '){held}:
        gone = []
    open('prune/SET.txt', 'w').write(''.join(f'vault/SET/{d}.bak\\n' for d in gone))
    print('keeps', len(kept), 'prunes', gone)
"""
SUMMARY = """
    # summary
    import csv
    rows = [ROWS]
    with open('restored/summary.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('set', 'damaged', 'digest'))
        out.writerows((s, d, x{short}) for s, d, x in sorted(rows))
    print(open('restored/summary.csv').read())
"""


@dataclass(frozen=True)
class Backup:
    """One set: its generations by date, the damaged one, and where copies of that one are."""

    name: str
    kind: str
    generations: dict[str, bytes]  # as they were made
    damaged: str
    good_slot: str
    other_slot: str
    swapped: bool  # the wrong copy is listed first

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.generations[self.damaged]).hexdigest()

    def pruned(self, counts: dict[str, int], holds: list[str]) -> list[str]:
        if self.name in holds:
            return []
        good = [day for day in sorted(self.generations) if day != self.damaged]
        kept = {
            *good[-counts[self.kind] :],
            *(d for d in sorted(self.generations)[:1] if d in good),
        }
        return [day for day in sorted(self.generations) if day not in kept]


def content(rng: Random) -> bytes:
    rows = [f"{n:04d};{rng.choice(nouns(rng, 2))};{hexadecimal(rng, 12)}" for n in range(25)]
    return joined(rows).encode()


def backups(rng: Random, count: int) -> list[Backup]:
    slots = [f"slot-{n}" for n in rng.sample(range(100, 400), 2 * count)]
    made = []
    for n, noun in enumerate(nouns(rng, count)):
        start = date(2025, 1, 1) + timedelta(days=rng.randrange(12))
        days = [f"{start + timedelta(days=9 * g)}" for g in range(12)]
        generations = {day: content(rng) for day in days}
        made.append(
            Backup(f"{noun}-db", rng.choice(CLASSES), generations, rng.choice(days),
                   slots[2 * n], slots[2 * n + 1], rng.random() < 0.5)
        )  # fmt: skip
    return made


def files_of(rng: Random, sets: list[Backup]) -> dict[str, str | bytes]:
    made: dict[str, str | bytes] = {}
    rows = []
    for s in sets:
        sums = []
        for day, data in s.generations.items():
            index = joined([hexadecimal(rng, 40) for _ in range(4)]).encode()
            broken = data[:200] + b"\0" * 8 + data[208:] if day == s.damaged else data
            made[f"vault/{s.name}/{day}.bak"], made[f"vault/{s.name}/{day}.idx"] = broken, index
            for end, whole in (("bak", data), ("idx", index)):
                sums.append(f"{hashlib.sha256(whole).hexdigest()}  vault/{s.name}/{day}.{end}")
        made[f"manifests/{s.name}.sha256"] = joined(sums)
        made[f"offsite/{s.good_slot}/{s.name}.bak"] = s.generations[s.damaged]
        made[f"offsite/{s.other_slot}/{s.name}.bak"] = content(rng)
        pair = [s.good_slot, s.other_slot][:: -1 if s.swapped else 1]
        rows.append([(slot, s.name, s.damaged) for slot in pair])
        rows += [[(f"slot-{rng.randrange(500, 900)}", s.name, day)] for day in s.generations
                 if day != s.damaged]  # fmt: skip
    rng.shuffle(rows)
    flat = [row for block in rows for row in block]
    operators = people(rng, 20)
    made["offsite/catalogue.csv"] = table(
        ("slot", "set", "date", "operator", "label"),
        [(*row, rng.choice(operators), hexadecimal(rng, 10)) for row in flat],
    )
    return made


def facts_of(sets: list[Backup]) -> list[Fact]:
    facts = [Fact("holds", "sets on legal hold", r"hold list: ([\w-]+(?:, [\w-]+)*)", "update")]
    facts += [Fact(kind, f"generations kept for {kind}", rf"class {kind} keeps (\d+)", "retention")
              for kind in CLASSES]  # fmt: skip
    for n, s in enumerate(sets):
        name = s.name
        digest = rf"(\w{{64}})  vault/{name}/{s.damaged}\.bak"
        facts += [
            Fact(f"class_{n:02d}", f"class of {name}", rf"\b{name},(\w+),", "classes"),
            Fact(f"damaged_{n:02d}", f"damaged day of {name}",
                 rf"vault/{name}/([\d-]+)\.bak: FAILED",
                 f"verify_{n:02d}"),
            Fact(f"digest_{n:02d}", f"digest wanted for {name}", digest, f"manifest_{n:02d}"),
            *(Fact(f"copy{p}_{n:02d}", f"place {p} of {name}", rf"{name} copy {p} is in ([\w-]+)",
                   f"offsite_{n:02d}") for p in (1, 2)),
        ]  # fmt: skip
    return facts


RULES = (
    Norm("damaged_out", "damaged generations do not count", "damaged generation does not count",
         "good", "dates", "retention"),
    Norm("oldest", "the oldest generation is kept too", "generation of a set is kept as well",
         " | {d for d in dates[:1] if d in good}", "", "retention"),
    Norm("held", "sets on hold lose nothing", "of a set on legal hold is pruned", "", " and False",
         "retention"),
    Norm("short", "digests are cut to the last ten digits", "shortened to their last ten", "[-10:]",
         "", "retention"),
    Norm("number", "slots are reported by number", "reported by its number alone",
         ".removeprefix('slot-')", "", "retention"),
)  # fmt: skip


def plan_of(sets: list[Backup]) -> Plan:
    def each(id_: str, title: str, template: str, *, leaves: bool = False) -> list[Step]:
        return [
            python(f"{id_}_{n:02d}", swap(template, SET=s.name, _N=f"_{n:02d}"),
                   f"{title} {s.name}", group=id_, leaves=leaves)
            for n, s in enumerate(sets)
        ]  # fmt: skip

    checks: list[Step] = []
    for n, s in enumerate(sets):
        checks += [
            read(f"manifest_{n:02d}", f"manifests/{s.name}.sha256",
                 f"read the manifest of {s.name}"),
            shell(f"verify_{n:02d}", f"sha256sum -c manifests/{s.name}.sha256",
                  f"verify the generations of {s.name}"),
        ]  # fmt: skip
    rows = ", ".join(
        f"('{s.name}', '{{damaged_{n:02d}}}', '{{digest_{n:02d}}}')" for n, s in enumerate(sets)
    )
    steps = [
        shell("list", "ls vault offsite manifests docs", "see what there is"),
        read("retention", "docs/retention.md", "read the retention policy", group="docs"),
        read("classes", "docs/classes.csv", "read the classes of all sets", group="docs"),
        read("holds", "docs/holds.md", "read the legal holds", group="docs"),
        *checks,
        *each("offsite", "look for offsite copies of", CATALOGUE),
        read("update", "docs/holds-update.txt", "read what changed about the holds"),
        *each("restore", "restore what is damaged of", RESTORE, leaves=True),
        *each("prune", "list what to prune of", PRUNE, leaves=True),
        python("summary", SUMMARY.replace("ROWS", rows), "sum up the damage", leaves=True),
        shell("proof", "head -n 20 prune/* restored/*.json", "read the lists again"),
    ]
    return Plan(tuple(facts_of(sets)), RULES, tuple(steps), "Audit, copies and lists are done.")


def check(sets: list[Backup], counts: dict[str, int], holds: list[str], left: Artefacts) -> Score:
    def restored(s: Backup) -> bool:
        data = (left.root / "restored" / f"{s.name}-{s.damaged}.bak").read_bytes()
        return data == s.generations[s.damaged]

    def report(s: Backup) -> float:
        wanted = {"set": s.name, "class": s.kind, "damaged": s.damaged, "digest": s.digest[-10:],
                  "slot": s.good_slot.removeprefix("slot-")}  # fmt: skip
        return share(left.json(f"restored/{s.name}.json"), wanted)

    def prune(s: Backup) -> bool:
        wanted = [f"vault/{s.name}/{day}.bak" for day in s.pruned(counts, holds)]
        return left.text(f"prune/{s.name}.txt").split() == wanted

    rows = sorted([s.name, s.damaged, s.digest[-10:]] for s in sets)
    return grade(
        *(part(f"restored {s.name}", 0.6, partial(restored, s)) for s in sets),
        *(part(f"prune list of {s.name}", 0.6, partial(prune, s)) for s in sets),
        part("reports", 4, lambda: mean(map(report, sets))),
        part(
            "summary", 2, lambda: [[*r.values()] for r in left.rows("restored/summary.csv")] == rows
        ),
    )


def build(rng: Random, level: int) -> Case:
    sets = backups(rng, 6 + level)
    counts = dict(zip(CLASSES, (rng.randrange(8, 10), rng.randrange(5, 8), rng.randrange(2, 5)),
                      strict=True))  # fmt: skip
    names = [s.name for s in sets]
    before = sorted(rng.sample(names, 2))
    holds = sorted([before[0], *rng.sample([n for n in names if n not in before], 2)])
    lines = joined([f"- class {kind} keeps {count} generations" for kind, count in counts.items()])
    kinds = [(s.name, s.kind, who) for s, who in zip(sets, people(rng, len(sets)), strict=True)]
    kinds += [
        (f"archive-{n:02d}", rng.choice(CLASSES), who) for n, who in enumerate(people(rng, 50))
    ]
    rng.shuffle(kinds)
    closed = [f"- matter {n} of {who}: closed" for n, who in enumerate(people(rng, 30), 300)]
    made: dict[str, str | bytes] = {
        "docs/retention.md": RETENTION.replace("{counts}\n", lines) + revisions(rng, 12),
        "docs/classes.csv": table(("set", "class", "owner"), kinds),
        "docs/holds.md": joined(["# Holds", "", f"hold list: {', '.join(before)}", "", *closed]),
        "docs/holds-update.txt": joined([
            "From the legal desk: the list in docs/holds.md is out of date.", "",
            f"hold list: {', '.join(holds)}", "", *(f"copy to {who}" for who in people(rng, 12))]),
        **files_of(rng, sets),
    }  # fmt: skip
    told = (
        f"Audit the backup sets {', '.join(names)}. vault/SET/DATE.bak are the generations, "
        "manifests/SET.sha256 their digests when they were made. In each set one generation is "
        "damaged. offsite/catalogue.csv lists two slots with copies of it (offsite/SLOT/SET.bak), "
        "of which only one has the digest of the manifest: copy that one to restored/SET-DATE.bak "
        "and write restored/SET.json with set, class, damaged (the date), slot and digest. Then "
        "write prune/SET.txt for each set: the generations that may go (vault/SET/DATE.bak), one "
        "a line, oldest first, empty where nothing may go; and restored/summary.csv with set, "
        "damaged and digest, sorted by set. docs/retention.md says what is kept and how values "
        "are written, docs/classes.csv (gold, silver or bronze) and docs/holds.md belong to it; "
        "docs/holds-update.txt comes in while you work, so read it before you prune. "
        "Change nothing in vault/."
    )
    return Case(made, told, plan_of(sets), lambda left: check(sets, counts, holds, left))


TASK = Task("security-backups", "Security", "Audit backups, restore, list what to prune", build)
