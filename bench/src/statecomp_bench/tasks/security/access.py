"""A review of accounts: who they belong to, what they may do, whether they stay.

The shape: small writes all along, each of which needs a join of three places read before, and a
refused first attempt whose reason holds for every later one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell, sql
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, inside, joined, nouns, people
from statecomp_bench.tasks.security.estate import database, hosts, revisions, swap, table

TODAY = date(2025, 4, 14)
GROUPS = ("wheel", "operators", "database", "deploy", "backup", "auditors")
POLICY = """# Review of access

## Decisions
- The account of a person who has left is revoked.
- The account of a person whose contract is paused is suspended.
- An emergency account, recognised by the prefix eme-, stays whoever it belongs to.
- An account that has not been used for more than {idle} days is suspended, unless it is revoked.
- All others stay.

## Words
- The decisions are written as remove, lock and keep.
- A reason is one word: left, paused, emergency, idle or active, the first that applies from
  emergency, left, paused, idle.

## Deadlines
- What is removed is removed within {soon} days of the review, what is locked within {later} days;
  what stays is reviewed again after {again} days.
"""
SCHEMA = """
create table decisions (
  account text primary key, employee text not null, host text not null, manager text not null,
  decision text not null, reason text not null, power text not null, due text not null,
  reviewer text not null,
  constraint reviewer_is_signed check (reviewer glob 'R-[0-9][0-9][0-9][0-9]/*'),
  constraint power_is_a_group check (power glob 'via *')
)
"""
ENTRY = """
    # decide on ACCOUNT
    import sqlite3
    from datetime import date, timedelta
    today = date.fromisoformat('TODAY')
    idle = (today - date.fromisoformat('{seen_N}')).days > int('{idle}')
    state = '{state_N}'
    reason = 'left' if state == 'left' else 'paused' if state == 'paused' else 'active'
    if idle and reason == 'active':
        reason = 'idle'
    if 'ACCOUNT'.startswith('eme-'){emergency}:
        reason = 'emergency'
    word = {words}[reason]
    days = {'r': int('{soon}'), 'l': int('{later}'), 'k': int('{again}')}[word[0]]
    row = ('ACCOUNT', '{employee_N}', '{host_N}', '{manager_N}', word, reason,
           POWER, str(today + timedelta(days=days)), REVIEWER)
    with sqlite3.connect('review.db') as db:
        db.execute('insert or replace into decisions values (?,?,?,?,?,?,?,?,?)', row)
    print(row)
