"""Secrets found in sources: stored in a vault, replaced in place, rotated by a table.

The shape: values handed out by a tool half-way (references) are needed in edits much later, an
edited file no longer shows what it held, and waivers and fixtures are exceptions to the rule.
All secrets are invented and fit no service.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from hashlib import sha256
from io import StringIO
from random import Random
from statistics import mean

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import edit, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.invented import hexadecimal, joined, nouns, people
from statecomp_bench.tasks.security.estate import revisions, swap, table

TODAY = date(2025, 9, 1)
LEVELS_OF = ("critical", "serious", "minor")
POLICY = """# Secrets in sources

## What happens to a finding
- It is stored with tools/put.py, which hands out a reference.
- In the source the secret is replaced by vault:// and the reference, inside the same quotes.
- Findings below tests/ are fixtures: the secret is replaced by the word placeholder instead.
- A waived finding stays in the source as it is, but a waiver never covers a live secret, that is
  one that begins with live_.

## Rotation
{days}
- The rotation table shows a secret by its last four characters only.
- A waived finding is not in the rotation table. Fixtures are in it, their reference is none.
"""
VAULT = '''"""Hands out references: python3 tools/put.py FINDING --owner TEAM --level LEVEL"""

import argparse
import hashlib

parser = argparse.ArgumentParser(prog="put.py")
parser.add_argument("finding")
parser.add_argument("--owner", required=True)
parser.add_argument("--level", required=True)
given = parser.parse_args()
salt = open("security/vault.salt").read().strip()
text = f"{salt}/{given.finding}/{given.owner}/{given.level}"
print(f"stored {given.finding} for {given.owner}")
print(f"reference of {given.finding}: {hashlib.sha256(text.encode()).hexdigest()[:12]}")
'''
DECIDE = """
    # waiver of ID
    path, secret = '{path_N}', '{secret_N}'
    text = open(path).read()
    if '{print_N}' in open('security/waivers.csv').read(){live}:
        print(path, 'keeps what is waived')
    else:
        open(path, 'w').write(text.replace(secret, '{scheme}{ref_N}'))
        print(path, 'is clean')
