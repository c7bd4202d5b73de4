"""The scripted provider bills a cache as the providers document theirs."""

from __future__ import annotations

from typing import Any

from statecomp.testing.provider.marked import LOOKBACK, MarkedMeter

MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def request(texts: list[str], *, marked: tuple[int, ...] = (-1,), mark: Any = MARK) -> Any:
    """A marked system prompt, and one user message a text, with breakpoints where asked."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    for place in marked:
        blocks[place] = {**blocks[place], **mark}
    system = [{"type": "text", "text": "You are careful. " * 50, **mark}]
    return {"system": system, "messages": [{"role": "user", "content": [b]} for b in blocks]}


def texts(count: int, *, changed: int | None = None) -> list[str]:
    return [f"{n}: {'other' if n == changed else 'the'} words " * 9 for n in range(count)]


def test_what_stands_before_the_last_breakpoint_is_written_once_and_then_read() -> None:
    meter = MarkedMeter()
    first, again = meter.read(request(texts(4))), meter.read(request(texts(4)))
    assert (first.cached, first.written) == (0, first.input)
    assert (again.cached, again.written) == (first.input, 0)


def test_a_history_that_grows_finds_the_entry_of_the_request_before() -> None:
    meter = MarkedMeter()
    before = meter.read(request(texts(30)))
    after = meter.read(request(texts(32)))
    assert after.cached == before.input
    assert after.written == after.input - before.input


def test_behind_the_last_breakpoint_nothing_is_cached() -> None:
    meter = MarkedMeter()
    meter.read(request(texts(6), marked=(3,)))
    spent = meter.read(request(texts(6), marked=(3,)))
    assert 0 < spent.cached < spent.input
    assert spent.written == 0


def test_a_change_far_from_the_end_leaves_only_what_the_next_breakpoint_before_it_holds() -> None:
    meter = MarkedMeter()
    for length in range(1, 60):
        meter.read(request(texts(length)))
    head = MarkedMeter().read(request(texts(1), marked=())).input
    changed = texts(60, changed=30)
    far = meter.read(request(changed))
    assert far.cached < head  # the system prompt, and no message
    near = meter.read(request([*changed[:30], "new"], marked=(29, -1)))
    assert near.cached > 25 * 20  # a breakpoint before the change finds what was written there


def test_an_entry_is_looked_for_in_so_many_blocks_and_no_more() -> None:
    for distance, found in ((LOOKBACK - 1, True), (LOOKBACK, False)):
        meter = MarkedMeter()
        before = meter.read(request(texts(5)))
        after = meter.read(request(texts(5 + distance)))
        assert (after.cached == before.input) is found


def test_an_entry_dies_of_disuse() -> None:
    now = [0.0]
    meter = MarkedMeter(clock=lambda: now[0])
    for mark, lives_s in ((MARK, 300), (HOUR, 3600)):
        body = request(texts(3), mark=mark)
        meter.read(body)
        now[0] += lives_s - 1
        assert meter.read(body).written == 0
        now[0] += lives_s - 1  # reading it gave it a new life
        assert meter.read(body).written == 0
        now[0] += lives_s + 1
        assert meter.read(body).cached == 0


def test_one_marker_for_the_whole_request_stands_at_its_end() -> None:
    meter = MarkedMeter()
    body = {**request(texts(4), marked=()), **MARK}
    first, again = meter.read(body), meter.read(body)
    assert (first.written, again.cached) == (first.input, first.input)
