"""The generated part of the web workspace: products, two pages made from them, and images."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

WOODS = ("Alder", "Ash", "Beech", "Cherry", "Elm", "Larch", "Maple", "Oak", "Pear", "Walnut")
SHAPES = {
    "boards": ("bread board", "carving board", "cheese board"),
    "bowls": ("fruit bowl", "bowl"),
}
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>{title}</title>
  <link rel="stylesheet" href="css/{css}.css">
</head>
<body>
  <header id="top">
    <img src="img/logo.svg" alt="Alder &amp; Pine">
    <nav>
      <a href="index.html">Home</a>
      <a href="about.html">About</a>
      <a href="contact.html">Contact</a>
    </nav>
  </header>
  <main>
"""
FOOT = """  </main>
  <footer><a href="#top">Back to top</a></footer>
</body>
</html>
"""


class Product(NamedTuple):
    id: str
    name: str
    group: str
    price: str
    weight_g: int
    note: str


def products() -> list[Product]:
    rng = random.Random(1040)
    rows = []
    for number in range(32):
        group = "boards" if number % 2 else "bowls"
        wood = WOODS[number * 7 % len(WOODS)]
        shape = SHAPES[group][number % len(SHAPES[group])]
        price = f"{rng.randrange(18, 140)}.{rng.choice((50, 90))}"
        weight = rng.randrange(300, 2_400, 20)
        felled, batch = rng.randrange(2012, 2021), rng.randrange(900, 999)
        note = f"Turned from {wood.lower()} felled in {felled}, batch B{batch}."
        rows.append(
            Product(f"p-{1040 + 7 * number}", f"{wood} {shape}", group, price, weight, note)
        )
    return rows


def catalog(rows: list[Product]) -> str:
    """Images without alt, headings that skip a level, one link to nowhere."""
    parts = [HEAD.format(title="Catalog", css="site"), "    <h1>Catalog</h1>\n"]
    for group in SHAPES:
        parts.append(f'    <h2 id="{group}">{group.title()}</h2>\n')
        for row in rows:
            if row.group != group:
                continue
            target = f"{row.id}x" if row.id == "p-1089" else row.id
            parts.append(
                f'    <article class="card" id="{row.id}">\n      <h4>{row.name}</h4>\n'
                f'      <img src="img/{row.id}.svg">\n      <p class="price">{row.price}</p>\n'
                f'      <a href="product.html#{target}">Details</a>\n    </article>\n'
            )
    return "".join([*parts, FOOT])


def details(rows: list[Product]) -> str:
    """A stylesheet that does not exist and an id used twice."""
    parts = [HEAD.format(title="Products", css="main"), "    <h1>Products</h1>\n"]
    for row in rows:
        ident = "p-1131" if row.id == "p-1138" else row.id
        parts.append(
            f'    <section id="{ident}">\n      <h2>{row.name}</h2>\n'
            f'      <p>{row.note}</p>\n      <p class="muted">{row.weight_g} g</p>\n'
            "    </section>\n"
        )
    return "".join([*parts, FOOT])


def generate(root: Path) -> None:
    rows = products()
    for folder in ("data", "img"):
        (root / folder).mkdir()
    lines = ",\n".join(json.dumps(row._asdict()) for row in rows)
    (root / "data" / "products.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    (root / "catalog.html").write_text(catalog(rows), encoding="utf-8")
    (root / "product.html").write_text(details(rows), encoding="utf-8")
    for name in ("logo", "search", "workshop", *(row.id for row in rows)):
        shape = f"<title>{name}</title><rect width='80' height='60' rx='6'/>"
        svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 80 60'>{shape}</svg>\n"
        (root / "img" / f"{name}.svg").write_text(svg, encoding="utf-8")
