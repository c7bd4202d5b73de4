"""What readers stumbled over in extracts, each as a test that would have caught it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Record
from tests.records.test_extract import PADDING, step


def written(
    *span: Interaction, before: Sequence[Segment] = (), after: Sequence[Segment] = ()
) -> Record:
    situation = Situation(FactIndex((*before, *after)), tuple(before), tuple(after))
    return ExtractiveSummarizer().summarize(span, situation)


def lines_with(text: str, record: Record) -> list[str]:
    return [line for line in record.body.split("\n") if text in line]


# --- how a step ended ---


@pytest.mark.parametrize(
    ("seen", "kept"),
    [
        (
            "Chunk ID: 1f\nProcess exited with code 0\nOutput:\nerror handling: see docs/errors.md",
            "error handling: see docs/errors.md",
        ),
        (
            '{"stdout": "ERROR = 3\\nraise ValueError", "stderr": "", "returncode": 0}',
            "raise ValueError",
        ),
        (
            "# Errors\n\nA failed payment must be retried once.\n",
            "A failed payment must be retried once.",
        ),
        (
            "class NotFoundError(Exception):\n    pass\n\n\nclass Other:\n    pass\n",
            "class NotFoundError(Exception):",
        ),
        (
            "a1f fix: error when the file is missing\nb2e Permission denied is now reported\n",
            "b2e Permission denied is now reported",
        ),
    ],
)
def test_a_read_that_succeeded_is_shown_and_not_called_failed(seen: str, kept: str) -> None:
    read = step(1, '{"path": "docs/errors.md"}', seen, name="read_file")
    record = written(read, step(2, seen=PADDING))
    assert not record.unresolved
    assert kept in record.facts[0]
    assert "-> failed" not in record.facts[0]


@pytest.mark.parametrize("blank", ["", " ", "  "])
@pytest.mark.parametrize("none", ["null", "[]", "[ ]", "{}", "false", '""', "0"])
@pytest.mark.parametrize(
    "seen",
    [
        '{"error":?, "items": [{"id": 3}]}',
        '{"success": true, "errors":?}',
        '{\n"rows": "42",\n"error":?\n}',
        '[{"error":?, "id": 3}]',
        "error:?\nrows: 42",
    ],
)
def test_an_error_that_is_none_is_no_failure(seen: str, none: str, blank: str) -> None:
    for value, failed in ((none, False), ('"no such id"', True)):
        answer = seen.replace("?", blank + value)
        line = written(step(1, seen=answer), step(2, seen=PADDING)).facts[0]
        assert line.startswith("1. run {} -> ")
        assert ("-> failed" in line or "-> said: " in line) == failed, line


CRASH = 'Traceback (most recent call last):\n  File "/srv/mill.py", line 3\nValueError: no rye'
LOG = f"06:01 INFO started\n06:02 INFO grinding\n{CRASH}"


@pytest.mark.parametrize(
    ("name", "arguments", "seen", "failed"),
    [
        ("shell", {"command": "cat mill.log"}, LOG, False),
        ("shell", {"command": "cat mill.log\n"}, f"{CRASH}\n", False),
        ("shell", {"command": "cd /srv; tail -9 'a;b' 2>&1 | grep -v \"|\""}, LOG, False),
        ("read_file", {"path": "mill.log"}, LOG, False),
        ("shell", {"command": "python mill.py"}, LOG, True),
        ("shell", {"command": "cat mill.log && python mill.py"}, LOG, True),
        ("shell", {"command": "cat rye.txt | python mill.py"}, LOG, True),
        ("shell", {"command": "cat a b"}, "cat: a: No such file or directory\n" * 3, True),
        ("shell", {"command": "cat mill.log"}, "Error: the container is gone", True),
        ("read_file", {"path": "mill.log"}, "Error: no such file\n" + "  at a\n" * 5, True),
    ],
)  # fmt: skip
def test_the_errors_in_a_file_that_was_only_shown_are_no_failure(
    name: str, arguments: dict[str, str], seen: str, failed: bool
) -> None:
    record = written(step(1, json.dumps(arguments), seen, name=name), step(2, seen=PADDING))
    assert ("-> failed" in record.facts[0]) == failed
    assert failed or "ValueError: no rye" in record.body


def test_a_heading_about_errors_is_no_failure() -> None:
    seen = "Error analysis:\nt=1: error=4.05\nt=2: error=0.97"
    line = written(step(1, seen=seen), step(2, seen=PADDING)).facts[0]
    assert line.startswith("1. run {} -> ")
    assert "failed" not in line
    assert "t=2: error=0.97" in line


def test_a_status_stands_above_the_words_of_the_output() -> None:
    well = '{"stdout": "Error: 0 found", "stderr": "", "returncode": 0}'
    ill = '{"stdout": "all fine", "stderr": "", "returncode": 3}'
    span = (step(1, seen=well), step(2, seen=ill, name="other"), step(3, seen=PADDING))
    record = written(*span)
    assert ["-> failed" in fact for fact in record.facts] == [False, True, False]


@pytest.mark.parametrize(
    ("command", "seen", "told"),
    [
        (
            "diff old.conf new.conf",
            "3c3\n< port 22\n---\n> port 2222",
            "< port 22; 3c3; > port 2222",
        ),
        ("cd etc && grep -rn sshd_port .", "", "no output"),
        ("diff a b.conf", "diff: b.conf: no such file", "failed: diff: b.conf: no such file"),
        ("grep -q x a && make", "make: *** No rule for it", "failed: make: *** No rule for it"),
    ],
)
def test_a_status_that_answers_a_question_is_no_failure(command: str, seen: str, told: str) -> None:
    answer = json.dumps({"stdout": seen, "stderr": "", "returncode": 1})
    record = written(step(1, json.dumps({"command": command}), answer), step(2, seen=PADDING))
    assert record.facts[0].endswith(f" -> {told}")


def test_a_test_run_keeps_its_verdict() -> None:
    seen = "\n".join(f"test_wrap_{n:02} ... ok" for n in range(60)) + "\nRan 60 tests in 0.4s\n\nOK"
    record = written(step(1, '{"cmd": "pytest"}', seen), step(2, seen=PADDING))
    assert "Ran 60 tests in 0.4s; OK" in record.facts[0]


def test_a_failure_that_the_same_call_overcame_says_so() -> None:
    failing = step(1, seen=f"Error: no such table: orders\n{PADDING}")
    assert "-> failed: Error: no such table: orders; from its output:" in written(failing).facts[0]
    (told,) = written(failing, after=[step(2, seen="3 rows")]).facts
    assert "orders; the same call went through at 2; from its output:" in told


def test_a_cause_that_several_steps_met_is_told_once() -> None:
    failing = [
        step(n, seen=f"Error: the quota is used up\n{PADDING}", name=f"t{n}") for n in (1, 2, 3)
    ]
    first, *others = [fact.partition(" -> ")[2] for fact in written(*failing).facts]
    assert first.startswith("failed: Error: the quota is used up")
    assert all(other.startswith("failed as at step 1") for other in others)


def test_a_step_that_says_it_went_well_is_shown_so() -> None:
    seen = '{"stdout": "", "stderr": "", "returncode": 0}'
    assert written(step(4, '{"cmd": "make clean"}', seen)).facts[0].endswith("-> ok, no output")


def test_a_step_with_output_says_how_it_ended_even_where_no_line_of_it_fits() -> None:
    code = "\n".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(20))
    line = written(step(4, seen=code, name="read_file")).facts[0].split("\n")[0]
    assert line.endswith("-> 59 lines; from its output:")


# --- a value never leaves its label ---


def test_an_order_keeps_its_own_status_and_tracking_number() -> None:
    orders = [
        {"order_id": f"ORD-{n}", "status": "shipped" if n % 2 else "open", "tracking": f"TRK{n}77X"}
        for n in range(100, 140)
    ]
    record = written(step(1, seen=json.dumps(orders)))
    kept = [line.strip() for line in lines_with("TRK", record)]
    assert len(kept) > len(orders) // 2
    assert {*kept} <= {" | ".join(order.values()) for order in orders}
    assert not any(line.count("ORD-") > 1 for line in record.body.split("\n"))


def test_a_row_stands_whole_below_its_header() -> None:
    rows = [f"PG{n:02},{20 + n}.76,{n}.3" for n in range(40)]
    record = written(step(1, seen="\n".join(["pay group,hourly rate,night", *rows])))
    lines = record.body.split("\n")
    kept = [line.strip() for line in lines if "PG" in line and "group" not in line]
    assert kept
    assert all(any(row in line for row in rows) for line in kept)
    assert any("pay group,hourly rate,night" in line for line in lines)


def test_an_empty_waiver_does_not_borrow_the_next_ones() -> None:
    trips = [
        {"trip": "TR-70625", "waiver": None, "cost": "410.50"},
        {"trip": "TR-70626", "waiver": "W-4103", "cost": "98.20"},
    ]
    record = written(step(1, seen=json.dumps(trips) + "\n" * 30))
    (line,) = lines_with("W-4103", record)
    assert "TR-70626" in line
    assert "TR-70625" not in line


def test_a_rule_is_kept_whole_with_its_heading() -> None:
    rule = (
        "- The premium for night work is 35 percent of the hourly\n  rate, must be shown apart, "
        "and never applies to leavers."
    )
    record = written(step(1, seen=f"# Pay\n\n## Night work\n\n{rule}\n\n# Other\n\n{PADDING}"))
    (line,) = lines_with("35 percent", record)
    assert "Night work" in line
    assert "never applies to leavers." in line


def test_a_code_comment_is_no_constraint() -> None:
    code = (
        "def match(r):\n    # Empty range: never match.\n    if not r:\n        return False\n" * 9
    )
    record = written(step(1, seen=code, name="read_file"))
    assert lines_with("# Empty range: never match.", record)
    assert not record.constraints


def test_code_is_kept_in_runs_of_lines_and_not_line_by_line() -> None:
    code = "\n\n".join(f"def f{n}(x):\n    y = x + {n}\n    return y * {n}" for n in range(8))
    record = written(step(1, seen=code), step(2, '{"name": "f3"}', "ok"))
    body = record.body
    kept = [number for number in range(8) if f"return y * {number}" in body]
    assert kept
    for number in kept:
        assert f"def f{number}(x):\n      y = x + {number}\n      return y * {number}" in body


def test_an_edit_is_kept_as_old_and_new() -> None:
    arguments = {"path": "cfg.py", "old_str": "LIMIT = 30\nA = 1", "new_str": "LIMIT = 45\nA = 1"}
    body = written(step(1, json.dumps(arguments), "ok", name="edit"), step(2, seen=PADDING)).body
    assert "1. edit cfg.py: - LIMIT = 30 + LIMIT = 45 -> ok" in body


def test_two_attempts_that_differ_at_their_end_look_different() -> None:
    query = "SELECT name, price, stock, region, supplier FROM products WHERE region = 'EMEA' AND "
    span = [
        step(n, json.dumps({"query": query * 3 + f"stock < {n}00"}), PADDING) for n in range(1, 4)
    ]
    facts = written(*span).facts
    assert len({line.partition(". ")[2] for line in facts[:3]}) == 3


def test_what_the_line_of_a_step_says_is_not_said_again_below_it() -> None:
    arguments = {"command": "mono --version", "workdir": "/srv/app/long/enough/to/be/shown"}
    span = [step(1, json.dumps(arguments), "Mono 6.8.0.105"), step(2, seen=PADDING)]
    body = written(*span).body
    assert body.count("mono --version") == 1
    assert body.count("Mono 6.8.0.105") == 1


# --- what the agent said ---


def test_a_view_that_a_later_step_refutes_gives_way() -> None:
    first = "The cause is the limit max_rows in settings.toml."
    later = "Actually the cause is not the limit max_rows at all."
    shown = step(1, seen="two lines")
    alone = written(shown, step(2, said=first, seen=PADDING))
    refuted = written(shown, step(2, said=first, seen=PADDING), step(3, said=later, seen=PADDING))
    assert first in alone.body
    assert first not in refuted.body


# --- the situation ---


def test_what_stands_elsewhere_in_the_history_is_not_repeated() -> None:
    line = "the report goes to finance-team at the end of the quarter"
    record = Summary("s", (), 0, f"Facts:\n- 1: {line}", (), 1, 1)
    seen = f"{line}\n{PADDING}"
    assert line in written(step(2, seen=seen)).body
    assert line not in written(step(2, seen=seen), before=[record]).body


def test_files_that_were_listed_and_never_read_are_named() -> None:
    listing = step(1, '{"cmd": "ls docs"}', "rules.md\nrates.csv\nnotes.txt", name="shell")
    reading = step(2, '{"path": "docs/rates.csv"}', PADDING, name="read_file")
    task = Pinned("p", (), 0, "user", "Follow notes.txt.")
    record = written(listing, reading, before=[task])
    assert "1: listed, not read: notes.txt, rules.md" in record.locations
