"""What the mechanical reader makes of a record; the cases are those real readers named."""

from __future__ import annotations

import pytest

from statecomp.exam.facts import FactKind
from statecomp.exam.lines import ReaderOutcome, RecordText
from statecomp.exam.questions import (
    IN_SIGHT,
    NOT_SHOWN,
    ExamQuestion,
    PosedQuestion,
    posed_questions,
)
from statecomp.exam.reader import find
from tests.exam.steps import asked, exam_of

REGISTER = (
    "trip      | waiver | amount\n"
    "TR-70611  | W-4103 | 312.40\n"
    "TR-70625  | none given | 118.25\n"
    "TR-70640  | W-4120 | 96.10\n"
)


def outcome(question: ExamQuestion, record: str) -> ReaderOutcome:
    return find(question, RecordText(record)).outcome


@pytest.fixture
def waiver() -> ExamQuestion:
    """Which waiver belongs to TR-70611?  W-4103."""
    later = (('{"command": "file W-4103 and W-4120"}', "ok"),)
    return asked(exam_of(("{}", REGISTER), later=later), FactKind.ROW)["tr-70611"]


@pytest.fixture
def amount() -> ExamQuestion:
    return asked(exam_of(("{}", REGISTER)), FactKind.ROW)["tr-70625"]


def test_the_question_names_owner_and_field(waiver: ExamQuestion) -> None:
    assert waiver.text == 'Which "waiver" belongs to "TR-70611", as step 1 showed it?'
    assert (waiver.shown, waiver.stratum) == ("W-4103", "used")


@pytest.mark.parametrize(
    "record",
    [
        "Facts:\n- 1: TR-70611 | W-4103 | 312.40",
        "Facts:\n- TR-70611 has waiver W-4103, TR-70640 has W-4120",
        "Facts:\n- 1: the register:\n  TR-70611\n  waiver: W-4103",
        'Facts:\n- 1: {"trip": "TR-70611", "waiver": "W-4103"}',
    ],
)
def test_a_value_that_stands_with_its_owner_is_right(waiver: ExamQuestion, record: str) -> None:
    assert outcome(waiver, record) is ReaderOutcome.RIGHT


@pytest.mark.parametrize(
    "record",
    [
        "Facts:\n- 1: TR-70611 W-4120",
        "Facts:\n- 1:\n  TR-70611\n  W-4120",
        "Facts:\n- 1:\n  TR-70611\n  of the west\n  waiver: W-4120",
    ],
)
def test_the_value_of_another_beside_or_under_the_owner_misleads(
    waiver: ExamQuestion, record: str
) -> None:
    assert outcome(waiver, record) is ReaderOutcome.MISLEADING


@pytest.mark.parametrize(
    "record",
    [
        "Facts:\n- 1: the register was read (4 lines)",
        "Facts:\n- 1: TR-70611\n- 2: W-4120",
        "Facts:\n- 1 showed: TR-70611, TR-70625, TR-70640, W-4103, W-4120",
        "Facts:\n- 1: TR-70611 W-4103 W-4120",
        "Facts:\n- 1: TR-70611\n  TR-70640\n  W-4120",
    ],
)
def test_apart_or_in_a_bag_it_tells_nothing(waiver: ExamQuestion, record: str) -> None:
    assert outcome(waiver, record) is ReaderOutcome.MISSING


def test_another_call_of_the_same_step_says_nothing_of_the_owner_above(
    waiver: ExamQuestion,
) -> None:
    record = "Facts:\n- 1. 2 calls of shell\n  trip: TR-70611; ...\n  waiver: W-4120 -> 3 lines"
    assert outcome(waiver, record) is ReaderOutcome.MISSING


def test_the_rows_of_another_table_of_the_owner_are_no_answer(waiver: ExamQuestion) -> None:
    table = "trip: TR-70611; legs: name | link\n    W-4120 | https://legs.example/1"
    assert outcome(waiver, f"Facts:\n- 1. shell\n  {table}") is ReaderOutcome.MISSING


def test_in_a_long_list_each_item_stands_for_itself(waiver: ExamQuestion) -> None:
    places = "; ".join(f"place {n}: north, south" for n in range(8))
    record = f"Facts:\n- 1: {places}; west: trip TR-70611; of W-4120: east"
    assert outcome(waiver, record) is ReaderOutcome.MISSING


def test_the_row_as_the_source_has_it_is_right_whatever_stands_around_it(
    amount: ExamQuestion,
) -> None:
    crowd = "Facts:\n- 1: 312.40 TR-70625 | none given | 118.25 96.10"
    assert outcome(amount, crowd) is ReaderOutcome.RIGHT


def test_a_value_that_breaks_off_in_the_middle_misleads() -> None:
    pages = '[{"name": "Ada", "code": "K-170045"}, {"name": "Bob", "code": "K-180046"}]'
    question = asked(exam_of(("{}", pages)), FactKind.OBJECT)["ada"]
    assert outcome(question, "Facts:\n- 1: Ada: K-1700") is ReaderOutcome.MISLEADING
    assert outcome(question, "Facts:\n- 1: Ada: K-1700 ...") is ReaderOutcome.MISSING


