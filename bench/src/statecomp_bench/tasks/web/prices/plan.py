"""How an agent would go about it: costs first, computed on the way, then rates, then all prices."""

from __future__ import annotations

from collections.abc import Iterator

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.tasks.shared import named, rules_of
from statecomp_bench.tasks.web.prices.data import MARKETS

LANDED = """
    # landed cost of NAME
    from decimal import ROUND_HALF_UP, Decimal
    rows = dict(line.split(',')[:2] for line in open('data/surcharges.csv'))
    cost = Decimal('{cost_NAME}') * (1 + Decimal(rows['{class_NAME}']) / 100)
    cost += Decimal('{freight_NAME}')
    print('NAME', 'lands at', cost.quantize(Decimal('0.0001'), ROUND_HALF_UP), 'EUR')
    lines = open('data/surcharges.csv').read().splitlines()
    print('\\n'.join(lines[:{lines} // 3]))
"""
RATES = """
    # rates for NAME
    rows = [line.split(',') for line in open('rates/NAME.csv').read().splitlines()]
    for day, kind, rate, who in rows[:{lines}]:
        print(day, kind, rate, who)
    print('NAME', 'closed at', next(r[2] for r in rows if r[1] == 'close'))
    print('NAME', 'stands at', rows[-1][2])
"""
PRICE = """
    from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
    def number(text):
        return Decimal(text) if text.replace('.', '', 1).isdigit() else Decimal(0)
    def price(cost, rate, tax, step, status, code):
        amount = number(cost) * {margin} * number(rate)
        if not {untaxed}:
            amount *= 1 + number(tax) / 100
        step = number(step) or Decimal('0.01')
        amount = (amount / step).quantize(Decimal(1), {rounding}) * step
        return f'{amount:.2f}'{comma} + f'{space}{code}'
"""
TABLE = f"""
    # table for NAME
    import os{PRICE}
    os.makedirs('site/prices', exist_ok=True)
    lines = ['<table>'{{captioned}}]
    for name, cost in [COSTS]:
        terms = '{{rate_NAME}}', '{{tax_NAME}}', '{{step_NAME}}', '{{status_NAME}}'
        amount = price(cost, *terms, 'CODE')
        lines.append(f'<tr><th>{{name}}</th><td{{cell}}>{{amount}}</td></tr>')
    open('site/prices/NAME.html', 'w').write('\\n'.join([*lines, '</table>']) + '\\n')
    print('\\n'.join(lines))
"""
PRODUCT = f"""
    # product page NAME
    import os{PRICE}
    os.makedirs('site/products', exist_ok=True)
    lines = ['<table>'{{captioned}}]
    for market, code, rate, tax, step, status in [
    MARKETS]:
        amount = price('{{landed_NAME}}', rate, tax, step, status, code)
        lines.append(f'<tr><th>{{market}}</th><td{{cell}}>{{amount}}</td></tr>')
    open('site/products/NAME.html', 'w').write('\\n'.join([*lines, '</table>']) + '\\n')
    print('\\n'.join(lines))
"""


def facts_of(names: list[str]) -> Iterator[Fact]:
    yield Fact("from", "day the prices hold from", r"hold from (\d{4}-\d\d-\d\d)", "terms")
    for n in names:
        yield Fact(
            f"cost_{n}", f"works price of {n}", rf"Works price of {n}: ([\d.]+)", f"sheet_{n}"
        )
        yield Fact(
            f"class_{n}", f"surcharge class of {n}", rf"Surcharge class of {n}: (\w+)", f"sheet_{n}"
        )
        yield Fact(f"freight_{n}", f"freight of {n}", rf"Freight of {n}: ([\d.]+)", f"freight_{n}")
        yield Fact(
            f"landed_{n}", f"landed cost of {n}", rf"{n} lands at ([\d.]+) EUR", f"landed_{n}"
        )
    for m in MARKETS:
        yield Fact(f"close_{m}", f"closing rate for {m}", rf"{m} closed at ([\d.]+)", f"rates_{m}")
        yield Fact(f"spot_{m}", f"spot rate for {m}", rf"{m} stands at ([\d.]+)", f"rates_{m}")
        yield Fact(f"tax_{m}", f"tax in {m}", rf"Tax in {m}: ([\d.]+)", f"market_{m}")
        yield Fact(f"step_{m}", f"step in {m}", rf"Step in {m}: ([\d.]+)", f"market_{m}")
        yield Fact(f"status_{m}", f"status of {m}", rf"Status of {m}: (\w+)", f"market_{m}")


RULES = rules_of(
    "guide",
    (
        "margin",
        "the margin is 35 per cent",
        "a margin of 35 per cent",
        "Decimal('1.35')",
        "Decimal('1.25')",
    ),
    (
        "rounding",
        "prices are rounded up",
        "Prices are rounded up to",
        "ROUND_CEILING",
        "ROUND_HALF_UP",
    ),
    (
        "untaxed",
        "export markets show prices without tax",
        "status is export show prices",
        "status == 'export'",
        "False",
    ),
    (
        "comma",
        "amounts have a decimal comma",
        "Amounts have a decimal comma",
        ".replace('.', ',')",
        "",
    ),
    (
        "space",
        "a fixed blank stands before the currency",
        "behind them after `&nbsp;`",
        "&nbsp;",
        " ",
    ),
    (
        "cell",
        "cells of amounts have the class amount",
        "Cells with amounts have",
        ' class="amount"',
        "",
    ),
    (
        "captioned",
        "tables have a caption with the day",
        "a caption with the day",
        ", '<caption>Prices from {from}</caption>'",
        "",
    ),
    *(
        (
            f"rate_{m}",
            f"{m} is exchanged at the closing rate",
            "exchange at the closing rate",
            f"{{close_{m}}}",
            f"{{spot_{m}}}",
        )
        for m in MARKETS
    ),
)


def plan_of(names: list[str]) -> Plan:
    costs = ", ".join(f"('{n}', '{{landed_{n}}}')" for n in names)
    market = "".join(
        f"    ('{m}', '{code}', '{{rate_{m}}}', '{{tax_{m}}}', '{{step_{m}}}', "
        f"'{{status_{m}}}'),\n    "
        for m, code in MARKETS.items()
    )
    product = PRODUCT.replace("MARKETS", market)
    table = {m: TABLE.replace("COSTS", costs).replace("CODE", code) for m, code in MARKETS.items()}
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/pricing.md", "read how prices are made", group="a"),
        read("terms", "docs/terms.md", "read the terms of sale", group="a"),
        *(
            read(f"sheet_{n}", f"sheets/{n}.txt", f"read the sheet of {n}", group="s")
            for n in names
        ),
        *(
            read(f"freight_{n}", f"freight/{n}.txt", f"read the freight quote for {n}", group="f")
            for n in names
        ),
        *(
            read(f"market_{m}", f"markets/{m}.md", f"read about the market {m}", group="m")
            for m in MARKETS
        ),
        shell("old", "python3 tools/prices.py", "try the old price script"),
        *(python(f"landed_{n}", named(LANDED, n), f"work out what {n} costs us") for n in names),
        *(python(f"rates_{m}", named(RATES, m), f"look up the rates for {m}") for m in MARKETS),
        *(
            python(f"page_{n}", named(product, n), f"write the prices of {n}", leaves=True)
            for n in names
        ),
        *(
            python(f"table_{m}", named(table[m], m), f"write the table for {m}", leaves=True)
            for m in MARKETS
        ),
        shell("proof", "cat site/prices/*.html site/products/*.html", "read all prices again"),
    ]
    return Plan(tuple(facts_of(names)), RULES, tuple(steps), "The tables are in site/.")
