"""What a client puts around an answer is taken off, and its status is read."""

from __future__ import annotations

import json
import time

import pytest

from statecomp.history.interaction import Observation
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.decode import decoded, parted
from statecomp.records.extracting.unwrap import Payload, unwrapped


def opened(text: str, *, is_error: bool = False) -> Payload:
    return unwrapped(Observation("", text, is_error))


def test_chunk_ids_timings_and_token_counts_are_not_the_answer() -> None:
    text = (
        "Chunk ID: 692d78\nWall time: 0.0512 seconds\nProcess exited with code 0\n"
        "Original token count: 4\nOutput:\nport = 7042\n"
    )
    assert opened(text) == Payload("port = 7042\n", ended=True)


def test_a_return_code_in_a_sentence_of_the_client_counts() -> None:
    assert opened("\nCommand completed with return code: 1") == Payload("", ended=False)


def test_warnings_of_a_command_that_returned_zero_are_no_failure() -> None:
    parts = [
        {"type": "text", "text": "warning: line endings", "error": True},
        {"type": "text", "text": "Command completed with return code: 0"},
    ]
    assert opened(json.dumps(parts)) == Payload("warning: line endings", ended=True)


def test_the_routine_footer_of_a_tool_is_no_content() -> None:
    text = (
        "=== STDERR ===\nKeyError: 'content'\n=== EXECUTION INFO ===\n"
        "Return code: 1\nExecution time: 0.049 seconds\nTimeout limit: 30 seconds"
    )
    assert opened(text) == Payload("KeyError: 'content'", ended=False)


@pytest.mark.parametrize(
    ("envelope", "body", "ended"),
    [
        ({"content": [{"type": "text", "text": "all fine"}], "isError": False}, "all fine", True),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo", None),
        ([{"type": "text", "text": "no pip", "error": True}], "no pip", False),
        ({"stdout": "a\n", "stderr": "", "returncode": 2}, "a\n", False),
        ({"output": "done", "metadata": {"exit_code": 0}}, "done", True),
        (
            {"server_name": "S", "execution_result": {"success": True, "data": {"id": "x1"}}},
            {"id": "x1"},
            True,
        ),
    ],
)
def test_an_envelope_is_opened_and_its_status_kept(
    envelope: object, body: object, ended: bool | None
) -> None:
    assert opened(json.dumps(envelope)) == Payload(body, ended)


def test_a_failure_delivered_without_an_error_flag_is_a_failure() -> None:
    inner = json.dumps({"execution_result": {"error": "HTTP 409", "status_code": 409}})
    outer = json.dumps({"content": [{"type": "text", "text": inner}], "isError": False})
    assert opened(outer).ended is False


def test_data_that_is_the_answer_stays_data() -> None:
    text = '{"id": "ORD-1", "content": "two boxes", "price": 3}'
    assert opened(text).text == text


def test_line_numbers_and_colours_go_and_indentation_stays() -> None:
    text = "1:def f():\n2:    return 1\n3:\n4:\x1b[31mf()\x1b[0m"
    assert opened(text).text == "def f():\n    return 1\n\nf()"


def test_numbers_that_do_not_count_lines_stay() -> None:
    text = "10: ten\n30: thirty\n20: twenty\n15: fifteen"
    assert opened(text).text == text


def test_the_error_flag_of_the_protocol_stands_above_the_text() -> None:
    assert opened("looks fine", is_error=True).ended is False


def test_a_repr_is_read_like_json_and_numbers_stay_as_written() -> None:
    assert decoded("[{'n': Decimal('72.10'), 'ok': True, 'x': None}]") == [
        {"n": ["72.10"], "ok": True, "x": None}
    ]
    assert decoded('{"price": 30.50}') == {"price": "30.50"}


def test_broken_data_keeps_its_whole_items_and_what_stands_behind_it() -> None:
    before, data, after = parted('Rows:\n[{"a": 1}, {"a": 2, "b": (saved to /srv/x.json)')
    assert before.strip() == "Rows:"
    assert data is not None
    assert data[0] == {"a": "1"}
    assert "/srv/x.json" in str(data) + after


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"' + '\\"' * 400_000,
        "{'a': 1, " * 100_000,
        "[1," * 200_000 + '"',
        "\n{" * 200_000,
        '{"content":' * 100_000,
        "Row 1: {" * 100_000,
        '[{"a": "' + "\n" * 1_000_000,
        '[{"a": "\n"b": "' + '" ' * 500_000,
        "a: b\n" * 200_000,
        "| a " * 200_000,
        "x = 1;\n" * 150_000,
        "- item\n" * 150_000,
        "@@ -1 +1 @@\n+a\n" * 60_000,
    ],
    ids=lambda text: repr(text[:9]),
)
def test_a_megabyte_of_hostile_data_is_cut_in_linear_time(text: str) -> None:
    start = time.thread_time()
    cut(opened(text).body)
    assert time.thread_time() - start < 60