def test_an_everyday_word_counts_only_beside_the_name_of_its_field() -> None:
    orders = "order | status\nORD-17 | shipped\nORD-18 | open\nORD-19 | open\n"
    question = asked(exam_of(("{}", orders)), FactKind.ROW)["ord-17"]
    assert outcome(question, "Facts:\n- ORD-17: I will open it next") is ReaderOutcome.MISSING
    assert outcome(question, "Facts:\n- ORD-17: status open") is ReaderOutcome.MISLEADING


def test_nothing_is_asked_that_still_stands_in_sight() -> None:
    again = ("{}", REGISTER)
    assert not asked(exam_of(("{}", REGISTER), kept=(again,)), FactKind.ROW)


def test_another_number_in_the_place_of_a_rules_own_misleads() -> None:
    rule = "Hotels must not cost more than 140 euros a night for anybody."
    exam = exam_of(("{}", rule))
    (question,) = asked(exam, FactKind.RULE).values()
    assert outcome(question, f"Constraints:\n- 1: {rule}") is ReaderOutcome.RIGHT
    assert (
        outcome(question, f"Constraints:\n- 1: {rule.replace('140', '35')}")
        is ReaderOutcome.MISLEADING
    )
    assert outcome(question, "Constraints:\n- 1: hotels have a limit") is ReaderOutcome.MISSING


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            "Facts:\n- 1. edit a.py: old: LIMIT = Decimal('13.3') new: LIMIT = Decimal('14')",
            "right",
        ),
        ("Facts:\n- 2: a.py holds LIMIT = Decimal('13.3')", "misleading"),
        ("Facts:\n- 1. edit a.py: old: LIMIT = Decimal('13.3') ...", "missing"),
        ("Facts:\n- 1. edit a.py ...\n- 2: LIMIT = Decimal('13.3')", "missing"),
    ],
)
def test_an_old_line_misleads_where_nothing_says_that_it_was_changed(
    record: str, expected: str
) -> None:
    edit = (
        '{"path": "a.py", "old_str": "LIMIT = Decimal(\'13.3\')", '
        '"new_str": "LIMIT = Decimal(\'14\')"}'
    )
    (question,) = asked(exam_of((edit, "done")), FactKind.EDIT).values()
    assert outcome(question, record) == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("Facts:\n- 1. shell pytest -> failed (3 lines)", "misleading"),
        (
            "Facts:\n- 1. shell pytest -> 12 tests were run\nFailure causes:\n- 1: test_error",
            "misleading",
        ),
        ("Facts:\n- Step 1 could not be completed.", "misleading"),
        ("Facts:\n- 1. shell pytest -> Return code: 0", "right"),
        ("Facts:\n- 1. shell pytest -> test_error ... ok (3 lines)", "right"),
        ("Facts:\n- Steps 1-2: the suite passed.", "right"),
        ("Facts:\n- 2. shell ls -> failed", "missing"),
        ("Failure causes:\n- 2, 3: no such file (step 1 then went through)", "missing"),
        ("Failure causes:\n- 1, 3: no such file (step 4 then went through)", "misleading"),
        ("Unresolved:\n- no later success seen for steps 1, 2", "missing"),
        ("Facts:\n- 1. shell pytest", "missing"),
        ("Facts:\n- 1. ran the suite: 12 tests", "right"),
        ("Facts:\n- 1, 3. the suite, twice: 12 tests", "right"),
        ("Facts:\n- 1. ran the suite", "right"),
        ("Facts:\n- 1. ran the suite: it failed", "misleading"),
        ("Unresolved:\n- 1. looked for the suite: where is it", "missing"),
        # What a step was for stands before the colon, what came of it behind.
        ("Facts:\n- 1. ran the suite to see why the build failed: 12 tests", "right"),
        ("Facts:\n- 1. ran the suite to see whether it worked: SuiteError", "misleading"),
        # What the agent took to be so says nothing of how its step ended.
        (
            "Facts:\n- 1. shell pytest -> 12 tests were run\n"
            "  agent's view: it hints at a step that failed before",
            "right",
        ),
        ("Facts:\n- 1. shell pytest (aim: see why it failed) -> 12 tests were run", "right"),
    ],
)
def test_a_verdict_is_what_the_record_says_in_its_own_words(record: str, expected: str) -> None:
    suite = ('{"command": "pytest"}', "test_error ... ok\n12 tests were run\nReturn code: 0")
    (question,) = asked(exam_of(suite), FactKind.VERDICT).values()
    assert question.answer == "succeeded"
    assert outcome(question, record) == expected


def test_a_status_that_was_sent_is_no_verdict_on_the_call() -> None:
    sent = '{"command": "close", "success": "true"}'
    (question,) = asked(exam_of((sent, "not found\nexit code: 1")), FactKind.VERDICT).values()
    record = "Facts:\n- 1. close success: true -> failed: not found"
    assert question.answer == "failed"
    assert outcome(question, record) == "right"


