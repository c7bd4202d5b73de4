"""Style sheets moved to design tokens; a build refuses a draft, and its reasons hold for all."""

from __future__ import annotations

from random import Random

from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined
from statecomp_bench.tasks.shared import each, scattered
from statecomp_bench.tasks.web.pages import guide, instruction, prose, text_of
from statecomp_bench.tasks.web.tokens.data import (
    BUILD,
    TEAMS,
    Component,
    colours,
    components_of,
    old_sheet,
)
from statecomp_bench.tasks.web.tokens.plan import plan_of


def check(made: list[Component], left: Artefacts) -> Score:
    texts = {c.name: text_of(left, f"next/{c.name}.css") for c in made}
    old = [c for c in made if c.owner == "Kiosk"]
    others = [c for c in made if c.owner != "Kiosk"]

    def uses(c: Component) -> bool:
        return c.ground[1] in texts[c.name] and c.edge[1] in texts[c.name]

    def backed(c: Component) -> bool:
        return all(
            f"var({token}, {colour})" in texts[c.name] for _, token, colour in (c.ground, c.edge)
        )

    def margin(c: Component) -> bool:
        return f": {c.margin};" in texts[c.name]

    def layered(c: Component) -> bool:
        return "@layer components {" in texts[c.name] and texts[c.name].rstrip().endswith("}\n}")

    order = [f'@import "{c.name}.css";' for c in sorted(made, key=lambda c: c.rank)]
    return grade(
        each("tokens", 4, made, uses),
        each("colours behind them", 2, made, backed),
        each("margins in rem", 2, others, margin),
        each("margins in pixels", 2, old, margin),
        each("logical directions", 1, made, lambda c: "margin-inline-start: " in texts[c.name]),
        each("owners", 2, made, lambda c: f"/* owner: {c.owner} */" in texts[c.name]),
        each("charset", 1, made, lambda c: texts[c.name].startswith('@charset "utf-8";\n')),
        each("layers", 1, made, layered),
        each("selectors", 1, made, lambda c: f".ds-{c.name}-panel {{" in texts[c.name]),
        part("order of imports", 2, lambda: left.text("next/index.css").splitlines() == order),
    )


def build(rng: Random, level: int) -> Case:
    made = components_of(rng, level)
    rows = [",".join((*c, rng.choice(NOUNS))) for m in made for c in (m.ground, m.edge)]
    others = [
        ",".join((*c, rng.choice(NOUNS))) for c in colours(rng, 300) if c[0] not in "".join(rows)
    ]
    owners = [
        f"component {c.name}, team {c.owner}, rank {c.rank}, since {rng.randrange(2009, 2024)}"
        for c in made
    ]
    unused = [
        f"component x{hexadecimal(rng, 5)}, team {rng.choice(TEAMS)}, "
        f"rank {rng.randrange(100, 999)}, retired"
        for _ in range(45)
    ]
    files = {
        "docs/migration.md": guide(__package__) + prose(rng, 7),
        "docs/owners.txt": joined(scattered(rng, unused, *owners)),
        "design/legacy.csv": joined(scattered(rng, others, *rows)),
        "tools/build.py": BUILD,
        **{f"css/{c.name}.css": old_sheet(rng, c) for c in made},
    }
    names = [c.name for c in made]
    told = instruction(__package__, names=", ".join(names))
    return Case(files, told, plan_of(names), lambda left: check(made, left))


TASK = Task("web-tokens", "Web", "Move style sheets to design tokens past a strict build", build)
