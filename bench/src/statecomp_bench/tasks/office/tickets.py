"""Tickets of queues that are empty once they were read: the replies need what they said."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random

from statecomp_bench.outside import HTTP, Scene
from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import http, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.office.papers import comma, money, retired
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

DESK = "https://desk.example"
EMPTY = "204 no content\nThe queue of {name} is empty: its ticket was handed out and is not kept.\n"
GUIDE = """# Replies

- A reply begins with "Dear" and the first name, nothing else on that line.
- Customers with a gold account get twice the credit of the tariff sheet.
- Amounts are written with a decimal comma.
- The callback code stands alone on the last line, after the word Callback and a blank.
- In the overview, tickets of gold accounts carry a star behind the ticket number.

"""
REPLY = """
    # reply to NAME
    import os
    os.makedirs('replies', exist_ok=True)
    who, gold = '{person_NAME}', '{account_NAME}' == 'gold'
    text = '{credit_NAME}'
    credit = float(text) if text.replace('.', '', 1).isdigit() else 0.0
    credit = credit {twice}
    lines = [
        f'{greeting}{who.split()[0]}',
        'Ticket {ticket_NAME}',
        'Credit ' + f'{credit:.2f}'{comma},
        {callback},
    ]
    open('replies/NAME.txt', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
OVERVIEW = """
    # overview of all tickets
    accounts = {ACCOUNTS}
    tickets = {TICKETS}
    with open('overview.csv', 'w') as file:
        for name, ticket in tickets.items():
            gold = accounts[name] == 'gold'
            file.write(f'{name},{ticket}' + {star} + '\\n')
    print(open('overview.csv').read())
"""


@dataclass(frozen=True)
class Ticket:
    name: str
    person: str
    number: str
    code: str
    account: str
    tariff: Decimal

    @property
    def lines(self) -> list[str]:
        credit = self.tariff * (2 if self.account == "gold" else 1)
        first = self.person.split()[0]
        return [f"Dear {first}", f"Ticket {self.number}", f"Credit {comma(credit)}",
                f"Callback {self.code}"]  # fmt: skip


RULES = rules_of(
    "guide",
    ("greeting", "replies begin with Dear", 'begins with "Dear"', "Dear ", "Hello "),
    ("twice", "gold accounts get twice the credit", "twice the credit of the tariff",
     "* (2 if gold else 1)", "* 1"),
    ("comma", "amounts have a decimal comma", "with a decimal comma", ".replace('.', ',')", ""),
    ("star", "gold tickets carry a star", "carry a star behind", "('*' if gold else '')", "''"),
)  # fmt: skip


def tickets_of(rng: Random, level: int) -> list[Ticket]:
    return [
        Ticket(name, person(rng), f"T-{rng.randrange(100_000, 999_999)}", hexadecimal(rng, 6),
               rng.choice(("gold", "blue", "plain")), money(rng, 3, 60))
        for name in nouns(rng, 6 + 2 * level)
    ]  # fmt: skip


def files_of(rng: Random, tickets: list[Ticket]) -> dict[str, str]:
    made = {
        "docs/replies.md": GUIDE + paper(rng, 2000),
        "tools/replay.py": retired("replay.py: handed out tickets are not kept, ask the customer"),
    }
    for t in tickets:
        made[f"accounts/{t.name}.txt"] = paper(rng, 3500, f"Account of {t.name}: {t.account}")
        made[f"tariffs/{t.name}.txt"] = paper(rng, 3500, f"Credit for {t.name}: {t.tariff} EUR")
    return made


def scene(rng: Random, t: Ticket) -> Scene:
    told = paper(rng, 900, f"Ticket number of {t.name}: {t.number}",
                 f"Written by, for {t.name}: {t.person}", f"Callback code of {t.name}: {t.code}",
                 kinds=("mail",))  # fmt: skip
    return Scene(HTTP, rf"GET {DESK}/{t.name}/next", (f"200 ok\n{told}", EMPTY.format(name=t.name)))


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "take",
                   ("ticket", "ticket number of NAME", r"Ticket number of NAME: (T-\d+)"),
                   ("person", "writer of NAME", r"Written by, for NAME: (\w+ \w+)"),
                   ("code", "callback code of NAME", r"Callback code of NAME: (\w+)")),
        *facts_for(names, "account", ("account", "account of NAME", r"Account of NAME: (\w+)")),
        *facts_for(names, "tariff", ("credit", "credit for NAME", r"Credit for NAME: ([\d.]+)")),
    ]  # fmt: skip
    callbacks = rules_of("guide", *(
        (f"callback_{n}", f"the callback of {n} stands last", "stands alone on the last line",
         f"'Callback {{code_{n}}}'", f"'Call us back, code {{code_{n}}}'")
        for n in names))  # fmt: skip
    reply = REPLY.replace("{callback}", "{callback_NAME}")
    accounts = ", ".join(f"'{n}': '{{account_{n}}}'" for n in names)
    numbers = ", ".join(f"'{n}': '{{ticket_{n}}}'" for n in names)
    overview = OVERVIEW.replace("ACCOUNTS", accounts).replace("TICKETS", numbers)
    steps = [
        Step("list", "list_files", {}, "see what is in the folder"),
        read("guide", "docs/replies.md", "read how replies are written"),
        *(http(f"take_{n}", "GET", f"{DESK}/{n}/next", f"take the ticket from queue {n}",
               once=True)
          for n in names),
        shell("old", "python3 tools/replay.py", "try to have tickets printed again"),
        *(read(f"account_{n}", f"accounts/{n}.txt", f"read the account of {n}", group="a")
          for n in names),
        *(read(f"tariff_{n}", f"tariffs/{n}.txt", f"read the tariff for {n}", group="t")
          for n in names),
        *(python(f"reply_{n}", named(reply, n), f"write the reply to {n}", leaves=True)
          for n in names),
        python("overview", overview, "write the overview", leaves=True),
        shell("proof", "cat overview.csv replies/*.txt", "read the replies again"),
    ]  # fmt: skip
    return Plan(tuple(facts), (*RULES, *callbacks), tuple(steps), "All tickets are answered.")


