"""Keys that a service shows once, when they are made: they go into files much later."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.outside import HTTP, Scene
from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import http, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.filler.output import record
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

SERVICE = "https://keys.example"
GUIDE = """# Keys

- The secret is written in quotes, the key id is not.
- Keys of a zone that is open to the outside expire after 30 days, all others after 90.
- The name of a variable is the system in capitals, then _SECRET or _KEY.
- The register shows the last four characters of a secret, never more.
- The register is sorted by custodian, then by system.

"""
GONE = "409 conflict\n{name} has a key already; its secret was shown when it was made.\n"
ENV = """
    # env file of NAME
    import os
    os.makedirs('env', exist_ok=True)
    lines = [
        {caps}_KEY={key_NAME}',
        {caps}_SECRET={quote}{secret_NAME}{quote}',
        'EXPIRES=' + ('30' if '{zone_NAME}' == 'open' else '90'){flat},
    ]
    open('env/NAME.env', 'w').write('\\n'.join(lines) + '\\n')
    print(lines[0], lines[2])
"""
REGISTER = """
    # register of all keys
    rows = [ROWS]
    rows.sort({custodians})
    with open('register.csv', 'w') as file:
        for name, who, key, secret in rows:
            file.write(','.join([name, who, key, secret{hidden}]) + '\\n')
    print(len(rows), 'keys')
"""
RULES = rules_of(
    "guide",
    ("quote", "secrets stand in quotes", "secret is written in quotes", '"', ""),
    ("flat", "open zones expire after 30 days", "expire after 30 days", "", "[:0] + '60'"),
    ("hidden", "the register shows four characters", "the last four characters of a secret",
     "[-4:]", ""),
    ("custodians", "the register is sorted by custodian", "is sorted by custodian",
     "key=lambda row: (row[1], row[0])", ""),
)  # fmt: skip


@dataclass(frozen=True)
class System:
    name: str
    custodian: str
    zone: str
    key: str
    secret: str

    @property
    def lines(self) -> list[str]:
        upper = self.name.upper()
        days = 30 if self.zone == "open" else 90
        return [f"{upper}_KEY={self.key}", f'{upper}_SECRET="{self.secret}"', f"EXPIRES={days}"]


def systems_of(rng: Random, level: int) -> list[System]:
    return [
        System(name, person(rng), rng.choice(("open", "inner")), f"K{rng.randrange(10**7, 10**8)}",
               hexadecimal(rng, 24))
        for name in nouns(rng, 6 + 2 * level)
    ]  # fmt: skip


def files_of(rng: Random, systems: list[System]) -> dict[str, str]:
    made = {"docs/keys.md": GUIDE + paper(rng, 1800)}
    for s in systems:
        made[f"systems/{s.name}.txt"] = paper(rng, 3400, f"Custodian of {s.name}: {s.custodian}")
        made[f"network/{s.name}.log"] = paper(
            rng, 3000, f"Zone of {s.name}: {s.zone}", kinds=("log", "listing")
        )
    return made


def scene(rng: Random, s: System) -> Scene:
    shown = f"Key of {s.name}: {s.key}\nSecret of {s.name}: {s.secret} (shown once)\n"
    told = f"201 created\n{shown}{record(rng, 9)}"
    return Scene(HTTP, rf"POST {SERVICE}/{s.name}\b", (told, GONE.format(name=s.name)))


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "make", ("key", "key of NAME", r"Key of NAME: (K\d+)"),
                   ("secret", "secret of NAME", r"Secret of NAME: (\w+)")),
        *facts_for(names, "system",
                   ("custodian", "custodian of NAME", r"Custodian of NAME: (\w+ \w+)")),
        *facts_for(names, "network", ("zone", "zone of NAME", r"Zone of NAME: (\w+)")),
    ]  # fmt: skip
    caps = rules_of("guide", *(
        (f"caps_{n}", f"variables of {n} are in capitals", "is the system in capitals",
         f"'{n.upper()}", f"'{n}") for n in names))  # fmt: skip
    rows = ", ".join(
        f"('{n}', '{{custodian_{n}}}', '{{key_{n}}}', '{{secret_{n}}}')" for n in names
    )
    env = ENV.replace("{caps}", "{caps_NAME}")
    steps = [
        Step("list", "list_files", {}, "see what is there"),
        read("guide", "docs/keys.md", "read the rules on keys"),
        http("wrong", "GET", f"{SERVICE}/", "ask the service for a list"),
        *(http(f"make_{n}", "POST", f"{SERVICE}/{n}", f"have a key made for {n}", once=True)
          for n in names),
        *(read(f"system_{n}", f"systems/{n}.txt", f"read about the system {n}", group="s")
          for n in names),
        *(read(f"network_{n}", f"network/{n}.log", f"look up the network of {n}", group="n")
          for n in names),
        *(python(f"env_{n}", named(env, n), f"write the settings of {n}", leaves=True)
          for n in names),
        python("register", REGISTER.replace("ROWS", rows), "write the register", leaves=True),
        shell("proof", "cat register.csv", "read the register again"),
    ]  # fmt: skip
    return Plan(tuple(facts), (*RULES, *caps), tuple(steps), "All keys are in place.")


def check(systems: list[System], left: Artefacts) -> Score:
    def line(name: str, weight: float, place: int) -> TaskQuestion:
        def holds(s: System) -> bool:
            return left.text(f"env/{s.name}.env").splitlines()[place] == s.lines[place]

        return each(name, weight, systems, holds)

    ordered = sorted(systems, key=lambda s: (s.custodian, s.name))
    rows = [f"{s.name},{s.custodian},{s.key},{s.secret[-4:]}" for s in ordered]
    asked = sum(line.startswith(f"{HTTP} POST") for line in left.calls)
    return grade(
        line("keys", 2, 0),
        line("secrets", 4, 1),
        line("expiry", 2, 2),
        each("register", 2, rows, lambda row: row in left.text("register.csv").splitlines()),
        part("order of the register", 1, lambda: left.text("register.csv").splitlines() == rows),
        part("no secret in the register", 1, lambda: not any(
            s.secret in left.text("register.csv") for s in systems)),
        part("each key made once", 1,
             lambda: bool(left.text("register.csv")) and len(systems) / max(asked, len(systems))),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    systems = systems_of(rng, level)
    names = [s.name for s in systems]
    told = (
        f"The systems {', '.join(names)} need new keys. POST {SERVICE}/NAME makes one and shows "
        "its id and secret, the secret this once; make each only once. systems/ names custodians, "
        "network/ the zones (open or inner). Write env/NAME.env with three lines: the variable of "
        "the key, the variable of the secret, and EXPIRES=DAYS; then register.csv with a line "
        "NAME,CUSTODIAN,KEY,SECRET for each. docs/keys.md says how they are written."
    )
    seen = {f"key_{s.name}": s.key for s in systems}
    return Case(
        dict(files_of(rng, systems)), told, plan_of(names), lambda left: check(systems, left),
        scenes=tuple(scene(rng, s) for s in systems), seen=seen,
    )  # fmt: skip


TASK = Task("security-keys", "Security", "Put keys in place that are shown once", build)
