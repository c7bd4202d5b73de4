"""Deployments that print their keys once: running the program again deploys again."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from random import Random

from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.filler.output import log
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.shared import (
    SPOOL,
    each,
    facts_for,
    named,
    paper,
    rules_of,
    sealed,
)

GUIDE = """# Releasing

- A release note has five lines: service, revision, rollback, owner, budget.
- Revisions are written in short form: the first seven characters.
- The owner is written as a handle: @, then the first name in small letters.
- A service whose error budget is below 2.0 is released in state watch, any other in state free.
- The index is sorted by service, and its last line is the number of services.

"""
DEPLOY = (
    SPOOL
    + """
import hashlib
name = sys.argv[1]
text = take(f'ops/pool/{name}.spool')
if not text:
    raise SystemExit(f'{name}: no slot left, call the platform desk')
with open('ops/history.log', 'a') as file:
    file.write(name + ' ' + hashlib.sha256(text.splitlines()[-1].encode()).hexdigest() + '\\n')
print(text)
"""
)
NOTE = """
    # release note of NAME
    import os
    os.makedirs('releases', exist_ok=True)
    text = '{budget_NAME}'
    budget = float(text) if text.replace('.', '', 1).isdigit() else 9.9
    owner = '{owner_NAME}'
    lines = [
        'service NAME',
        'revision ' + '{revision_NAME}'{short},
        'rollback {key_NAME}',
        'owner ' + {handle},
        'state ' + ('watch' if budget < {watch} else 'free'),
    ]
    open('releases/NAME.txt', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
INDEX = """
    # index of releases
    rows = [ROWS]
    rows.sort()
    with open('releases/index.csv', 'w') as file:
        for row in rows:
            file.write(','.join(row) + '\\n')
        {count}
    print(open('releases/index.csv').read())
"""
RULES = rules_of(
    "guide",
    ("short", "revisions are in short form", "written in short form", "[:7]", ""),
    ("handle", "owners are written as handles", "written as a handle",
     "'@' + owner.split()[0].lower()", "owner"),
    ("watch", "budgets below 2.0 are watched", "below 2.0 is released in state", "2.0", "1.0"),
    ("count", "the index ends with a count", "last line is the number of services",
     "file.write(f'{len(rows)}\\n')", "pass"),
)  # fmt: skip


@dataclass(frozen=True)
class Service:
    name: str
    owner: str
    budget: float
    revision: str
    key: str

    @property
    def last(self) -> str:
        return f"Deployed {self.name} as revision {self.revision}, rollback key {self.key}"

    @property
    def note(self) -> list[str]:
        state = "watch" if self.budget < 2 else "free"
        return [f"service {self.name}", f"revision {self.revision[:7]}", f"rollback {self.key}",
                f"owner @{self.owner.split()[0].lower()}", f"state {state}"]  # fmt: skip


def services_of(rng: Random, level: int) -> list[Service]:
    return [
        Service(name, person(rng), rng.choice((0.4, 1.2, 1.7, 2.6, 3.9)),
                hexadecimal(rng, 16), f"RB-{hexadecimal(rng, 10)}")
        for name in nouns(rng, 6 + 2 * level)
    ]  # fmt: skip


def files_of(rng: Random, services: list[Service]) -> dict[str, str]:
    made = {"docs/releasing.md": GUIDE + paper(rng, 2000), "ops/deploy.py": DEPLOY}
    for s in services:
        again = (
            f"Deployed {s.name} as revision {hexadecimal(rng, 16)}, rollback key RB-0{rng.random()}"
        )
        made[f"ops/pool/{s.name}.spool"] = sealed(
            log(rng, 8) + s.last, f"warning: {s.name} was replaced by itself\n{again}"
        )
        made[f"services/{s.name}.md"] = paper(rng, 3400, f"Owner of {s.name}: {s.owner}")
        made[f"health/{s.name}.log"] = paper(
            rng, 3000, f"Error budget of {s.name}: {s.budget} percent", kinds=("log",)
        )
    return made


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "service", ("owner", "owner of NAME", r"Owner of NAME: (\w+ \w+)")),
        *facts_for(names, "deploy",
                   ("revision", "revision of NAME", r"Deployed NAME as revision (\w+)"),
                   ("key", "rollback key of NAME",
                    r"Deployed NAME as revision \w+, rollback key ([\w.-]+)")),
        *facts_for(names, "health",
                   ("budget", "error budget of NAME", r"Error budget of NAME: ([\d.]+)")),
    ]  # fmt: skip
    rows = ", ".join(f"['{n}', '{{key_{n}}}']" for n in names)
    steps = [
        Step("list", "list_files", {}, "see the repository"),
        read("guide", "docs/releasing.md", "read how releases are made"),
        shell("wrong", "python3 ops/release.py", "try the release program by its old name"),
        *(read(f"service_{n}", f"services/{n}.md", f"read about the service {n}", group="s")
          for n in names),
        *(shell(f"deploy_{n}", f"python3 ops/deploy.py {n}", f"deploy the service {n}",
                once=True) for n in names),
        *(read(f"health_{n}", f"health/{n}.log", f"read the health log of {n}", group="h")
          for n in names),
        *(python(f"note_{n}", named(NOTE, n), f"write the release note of {n}", leaves=True)
          for n in names),
        python("index", INDEX.replace("ROWS", rows), "write the index", leaves=True),
        shell("proof", "cat releases/index.csv", "read the index again"),
    ]  # fmt: skip
    return Plan(tuple(facts), RULES, tuple(steps), "All services are released.")


def check(services: list[Service], left: Artefacts) -> Score:
    def line(name: str, weight: float, place: int) -> TaskQuestion:
        def holds(s: Service) -> bool:
            return left.text(f"releases/{s.name}.txt").splitlines()[place] == s.note[place]

        return each(name, weight, services, holds)

    def once() -> float:
        log_lines = left.text("ops/history.log").splitlines()
        wanted = {f"{s.name} {sha256(s.last.encode()).hexdigest()}" for s in services}
        return len(wanted & {*log_lines}) / max(len(log_lines), len(wanted))

    def index() -> bool:
        rows = [f"{s.name},{s.key}" for s in sorted(services, key=lambda s: s.name)]
        return left.text("releases/index.csv").split() == [*rows, str(len(rows))]

    return grade(
        line("revision", 3, 1),
        line("rollback", 3, 2),
        line("owner", 1, 3),
        line("state", 2, 4),
        part("deployed once", 1, once),
        part("index", 2, index),
    )


def build(rng: Random, level: int) -> Case:
    services = services_of(rng, level)
    names = [s.name for s in services]
    told = (
        f"Release the services {', '.join(names)}. `python3 ops/deploy.py NAME` deploys one and "
        "prints its revision and rollback key, which are kept nowhere else; deploy nothing twice. "
        "services/ says who owns a service, health/ what its error budget is. Write "
        "releases/NAME.txt with the lines `service NAME`, `revision REVISION`, `rollback KEY`, "
        "`owner OWNER` and `state STATE`, then releases/index.csv with a line NAME,KEY for each. "
        "docs/releasing.md says how they are written."
    )
    shown = ("revision", "key")
    seen = {f"{key}_{s.name}": str(getattr(s, key)) for s in services for key in shown}
    return Case(
        dict(files_of(rng, services)), told, plan_of(names),
        lambda left: check(services, left), seen=seen,
    )  # fmt: skip


TASK = Task("code-deploy", "Code", "Deploy services whose keys are printed once", build)
