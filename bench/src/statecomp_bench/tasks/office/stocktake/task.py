"""A stock-take: counts of one item lie on several sheets, some are replaced by a recount."""

from __future__ import annotations

from importlib.resources import files
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, sql
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.office.each import (
    facts_about,
    lines_of,
    queries,
    reads,
    rules_about,
    rules_of,
)
from statecomp_bench.tasks.office.papers import (
    column,
    database,
    holds,
    prose,
    put,
    stored_rows,
    table_text,
)
from statecomp_bench.tasks.office.stocktake.data import (
    AISLES,
    BASE,
    REASONS,
    Item,
    Stock,
    movements,
    recount,
    sheet,
    story,
)

BOOK = """-- book stock of NAME
select article, moment, pieces, kind from movements where article = '{article_NAME}'
union all select 'book stock of NAME', sum(pieces), '', ''
from movements where article = '{article_NAME}'"""
AFTER = """-- after the cut-off NAME
select article, moment, pieces, kind from movements
where article = '{article_NAME}' and moment > '{cutoff}'
union all select 'booked late for NAME', sum(pieces), '', ''
from movements where article = '{article_NAME}' and moment > '{cutoff}'"""
ADJUST = """-- adjustment of NAME
insert into adjustments
select article, difference, booked, printf('%.2f', booked * cost),
  case when tolerated then {reason_tolerated}
    when booked < 0 then {reason_loss} else {reason_surplus} end,
  {signed}
from (select *, case when tolerated then 0 else difference end as booked
from (select *, ({tolerance}){never} as tolerated
from (select '{article_NAME}' as article, {cost_NAME} as cost, '{class_NAME}' as class,
  (COUNTS) * {carton_NAME} - ({book_NAME}{late_NAME}) as difference,
  {book_NAME}{late_NAME} as book)))"""
