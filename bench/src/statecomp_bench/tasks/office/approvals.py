"""Orders for which the person who asked must be asked: each answer is given once, and used late."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random

from statecomp_bench.outside import ASK, Scene
from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import ask, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import nouns, person
from statecomp_bench.tasks.office.papers import money, retired
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

GUIDE = """# Purchasing

- Every order carries freight of 12.50 EUR, whatever is ordered; it is part of the total.
- An order above its ceiling is signed by the board, any other by the desk.
- Cost centres are written with the prefix CC- and a hyphen.
- Requesters are written with the last name first, then a comma.
- The list of orders is sorted by total, the largest first.

"""
BUSY = "I have answered that, {name} was among it. I am on a train now and cannot look it up again."
ORDER = """
    # order for NAME
    import json, os
    os.makedirs('orders', exist_ok=True)
    def number(text):
        return float(text) if text.replace('.', '', 1).isdigit() else 0.0
    total = round(number('{price_NAME}') * number('{pieces_NAME}'){freight}, 2)
    who = '{requester_NAME}'
    order = {
        'article': '{article_NAME}',
        'requester': {turned},
        'centre': {prefix}'{centre_NAME}',
        'total': total,
        'signed': {signed} if total > number('{ceiling_NAME}') else 'desk',
        'word': '{word_NAME}',
    }
    open('orders/NAME.json', 'w').write(json.dumps(order, indent=2) + '\\n')
    print(order)
"""
LIST = """
    # list of all orders
    import glob, json
    rows = [(json.load(open(p))['total'], p[7:-5]) for p in glob.glob('orders/*.json')]
    rows.sort({largest})
    with open('orders.csv', 'w') as file:
        for total, name in rows:
            file.write(f'{name},{total:.2f}\\n')
    print(open('orders.csv').read())
