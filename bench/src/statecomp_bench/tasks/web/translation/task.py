"""Pages translated with a translation memory; terms come from a glossary that a notice amends."""

from __future__ import annotations

from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.invented import NOUNS, hexadecimal
from statecomp_bench.tasks.shared import each, scattered
from statecomp_bench.tasks.web.pages import guide, instruction, prose, text_of
from statecomp_bench.tasks.web.translation.data import (
    COMPARE,
    GERMAN,
    TAGS,
    Order,
    Segment,
    english,
    memory,
    order_of,
)
from statecomp_bench.tasks.web.translation.plan import plan_of


def check(order: Order, left: Artefacts) -> Score:
    texts = {page: text_of(left, f"de/{page}.html") for page in order.pages}

    def line(segment: Segment) -> str:
        marked = f' data-key="{segment.tag}"'
        return next(x for x in texts[segment.page].splitlines() if marked in x)

    def bare(segment: Segment) -> str:
        """Its text, whatever its spelling and markup."""
        found = elements(texts[segment.page], segment.tag)
        return next(e.text for e in found if e.attributes.get("data-key") == segment.tag).replace(
            "ß", "ss"
        )

    def right(segment: Segment) -> bool:
        return bare(segment) == segment.final(order.words).replace("<dfn>", "").replace(
            "</dfn>", ""
        )

    def reviewed(segment: Segment) -> bool:
        return ('data-review="yes"' in line(segment)) == (segment.state == "fuzzy")

    usual = [s for s in order.segments if s.term not in order.amended]
    changed = [s for s in order.segments if s.term in order.amended]
    pages = order.pages
    return grade(
        each("segments", 3, usual, right),
        each("amended terms", 3, changed, right),
        each(
            "wrapped terms", 1, order.segments, lambda s: "<dfn>" in line(s) and "</dfn>" in line(s)
        ),
        each("no eszett", 2, pages, lambda p: "strasse" in texts[p] and "ß" not in texts[p]),
        each("reviews", 2, order.segments, reviewed),
        each("language", 1, pages, lambda p: '<html lang="de-CH">' in texts[p]),
        each("imprint", 1, pages, lambda p: f'class="imprint">{order.number}<' in texts[p]),
        part(
            "all of a page",
            1,
            lambda: all(s.final(order.words) in texts[s.page] for s in order.segments),
        ),
    )


def build(rng: Random, level: int) -> Case:
    order = order_of(rng, level)
    marks = {page: f"j{hexadecimal(rng, 5)}" for page in order.pages}
    unused = [
        f"{hexadecimal(rng, 4)}-{rng.choice(NOUNS)}ing = {rng.choice(GERMAN)}" for _ in range(60)
    ]
    terms = scattered(rng, unused, *(f"{t} = {w}" for t, w in order.glossary.items()))
    points = [f"From now on {t} becomes {w} on all pages.\n" for t, w in order.amended.items()]
    notice = "\n".join(f"{point}\n{prose(rng, 3)}" for point in points)
    made: dict[str, str | bytes] = {
        "docs/translators.md": guide(__package__) + prose(rng, 6),
        "docs/glossary.txt": "\n".join(terms) + "\n",
        "docs/notice.md": f"# Notice on terms, order {order.number}\n\n{notice}",
        "data/memory.db": memory(rng, order, marks),
        "tools/compare.py": COMPARE,
        **{f"en/{page}.html": english(rng, order, page, marks[page]) for page in order.pages},
    }
    told = instruction(
        __package__,
        pages=", ".join(order.pages),
        tags=", ".join(TAGS),
        amended=", ".join(order.amended),
    )
    return Case(made, told, plan_of(order), lambda left: check(order, left))


TASK = Task(
    "web-translation", "Web", "Translate pages with a memory and an amended glossary", build
)
