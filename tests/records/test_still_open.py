"""What an extract says is left to do: files nobody wrote yet, open items of the agent's list."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.still_open import still_open
from statecomp.records.verify import verify
from statecomp.records.writing.question import question
from tests.records.test_extract import PADDING, step

SPAN = (step(1, '{"path": "sites.json"}', PADDING), step(2, seen=PADDING))
LINE = "asked for, not written up to step 2: report.csv"


def asked(text: str) -> Pinned:
    return Pinned(f"u{len(text)}", (), 0, "user", text)


TASK = asked("Look at sites.json, and write the sums to a new file `report.csv`.")


def lines(*before: Segment, span: Sequence[Interaction] = SPAN) -> tuple[str, ...]:
    return still_open(span, Situation(before=before))


def test_a_file_that_is_asked_for_and_that_nothing_has_named_is_said_to_be_open() -> None:
    situation = Situation(FactIndex([TASK]), (TASK,))
    record = verify(ExtractiveSummarizer().summarize(SPAN, situation), SPAN, situation)
    assert record.unresolved == (LINE,)
    assert f"what is open]\n{LINE}\n" in question([SPAN], situation)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Save it as out/sum.json and create notes.md.", "out/sum.json, notes.md"),
        ("Can you put the names in the file named `names.txt`?", "names.txt"),
        ("Export data.json to rates.csv.", "rates.csv"),
        ("Read a.md, then b.md. Write as plainly as c.md does it.", ""),
        ("Do not write to log.txt, and never create tmp.md.", ""),
        ("Write it to a.md or b.md.", ""),
        ("The job will save all rows to rows.csv.", ""),
        ("If a row is wrong, write it to wrong.csv.", ""),
        ("See the scripts that create pages.html.", ""),
        ("Write a page for each to <name>.md and data_{id}.json.", ""),
        (", ".join(f"create f{n}.py" for n in range(7)), "f0.py, f1.py, f2.py, f3.py, f4.py and 2"),
    ],
)
def test_which_files_the_user_asks_for(text: str, files: str) -> None:
    told = "".join(lines(asked(text))).partition(": ")[2]
    assert told.removesuffix(" more") == files


@pytest.mark.parametrize(
    "later",
    [
        step(3, '{"path": "/work/report.csv", "content": "a"}', "ok", name="write_file"),
        step(3, '{"command": "python sum.py > report.csv"}', ""),
        step(3, '{"command": "ls"}', "report.csv\nsites.json"),
        step(3, '{"command": "make"}', "created out/report.csv"),
    ],
)
def test_a_file_that_any_call_or_answer_names_is_not_said_to_be_open(later: Interaction) -> None:
    assert lines(TASK, step(3)) == (LINE.replace("2:", "3:"),)
    assert not lines(TASK, later)
    assert not lines(TASK, span=(*SPAN, later))


def test_what_a_record_may_have_left_out_is_not_said_to_be_open() -> None:
    short, telling = (Summary("s", (), 0, text, (), 9, 9) for text in ("9. make", "report.csv"))
    assert not lines(TASK, short)
    assert lines(short, TASK) == (LINE,)
    assert not lines(telling, TASK)


def test_what_is_shown_before_the_task_asks_for_nothing() -> None:
    example = asked("We write a script to solve.py.")
    assert lines(example, TASK) == (LINE,)


def test_of_a_finished_task_nothing_is_said_to_be_open() -> None:
    situation = Situation(FactIndex([TASK]), (TASK,), finished=True)
    assert not ExtractiveSummarizer().summarize(SPAN, situation).unresolved


def test_a_message_of_a_megabyte_is_looked_through_at_once() -> None:
    for part in ("write ", "save to ", "put a in in in ", "write a.", "save it to a ", "not "):
        began = time.process_time()
        assert not lines(asked(part * (1_000_000 // len(part))))
        assert time.process_time() - began < 1


def todo(number: int, **items: str) -> Interaction:
    todos = [{"content": item, "status": status} for item, status in items.items()]
    return step(number, json.dumps({"todos": todos}), "noted", name="todo_write")


def test_open_items_of_the_newest_list_are_told_where_it_goes_with_the_span() -> None:
    old = todo(1, parser="pending")
    new = todo(2, parser="completed", tests="in_progress", docs="pending", a="open", b="pending")
    told = ("2: open on the agent's list: tests; docs; a and 1 more",)
    record = ExtractiveSummarizer().summarize((old, new), Situation())
    assert record.unresolved == told
    assert lines(old, span=(new,)) == told
    assert not lines(todo(3, parser="pending"), span=(old, new))
    assert not lines(span=(todo(2, parser="completed"),))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("todo_write", '{"todos": "- [ ] parser"}'),
        ("todo_write", '{"merge": true, "todos": [{"content": "parser", "status": "pending"}]}'),
        ("update_plan", '{"plan": ["parser", {"step": "docs"}]}'),
        ("task_tracker", '{"command": "view"}'),
        ("todo_write", "no data"),
    ],
)
def test_where_a_list_says_nothing_of_its_items_nothing_is_said_to_be_open(
    name: str, arguments: str
) -> None:
    assert not lines(span=(step(1, arguments, name=name),))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("update_plan", '{"explanation": "x", "plan": [{"step": "docs", "status": "pending"}]}'),
        ("task_tracker", '{"task_list": [{"id": "1", "title": "docs", "status": "todo"}]}'),
        ("write_todos", '{"todos": [{"description": "docs", "status": "pending"}]}'),
    ],
)
def test_lists_of_several_agents_are_read(name: str, arguments: str) -> None:
    assert lines(span=(step(1, arguments, name=name),)) == ("1: open on the agent's list: docs",)
