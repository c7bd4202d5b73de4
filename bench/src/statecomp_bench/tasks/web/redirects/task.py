"""Broken addresses followed through a chain of lookups into a redirect map, and links put right."""

from __future__ import annotations

from random import Random

from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined, nouns
from statecomp_bench.tasks.shared import each, scattered
from statecomp_bench.tasks.web.pages import boxes, document, guide, instruction, prose, text_of
from statecomp_bench.tasks.web.redirects.data import VERIFY, Move, database, moves_of
from statecomp_bench.tasks.web.redirects.plan import plan_of


def check(moves: list[Move], host: str, ticket: str, left: Artefacts) -> Score:
    wanted = {move.name: move.line(host, ticket).split(" ") for move in moves}

    def rows() -> list[list[str]]:
        return [line.split(" ") for line in left.text("site/_redirects").splitlines()]

    def row(move: Move) -> list[str]:
        found = [r for r in rows() if r[0] == f"/old/{move.name}.php"]
        return found[0] if len(found) == 1 else []

    def goes(move: Move) -> bool:
        return row(move)[1].strip("/").endswith(wanted[move.name][1].strip("/"))

    def linked(move: Move, end: str = "") -> bool:
        return f'href="{move.path}{end}' in text_of(left, f"pages/{move.name}.html")

    usual = [move for move in moves if move.kind == "article"]
    special = [move for move in moves if move.kind != "article"]
    direct = [move for move in moves if move.kind in ("article", "campaign")]
    return grade(
        each("targets", 4, moves, goes),
        each("written as asked", 2, moves, lambda m: row(m)[1] == wanted[m.name][1]),
        each("permanent", 2, usual, lambda m: row(m)[2] == "308"),
        each(
            "campaigns, archive, withdrawn",
            3,
            special,
            lambda m: row(m)[1:3] == wanted[m.name][1:3],
        ),
        each("tickets", 1, moves, lambda m: row(m)[3:] == wanted[m.name][3:]),
        each("links", 2, direct, linked),
        each("links with a slash", 1, direct, lambda m: linked(m, '/">')),
        part(
            "one line each",
            1,
            lambda: (
                len(rows()) == len(moves)
                and share({r[0]: 1 for r in rows()}, {f"/old/{m.name}.php": 1 for m in moves})
            ),
        ),
    )


def build(rng: Random, level: int) -> Case:
    moves = moves_of(rng, level)
    host, ticket = f"www.{'-'.join(nouns(rng, 2))}.example", f"CLEAN-{rng.randrange(1000, 9999)}"
    lost = [f"404 /old/{m.name}.php {m.hits} hits, linked from pages/{m.name}.html" for m in moves]
    fine = [
        f"200 /{rng.choice(NOUNS)}/{hexadecimal(rng, 5)}/ {rng.randrange(900)} hits"
        for _ in range(70)
    ]
    old = [
        f"/old/{rng.choice(NOUNS)}{n}.php\tnode {rng.randrange(10_000, 99_999)}\t"
        + " ".join(rng.sample(NOUNS, 6))
        for n in range(240)
    ]
    own = [f"/old/{m.name}.php\tnode {m.node}\t{' '.join(rng.sample(NOUNS, 6))}" for m in moves]
    made: dict[str, str | bytes] = {
        "docs/redirects.md": guide(__package__) + prose(rng, 7),
        "crawl/report.txt": joined(
            [f"Ticket of this crawl: {ticket}", *scattered(rng, fine, *lost)]
        ),
        "moves/2019.tsv": joined(scattered(rng, old, *own)),
        "data/cms.db": database(rng, moves),
        "tools/verify.py": VERIFY,
    }
    for move in moves:
        link = f'<p>See <a href="/old/{move.name}.php">{move.name}</a>.</p>'
        made[f"pages/{move.name}.html"] = document(move.name, scattered(rng, boxes(rng, 8), link))
    names = ", ".join(move.name for move in moves)
    told = instruction(__package__, host=host, names=names)
    return Case(
        made,
        told,
        plan_of([move.name for move in moves]),
        lambda left: check(moves, host, ticket, left),
    )


TASK = Task("web-redirects", "Web", "Follow broken addresses into a redirect map", build)