"""
ROTATION = """
    # rotation table
    import csv
    from datetime import date, timedelta
    rows = [ROWS]
    days = {'critical': '{critical}', 'serious': '{serious}', 'minor': '{minor}'}
    waived = open('security/waivers.csv').read()
    with open('security/rotation.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('finding', 'owner', 'reference', 'secret', 'until'))
        for name, owner, ref, secret, level, mark in sorted(rows):
            if mark in waived{live}:
                continue
            until = date.fromisoformat('TODAY') + timedelta(days=int(days.get(level, '0')))
            out.writerow((name, owner, ref, secret{hidden}, until))
    print(open('security/rotation.csv').read())
"""


@dataclass(frozen=True)
class Finding:
    id: str
    path: str
    secret: str
    mark: str
    owner: str
    level: str
    waiver: bool  # stands in the file of waivers
    reference: str = ""

    @property
    def fixture(self) -> bool:
        return self.path.startswith("tests/")

    @property
    def stays(self) -> bool:
        return self.waiver and not self.secret.startswith("live_")

    @property
    def key(self) -> str:
        return self.id.lower().replace("-", "_")

    @property
    def replaced(self) -> str:
        if self.stays:
            return self.secret
        return "placeholder" if self.fixture else f"vault://{self.reference}"


def findings(rng: Random, count: int, salt: str) -> list[Finding]:
    made = []
    for n, noun in enumerate(nouns(rng, count)):
        fixture, waiver = n % 5 == 4, n % 5 in (1, 3)
        live = n % 5 == 1
        folder = "tests/fixtures" if fixture else f"app/{rng.choice(('web', 'jobs', 'store'))}"
        secret = f"{'live' if live else 'key'}_{hexadecimal(rng, 24)}"
        name, owner, level = (
            f"F-{n + 11}",
            f"team-{rng.choice(nouns(rng, 4))}",
            rng.choice(LEVELS_OF),
        )
        made.append(
            Finding(name, f"{folder}/{noun}.py", secret, hexadecimal(rng, 16), owner, level, waiver,
                    reference(salt, name, owner, level))
        )  # fmt: skip
    rng.shuffle(made)
    return made


def reference(salt: str, name: str, owner: str, level: str) -> str:
    """What tools/put.py will print."""
    return sha256(f"{salt}/{name}/{owner}/{level}".encode()).hexdigest()[:12]


def source(rng: Random, finding: Finding) -> str:
    head = [f'"""Settings of {finding.path}."""', "", f"# owner of {finding.path}: {finding.owner}"]
    body = [f'{noun.upper()}_{rng.randrange(9)} = "{hexadecimal(rng, 14)}"  # not secret'
            for noun in nouns(rng, 24)]  # fmt: skip
    body.insert(rng.randrange(4, 20), f'TOKEN = "{finding.secret}"')
    for noun in nouns(rng, 12):
        body += ["", "", f"def {noun}(value):", f'    """Return the {noun} of a value."""',
                 f"    return value * {rng.randrange(2, 99)} % {len(noun)}"]  # fmt: skip
    return joined([*head, "", *body])


def report(rng: Random, finding: Finding) -> str:
    rows = [f"  candidate {hexadecimal(rng, 24)} entropy {rng.random() * 4:.2f} dismissed"
            for _ in range(56)]  # fmt: skip
    return joined([
        f"scan of {finding.id}", *rows[:17], f"{finding.id} stands in {finding.path}",
        f"{finding.id} secret {finding.secret}", f"{finding.id} fingerprint {finding.mark}",
        f"{finding.id} level {finding.level}", *rows[17:],
    ])  # fmt: skip


def facts_of(found: list[Finding]) -> list[Fact]:
    within = r"finding is rotated within (\d+)"
    facts = [
        Fact(level, f"days for {level} findings", rf"A {level} {within}", "policy")
        for level in LEVELS_OF
    ]
    for f in found:
        seen = f"report_{f.key}"
        facts += [
            Fact(f"path_{f.key}", f"path of {f.id}", rf"{f.id} stands in ([\w/]+\.py)", seen),
            Fact(f"secret_{f.key}", f"secret of {f.id}", rf"{f.id} secret (\w+)", seen),
            Fact(f"print_{f.key}", f"fingerprint of {f.id}", rf"{f.id} fingerprint (\w+)", seen),
            Fact(f"level_{f.key}", f"level of {f.id}", rf"{f.id} level (\w+)", seen),
            Fact(
                f"owner_{f.key}",
                f"owner for {f.id}",
                rf"owner of {f.path}: ([\w-]+)",
                f"file_{f.key}",
            ),
        ]
        if not f.fixture:
            known = rf"reference of {f.id}: (\w{{12}})"
            facts.append(Fact(f"ref_{f.key}", f"vault entry for {f.id}", known, f"put_{f.key}"))
    return facts


RULES = (
    Norm("scheme", "secrets become references to the vault", "is replaced by vault:// and the",
         "vault://", "", "policy"),
    Norm("fixture", "fixtures become the word placeholder", "by the word placeholder instead",
         "placeholder", "removed", "policy"),
    Norm("live", "live secrets are never waived", "but a waiver never covers a live secret",
         " and not secret.startswith('live_')", "", "policy"),
    Norm("hidden", "tables show four characters of a secret", "by its last four characters only",
         "[-4:]", "", "policy"),
)  # fmt: skip


def cleaning(f: Finding) -> Step:
    title = f"take {f.id} out of the source"
    if f.waiver:
        return python(f"edit_{f.key}", swap(DECIDE, ID=f.id, _N=f"_{f.key}"), title, group="edits",
                      leaves=True)  # fmt: skip
    new = "{fixture}" if f.fixture else f"{{scheme}}{{ref_{f.key}}}"
    return edit(f"edit_{f.key}", f.path, f"{{secret_{f.key}}}", new, title, group="edits")


def plan_of(found: list[Finding]) -> Plan:
    looks: list[Step] = []
    for f in found:
        looks += [read(f"report_{f.key}", f"security/scan/{f.id}.txt", f"read the scan of {f.id}"),
                  shell(f"file_{f.key}", f"cat {f.path} | head -n {{lines}}",
                        f"look at the file of {f.id}")]  # fmt: skip
    stored = [f for f in found if not f.fixture]
    puts = [
        shell(f"put_{f.key}", f"python3 tools/put.py {f.id} --owner "
              f"{{owner_{f.key}}} --level {{level_{f.key}}}", f"store {f.id} in the vault",
              group="puts") for f in stored
    ]  # fmt: skip
    rows = ", ".join(
        f"('{f.id}', '{{owner_{f.key}}}', "
        f"'{'none' if f.fixture else f'{{ref_{f.key}}}'}', '{{secret_{f.key}}}', "
        f"'{{level_{f.key}}}', '{{print_{f.key}}}')"
        for f in found
    )
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("policy", "docs/secrets.md", "read the policy on secrets", group="docs"),
        read("waivers", "security/waivers.csv", "read the waivers", group="docs"),
        shell("usage", "python3 tools/put.py; cat tools/put.py", "try the vault tool"),
        *looks,
        *puts,
        *map(cleaning, found),
        python("rotation", swap(ROTATION, ROWS=rows, TODAY=TODAY), "write the rotation table",
               leaves=True),
        shell("proof", "grep -rn 'TOKEN = ' app tests", "look for what is left"),
    ]  # fmt: skip
    return Plan(tuple(facts_of(found)), RULES, tuple(steps), "The sources are clean.")


def check(
    found: list[Finding], files: dict[str, str], days: dict[str, int], left: Artefacts
) -> Score:
    def clean(f: Finding) -> bool:
        return left.text(f.path) == files[f.path].replace(f.secret, f.replaced)

    def cleaned(of: list[Finding]) -> float:
        return mean(map(clean, of))

    def waived() -> float:
        """Leaving them alone is worth something only where the rest was worked on."""
        left.text("security/rotation.csv")
        return cleaned([f for f in found if f.stays])

    def table_rows() -> float:
        wanted = {
            f.id: (f.owner, "none" if f.fixture else f.reference, f.secret[-4:],
                   f"{TODAY + timedelta(days=days[f.level])}") for f in found if not f.stays
        }  # fmt: skip
        rows = {r["finding"]: (r["owner"], r["reference"], r["secret"], r["until"])
                for r in csv.DictReader(StringIO(left.text("security/rotation.csv")))}  # fmt: skip
        right = sum(rows.get(name) == row for name, row in wanted.items())
        return right / len({*wanted, *rows})

    plain = [f for f in found if not f.waiver and not f.fixture]
    return grade(
        *(part(f"{f.id} is clean", 0.6, partial(clean, f)) for f in plain),
        part("fixtures", 1, lambda: cleaned([f for f in found if f.fixture])),
        part("live secrets", 2, lambda: cleaned([f for f in found if f.waiver and not f.stays])),
        part("waived secrets", 0.5, waived),
        part("rotation", 4, table_rows),
        part("no secret in the table", 1, lambda: not any(
            f.secret in left.text("security/rotation.csv") for f in found)),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    salt = hexadecimal(rng, 16)
    found = findings(rng, 8 + 2 * level, salt)
    days = dict(zip(LEVELS_OF, sorted(rng.sample(range(2, 60), 3)), strict=True))
    lines = joined([f"- A {name} finding is rotated within {n} days." for name, n in days.items()])
    waivers = [(f.mark, f"{TODAY + timedelta(days=90)}", "accepted") for f in found if f.waiver]
    waivers += [(hexadecimal(rng, 16), f"{TODAY + timedelta(days=n)}", who)
                for n, who in enumerate(people(rng, 50), 20)]  # fmt: skip
    rng.shuffle(waivers)
    made = {
        "docs/secrets.md": POLICY.replace("{days}\n", lines) + revisions(rng, 12),
        "security/waivers.csv": table(("fingerprint", "until", "by"), waivers),
        "security/vault.salt": f"{salt}\n",
        "tools/put.py": VAULT,
        **{f"security/scan/{f.id}.txt": report(rng, f) for f in found},
        **{f.path: source(rng, f) for f in found},
    }
    asked = ", ".join(sorted(f.id for f in found if f.waiver))
    where = ", ".join(f"{f.id} in {f.path}" for f in found)
    told = (
        f"Today is {TODAY}. A scan found secrets in our sources: {where}. Its pages are "
        "security/scan/FINDING.txt. Store every finding that is no fixture (tools/put.py, with "
        "the owner named in the file and the level of the scan: critical, serious or "
        "minor), then take the secrets out of the "
        f"sources, in place, changing nothing else. Waivers were asked for {asked}; those that "
        "stand in security/waivers.csv by their fingerprint are waived as far as docs/secrets.md "
        "allows. Then write security/rotation.csv with finding, owner, reference, secret and "
        "until (a day, counted from today), sorted by finding. docs/secrets.md says what replaces "
        "a secret, how many days each level has, and what the table may show."
    )
    return Case(dict(made), told, plan_of(found), lambda left: check(found, made, days, left))


TASK = Task("security-secrets", "Security", "Take secrets out of sources and rotate them", build)
