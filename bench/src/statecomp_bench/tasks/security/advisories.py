"""Advisories against the lock files of services: update, defer or leave, with proof of integrity.

The shape: a correction that overrides an earlier value (an erratum withdraws two fixed releases), a
rule with an exception (frozen services), and a refused first lock file whose reason holds for all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import mean

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell, sql
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, people
from statecomp_bench.tasks.security.estate import database, revisions, swap

LINES_OF = (2, 3)  # of releases; every package has both
POLICY = """# Updating dependencies after an advisory

- A package older than the fixed release of its own line is updated to exactly that release.
- A package at or above the fixed release is left alone; its action is unaffected.
- Services that are frozen, by docs/freeze.md, take updates only for a score of 7.0 or more; below
  that the action is deferred and the lock file keeps the old release.
- The word for an update is updated.
- Reports write releases with a leading v, as in v1.2.3, and lock files without it.
- An erratum replaces its advisory entirely.
"""
CHECKER = '''"""Checks a lock file: python3 tools/lockcheck.py FILE"""

import json
import sys


def problems(packages):
    for p in packages:
        want = f"mirror/{p['name']}/{p['version']}.tgz"
        if p["resolved"] != want:
            yield f"{p['name']}: resolved must be the mirror path of the release, {want}"
        if len(p["integrity"]) != 40:
            yield f"{p['name']}: integrity must have 40 digits"


if __name__ == "__main__":
    found = list(problems(json.load(open(sys.argv[1]))["packages"]))
    print("\\n".join(found) or f"{sys.argv[1]}: no problems")
    sys.exit(bool(found))
'''
SHOW = """
    # lock of SERVICE
    import json
    for p in json.load(open('services/SERVICE/lock.json'))['packages'][:{lines}]:
        print('SERVICE |', p['name'], p['version'], p['integrity'], 'needs', ', '.join(p['needs']))
