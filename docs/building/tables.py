"""Tables of the site, each read off the code or the pages it lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from markdown.extensions.toc import slugify

from statecomp.config.methods import OPTIONS
from statecomp.config.strategies import CARDS
from statecomp.controller.prices import shipped_prices
from statecomp.proxy.metrics import HELP
from statecomp.proxy.settings import WINDOWS
from statecomp.recipes import DEFAULT, RECIPES, Measured, Recipe
from statecomp.strategy import Card


def recipes(docs: Path) -> str:
    """What each recipe is, and what it was measured to do."""
    head = ("recipe", "what it is", "on", "tokens", "dollars", "premature", "broken", "read again")
    rows: list[Sequence[str]] = []
    for recipe in RECIPES.values():
        name = f"**{recipe.name}** (default)" if recipe.name == DEFAULT else recipe.name
        again = "{} of {}".format(*recipe.again) if recipe.again else ""
        rows.append((name, recipe.about, "single runs", *_shares(recipe.runs), again))
        rows.append(("", "", "sessions", *_shares(recipe.sessions), ""))
    return table(head, rows)


def recipe_settings(docs: Path) -> str:
    """The numbers behind each recipe."""
    head = ("recipe", "gates", "wariness", "left of it where a model writes", "ahead", "holds",
            "extract: budget, dense, name_worth")  # fmt: skip
    return table(head, map(_setting, RECIPES.values()))


def _setting(recipe: Recipe) -> Sequence[str]:
    extract, gates = recipe.extract, recipe.gates
    texts = f"{extract.budget}, {extract.dense:,}, {extract.name_worth:,}"
    holds = "on" if recipe.holds else "off"
    if gates is None:
        numbers = (f"{number}" for number in (recipe.wariness, recipe.written, recipe.ahead))
        return recipe.name, "", *numbers, holds, texts
    said = f"tau {gates.threshold}, kappa {gates.longer_than}, B_min {gates.min_source_tokens:,}"
    return recipe.name, said, "", "", "", holds, texts


def _shares(measured: Measured | None) -> Sequence[str]:
    if measured is None:
        return ("",) * 4
    changes = (f"{share:+.1%}" for share in (measured.tokens, measured.dollars))
    return *changes, f"{measured.premature:.1%}", f"{measured.broken:.2%}"


def options(docs: Path) -> str:
    """Every key that follows `statecomp:` in a strategy."""
    return table(
        ("option", "what it takes"), ((f"`{key}`", about) for key, about in OPTIONS.items())
    )


def strategies(docs: Path) -> str:
    """What is known of each strategy."""
    head = ("name", "acts when", "on what", "model calls", "tools", "source", "inferred")
    return table(head, map(_card, CARDS.values()))


def _card(card: Card) -> Sequence[str]:
    tools = ", ".join(card.tools)
    name = f"`{card.name}`<br>{card.title}"
    return name, card.trigger, card.unit, card.calls, tools, card.source, card.inferred


def metrics(docs: Path) -> str:
    """The counters; labels are few and never content."""
    return table(
        ("counter", "what it counts"), ((f"`{name}`", text) for name, text in HELP.items())
    )


def prices(docs: Path) -> str:
    """The price book as it is shipped."""
    head = (
        "model",
        "input",
        "cached",
        "write",
        "output",
        "cache lives",
        "writes records",
        "as of",
        "known from",
    )
    rows = (
        (
            f"`{p.model}`",
            *(f"{dollars:.2f}" for dollars in (p.input, p.cached, p.write, p.output)),
            f"{p.ttl_s} s",
            f"`{p.sibling}`" if p.sibling else "",
            p.as_of.isoformat(),
            p.source,
        )
        for p in shipped_prices().models.values()
    )
    return table(head, rows)


def windows(docs: Path) -> str:
    """Windows known by a model's name."""
    rows = ((", ".join(f"`{part}`" for part in _names(n)), f"{size:,}") for n, size in WINDOWS)
    return table(("model", "tokens"), rows)


def _names(pattern: str) -> Iterable[str]:
    plain = pattern.replace("\\", "")
    found = re.fullmatch(r"([\w-]*)\(\?:([^)]*)\)", plain)
    return (found[1] + end for end in found[2].split("|")) if found else plain.split("|")


def decisions(docs: Path) -> str:
    """Every decision by its number, and whether it still holds."""
    rows = []
    for path in sorted((docs / "decisions").glob("[0-9]*.md")):
        text = path.read_text("utf-8")
        number, _, title = text.partition("\n")[0].removeprefix("# ").partition(". ")
        said = re.search(r"\s*\((replaced by decision \d+)\)$", title)
        claim = title[: said.start()] if said else title
        holds = "in force, changed since" if "**Since.**" in text else "in force"
        rows.append((number, f"[{claim}]({path.name})", said[1] if said else holds))
    return table(("", "decision", "status"), rows)


def lab_log(docs: Path) -> str:
    """Every entry of the lab log, the latest first."""
    titles = re.findall(r"^## (.+)$", (docs / "lab-log.md").read_text("utf-8"), re.MULTILINE)
    rows = []
    for title in reversed(titles):
        day, _, about = title.partition(" ")
        rows.append((day, f"[{about}](lab-log.md#{slugify(title, '-')})"))
    return table(("day", "entry"), rows)


def claims(docs: Path) -> str:
    """The tests that cite a pain, as the claims their names are."""
    rows = set()
    for path in sorted((docs.parent / "tests" / "proxy").glob("test_conformance_*.py")):
        for number, claim in re.findall(
            r"^def test_p(\d+)_(\w+)", path.read_text("utf-8"), re.MULTILINE
        ):
            rows.add((int(number), claim.replace("_", " "), path.name))
    return table(
        ("pain", "claim", "tests/proxy/"),
        ((f"P{number}", claim, f"`{name}`") for number, claim, name in sorted(rows)),
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    """One cell: a bar would end it, and a name in angle brackets would be read as a tag."""
    return text.replace("|", "\\|").replace("\n", " ")


TABLES: Mapping[str, Callable[[Path], str]] = {
    "claims": claims,
    "decisions": decisions,
    "lab-log": lab_log,
    "metrics": metrics,
    "options": options,
    "prices": prices,
    "recipe-settings": recipe_settings,
    "recipes": recipes,
    "strategies": strategies,
    "windows": windows,
}