PROTOCOL = """
    # protocol of the stock-take
    import os, sqlite3
    query = 'select article, value, signed from adjustments'
    rows = sqlite3.connect('stock/stock.db').execute(query).fetchall()
    total = sum(float(row[1]) for row in rows)
    os.makedirs('out', exist_ok=True)
    lines = ['Cut-off {cutoff}', f'Total {total:.2f} EUR', f'{len(rows)} items']
    lines += [f'Signed {row[2]} for {row[0]}' for row in rows if row[2]]
    counters = {
        COUNTERS
    }
    lines += [f'{aisle} counted by {name}' for aisle, name in counters.items()]
    open('out/protocol.txt', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
RULES = rules_of(
    "rules",
    (
        "tolerance",
        "up to 3 percent is tolerated",
        "at most 3 percent of the book stock",
        "abs(difference) * 100 <= 3 * book",
        "0",
    ),
    (
        "never",
        "class A is never tolerated",
        "Class A items are never tolerated",
        " and class <> 'A'",
        "",
    ),
    (
        "signed",
        "values over 350 carry initials",
        "more than 350 euros, up or down",
        "case when abs(booked * cost) > 350 then '{controller}' else '' end",
        "''",
    ),
)


def facts_of(item: Item) -> list[Fact]:
    name, low = item.name, item.name.lower()
    row = r"NAME,"
    return [
        *facts_about(
            name,
            "master",
            ("article", "article of NAME", row + r"(\d+\.\d+)"),
            ("carton", "carton of NAME", row + r"[\d.]+,(\d+)"),
            ("cost", "cost of NAME", row + r"[\d.]+,\d+,([\d.]+)"),
            ("class", "class of NAME", row + r"[\d.]+,\d+,[\d.]+,(\w)"),
        ),
        *facts_about(
            name, f"book_{low}", ("book", "book stock for NAME", r"book stock of NAME \| (-?\d+)")
        ),
        *facts_about(
            name,
            f"after_{low}",
            ("after", "late bookings for NAME", r"booked late for NAME \| (-?\d+)"),
        ),
        *(
            Fact(
                f"count_{aisle.lower()}_{low}",
                f"count of {name} in {aisle}",
                rf"{aisle} \| {name} \| shelf \d+ \| counted (\d+)",
                f"sheet_{aisle.lower()}" if item.first[aisle] == n else "recount",
            )
            for aisle, n in item.counts.items()
        ),
    ]


def adjust(item: Item) -> Step:
    low = item.name.lower()
    counts = " + ".join(f"{{count_{aisle.lower()}_{low}}}" for aisle in item.counts)
    query = put(ADJUST.replace("COUNTS", counts), NAME=item.name)
    return Step(
        f"adjust_{low}",
        "sqlite",
        {"query": query, "database": BASE},
        f"adjust the stock of {item.name}",
        leaves=True,
    )


def plan_of(stock: Stock) -> Plan:
    names = [item.name for item in stock.items]
    facts = [fact for item in stock.items for fact in facts_of(item)]
    facts += (Fact(f"reason_{r}", f"reason for {r}", rf"{r} is (\d\d)", "rules") for r in REASONS)
    for aisle in AISLES:
        counter = ("counter", "counter in NAME", r"counted in NAME by (\w+ \w+)")
        facts += facts_about(aisle, f"sheet_{aisle.lower()}", counter)
    facts.append(Fact("cutoff", "moment of the cut-off", r"cut-off was on (\S+ \d\d:\d\d)", "memo"))
    facts.append(Fact("controller", "initials of the controller", r"signs as ([A-Z]{3})\b", "memo"))
    late = rules_about(
        names,
        "late",
        "late bookings of NAME are taken off",
        "booked after the cut-off is taken off",
        " - ({after_NAME})",
        "",
    )
    protocol = PROTOCOL.replace("COUNTERS", lines_of("'NAME': '{counter_NAME}',", AISLES))
    seen = "-- what was adjusted\nselect * from corrections"
    booked = "-- all adjustments\nselect * from adjustments"
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("rules", "stock/rules.md", "read the instructions for the desk", group="a"),
        read("memo", "stock/memo.txt", "read the memo of the controller", group="a"),
        read("master", "stock/master.csv", "open the master list", group="a"),
        *reads("sheet", "sheets", AISLES, "read the sheet of aisle", "s"),
        sql("wrong", BASE, seen, "see what was adjusted before"),
        *queries("book", BASE, BOOK, names, "look up the books on"),
        read("protocol_2024", "stock/protocol_2024.txt", "see the protocol of last year"),
        *queries("after", BASE, AFTER, names, "look for late bookings of"),
        read("recount", "sheets/recount.txt", "read the sheet of the recount"),
        *map(adjust, stock.items),
        python("protocol", protocol, "write the protocol down", leaves=True),
        sql("proof", BASE, booked, "read the adjustments again"),
    ]
    return Plan(tuple(facts), (*RULES, *late), tuple(steps), "The stock-take is booked.")


def check(stock: Stock, left: Artefacts) -> Score:
    items = stock.items

    def rows() -> list[dict[str, str]]:
        return stored_rows(left, BASE, "adjustments")

    signed = {i.article: stock.controller if abs(float(i.value)) > 350 else "" for i in items}
    total = f"{sum(float(i.value) for i in items):.2f}"

    def protocol() -> float:
        words = [f"Cut-off {stock.cutoff}", f"Total {total} EUR"]
        words += [f"{aisle} counted by {name}" for aisle, name in stock.counters.items()]
        return holds(left, "out/protocol.txt", words)

    return grade(
        column("difference", 4, rows, "article", {i.article: str(i.difference) for i in items}),
        column("booked", 3, rows, "article", {i.article: str(i.booked) for i in items}),
        column("value", 2, rows, "article", {i.article: i.value for i in items}),
        column(
            "reason", 2, rows, "article", {i.article: str(stock.reasons[i.reason]) for i in items}
        ),
        column("signed", 2, rows, "article", signed),
        part("protocol", 3, protocol),
    )


def instruction(stock: Stock) -> str:
    items = "; ".join(f"{i.name} ({', '.join(i.counts)})" for i in stock.items)
    return (
        f"Book the stock-take for these items, which lie in these aisles: {items}. Count sheets "
        "are in sheets/, one for each aisle, and a recount in sheets/recount.txt; movements are "
        f"in {BASE}, all of them since the beginning of June, and add up to the book stock. "
        "Insert one row for each item into the table adjustments of that database: article, "
        "difference, booked, value, reason, signed (the initials, or empty). Then write "
        "out/protocol.txt with lines 'Cut-off DATE TIME' as in the memo, 'Total VALUE EUR', and "
        "for each aisle 'AISLE counted by NAME'. stock/rules.md says how differences are "
        "treated; stock/memo.txt has the cut-off and the controller; article numbers, cartons, "
        "costs and classes stand in stock/master.csv."
    )


def build(rng: Random, level: int) -> Case:
    stock = story(rng, level)
    master = [(i.name, i.article, i.carton, i.cost, i.kind, sentence(rng)) for i in stock.items]
    master += [
        (
            f"Box {rng.randrange(100, 999)}",
            f"{rng.randrange(100, 999)}.{rng.randrange(1000, 9999)}",
            6,
            1.5,
            "C",
            "",
        )
        for _ in range(30)
    ]
    rng.shuffle(master)
    reasons = ", ".join(f"{name} is {number}" for name, number in stock.reasons.items())
    columns = (
        "article text primary key, difference int, booked int, value text, reason int, signed text"
    )
    made: dict[str, str | bytes] = {
        "stock/rules.md": files(__package__)
        .joinpath("rules.md")
        .read_text("utf-8")
        .replace("REASONS", reasons),
        "stock/memo.txt": f"{prose(rng, 20)}\n\nThe cut-off was on {stock.cutoff}. The controller "
        f"signs as {stock.controller}.\n\n{prose(rng, 14)}\n",
        "stock/master.csv": table_text(
            ("item", "article", "carton", "cost", "class", "remark"), master
        ),
        "stock/protocol_2024.txt": f"PROTOCOL OF 2024\n\n{prose(rng, 60)}\n",
        "sheets/recount.txt": recount(rng, stock),
        BASE: database(
            {
                "movements": (
                    "article text, moment text, pieces int, kind text",
                    movements(rng, stock),
                ),
                "adjustments": (columns, []),
            }
        ),
    }
    made |= {f"sheets/{aisle.lower()}.txt": sheet(rng, stock, aisle) for aisle in AISLES}
    return Case(made, instruction(stock), plan_of(stock), lambda left: check(stock, left))


TASK = Task("office-stocktake", "Office", "Reconcile a stock-take with the books", build)
