"""Office tasks: every part of every checker can fail, and rules and values decide the score."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tests.running import (
    Finished,
    TaskFinished,
    run_case,
    scripted,
    values,
    without_facts,
    without_rules,
)
from statecomp_bench.task import grade
from statecomp_bench.tasks.office.meetings.slots import DAYS, blocks, find
from statecomp_bench.tasks.office.papers import column

# For each task: a part, the files (a pattern), what stands there, and what a mistake makes of it.
MISTAKES: Mapping[str, tuple[tuple[str, str, str, str], ...]] = {
    "office-travel": (
        ("staff", "out/audit.csv", r"^S\d+", "Ada"),
        ("refund", "out/audit.csv", r",(\d\d);", r".\1;"),
        ("outcome", "out/audit.csv", "refused", "paid"),
        ("waiver", "out/audit.csv", r"W-\d+", ""),
        ("summary", "out/summary.json", "TA-", "AT-"),
        ("notices", "out/notices/*.txt", "^To S", "To Ms "),
    ),
    "office-meetings": (
        ("times", "out/slots/*.txt", ":00-", ":05-"),
        ("rooms", "out/slots/*.txt", "Linden|Aspen", "Rowan"),
        ("week", "out/week.json", "Tue", "Mon"),
        ("invitations", "out/invitations/*.txt", "extension", "phone"),
    ),
    "office-quotes": (
        ("offer", "out/matrix.csv", r"Q\d+", "Q1"),
        ("euros", "out/matrix.csv", r"\.\d\d,", ".1,"),
        ("score", "out/matrix.csv", "excluded", "50.0"),
        ("award", "out/award.json", "VG-", "GV-"),
        ("letters", "out/letters/*.txt", r"\Z", "Kind regards\n"),
    ),
    "office-contracts": (
        ("class", "register/register.csv", r"(/\d\d);\w;", r"\1;cleaning;"),
        ("begin", "register/register.csv", r";(\d{4})-(\d\d)-(\d\d);", r";\3.\2.\1;"),
        ("end", "register/register.csv", r"-\d\d;(\d+ d)", r"-00;\1"),
        ("notice", "register/register.csv", " d;", ";"),
        ("fee", "register/register.csv", r" d;(\d+);", r" d;\1.00;"),
        ("owner", "register/register.csv", r"\d{4}-\w\d$", "Fleet"),
        ("deadlines", "out/deadlines.txt", r"^\d{4}", "2030"),
        ("order of deadlines", "out/deadlines.txt", r"^(.+)\n([\s\S]+)", r"\2\1\n"),
    ),
    "office-payroll": (
        ("centre", "out/postings.csv", r";\d{4};", ";4000;"),
        ("code", "out/postings.csv", r"K\d\d", "CORR"),
        ("amount", "out/postings.csv", r"\.\d\d$", ".1"),
        ("nothing else is posted", "out/postings.csv", r"\Z", "P00001;4000;K01;9.00\n"),
        ("bank", "out/bank.txt", r"(\d\d)$", r".\1"),
    ),
    "office-survey": (
        ("valid", "out/results.csv", r"-([KLMN]),\d+,", r"-\1,99,"),
        ("score", "out/results.csv", r"^(\d+-\w,\d+),[^,]+,", r"\1,77,"),
        ("theme", "out/results.csv", r",\d+,(\d+)$", r",price,\1"),
        ("mentions", "out/results.csv", r",\d+$", ",0"),
        ("total", "out/total.json", r"(\d)\.\d", r"\1"),
        ("letters", "out/letters/*.txt", "interviews by .*", ""),
    ),
    "office-mailing": (
        ("action", "out/actions.csv", "later", "sent"),
        ("addresses", "out/letters/*.txt", r"\A.*\n", ""),
        ("greetings", "out/letters/*.txt", "^Dear", "Hello"),
        ("terms", "out/letters/*.txt", r"(\d{3}) (\d{6})", r"\1/\2"),
        ("last lines", "out/letters/*.txt", r"\Z", "PS: hello\n"),
        ("cover sheet", "out/cover.txt", r"Letters: \d", "Letters: 0"),
    ),
    "office-budget": (
        ("sums", "paper/board.md", r"^(\| D\d+ \| \d+)", r"\1000"),
        ("numbers", "paper/board.md", r"^\| D\d+", "| Anchor"),
        ("total", "paper/board.md", r"^(\| Total \| \d+)", r"\1.00"),
        ("open items", "out/open_items.csv", r"\d+$", "1"),
    ),
}
MISTAKEN_ROWS = {
    "difference": "difference = difference + 1",
    "booked": "booked = difference + 1",
    "value": "value = value || '0'",
    "reason": "reason = 10",
    "signed": "signed = 'XYZ'",
}
TASKS = (*MISTAKES, "office-stocktake")


def damaged(done: Finished, root: Path, damage: Callable[[Path], None]) -> dict[str, float]:
    damage(done.copied(root))
    return values(done.judged(root))


def mistakes() -> Iterator[tuple[str, str, str, str, str]]:
    for task, rows in MISTAKES.items():
        for row in rows:
            yield task, *row


@pytest.mark.parametrize(("task", "part", "files", "old", "new"), list(mistakes()))
def test_a_mistake_costs_its_part(
    task: str, part: str, files: str, old: str, new: str, finished: TaskFinished, tmp_path: Path
) -> None:
    def damage(root: Path) -> None:
        for path in root.glob(files):
            path.write_text(re.sub(old, new, path.read_text("utf-8"), flags=re.M), "utf-8")

    assert values(finished(task).score)[part] == 1
    assert damaged(finished(task), tmp_path, damage)[part] < 1


@pytest.mark.parametrize(("part", "change"), MISTAKEN_ROWS.items())
def test_a_mistaken_adjustment_costs_its_part(
    part: str, change: str, finished: TaskFinished, tmp_path: Path
) -> None:
    def damage(root: Path) -> None:
        with closing(sqlite3.connect(root / "stock/stock.db")) as base, base:
            base.execute(f"update adjustments set {change}")

    assert damaged(finished("office-stocktake"), tmp_path, damage)[part] < 1


def test_a_letter_too_many_costs_its_part(finished: TaskFinished, tmp_path: Path) -> None:
    def damage(root: Path) -> None:
        (root / "out/letters/K1.txt").write_text("Dear all,\n", "utf-8")

    assert damaged(finished("office-mailing"), tmp_path, damage)["nobody else gets a letter"] < 1


def test_a_protocol_without_names_costs_its_part(finished: TaskFinished, tmp_path: Path) -> None:
    def damage(root: Path) -> None:
        (root / "out/protocol.txt").write_text("All was counted.\n", "utf-8")

    assert damaged(finished("office-stocktake"), tmp_path, damage)["protocol"] == 0


@pytest.mark.parametrize("task", TASKS)
def test_empty_artefacts_are_worth_nothing(
    task: str, finished: TaskFinished, tmp_path: Path
) -> None:
    before = set(finished(task).case.files) - {"stock/stock.db"}

    def damage(root: Path) -> None:
        for path in root.rglob("*"):
            name = path.relative_to(root).as_posix()
            changed = name not in before or name in ("register/register.csv", "paper/board.md")
            if path.is_file() and changed:
                path.write_bytes(b"")

    assert not any(damaged(finished(task), tmp_path, damage).values())


@pytest.mark.parametrize("task", TASKS)
def test_rules_and_values_decide_the_score(task: str, finished: TaskFinished) -> None:
    done = finished(task)
    assert done.score.reward >= 0.98
    unruly = without_rules(done.case)
    assert run_case(unruly, scripted(unruly))[1].reward <= done.score.reward - 0.1
    blind = replace(without_facts(done.case), max_steps=50)
    assert run_case(blind, scripted(blind))[1].reward <= 0.1


def test_a_row_entered_twice_costs() -> None:
    row = {"key": "a", "value": "1"}
    once = grade(column("value", 1, lambda: [row], "key", {"a": "1"}))
    twice = grade(column("value", 1, lambda: [row, row], "key", {"a": "1"}))
    assert (once.reward, twice.reward) == (1, 0.5)


times = st.lists(
    st.tuples(st.integers(32, 60), st.integers(4, 16)).map(
        lambda t: (
            f"{t[0] // 4:02d}:{t[0] % 4 * 15:02d}-{(t[0] + t[1]) // 4:02d}:"
            f"{(t[0] + t[1]) % 4 * 15:02d}"
        )
    ),
    max_size=3,
).map(lambda found: ", ".join(found) or "none")
calendars = st.lists(st.fixed_dictionaries(dict.fromkeys(DAYS, times)), min_size=1, max_size=3)


@given(calendars, st.sampled_from((30, 45, 60, 90)), st.booleans())
def test_a_slot_lies_in_everybodys_free_time(
    free: list[dict[str, str]], length: int, lunch: bool
) -> None:
    rooms = {"Linden": (6, 0, "Wed"), "Aspen": (4, 1, "never")}
    slot = find(free, length, rooms, {}, seats=4, lunch=lunch, gap=15, ground=False)
    if slot == "none":
        return
    day, span, room = slot.split()
    start, stop = blocks(span)[0]
    assert stop - start == length
    assert room == "Aspen"
    assert all(any(a <= start and stop <= b for a, b in blocks(c[day])) for c in free)
    assert not lunch or stop <= 12 * 60 or start >= 13 * 60
    taken = find(free, length, rooms, {slot: True}, seats=4, lunch=lunch, gap=15, ground=False)
    assert taken != slot
