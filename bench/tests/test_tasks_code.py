"""What the checkers of code tasks tell apart, one deliberate mistake at a time."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bench.tests.running import Finished, TaskFinished, sandbox
from statecomp_bench.suite import checked

Spoil = Callable[[Path], None]


def noticed(done: Finished, mistakes: dict[str, Spoil]) -> dict[str, set[str]]:
    """Which parts are not whole after each mistake, made in a workspace that was solved before."""
    found = {}
    with sandbox() as box:
        for what, spoil in mistakes.items():
            spoil(done.copied(box.root))
            score = checked(done.case, box)
            found[what] = {part.name for part in score.parts if part.value < 1}
    every = {part.name for part in done.score.parts}
    assert every == set().union(*found.values()), "a part that no mistake has reached"
    return found


def text(pattern: str, old: str, new: str) -> Spoil:
    """In every file like this one expression becomes another; some file must have it."""

    def spoil(root: Path) -> None:
        changed = 0
        for path in root.glob(pattern):
            content, count = re.subn(old, new, path.read_text("utf-8"), flags=re.MULTILINE)
            path.write_text(content, "utf-8")
            changed += count
        assert changed

    return spoil


def without(pattern: str) -> Spoil:
    def spoil(root: Path) -> None:
        gone = list(root.glob(pattern))
        assert gone
        for path in gone:
            path.unlink()

    return spoil


def objects(pattern: str, change: Callable[[dict[str, object]], None]) -> Spoil:
    def spoil(root: Path) -> None:
        for path in root.glob(pattern):
            value = json.loads(path.read_text("utf-8"))
            change(value)
            path.write_text(json.dumps(value), "utf-8")

    return spoil


def turned(path: str) -> Spoil:
    """The lines below the first in reverse order."""

    def spoil(root: Path) -> None:
        first, *rest = (root / path).read_text("utf-8").splitlines()
        (root / path).write_text("\n".join([first, *reversed(rest)]) + "\n", "utf-8")

    return spoil


def statement(query: str) -> Spoil:
    def spoil(root: Path) -> None:
        with closing(sqlite3.connect(root / "archive.db")) as archive, archive:
            names = archive.execute("SELECT name FROM sqlite_master WHERE name LIKE '%_v2'")
            for (name,) in names.fetchall():
                archive.execute(query.replace("TABLE_V2", name))

    return spoil


# Task, what goes wrong, and the parts that must notice; all other parts stay whole.
MISTAKES: list[tuple[str, str, Spoil, set[str]]] = [
    ("code-migration", "seconds", text("app/*.py", r"000\)", ")"), {"calls"}),
    ("code-migration", "no ticket", text("app/*.py", r"^# client: v3, .*\n", ""), {"headers"}),
    (
        "code-migration",
        "frozen modules moved",
        text("app/*.py", "import v2 as", "import v3 as"),
        {"frozen modules"},
    ),
    ("code-migration", "no report", without("docs/MIGRATED.md"), {"report", "order of the report"}),
    ("code-migration", "report unsorted", turned("docs/MIGRATED.md"), {"order of the report"}),
    (
        "code-bisect",
        "constant",
        text("engine/*.py", r"_LIMIT = \d", "_LIMIT = 9"),
        {"constants", "marks"},
    ),
    ("code-bisect", "no mark", text("engine/*.py", r"  # restored.*", ""), {"marks"}),
    (
        "code-bisect",
        "short commit",
        text("reports/*.json", r'("commit": "\w{8})\w+', r"\1"),
        {"builds"},
    ),
    (
        "code-bisect",
        "wrong number",
        text("reports/*.json", r'"was": "', '"was": "9'),
        {"old values"},
    ),
    (
        "code-bisect",
        "wrong person",
        text("reports/*.json", r'"tell": "@', '"tell": "@x'),
        {"people"},
    ),
    (
        "code-flags",
        "wrong branch",
        text("app/*.py", r"^    fee = \d+", "    fee = 1"),
        {"removed", "traces"},
    ),
    ("code-flags", "no trace", text("app/*.py", r"    # was .*\n", ""), {"traces"}),
    ("code-flags", "too much removed", text("app/*.py", r"if enabled\(.*\)", "if True"), {"kept"}),
    ("code-flags", "wrong ticket", text("flags/report.csv", "FL-", "FX-"), {"report"}),
    ("code-flags", "unsorted", turned("flags/report.csv"), {"order of the report"}),
    (
        "code-schema",
        "wrong amounts",
        statement("DELETE FROM TABLE_V2 WHERE day > '2020'"),
        {"rows"},
    ),
    (
        "code-schema",
        "another column",
        statement("ALTER TABLE TABLE_V2 ADD COLUMN more"),
        {"columns", "rows"},
    ),
    ("code-schema", "wrong log", statement("UPDATE schema_log SET ticket = 'ARC-1'"), {"log"}),
    ("code-schema", "no scripts", without("migrations/*.sql"), {"scripts"}),
    ("code-schema", "no totals", without("totals.json"), {"totals", "whole"}),
    (
        "code-audit",
        "nothing found",
        text("audit/*-api.json", r"(?s)\[.*\]", "[]"),
        {"findings", "details"},
    ),
    (
        "code-audit",
        "wrong days",
        text("audit/*-api.json", r'"due": "2031', '"due": "2030'),
        {"details"},
    ),
    (
        "code-audit",
        "wrong total",
        objects("audit/summary.json", lambda found: found.update(total=0)),
        {"summary"},
    ),
    ("code-audit", "wrong pin", text("audit/constraints.txt", r">=\d", ">=0"), {"constraints"}),
    ("code-parsers", "floats", text("parsers/*.py", r"Decimal\(part\)", "float(part)"), {"values"}),
    (
        "code-parsers",
        "another name",
        text("parsers/*.py", r"^    (\w+): (str|date|Decimal) \|", r"    x_\1: \2 |"),
        {"fields"},
    ),
    ("code-parsers", "not frozen", text("parsers/*.py", r"\(frozen=True\)", ""), {"frozen"}),
    (
        "code-parsers",
        "another error",
        text("parsers/*.py", r"raise Malf\w+\(", "raise KeyError("),
        {"errors"},
    ),
    ("code-parsers", "no registry", text("parsers/__init__.py", "PARSERS", "NAMES"), {"registry"}),
    (
        "code-speed",
        "wrong size",
        text("tuning/*.toml", r"= \d+  #", "= 8  #"),
        {"sizes", "remarks", "kept"},
    ),
    ("code-speed", "no remark", text("tuning/*.toml", r"  # cost .*", ""), {"remarks"}),
    (
        "code-speed",
        "kept ones marked",
        text("tuning/*.toml", r"= (\d+)$", r"= \1  # kept"),
        {"kept", "remarks"},
    ),
    ("code-speed", "no reports", without("reports/*.json"), {"reports"}),
    ("code-speed", "no table", without("reports/tuning.csv"), {"table", "whole table"}),
    ("code-speed", "unsorted", turned("reports/tuning.csv"), {"whole table"}),
    ("code-catalogs", "lost values", text("app/*/*.py", r", code, desk\)", ", code)"), {"calls"}),
    ("code-catalogs", "places", text("locales/en/*.json", r"\{1\}", "%s"), {"English catalogues"}),
    (
        "code-catalogs",
        "translated",
        text("locales/de/*.json", " the ", " das "),
        {"German catalogues"},
    ),
    ("code-catalogs", "no area", text("locales/en/*.json", r'"\w{3}\.', '"'), {"keys"}),
    ("code-catalogs", "old import", text("app/*/*.py", r"\Z", "# say\n"), {"nothing left"}),
    (
        "code-release",
        "version",
        text("packages/*/NEWS.md", r"\d \(2031", "77 (2031"),
        {"versions", "whole news"},
    ),
    ("code-release", "minimum", text("packages/*/manifest.toml", ">= ", ">= 9"), {"manifests"}),
    (
        "code-release",
        "no thanks",
        text("packages/*/NEWS.md", ", thanks to .*", ")"),
        {"entries", "whole news"},
    ),
    (
        "code-release",
        "headings",
        text("packages/*/NEWS.md", "## Fixed", "### Fixed"),
        {"whole news"},
    ),
    ("code-release", "wrong table", text("RELEASE.csv", r",\d$", ",0"), {"table"}),
    ("code-release", "unsorted", turned("RELEASE.csv"), {"order of the table"}),
]


@pytest.mark.parametrize("name", list(dict.fromkeys(name for name, *_ in MISTAKES)))
def test_a_mistake_costs_its_own_parts_and_no_others(name: str, finished: TaskFinished) -> None:
    mistakes = {what: (spoil, parts) for task, what, spoil, parts in MISTAKES if task == name}
    found = noticed(finished(name), {what: spoil for what, (spoil, _) in mistakes.items()})
    assert found == {what: parts for what, (_, parts) in mistakes.items()}