"""
RULES = rules_of(
    "guide",
    ("freight", "orders carry freight of 12.50", "carries freight of 12.50", " + 12.5", ""),
    ("signed", "the board signs above the ceiling", "signed by the board", "'board'", "'head'"),
    ("prefix", "centres have the prefix CC", "with the prefix CC-", "'CC-' + ", ""),
    ("turned", "the last name stands first", "with the last name first",
     "', '.join(reversed(who.split()))", "who"),
    ("largest", "the largest order stands first", "the largest first", "reverse=True", ""),
)  # fmt: skip


@dataclass(frozen=True)
class Want:
    name: str
    requester: str
    article: str
    pieces: int
    price: Decimal
    centre: str
    ceiling: int
    word: str

    @property
    def total(self) -> float:
        return float(round(self.price * self.pieces + Decimal("12.50"), 2))

    @property
    def order(self) -> dict[str, object]:
        first, last = self.requester.split()
        return {
            "article": self.article,
            "requester": f"{last}, {first}",
            "centre": f"CC-{self.centre}",
            "signed": "board" if self.total > self.ceiling else "desk",
            "word": self.word,
        }


def wants_of(rng: Random, level: int) -> list[Want]:
    made = []
    for name in nouns(rng, 6 + 2 * level):
        price, pieces = money(rng, 9, 90), rng.randrange(3, 40)
        ceiling = int(price * pieces * Decimal(rng.choice(("0.7", "1.6")))) + 5
        made.append(
            Want(name, person(rng), f"A{rng.randrange(10_000, 99_999)}", pieces, price,
                 str(rng.randrange(2000, 8000)), ceiling,
                 f"{rng.choice('BDKMRT')}{rng.randrange(100, 999)}")
        )  # fmt: skip
    return made


def files_of(rng: Random, wants: list[Want]) -> dict[str, str]:
    made = {
        "docs/purchasing.md": GUIDE + paper(rng, 2000),
        "tools/order.py": retired("order.py: orders are written by hand since the last audit"),
    }
    for w in wants:
        made[f"requests/{w.name}.txt"] = paper(
            rng, 3600, f"Requester of {w.name}: {w.requester}", f"Pieces of {w.name}: {w.pieces}"
        )
        made[f"offers/{w.name}.txt"] = paper(
            rng, 3600, f"Article number of {w.name}: {w.article}",
            f"Unit price of {w.name}: {w.price} EUR",
        )  # fmt: skip
    return made


def scene(rng: Random, w: Want) -> Scene:
    told = (
        f"{sentence(rng)} Where were we? For {w.name} take centre {w.centre}, and the ceiling for "
        f"{w.name} is {w.ceiling} EUR. The word for {w.name} is {w.word}. {sentence(rng)}"
    )
    return Scene(ASK, rf"\b{w.name}\b", (told, BUSY.format(name=w.name)))


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "request",
                   ("requester", "requester of NAME", r"Requester of NAME: (\w+ \w+)"),
                   ("pieces", "pieces of NAME", r"Pieces of NAME: (\d+)")),
        *facts_for(names, "offer",
                   ("article", "article number of NAME", r"Article number of NAME: (\w+)"),
                   ("price", "unit price of NAME", r"Unit price of NAME: ([\d.]+)")),
        *facts_for(names, "ask",
                   ("centre", "cost centre for NAME", r"For NAME take centre (\d+)"),
                   ("ceiling", "ceiling for NAME", r"ceiling for NAME is (\d+)"),
                   ("word", "word for NAME", r"word for NAME is (\w+)")),
    ]  # fmt: skip
    question = "Which cost centre, ceiling and word should I use for"
    steps = [
        Step("list", "list_files", {}, "look around in the folder"),
        read("guide", "docs/purchasing.md", "read how purchasing works"),
        *(read(f"request_{n}", f"requests/{n}.txt", f"read the request of {n}") for n in names),
        *(ask(f"ask_{n}", f"{n}: {question} {n}?", f"ask about the order of {n}") for n in names),
        shell("old", "python3 tools/order.py", "try the order program"),
        *(read(f"offer_{n}", f"offers/{n}.txt", f"read the offer for {n}") for n in names),
        *(python(f"order_{n}", named(ORDER, n), f"write the order {n}", leaves=True)
          for n in names),
        python("table", LIST, "list all orders", leaves=True),
        shell("proof", "cat orders.csv", "read the list again"),
    ]  # fmt: skip
    return Plan(tuple(facts), RULES, tuple(steps), "The orders are written.")


def check(wants: list[Want], left: Artefacts) -> Score:
    def order(w: Want) -> dict[str, object]:
        return dict(left.json(f"orders/{w.name}.json"))

    def field(key: str, weight: float) -> TaskQuestion:
        return each(key, weight, wants, lambda w: order(w)[key] == w.order[key])

    def listed() -> list[str]:
        return [line.split(",")[0] for line in left.text("orders.csv").split()]

    weights = {"article": 1, "requester": 1, "centre": 3, "signed": 3, "word": 3}
    asked = [line for line in left.calls if line.startswith(ASK)]
    return grade(
        *(field(key, weight) for key, weight in weights.items()),
        each("total", 2, wants, lambda w: abs(float(str(order(w)["total"])) - w.total) < 0.01),
        part("list", 1, lambda: listed() == [w.name for w in sorted(wants, key=_largest)]),
        part("no question twice", 1, lambda: len(listed()) / max(len(asked), len(wants))),
    )


def _largest(want: Want) -> float:
    return -want.total


def build(rng: Random, level: int) -> Case:
    wants = wants_of(rng, level)
    names = [w.name for w in wants]
    told = (
        f"Write orders for {', '.join(names)}. requests/ has what was asked for, offers/ article "
        "numbers and prices. Cost centre, ceiling and the word that goes on the order only I know: "
        "ask me for each order, once. Write orders/NAME.json with article, requester, centre, "
        "total (a number, with freight), signed (board or desk) and word, then orders.csv with a "
        "line NAME,TOTAL for each. docs/purchasing.md says how."
    )
    seen = {f"{k}_{w.name}": v for w in wants for k, v in (("centre", w.centre), ("word", w.word))}
    return Case(
        dict(files_of(rng, wants)), told, plan_of(names), lambda left: check(wants, left),
        scenes=tuple(scene(rng, w) for w in wants), seen=seen,
    )  # fmt: skip


TASK = Task("office-approvals", "Office", "Write orders by answers that are given once", build)
