"""What a plan repeats for each name: facts, rules and steps.  `NAME` stands for it in templates."""

from __future__ import annotations

from collections.abc import Iterable

from statecomp_bench.plan import Fact, Norm, Step
from statecomp_bench.steps import python, read, sql
from statecomp_bench.tasks.office.papers import put

ROW_START = "\n" + " " * 8


def facts_about(name: str, source: str, *rows: tuple[str, str, str]) -> list[Fact]:
    """Facts of one source; a row is the fact's name without the `_NAME`, its label, its pattern."""
    return [
        Fact(f"{key}_{name.lower()}", put(label, NAME=name), put(pattern, NAME=name), source)
        for key, label, pattern in rows
    ]


def rules_about(
    names: Iterable[str],
    key: str,
    label: str,
    pattern: str,
    then: str,
    otherwise: str,
    source: str = "rules",
) -> list[Norm]:
    """One rule of a document for each name, where what it asks for names facts of its own."""
    return [
        Norm(
            f"{key}_{name.lower()}",
            put(label, NAME=name),
            pattern,
            put(then, NAME=name),
            put(otherwise, NAME=name),
            source,
        )
        for name in names
    ]


def rules_of(source: str, *rows: tuple[str, str, str, str, str]) -> tuple[Norm, ...]:
    """Rules of one document: name, label, pattern, then, otherwise."""
    return tuple(Norm(*row, source) for row in rows)


def reads(kind: str, folder: str, names: Iterable[str], title: str, group: str = "") -> list[Step]:
    """One file of a folder after the other; `title` goes on with the name."""
    return [
        read(f"{kind}_{n.lower()}", f"{folder}/{n.lower()}.txt", f"{title} {n}", group=group)
        for n in names
    ]


def programs(kind: str, code: str, names: Iterable[str], title: str) -> list[Step]:
    """One program for each name; all of them leave something."""
    return [
        python(f"{kind}_{n.lower()}", put(code, NAME=n), f"{title} {n}", leaves=True) for n in names
    ]


def queries(kind: str, base: str, query: str, names: Iterable[str], title: str) -> list[Step]:
    return [sql(f"{kind}_{n.lower()}", base, put(query, NAME=n), f"{title} {n}") for n in names]


def lines_of(template: str, names: Iterable[str]) -> str:
    """Lines of code inside a bracket of a program, one for each name."""
    return ROW_START.join(put(template, NAME=name) for name in names)