"""
SIGNED = "'{reviewer}/{initials}'"
DATABASE = "review.db"
# Read inside the sandbox: a view in an agent's database may run for ever.
ROWS = """
import json, sqlite3
db = sqlite3.connect('review.db')
db.row_factory = sqlite3.Row
print(json.dumps([dict(row) for row in db.execute('select * from decisions')]))
"""


@dataclass(frozen=True)
class Account:
    name: str
    host: str
    person: str
    employee: str
    manager: str
    state: str
    seen: date
    power: str
    idle: bool

    def decided(self, days: dict[str, int]) -> dict[str, str]:
        reason = self.state if self.state != "active" else "idle" if self.idle else "active"
        reason = "emergency" if self.name.startswith("eme-") else reason
        word = {"left": "remove", "paused": "lock", "idle": "lock"}.get(reason, "keep")
        due = f"{TODAY + timedelta(days=days[word])}"
        return {"employee": self.employee, "host": self.host, "manager": self.manager,
                "decision": word, "reason": reason, "due": due,
                "power": f"via {self.power}"}  # fmt: skip


def accounts_of(rng: Random, count: int, idle: int) -> list[Account]:
    machines = hosts(rng, 4)
    found = []
    names = people(rng, count)
    for n, person in enumerate(names):
        state = ("left", "active", "paused", "active", "left")[n % 5]
        stale = rng.random() < 0.5
        seen = TODAY - timedelta(
            days=idle + rng.randrange(2, 90) if stale else rng.randrange(1, idle)
        )
        first, last = person.lower().split()
        name = f"{'eme-' if n % 4 == 0 else ''}{last}.{first[:3]}"
        found.append(
            Account(name, rng.choice(machines), person, f"E{rng.randrange(10000, 99999)}",
                    f"M{rng.randrange(1000, 9999)}", state, seen, rng.choice(GROUPS), stale)
        )  # fmt: skip
    rng.shuffle(found)
    return found


def personnel(rng: Random, accounts: list[Account]) -> bytes:
    """The personnel database; also people who have no account at all."""
    rows = [(a.employee, a.person, a.state, a.manager) for a in accounts]
    known = {a.person for a in accounts}
    rows += [(f"E{rng.randrange(10000, 99999)}", who, rng.choice(("active", "left")),
              f"M{rng.randrange(1000, 9999)}")
             for who in people(rng, 260) if who not in known]  # fmt: skip
    return database(
        "create table people (employee text, name text, state text, manager text)",
        "insert into people values (?,?,?,?)", sorted(rows),
    )  # fmt: skip


def machine_files(rng: Random, accounts: list[Account]) -> dict[str, str]:
    made = {}
    for host in sorted({a.host for a in accounts}):
        own = [a for a in accounts if a.host == host]
        noise = [f"svc-{noun}" for noun in nouns(rng, 22)]
        lines = [
            f"{n}:x:{400 + i}:400:service:/srv/{n}:/usr/sbin/nologin" for i, n in enumerate(noise)
        ]
        lines += [f"{a.name}:x:{1000 + i}:1000:{a.employee} on {host}:/home/{a.name}:/bin/bash"
                  for i, a in enumerate(own)]  # fmt: skip
        groups = [f"{g}:x:{600 + i}:" + ",".join([*rng.sample(noise, 6),
                  *(a.name for a in own if a.power == g)])
                  for i, g in enumerate(GROUPS)]  # fmt: skip
        logins = [f"{a.name:20} pts/0  {inside(rng):15}  last seen {a.seen}" for a in own]
        logins += [f"{n:20} -      {inside(rng):15}  last seen {TODAY - timedelta(days=i)}"
                   for i, n in enumerate(noise)]  # fmt: skip
        sudo = [f"%{g} ALL=(ALL) /usr/bin/{rng.choice(nouns(rng, 3))}" for g in GROUPS]
        sudo += [f"# checked {hexadecimal(rng, 8)} by {who}" for who in people(rng, 18)]
        rng.shuffle(lines)
        rng.shuffle(logins)
        for name, text in (("passwd", lines), ("group", groups), ("lastlog", logins),
                           ("sudoers", sudo)):  # fmt: skip
            made[f"hosts/{host}/{name}"] = joined(text)
    return made


def facts_of(accounts: list[Account]) -> list[Fact]:
    facts = [
        Fact("idle", "days until idle", r"not been used for more than (\d+) days", "policy"),
        Fact("soon", "days for removing", r"removed within (\d+) days", "policy"),
        Fact("later", "days for locking", r"locked within (\d+) days", "policy"),
        Fact("again", "days until the next review", r"reviewed again after (\d+) days", "policy"),
        Fact("reviewer", "own code", r"reviewer number is (R-\d+)"),
        Fact("initials", "initials to sign with", r"sign with the initials (\w+)", "desk"),
    ]
    for n, account in enumerate(accounts):
        name, host = account.name.replace(".", r"\."), f"hosts_{account.host}"
        plain = account.name.removeprefix("eme-")
        label, entry = f"account {plain}", rf"{name}:x:\d+:1000"
        facts += [
            Fact(f"employee_{n:02d}", f"employee of {label}", rf"{entry}:(E\d+) on", host),
            Fact(f"host_{n:02d}", f"host of {label}", rf"{entry}:E\d+ on ([\w-]+):", host),
            Fact(f"seen_{n:02d}", f"last day of {label}", rf"{name} .*last seen ([\d-]+)", host),
            Fact(f"power_{n:02d}", f"group of {label}", rf"\b(\w+):x:6\d\d:.*,{name}\b", host),
            Fact(f"state_{n:02d}", f"state of {label}", rf"{account.person} \| (\w+) \|",
                 f"person_{n:02d}"),
            Fact(f"manager_{n:02d}", f"manager of {label}", rf"{account.person} \| \w+ \| (M\d+)",
                 f"person_{n:02d}"),
        ]  # fmt: skip
    return facts


RULES = (
    Norm("emergency", "emergency accounts stay", "recognised by the prefix eme-, stays", "",
         " and False", "policy"),
    Norm("words", "decisions are remove, lock and keep", "are written as remove, lock and keep",
         "dict(left='remove', paused='lock', idle='lock', active='keep', emergency='keep')",
         "dict(left='revoke', paused='lapse', idle='lapse', active='kept', emergency='kept')",
         "policy"),
    Norm("signed", "the reviewer is signed with initials", "failed: reviewer_is_signed",
         SIGNED, "'{reviewer}'", "attempt"),
    Norm("by_group", "power is given as via and the group", "failed: power_is_a_group", "'via ' + ",
         "", "second"),
)  # fmt: skip


def entry(account: str, number: int, power: str = "{by_group}", who: str = "{signed}") -> str:
    return swap(ENTRY, ACCOUNT=account, POWER=f"{power}'{{power_N}}'", REVIEWER=who, TODAY=TODAY,
                _N=f"_{number:02d}")  # fmt: skip


def plan_of(accounts: list[Account]) -> Plan:
    machines = sorted({a.host for a in accounts})
    looks = [shell(f"hosts_{h}", f"cd hosts/{h} && cat group passwd lastlog | grep -v '^#'",
                   f"read the accounts on {h}", group="hosts") for h in machines]  # fmt: skip
    looks += [shell(f"sudo_{h}", f"cat hosts/{h}/sudoers", f"read the sudo rules on {h}",
                    group="sudo") for h in machines]  # fmt: skip
    persons = [
        sql(f"person_{n:02d}", "hr/people.db",
            f"-- owner of {a.name}\nselect employee, name, state, manager from people where "
            f"employee between '{{employee_{n:02d}}}' and 'F' order by employee limit {{lines}}",
            f"look up who owns {a.name}", group="persons") for n, a in enumerate(accounts)
    ]  # fmt: skip
    first = accounts[0].name
    entries = [python(f"decide_{n:02d}", entry(a.name, n), f"decide on {a.name}", leaves=True,
                      group="decisions") for n, a in enumerate(accounts)]  # fmt: skip
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("policy", "docs/review.md", "read the review policy", group="docs"),
        read("desk", "docs/desk.md", "read about the review desk", group="docs"),
        *looks,
        *persons,
        python("attempt", entry(first, 0, "", "'{reviewer}'").replace("decide on", "first try for"),
               "try to enter a decision"),
        python("second", entry(first, 0, "", SIGNED).replace("decide on", "next try for"),
               "try once more with a signature"),
        *entries,
        sql("proof", DATABASE, "-- all decisions\nselect * from decisions order by account",
            "read all decisions again"),
        python("export", """
            # export
            import csv, sqlite3
            rows = sqlite3.connect('review.db').execute(
                "select account, host, due from decisions where decision = 'remove' "
                "order by account")
            with open('removals.csv', 'w') as f:
                out = csv.writer(f, lineterminator='\\n')
                out.writerow(('account', 'host', 'due'))
                out.writerows(rows)
            print(open('removals.csv').read())
            """, "export what is to be removed", leaves=True),
    ]  # fmt: skip
    return Plan(tuple(facts_of(accounts)), RULES, tuple(steps), "The review is in review.db.")


def check(accounts: list[Account], days: dict[str, int], sign: str, left: Artefacts) -> Score:
    wanted = {a.name: a.decided(days) for a in accounts}

    def found(column: str) -> dict[str, str]:
        return {row["account"]: row[column] for row in json.loads(left.python(ROWS))}

    def right(column: str) -> float:
        return share(found(column), {name: row[column] for name, row in wanted.items()})

    gone = [(n, row["host"], row["due"]) for n, row in sorted(wanted.items())
            if row["decision"] == "remove"]  # fmt: skip
    return grade(
        *(part(name, 1.5, partial(right, name)) for name in ("decision", "reason", "due")),
        *(part(name, 1, partial(right, name)) for name in ("employee", "host", "manager", "power")),
        part("reviewer", 1, lambda: share(found("reviewer"), dict.fromkeys(wanted, sign))),
        part("removals", 1.5, lambda: [(r["account"], r["host"], r["due"])
                                       for r in left.rows("removals.csv")] == gone),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    idle = rng.randrange(60, 120)
    days = {
        "remove": rng.randrange(3, 9),
        "lock": rng.randrange(11, 28),
        "keep": rng.randrange(80, 99),
    }
    accounts = accounts_of(rng, 10 + 2 * level, idle)
    number, initials = f"R-{rng.randrange(1000, 9999)}", hexadecimal(rng, 4)
    policy = POLICY
    for word, value in zip(("idle", "soon", "later", "again"), (idle, *days.values()), strict=True):
        policy = policy.replace(f"{{{word}}}", str(value))
    rota = table(("day", "reviewer"), [(d, who) for d, who in enumerate(people(rng, 28), 1)])
    made: dict[str, str | bytes] = {
        "docs/review.md": policy + revisions(rng, 12),
        "docs/desk.md": f"# Desk\n\nReviewers sign with the initials {initials}.\n\n{rota}",
        "hr/people.db": personnel(rng, accounts),
        DATABASE: database(SCHEMA),
        **machine_files(rng, accounts),
    }
    told = (
        f"Today is {TODAY}. Your reviewer number is {number}. Review these accounts: "
        f"{', '.join(a.name for a in accounts)}. What each may do stands in hosts/HOST/ "
        "(passwd names the employee and the host; group, sudoers, lastlog), who it belongs to, "
        "and whether that person is active, paused or left, in hr/people.db. For each enter one "
        "row into the table decisions of review.db: account, employee, host, manager, decision, "
        "reason, power (the group of the account that sudoers knows), due (a day) and reviewer; "
        "the database refuses rows that are not in its form and names the constraint. Then write "
        "removals.csv (account, host, due) of all that is to be removed, sorted by account. "
        "Decisions, words and deadlines: docs/review.md; signing: docs/desk.md."
    )
    sign = f"{number}/{initials}"
    return Case(made, told, plan_of(accounts), lambda left: check(accounts, days, sign, left))


TASK = Task("security-access", "Security", "Review accounts and what they may do", build)
