"""The half that all adapters share, over messages of a framework that is only drawn here."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from statecomp.adapters.catalogue import FRAMEWORKS, NotSupported, needs
from statecomp.adapters.ownership import NotOurs, Owned
from statecomp.adapters.shortener import Shortener
from statecomp.dashboard.answers import commit_detail, overview, session_detail
from statecomp.errors import BadInput
from statecomp.history.interaction import JsonObject
from statecomp.ledger.open import open_ledger
from statecomp.ledger.own import WholeAccount
from statecomp.wire.content import text_of

EAGER: dict[str, Any] = {"scorer": "age:after=2", "longer_than": 1, "min_source_tokens": 50}


@dataclass(frozen=True, eq=False)
class Said:
    """A message of a framework: it holds whole steps, and may mark the end of a cached part."""

    role: str
    text: str
    call: str = ""
    marked: bool = False


def to_chat(said: Said) -> list[JsonObject]:
    if said.role == "tool":
        block = {"type": "text", "text": said.text}
        if said.marked:
            block["cache_control"] = "here"
        return [{"role": "tool", "tool_call_id": said.call, "content": [block]}]
    if said.call:
        call = {"id": said.call, "function": {"name": "look", "arguments": "{}"}}
        return [{"role": "assistant", "content": said.text, "tool_calls": [call]}]
    return [{"role": said.role, "content": said.text}]


def to_record(message: JsonObject) -> Said:
    marked = "cache_control" in str(message["content"])
    return Said("user", text_of(message["content"]), marked=marked)


def dict_of(values: Any) -> dict[str, Any]:
    assert isinstance(values, dict)
    return values


def conversation(steps: int, *, marked: int = -1) -> list[Said]:
    said = [Said("system", "You look."), Said("user", "Look at everything.")]
    for step in range(steps):
        lines = "\n".join(f"line {n} of part {step} is checked" for n in range(20))
        said.append(Said("assistant", f"Part {step}.", f"call_{step}"))
        said.append(Said("tool", lines, f"call_{step}", marked=step == marked))
    return said


def shortened(shortener: Shortener, said: Sequence[Said], **more: Any) -> list[Said]:
    return shortener.rewrite(said, to_chat, to_record, **more)


def held(shortener: Shortener, steps: int) -> list[list[Said]]:
    """A run as a framework holds it: every request with the whole history so far."""
    said = conversation(steps)
    return [shortened(shortener, said[: 2 + 2 * done]) for done in range(steps + 1)]


def test_what_is_kept_is_the_object_that_came_and_a_record_is_a_new_one() -> None:
    said = conversation(8)
    made = shortened(Shortener("drawn", **EAGER), said)
    new = [one for one in made if one not in said]
    assert len(new) == 1
    assert new[0].text.startswith("[Record of past steps")
    assert [one for one in made if one in said] == [one for one in said if one in made]


def test_async_code_gets_the_same() -> None:
    said = conversation(8)
    expected = shortened(Shortener("drawn", **EAGER), said)
    made = asyncio.run(Shortener("drawn", **EAGER).arewrite(said, to_chat, to_record))
    assert [one.text for one in made] == [one.text for one in expected]


def test_what_a_framework_wants_kept_stays() -> None:
    said = conversation(8)
    wanted = said[4]
    made = Shortener("drawn", **EAGER).rewrite(
        said, to_chat, to_record, keep=lambda one: one is wanted
    )
    assert wanted in made
    assert len(made) < len(said)


def test_the_cache_marker_of_what_goes_is_given_to_its_record() -> None:
    made = shortened(Shortener("drawn", **EAGER), conversation(8, marked=1))
    (record,) = [one for one in made if one.text.startswith("[Record")]
    assert record.marked


def test_what_was_sent_once_is_sent_again() -> None:
    sent = held(Shortener("drawn", **EAGER), 12)
    breaks = 0
    for before, after in itertools.pairwise(sent):
        texts = [[one.text for one in view] for view in (before, after)]
        breaks += texts[1][: len(texts[0])] != texts[0]
    assert breaks <= 6


def test_savings_are_tokens_dollars_and_commits() -> None:
    shortener = Shortener("drawn", **EAGER)
    assert (shortener.savings.tokens, shortener.savings.requests) == (0, 0)
    held(shortener, 12)
    savings = shortener.savings
    assert savings.requests == 13
    assert 0 < savings.tokens < savings.raw_tokens
    assert 0 < savings.commits < 12
    assert savings.dollars == pytest.approx(savings.raw_dollars - savings.sent_dollars)
    assert f"{savings.tokens:,} of {savings.raw_tokens:,} tokens" in str(savings)


def test_each_commit_is_told_where_progress_is_wanted() -> None:
    lines: list[str] = []
    shortener = Shortener("drawn", progress=lines.append, **EAGER)
    held(shortener, 8)
    shortener.close()
    assert lines
    assert all(line.startswith("statecomp: ") and "saved in" in line for line in lines)


def test_a_ledger_carries_records_over_to_the_next_process(tmp_path: Path) -> None:
    store = str(tmp_path / "ledger.sqlite")
    first = Shortener("drawn", store=store, **EAGER)
    before = held(first, 12)[-1]
    first.close()
    again = Shortener("drawn", store=store, scorer="age:after=1000")
    after = shortened(again, conversation(12))
    again.close()
    assert [one.text for one in after] == [one.text for one in before]


def test_an_undone_commit_is_sent_as_it_was_again(tmp_path: Path) -> None:
    store = str(tmp_path / "ledger.sqlite")
    shortener = Shortener("drawn", store=store, **EAGER)
    said = conversation(8)
    assert shortened(shortener, said) != said
    shortener.savings  # noqa: B018  waits until the account is written
    ledger = open_ledger(store, mask=lambda message, known: message)
    (session,) = ledger.sessions()
    assert all(ledger.undo(entry.commit.id) for entry in ledger.entries(session.id))
    ledger.close()
    assert shortened(shortener, said) == said
    shortener.close()


def test_the_ledger_knows_the_session_by_its_task(tmp_path: Path) -> None:
    store = str(tmp_path / "ledger.sqlite")
    shortener = Shortener("drawn", store=store, **EAGER)
    held(shortener, 6)
    shortener.close()
    ledger = open_ledger(store, mask=lambda message, known: message)
    (session,) = ledger.sessions()
    assert (session.title, session.client) == ("Look at everything.", "drawn")
    assert session.totals.requests == 7
    ledger.close()


def test_an_adapter_that_is_dropped_takes_its_thread_along() -> None:
    gc.collect()
    before = threading.active_count()
    for _ in range(5):
        held(Shortener("drawn", **EAGER), 3)
    gc.collect()
    assert threading.active_count() <= before


def test_observing_sends_what_came_and_counts_what_it_would_have_done() -> None:
    said = conversation(8)
    shortener = Shortener("drawn", mode="observe", **EAGER)
    assert shortened(shortener, said) == said
    assert shortener.savings.tokens == shortener.savings.commits == 0


def test_a_variable_of_the_environment_turns_every_adapter_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STATECOMP_MODE", "off")
    said = conversation(8)
    shortener = Shortener("drawn", **EAGER)
    assert shortened(shortener, said) == said
    assert shortener.savings.requests == 0


def test_a_converter_that_raises_is_told_once_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(said: Said) -> list[JsonObject]:
        raise ValueError("no such message")

    shortener = Shortener("drawn", **EAGER)
    said = conversation(8)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert shortener.rewrite(said, broken, to_record) == said
            made = asyncio.run(shortener.arewrite(said, broken, to_record))
            assert made == said
    assert [r.getMessage() for r in caplog.records] == [
        "drawn: a request goes out as it came (ValueError: no such message)"
    ]


def test_what_differs_with_every_request_is_told_once_and_without_what_it_quotes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shortener = Shortener("drawn", **EAGER)
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            orphan = Said("tool", "nobody asked", f"call_{number}")
            assert shortened(shortener, [Said("user", "Look."), orphan]) != []
    (told,) = caplog.records
    assert "call_" not in told.getMessage()


def test_agents_side_by_side_share_one_ledger_and_one_account() -> None:
    shortener = Shortener("drawn", **EAGER)

    async def all_of_them() -> None:
        said = conversation(8)
        runs = (shortener.arewrite(said[: 2 + n], to_chat, to_record) for n in range(0, 16, 2))
        await asyncio.gather(*runs)

    asyncio.run(all_of_them())
    assert shortener.savings.requests == 8


def test_the_pages_show_what_an_adapter_wrote(tmp_path: Path) -> None:
    store = str(tmp_path / "ledger.sqlite")
    shortener = Shortener("drawn", store=store, **EAGER)
    held(shortener, 8)
    shortener.close()
    ledger = open_ledger(store, mask=lambda message, known: message)
    account = WholeAccount(ledger)
    (session,) = ledger.sessions()
    detail = session_detail(account, session, 0)
    assert json.dumps(overview(account))
    assert len(detail["requests"]) == 9
    entry = ledger.entries(session.id)[0]
    assert commit_detail(account, entry)
    ledger.close()


def test_a_record_that_cannot_be_made_changes_nothing() -> None:
    def broken(message: JsonObject) -> Said:
        raise ValueError

    said = conversation(8)
    assert Shortener("drawn", **EAGER).rewrite(said, to_chat, broken) == said


def test_a_ledger_that_cannot_be_opened_changes_nothing(tmp_path: Path) -> None:
    said = conversation(8)
    folder = tmp_path / "ledger.sqlite"
    folder.mkdir()
    assert shortened(Shortener("drawn", store=str(folder), **EAGER), said) == said


def test_of_two_adapters_on_one_loop_only_the_first_acts(caplog: pytest.LogCaptureFixture) -> None:
    outer, inner = Shortener("outer", **EAGER), Shortener("inner", **EAGER)
    said = conversation(12)
    with caplog.at_level(logging.WARNING):
        for done in range(13):
            sent = shortened(outer, said[: 2 + 2 * done])
            assert shortened(inner, sent) == sent
    assert outer.savings.commits > 0
    assert inner.savings.commits == 0
    assert ["inner: another adapter acts" in r.getMessage() for r in caplog.records] == [True]


def test_a_second_run_over_the_same_task_has_an_adapter_of_its_own() -> None:
    first, second = Shortener("first", **EAGER), Shortener("second", **EAGER)
    held(first, 12)
    held(second, 12)
    assert second.savings.tokens == first.savings.tokens > 0


def test_thinking_that_is_bound_to_what_stands_before_it_forbids_a_change() -> None:
    def thoughtful(said: Said) -> list[JsonObject]:
        (made,) = to_chat(said)
        thought = {"type": "thinking", "thinking": "so", "signature": "signed"}
        return [{**made, "reasoning_details": [thought]} if said.call else made]

    def sent(model: str, *, tells: bool = False, **thinking: Any) -> list[Said]:
        beside = {"model": model, "thinking": thinking or None}
        shortener = Shortener("drawn", **EAGER)
        return shortener.rewrite(said, thoughtful, to_record, beside=beside, tells=tells)

    said = conversation(8)
    assert sent("claude-fable-5-1") == said
    assert sent("gpt-5") != said
    # Whoever tells the provider to drop what is stale may change it, unless the user forbade that.
    assert sent("claude-fable-5-1", tells=True) != said
    assert sent("claude-fable-5-1", tells=True, type="adaptive") != said
    assert sent("claude-fable-5-1", tells=True, type="enabled") == said
    drops = Shortener("drawn", drops_thinking=True, **EAGER)
    beside = {"model": "claude-fable-5-1"}
    assert drops.rewrite(said, thoughtful, to_record, beside=beside) != said
    strict = {"prefix_mismatch_behavior": "error"}
    assert sent("claude-fable-5-1", tells=True, type="adaptive", block_binding=strict) == said


@pytest.mark.parametrize("name", ["role", "merge"])
def test_where_a_record_stands_is_not_for_an_adapter_to_choose(name: str) -> None:
    with pytest.raises(BadInput, match="user message of its own"):
        Shortener("drawn", **dict[str, Any]({name: "user"}))


def test_unknown_options_and_modes_are_refused_in_a_sentence() -> None:
    with pytest.raises(BadInput, match="unknown options: colour"):
        Shortener("drawn", colour="red")
    with pytest.raises(BadInput, match="known are compress, observe, off"):
        Shortener("drawn", mode="sideways")


def test_a_part_that_is_kept_is_rebuilt_and_only_with_leave() -> None:
    def twofold(said: Said) -> list[JsonObject]:
        return [{"role": "tool", "content": "a"}, {"role": "user", "content": "b"}]

    item = Said("user", "both")
    owned = Owned.of([item], twofold)
    rebuilt = owned.restored(owned.wire[1:], to_record, lambda one, places: Said("user", "part"))
    assert [one.text for one in rebuilt] == ["part"]
    with pytest.raises(NotOurs, match="only a part"):
        owned.restored(owned.wire[1:], to_record, None)


def test_a_framework_that_is_not_here_is_named_with_what_to_install() -> None:
    with pytest.raises(NotSupported, match=r"pip install 'statecomp\[google-adk\]'"):
        needs("google_adk")


def test_a_framework_that_is_too_old_is_named_with_the_versions_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = replace(FRAMEWORKS["langchain"], package="pytest", since="999.1")
    monkeypatch.setitem(dict_of(FRAMEWORKS), "langchain", old)
    with pytest.raises(NotSupported, match=r"pytest \d.*too old.*proved with langchain \d"):
        needs("langchain")


def test_the_shared_half_imports_no_framework() -> None:
    code = "import sys, statecomp.adapters.shortener; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    others = {"langchain_core", "agents", "litellm", "aiohttp", "starlette", "click", "numpy"}
    assert loaded.isdisjoint(others | set(FRAMEWORKS))