@pytest.mark.parametrize("outcome_told", ["the same SyntaxError", "disassembly not available"])
def test_an_outcome_with_a_word_of_failure_tells_a_failure(outcome_told: str) -> None:
    answer = "SyntaxError: disassembly not available\nexit code: 1"
    (question,) = asked(exam_of(('{"command": "x"}', answer)), FactKind.VERDICT).values()
    record = f"Facts:\n- 1. ran x for the addresses: {outcome_told}"
    assert outcome(question, record) is ReaderOutcome.RIGHT


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("Facts:\n- 1. opened https://mill.example/prices: Prices of all our flours", "right"),
        ("Facts:\n- 2. opened https://mill.example/prices: Prices of all our flours", "missing"),
    ],
)
def test_an_address_or_a_title_in_an_entry_of_its_step_needs_no_key(
    record: str, expected: str
) -> None:
    page = "Page address: https://mill.example/prices\nPage title: Prices of all our flours"
    questions = asked(exam_of(("{}", page)), FactKind.PAIR)
    assert {*questions} == {"page address", "page title"}
    assert {outcome(question, record) for question in questions.values()} == {expected}


def test_a_failure_that_is_shown_but_not_named_is_missing_not_misleading() -> None:
    (question,) = asked(
        exam_of(('{"command": "x"}', "all\nexit code: 2")), FactKind.VERDICT
    ).values()
    assert outcome(question, "Facts:\n- 1. shell x -> all (2 lines)") is ReaderOutcome.MISSING
    assert outcome(question, "Facts:\n- 1. shell x -> worked") is ReaderOutcome.MISLEADING
    assert outcome(question, "Facts:\n- 1. shell x -> failed") is ReaderOutcome.RIGHT


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("Conclusions:\n- the cause was the stale lock in /srv/app", "right"),
        ("Facts:\n- 1. read the log: a stale lock", "right"),
        ("Conclusions:\n- the deploy failed for its cause was a full disk", "misleading"),
        ("Facts:\n- the disk was full", "missing"),
    ],
)
def test_what_somebody_else_asks_is_read_by_its_own_words(record: str, expected: str) -> None:
    posed = PosedQuestion(
        "What was the cause that the deploy failed?", "stale lock", ("full disk",)
    )
    log = exam_of(('{"command": "cat log"}', "deploy failed: stale lock"))
    ((question,), _) = posed_questions(log, [posed])
    assert outcome(question, record) == expected


def test_of_what_somebody_else_asks_only_what_a_record_must_tell_is_asked() -> None:
    shown = ('{"command": "cat log"}', "deploy failed: stale lock, 48 jobs waiting")
    kept = ('{"command": "cat log"}', "deploy failed: stale lock; 48 lamps burn")
    posed = [
        PosedQuestion("What failed?", "stale lock"),
        PosedQuestion("How many jobs were waiting?", "48"),
        PosedQuestion("Was it a good day?", "it was not"),
    ]
    asked, left_out = posed_questions(exam_of(shown, kept=[kept]), posed)
    # A number stands anywhere by chance; only beside words of its question it is an answer.
    assert [question.shown for question in asked] == ["48"]
    assert left_out == {IN_SIGHT: 1, NOT_SHOWN: 1}


def test_a_name_that_is_a_part_of_anothers_is_not_named() -> None:
    pages = (
        '[{"title": "ICLR 2026", "link": "https://iclr.cc/"},'
        ' {"title": "2025 Conference - ICLR 2026", "link": "https://iclr.cc/2025"}]'
    )
    question = asked(exam_of(("{}", pages)), FactKind.OBJECT)["iclr 2026"]
    other = "Locations:\n- 2025 Conference - ICLR 2026: https://iclr.cc/2025"
    assert outcome(question, other) is ReaderOutcome.MISSING
    assert outcome(question, f"{other}\n- ICLR 2026: https://iclr.cc/") is ReaderOutcome.RIGHT
    assert outcome(question, "- ICLR 2026: https://iclr.cc/2025") is ReaderOutcome.MISLEADING


def test_the_name_of_a_field_is_not_the_value_of_another() -> None:
    """A column may have the id "title"; "title: Trips" is the name of the table it is in."""
    columns = '[{"name": "Waiver", "id": "pm4x"}, {"name": "Trip", "id": "title"}]'
    question = asked(exam_of(("{}", columns)), FactKind.OBJECT)["waiver"]
    assert (question.answer, question.wrong) == ("pm4x", ("title",))
    table = "Facts:\n- 1: its output:\n  title: Trips; id: 88-17-41; Waiver: text; ..."
    assert outcome(question, table) is ReaderOutcome.MISSING
    assert outcome(question, "Facts:\n- 1: Waiver; id: title") is ReaderOutcome.MISLEADING
    assert outcome(question, "Facts:\n- 1: Waiver; id: pm4x") is ReaderOutcome.RIGHT
