"""Price tables for several markets: costs computed on the way, exchanged and rounded at the end."""

from __future__ import annotations

from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.shared import each
from statecomp_bench.tasks.web.pages import instruction
from statecomp_bench.tasks.web.prices.data import (
    MARKETS,
    Market,
    Product,
    files_of,
    markets_of,
    products_of,
)
from statecomp_bench.tasks.web.prices.plan import plan_of


def check(products: list[Product], markets: list[Market], day: str, left: Artefacts) -> Score:
    pairs = [(product, market) for product in products for market in markets]

    def shown(path: str, row: str) -> str:
        found = elements(left.text(path), "th", "td")
        place = next(n for n, e in enumerate(found) if e.text == row)
        return found[place + 1].text.split()[0].replace(".", ",")

    def in_table(pair: tuple[Product, Market]) -> bool:
        product, market = pair
        return shown(f"site/prices/{market.name}.html", product.name) == market.price(product)

    def on_page(pair: tuple[Product, Market]) -> bool:
        product, market = pair
        return shown(f"site/products/{product.name}.html", market.name) == market.price(product)

    paths = [f"site/prices/{m.name}.html" for m in markets] + [
        f"site/products/{p.name}.html" for p in products
    ]
    codes = set(MARKETS.values())

    def written(path: str) -> bool:
        cells = [line.split("<td")[1] for line in left.text(path).splitlines() if "<td" in line]
        ends = (cell.split("<")[0].rpartition(",")[2].partition("&nbsp;") for cell in cells)
        return bool(cells) and all(
            len(cents) == 2 and blank and code in codes for cents, blank, code in ends
        )

    def celled(path: str) -> bool:
        cells = elements(left.text(path), "td")
        return bool(cells) and all(e.attributes.get("class") == "amount" for e in cells)

    return grade(
        each("prices at home", 4, [x for x in pairs if not x[1].export], in_table),
        each("prices for export", 3, [x for x in pairs if x[1].export], in_table),
        each("prices on product pages", 4, pairs, on_page),
        each("amounts as written", 2, paths, written),
        each("classes", 1, paths, celled),
        each(
            "captions", 2, paths, lambda p: f"<caption>Prices from {day}</caption>" in left.text(p)
        ),
        part(
            "all products in all tables",
            1,
            lambda: all(shown(f"site/prices/{m.name}.html", p.name) for p, m in pairs),
        ),
    )


def build(rng: Random, level: int) -> Case:
    products, markets = products_of(rng, level), markets_of(rng)
    day = f"2024-{rng.randrange(6, 13):02d}-{rng.randrange(10, 29)}"
    names = [product.name for product in products]
    held = ", ".join(f"{name} ({code})" for name, code in MARKETS.items())
    told = instruction(__package__, names=", ".join(names), held=held)
    made = files_of(rng, products, markets, day)
    return Case(made, told, plan_of(names), lambda left: check(products, markets, day, left))


TASK = Task("web-prices", "Web", "Write price tables with currencies, tax and rounding", build)
