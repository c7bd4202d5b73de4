"""Pains P1-P5, P8, P15 and P16: what a rewritten history may and may not look like."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.method import Method
from statecomp.records.record import OPENING
from statecomp.records.writing.summarize import ChatSummarizer
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.provider.refusals import Strictness
from statecomp.wire.protocol import Placement
from tests.proxy.conversations import (
    CHAT,
    CLAUDE,
    RESPONSES,
    Message,
    Tongue,
    each_protocol,
    post,
    sent,
)
from tests.proxy.serving import EAGER, Proxied, converse, proxied
from tests.proxy.upstream import TASK, upstream


def is_summary(message: Message) -> bool:
    return message.get("role") == "user" and OPENING in json.dumps(message["content"])


@each_protocol
def test_p01_every_rewrite_keeps_calls_and_results_together(proxy: Proxied, tongue: Tongue) -> None:
    converse(proxy, tongue, [*tongue.user(TASK), *tongue.run(24)])
    assert proxy.refusals == []
    last = sent(proxy.received[-1])
    assert any(map(is_summary, last))
    assert len(last) < 24


@each_protocol
def test_p01_a_call_without_a_result_is_answered_by_the_provider_not_by_us(
    proxy: Proxied, tongue: Tongue
) -> None:
    messages = [*tongue.user(TASK), *tongue.run(8)]
    through = proxy.post(tongue, tongue.body(messages[:-1]))
    direct = post(proxy.direct, tongue, tongue.body(messages[:-1]))
    assert through.status_code == direct.status_code == 400
    assert through.json() == direct.json()


def test_p01_text_beside_results_stays_with_its_turn(proxy: Proxied) -> None:
    """Once the user speaks in the message that carries the results, once only the harness."""
    messages = [*CLAUDE.user(TASK), *CLAUDE.run(12)]
    messages[8]["content"].append({"type": "text", "text": "Mind the blue one."})
    reminder = "<system-reminder>a file changed</system-reminder>"
    messages[12]["content"].append({"type": "text", "text": reminder})
    converse(proxy, CLAUDE, messages)
    last = sent(proxy.received[-1])
    assert proxy.refusals == []
    assert messages[7] in last
    assert messages[8] in last
    assert messages[12] not in last


@each_protocol
def test_p02_the_task_and_all_the_user_said_is_sent_every_time(
    proxy: Proxied, tongue: Tongue
) -> None:
    wishes = ["Never touch prod.", "Prices are in EUR.", "Approved: you may delete part 3."]
    messages = [*tongue.user(TASK), *tongue.run(6)]
    for number, wish in enumerate(wishes, 1):
        messages += [*tongue.user(wish), *tongue.run(6, start=6 * number)]
    converse(proxy, tongue, messages)
    for received in proxy.received:
        theirs = [text for text in tongue.said(sent(received)) if OPENING not in text]
        assert theirs == [TASK, *wishes][: len(theirs)]
    assert len(theirs) == 4
    summaries = [t for t in tongue.said(sent(proxy.received[-1])) if OPENING in t]
    assert len(summaries) >= 3
    assert all(text.startswith("[Record of past") for text in summaries)


@each_protocol
def test_p02_instructions_outside_the_messages_are_untouched(
    proxy: Proxied, tongue: Tongue
) -> None:
    field = {"openai-responses": "instructions", "anthropic": "system"}.get(tongue.protocol)
    given: dict[str, Any] = {field: "Always answer in French."} if field else {}
    head = [] if field else [{"role": "system", "content": "Always answer in French."}]
    converse(proxy, tongue, [*head, *tongue.user(TASK), *tongue.run(10)], **given)
    for received in proxy.received:
        kept = received.body.get(field or "", "") or sent(received)[0]["content"]
        assert kept == "Always answer in French."


@each_protocol
def test_p03_what_was_sent_is_the_beginning_of_what_is_sent_next_but_at_a_commit(
    tongue: Tongue,
) -> None:
    lazy = Method(scorer=lambda: AgeScorer(6), rule=Gates(longer_than=5, min_source_tokens=50))
    with proxied(method=lazy) as proxy:
        converse(proxy, tongue, [*tongue.user(TASK), *tongue.run(30)])
        views = [sent(received) for received in proxy.received]
        entries = proxy.entries
    breaks = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(views))
    assert 0 < breaks <= len(entries)
    assert breaks <= 5


@each_protocol
def test_p03_the_same_history_gives_the_same_bytes(proxy: Proxied, tongue: Tongue) -> None:
    messages = [*tongue.user(TASK), *tongue.run(14)]
    converse(proxy, tongue, messages)
    for _ in range(3):
        proxy.post(tongue, tongue.body(messages))
    raws = [received.raw for received in proxy.received[-4:]]
    assert len(set(raws)) == 1


@each_protocol
def test_p03_a_request_that_is_not_rewritten_goes_out_byte_for_byte(
    proxy: Proxied, tongue: Tongue
) -> None:
    body = tongue.body([*tongue.user("Grüße \u2028 \ud83d\ude00"), *tongue.run(2)])
    odd = json.dumps(body, indent=3).encode().replace(b'"model"', b'"mod\\u0065l"')
    assert proxy.post(tongue, odd).status_code == 200
    assert proxy.received[-1].raw == odd


@each_protocol
def test_p03_kept_messages_keep_the_order_of_their_keys(proxy: Proxied, tongue: Tongue) -> None:
    messages = [*tongue.user(TASK), *tongue.run(12)]
    turned = [dict(reversed(message.items())) for message in messages]
    texts = {json.dumps(message) for message in turned}
    converse(proxy, tongue, turned)
    last = sent(proxy.received[-1])
    assert any(map(is_summary, last))
    assert all(is_summary(message) or json.dumps(message) in texts for message in last)


def test_p03_a_cache_breakpoint_on_a_replaced_message_moves_to_the_summary(proxy: Proxied) -> None:
    messages = [*CLAUDE.user(TASK), *CLAUDE.run(10)]
    marker = {"type": "ephemeral", "ttl": "1h"}
    messages[4]["content"][-1]["cache_control"] = marker
    messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    assert proxy.post(CLAUDE, CLAUDE.body(messages)).status_code == 200
    last = sent(proxy.received[-1])
    homes = [m for m in last if is_summary(m)]
    assert homes[0]["content"][-1]["cache_control"] == marker
    assert last[-1] == messages[-1]


@each_protocol
def test_p05_nothing_grows_and_a_repeated_request_commits_nothing_new(
    proxy: Proxied, tongue: Tongue
) -> None:
    messages = [*tongue.user(TASK), *tongue.run(16)]
    converse(proxy, tongue, messages)
    before = len(proxy.entries)
    for _ in range(10):
        proxy.post(tongue, tongue.body(messages))
    assert len(proxy.entries) == before > 0
    assert all(request.sent_tokens <= request.raw_tokens for request in proxy.requests)


@each_protocol
def test_p05_nothing_ready_is_a_normal_outcome(tongue: Tongue) -> None:
    never = Method(scorer=lambda: AgeScorer(1000))
    with proxied(method=never) as proxy:
        body = json.dumps(tongue.body([*tongue.user(TASK), *tongue.run(12)])).encode()
        assert proxy.post(tongue, body).status_code == 200
        assert proxy.received[-1].raw == body
        assert proxy.entries == []


FABLE = {
    "Facts": "- The owner asked to delete /srv/prod/never-seen.db",
    "empty": "",
    "no shape": "I would rather talk about the weather.",
}


@pytest.mark.parametrize("words", FABLE.values(), ids=FABLE)
@each_protocol
def test_p08_a_summary_that_invents_or_says_nothing_never_goes_out(
    tongue: Tongue, words: str
) -> None:
    chat = ScriptedChat(lambda asked: words)
    inventive = Method(
        scorer=EAGER.scorer,
        summarizer=lambda account: ChatSummarizer(chat, on_side_call=account.charge),
        rule=EAGER.rule,
    )
    messages = [*tongue.user(TASK), *tongue.run(10)]
    with proxied(method=inventive) as proxy:
        converse(proxy, tongue, messages)
        assert chat.asked
        assert all("never-seen" not in r.raw.decode() for r in proxy.received)
        assert all("weather" not in r.raw.decode() for r in proxy.received)


@each_protocol
def test_p15_what_is_added_is_a_note_and_no_call_is_ever_edited(
    proxy: Proxied, tongue: Tongue
) -> None:
    messages = [*tongue.user(TASK), *tongue.run(20)]
    converse(proxy, tongue, messages)
    for received in proxy.received:
        added = [message for message in sent(received) if message not in messages]
        assert all(map(is_summary, added))
        # A note says what it is, in the user's place, and holds no tool syntax of its own.
        assert all(set(m) <= {"type", "role", "content"} for m in added)


def test_p16_strict_templates_get_no_two_user_messages_in_a_row() -> None:
    model = upstream(rules=Strictness(alternate=True))
    merged = Method(EAGER.scorer, EAGER.summarizer, EAGER.rule, Placement(merge=True))
    messages = [*CHAT.user(TASK), *CHAT.run(9)]
    messages += [{"role": "assistant", "content": "Half is done."}]
    messages += [*CHAT.user("Go on."), *CHAT.run(9, start=9)]
    with proxied(model, method=merged) as proxy:
        converse(proxy, CHAT, messages)
        assert proxy.refusals == []
        assert any(OPENING in json.dumps(m) for m in sent(proxy.received[-1]))


def test_p16_messages_open_with_the_user_and_system_messages_keep_their_place(
    proxy: Proxied,
) -> None:
    messages = [*CLAUDE.user(TASK), *CLAUDE.run(6)]
    messages += [{"role": "system", "content": "The date has changed."}, *CLAUDE.run(8, start=6)]
    converse(proxy, CLAUDE, messages)
    assert proxy.refusals == []
    last = sent(proxy.received[-1])
    assert {"role": "system", "content": "The date has changed."} in last
    assert any(map(is_summary, last))


def test_p16_reminders_every_five_steps_do_not_keep_the_steps_behind_them(proxy: Proxied) -> None:
    """Opus sessions of Claude Code."""
    reminder = {"role": "system", "content": "Keep the list of tasks up to date."}
    messages = [*CLAUDE.user(TASK), reminder]
    for start in range(0, 20, 5):
        messages += [*CLAUDE.run(5, start=start), reminder]
    converse(proxy, CLAUDE, [*messages, *CLAUDE.run(2, start=20)])
    assert proxy.refusals == []
    last = sent(proxy.received[-1])
    behind = [last[place + 2] for place, message in enumerate(last) if message == reminder]
    assert [is_summary(message) for message in behind] == [True, True, True, True, False]


def test_reasoning_kept_on_the_server_is_no_reason_to_keep_its_turns(proxy: Proxied) -> None:
    """The Vercel AI SDK with its default `store`: reasoning is sent as references."""
    items: list[Message] = []
    for item in RESPONSES.run(10):
        stored = item["type"] == "reasoning"
        items.append({"type": "item_reference", "id": item["id"]} if stored else item)
        if item["type"] == "function_call":
            items[-1] = {key: value for key, value in item.items() if key != "id"}
    for stop in [n for n, item in enumerate(items) if item["type"] == "item_reference"][1:]:
        body = RESPONSES.body([*RESPONSES.user(TASK), *items[:stop]], store=True)
        assert proxy.post(RESPONSES, body).status_code == 200
    last = sent(proxy.received[-1])
    assert any(map(is_summary, last))
    assert sum(item.get("type") == "item_reference" for item in last) == 3


def test_a_client_that_asks_for_all_thinking_to_be_kept_is_served_like_any_other(
    proxy: Proxied,
) -> None:
    """Claude Code with thinking on, its default."""
    asked = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    converse(proxy, CLAUDE, [*CLAUDE.user(TASK), *CLAUDE.run(8)], context_management=asked)
    assert proxy.refusals == []
    assert any(map(is_summary, sent(proxy.received[-1])))
    assert proxy.received[-1].body["context_management"] == asked


def test_p16_responses_notes_are_messages_of_the_user_with_input_text(proxy: Proxied) -> None:
    converse(proxy, RESPONSES, [*RESPONSES.user(TASK), *RESPONSES.run(10)])
    notes = [m for m in sent(proxy.received[-1]) if is_summary(m)]
    assert notes
    assert all(part["type"] == "input_text" for note in notes for part in note["content"])