def check(tickets: list[Ticket], left: Artefacts) -> Score:
    def line(name: str, weight: float, place: int) -> TaskQuestion:
        def holds(t: Ticket) -> bool:
            return left.text(f"replies/{t.name}.txt").splitlines()[place] == t.lines[place]

        return each(name, weight, tickets, holds)

    def overview() -> float:
        star = {t.name: "*" if t.account == "gold" else "" for t in tickets}
        wanted = {f"{t.name},{t.number}{star[t.name]}" for t in tickets}
        found = set(left.text("overview.csv").split())
        return len(found & wanted) / len(found | wanted)

    return grade(
        line("greeting", 2, 0),
        line("ticket", 3, 1),
        line("credit", 3, 2),
        line("callback", 3, -1),
        part("overview", 3, overview),
    )


def build(rng: Random, level: int) -> Case:
    tickets = tickets_of(rng, level)
    names = [t.name for t in tickets]
    told = (
        f"Answer the tickets that wait in the queues {', '.join(names)}. GET {DESK}/NAME/next "
        "hands out the ticket of a queue and forgets it. accounts/ has the kind of each account, "
        "tariffs/ the credit. Write replies/NAME.txt with four lines: the greeting, `Ticket "
        "NUMBER`, `Credit AMOUNT`, and the callback; then overview.csv with a line NAME,TICKET "
        "for each. docs/replies.md says how replies are written."
    )
    seen = {
        f"{k}_{t.name}": v for t in tickets for k, v in (("ticket", t.number), ("code", t.code))
    }
    return Case(
        dict(files_of(rng, tickets)), told, plan_of(names), lambda left: check(tickets, left),
        scenes=tuple(scene(rng, t) for t in tickets), seen=seen,
    )  # fmt: skip


TASK = Task("office-tickets", "Office", "Answer tickets from queues that are consumed", build)