"""
UPDATE = """
    # update SERVICE
    import csv, json, os, sys
    sys.path.insert(0, 'tools')
    from lockcheck import problems
    lock = json.load(open('services/SERVICE/lock.json'))
    known = {KNOWN}
    frozen = 'SERVICE' in '{frozen}'.split(', ')
    rows = []
    for p in lock['packages']:
        if p['name'] not in known:
            continue
        old, new, integrity, advisory, score = known[p['name']]
        parts = [tuple(map(int, v.split('.'))) for v in (old, new)]
        action = 'updated' if parts[0] < parts[1] else 'unaffected'
        if action == 'updated'{defer}:
            action = 'deferred'
        if action == 'updated':
            p['version'], p['integrity'] = new, integrity
            MIRROR
        rows.append((p['name'], {v}old, {v}p['version'], advisory, action))
    os.makedirs('updated', exist_ok=True)
    json.dump(lock, open('updated/SERVICE.lock.json', 'w'), indent=1)
    with open('updated/SERVICE.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('package', 'from', 'to', 'advisory', 'action'))
        out.writerows(sorted(rows))
    print(open('updated/SERVICE.csv').read())
    print('\\n'.join(problems(lock['packages'])) or 'lock file of SERVICE has no problems')
"""
DEFERRED = """
    # what is deferred
    import csv, glob
    rows = []
    for path in sorted(glob.glob('updated/*.csv')):
        service = path.split('/')[1][:-4]
        rows += [(service, r['package'], r['advisory']) for r in csv.DictReader(open(path))
                 if r['action'] == 'deferred']
    with open('deferred.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('service', 'package', 'advisory', 'owner'))
        out.writerows((*row, '{owner}') for row in rows)
    print(open('deferred.csv').read())
"""


@dataclass(frozen=True)
class Package:
    name: str
    advisory: str
    score: float
    fixed: dict[int, str]  # by line, as it finally is
    first: dict[int, str]  # as first published
    integrity: dict[int, str]

    @property
    def corrected(self) -> bool:
        return self.first != self.fixed


@dataclass(frozen=True)
class Use:
    """One package in one service."""

    service: str
    package: Package
    line: int
    version: str
    frozen: bool

    @property
    def action(self) -> str:
        old, new = (tuple(map(int, v.split("."))) for v in (self.version, self.fixed))
        if old >= new:
            return "unaffected"
        return "deferred" if self.frozen and self.package.score < 7 else "updated"

    @property
    def fixed(self) -> str:
        return self.package.fixed[self.line]

    @property
    def row(self) -> tuple[str, ...]:
        to = self.fixed if self.action == "updated" else self.version
        return self.package.name, f"v{self.version}", f"v{to}", self.package.advisory, self.action


def packages_of(rng: Random, count: int) -> list[Package]:
    made = []
    for n, noun in enumerate(nouns(rng, count)):
        minor = {line: rng.randrange(3, 9) for line in LINES_OF}
        first = {line: f"{line}.{minor[line]}.{rng.randrange(3, 8)}" for line in LINES_OF}
        later = {line: f"{line}.{minor[line]}.{rng.randrange(11, 19)}" for line in LINES_OF}
        score = rng.choice((4.3, 5.1, 6.8, 7.4, 8.8)) if n else 5.9
        sums = {line: hexadecimal(rng, 40) for line in LINES_OF}
        name = f"{noun}-{rng.choice(('http', 'parse', 'queue', 'auth'))}"
        fixed = later if n % 3 == 1 else first
        made.append(Package(name, f"ADV-{rng.randrange(1000, 9999)}", score, fixed, first, sums))
    return made


def uses_of(
    rng: Random, services: list[str], packages: list[Package], frozen: list[str]
) -> list[Use]:
    uses = []
    for n, service in enumerate(services):
        # Neighbours, so that every package is used, and none by all.
        for step in range(3):
            package, line = packages[(n + step) % len(packages)], rng.choice(LINES_OF)
            major, minor, _ = package.fixed[line].split(".")
            safe = rng.random() < 0.2
            version = f"{major}.{int(minor) + safe}.{rng.randrange(0, 3)}"
            uses.append(Use(service, package, line, version, service in frozen))
    return uses


def lock_of(rng: Random, uses: list[Use]) -> str:
    rows = [(u.package.name, u.version) for u in uses]
    rows += [(f"{noun}-{rng.choice(('kit', 'lib', 'util'))}", f"{rng.randrange(9)}.4.0")
             for noun in nouns(rng, 24)]  # fmt: skip
    rng.shuffle(rows)
    # What matters comes early enough for everybody who looks at it.
    packages = [
        {"name": name, "version": version, "integrity": hexadecimal(rng, 40),
         "resolved": f"mirror/{name}/{version}.tgz", "needs": nouns(rng, 3)}
        for name, version in rows
    ]  # fmt: skip
    return json.dumps({"engine": rng.choice((10, 11)), "packages": packages}, indent=1) + "\n"


def advisory(rng: Random, package: Package, fixed: dict[int, str]) -> str:
    people_told = [f"- {who}, {rng.randrange(1, 28)} April 2025" for who in people(rng, 10)]
    return joined([
        f"# {package.advisory}: {package.name}", "",
        f"score of {package.name}: {package.score}",
        f"number for {package.name}: {package.advisory}",
        "", "A request with an unusual header makes the package read past the end of its input.",
        "Nothing else is known, and there is no workaround but the update.", "",
        *(f"fixed in {package.name} of line {line}: {fixed[line]}" for line in LINES_OF), "",
        "Told before publication:", *people_told, "", "Hashes of affected builds:",
        *(f"- build {n}: {hexadecimal(rng, 40)}" for n in range(18)),
    ])  # fmt: skip


def registry(rng: Random, packages: list[Package]) -> bytes:
    rows = [(p.name, p.fixed[line], p.integrity[line]) for p in packages for line in LINES_OF]
    for p in packages:
        rows += [(p.name, f"{line}.{m}.{n}", hexadecimal(rng, 40))
                 for line in LINES_OF for m in (0, 1, 2) for n in range(7)]  # fmt: skip
        if p.corrected:
            rows += [(p.name, p.first[line], hexadecimal(rng, 40)) for line in LINES_OF]
    return database(
        "create table releases (name text, version text, integrity text)",
        "insert into releases values (?,?,?)",
        sorted(rows),
    )


def facts_of(packages: list[Package], uses: list[Use]) -> list[Fact]:
    facts = [
        Fact("frozen", "services in the freeze", r"frozen now: ([\w-]+(?:, [\w-]+)*)", "freeze"),
        Fact(
            "owner",
            "owner of deferred work",
            r"deferred work belongs to ([\w-]+@[\w.]+\w)",
            "freeze",
        ),
    ]
    for n, p in enumerate(packages):
        source = "errata" if p.corrected else f"advisory_{n}"
        score, number = rf"score of {p.name}: (\d+\.\d)", rf"number for {p.name}: ([\w-]+)"
        facts += [
            Fact(f"score_{n}", f"score for {p.name}", score, source),
            Fact(f"number_{n}", f"advisory on {p.name}", number, source),
        ]
        for line in LINES_OF:
            fixed = rf"fixed in {p.name} of line {line}: (\d+\.\d+\.\d+)"
            found = rf"{p.name} \| {p.fixed[line]} \| (\w+)"
            facts += [
                Fact(f"fixed_{n}_{line}", f"release {line} that mends {p.name}", fixed, source),
                Fact(f"sum_{n}_{line}", f"integrity {line} of {p.name}", found, f"releases_{n}"),
            ]
    for u in uses:
        n = packages.index(u.package)
        shown = rf"{u.service} \| {u.package.name} (\d+\.\d+\.\d+)"
        label = f"release of {u.package.name} in {u.service}"
        facts.append(Fact(f"old_{u.service[4:]}_{n}", label, shown, f"lock_{u.service}"))
    return facts


RULES = (
    Norm("defer", "frozen services defer low scores", "take updates only for a score of 7.0",
         " and frozen and float(score) < 7", "", "policy"),
    Norm("v", "reports write releases with a leading v", "write releases with a leading v",
         "'v' + ", "", "policy"),
    Norm("mirror", "resolved is the mirror path of the release", "resolved must be the mirror path",
         "p['resolved'] = f\"mirror/{p['name']}/{new}.tgz\"", "pass", "attempt"),
)  # fmt: skip


def update(packages: list[Package], uses: list[Use], mirror: str = "{mirror}") -> str:
    known = ", ".join(
        f"'{u.package.name}': ('{{old_{u.service[4:]}_{n}}}', '{{fixed_{n}_{u.line}}}', "
        f"'{{sum_{n}_{u.line}}}', '{{number_{n}}}', '{{score_{n}}}')"
        for u in uses
        for n in (packages.index(u.package),)
    )
    return swap(UPDATE, SERVICE=uses[0].service, KNOWN=known, MIRROR=mirror)


def plan_of(services: list[str], packages: list[Package], uses: list[Use]) -> Plan:
    own = {s: [u for u in uses if u.service == s] for s in services}
    # The first attempt is one that has to change something.
    first = next(s for s in services if any(u.action == "updated" for u in own[s]))
    attempt = update(packages, own[first], "pass").replace("# update", "# first update of")
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("policy", "docs/updates.md", "read the update policy", group="docs"),
        read("freeze", "docs/freeze.md", "read about the freeze", group="docs"),
        *(read(f"advisory_{n}", f"advisories/{p.name}.md", f"read the advisory on {p.name}",
               group="advisories") for n, p in enumerate(packages)),
        *(python(f"lock_{s}", SHOW.replace("SERVICE", s), f"look at the lock file of {s}",
                 group="locks") for s in services),
        read("errata", "advisories/errata.md", "read the errata"),
        *(sql(f"releases_{n}", "registry.db", f"-- {p.name}\nselect * from releases where name = "
              f"'{p.name}' order by version", f"look up the releases of {p.name}", group="releases")
          for n, p in enumerate(packages)),
        python("attempt", attempt, f"make a first update of {first}"),
        shell("tool", "cat tools/lockcheck.py", "see what the checker wants"),
        *(python(f"update_{s}", update(packages, own[s]), f"write the updated lock file of {s}",
                 group="updates", leaves=True) for s in services),
        python("deferred", DEFERRED, "collect what is deferred", leaves=True),
        shell("proof", "head -n 12 updated/*.csv", "read the reports again"),
    ]  # fmt: skip
    return Plan(tuple(facts_of(packages, uses)), RULES, tuple(steps), "All services are done.")


def check(uses: list[Use], files: dict[str, str | bytes], owner: str, left: Artefacts) -> Score:
    services = sorted({u.service for u in uses})

    def wanted(service: str) -> list[dict[str, object]]:
        packages: list[dict[str, object]] = json.loads(files[f"services/{service}/lock.json"])[
            "packages"
        ]
        new = {u.package.name: u for u in uses if u.service == service and u.action == "updated"}
        for p in packages:
            if use := new.get(str(p["name"])):
                p["version"], p["integrity"] = use.fixed, use.package.integrity[use.line]
                p["resolved"] = f"mirror/{p['name']}/{use.fixed}.tgz"
        return packages

    def lock(service: str) -> bool:
        return bool(left.json(f"updated/{service}.lock.json")["packages"] == wanted(service))

    def report(service: str) -> float:
        found = {row["package"]: tuple(row.values()) for row in left.rows(f"updated/{service}.csv")}
        return share(found, {u.package.name: u.row for u in uses if u.service == service})

    late = sorted((u.service, u.package.name, u.package.advisory, owner)
                  for u in uses if u.action == "deferred")  # fmt: skip
    return grade(
        *(part(f"lock file of {s}", 1, partial(lock, s)) for s in services),
        part("reports", 4, lambda: mean(map(report, services))),
        part("deferred", 2, lambda: [tuple(r.values()) for r in left.rows("deferred.csv")] == late),
    )


def build(rng: Random, level: int) -> Case:
    packages = packages_of(rng, 6 + level)
    services = [f"svc-{noun}" for noun in nouns(rng, 6 + level)]
    frozen = sorted([services[0], *rng.sample(services[1:], 2)])
    uses = uses_of(rng, services, packages, frozen)
    owner = f"release-{rng.randrange(100, 999)}@northgate.example"
    calendar = [f"- week {n}: {who} decides" for n, who in enumerate(people(rng, 26), 20)]
    made: dict[str, str | bytes] = {
        "docs/updates.md": POLICY + revisions(rng, 12),
        "docs/freeze.md": joined(["# Freeze", "", f"frozen now: {', '.join(frozen)}", "",
                                  f"All deferred work belongs to {owner}.", "", *calendar]),
        "advisories/errata.md": "\n".join(
            f"The releases named first are withdrawn.\n\n{advisory(rng, p, p.fixed)}"
            for p in packages if p.corrected),
        "tools/lockcheck.py": CHECKER,
        "registry.db": registry(rng, packages),
        **{f"advisories/{p.name}.md": advisory(rng, p, p.first) for p in packages},
        **{f"services/{s}/lock.json": lock_of(rng, [u for u in uses if u.service == s])
           for s in services},
    }  # fmt: skip
    lists = "; ".join(
        f"{s} has {', '.join(f'{u.package.name} {u.line}.x' for u in uses if u.service == s)}"
        for s in services
    )
    told = (
        "There are advisories on packages our services use (advisories/PACKAGE.md and "
        f"advisories/errata.md): {lists}. For each service write updated/SERVICE.lock.json, the "
        "lock file of services/SERVICE with what must be updated and nothing else changed "
        "(integrity of releases: registry.db; tools/lockcheck.py must find no problems), and "
        "updated/SERVICE.csv with package, from, to, advisory and action for the packages above, "
        "sorted by package; where nothing is updated, to is the same as from. Then write "
        "deferred.csv with service, package, advisory and owner, sorted by service and package. "
        "docs/updates.md and docs/freeze.md say what is updated when and how it is written."
    )
    plan = plan_of(services, packages, uses)
    return Case(made, told, plan, lambda left: check(uses, made, owner, left))


TASK = Task("security-advisories", "Security", "Match advisories with lock files", build)
