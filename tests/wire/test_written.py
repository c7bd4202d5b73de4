"""Calls written into words: agents without tool calls of the protocol, known by their marks."""

from __future__ import annotations

from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.openai_chat.written import LONGEST, OWN_WORDS, written

CHAT = OpenAIChat()
LISTED = (
    "I look.\nCalling tools:\n"
    "[{'id': 'c1', 'type': 'function', 'function': {'name': 'run', 'arguments': {'it': 1}}}, "
    "{'id': 'c2', 'type': 'function', 'function': {'name': 'python', 'arguments': 'x = 1'}}]"
)
FENCED = "I look.\n```mswea_bash_command\ncat a.txt\n```"
OUTPUT = "<returncode>0</returncode>\n<output>\nfine\n</output>"


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def test_a_list_of_calls_and_what_is_observed_are_one_interaction() -> None:
    messages = [said("user", "Do it."), said("assistant", LISTED), said("user", "Observation:\nok")]
    (step,) = parse(messages, CHAT).interactions
    assert step.said == "I look."
    assert [(call.id, call.name, call.arguments) for call in step.calls] == [
        ("c1", "run", '{"it": 1}'),
        ("c2", "python", "x = 1"),
    ]
    assert [seen.text for seen in step.observations] == ["Observation:\nok"]
    assert step.messages == tuple(messages[1:])
    assert not step.locked


@pytest.mark.parametrize("answer", [OUTPUT, f"<exception>late\n</exception>\n{OUTPUT}"])
def test_a_command_in_a_fence_and_its_output_are_one_interaction(answer: str) -> None:
    messages = [said("user", "Do it."), said("assistant", FENCED), said("user", answer)]
    (step,) = parse(messages, CHAT).interactions
    assert [(call.name, call.arguments) for call in step.calls] == [
        ("bash", '{"command": "cat a.txt"}')
    ]


def test_what_the_user_says_behind_an_answer_locks_it() -> None:
    found = written(LISTED, "Observation:\nok\nNew task:\nAnd now the rest.")
    assert found is not None
    assert found.locked == OWN_WORDS


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("I look.", "Observation:\nok"),
        (LISTED, "Go on."),
        (LISTED, "I read this:\nObservation:\nok"),
        (LISTED + "\nAnd then?", "Observation:\nok"),
        ("Calling tools:\n[{'id': ", "Observation:\nok"),
        ("Calling tools:\n[{'id': 'c1'}]", "Observation:\nok"),
        ("Calling tools:\n[{f(): 1}]", "Observation:\nok"),
        ("Calling tools:\n[{" + "[" * 5000 + "}]", "Observation:\nok"),
        ("Calling tools:\n[{'id': '" + "x" * LONGEST + "'}]", "Observation:\nok"),
        (FENCED, "Thank you."),
        ("```bash\nls\n```", OUTPUT),
    ],
)
def test_the_user_s_words_are_never_taken_for_an_answer(words: str, answer: str) -> None:
    messages = [said("user", "Do it."), said("assistant", words), said("user", answer)]
    assert [s.messages for s in parse(messages, CHAT).segments] == [(m,) for m in messages]


def test_a_message_with_calls_of_the_protocol_has_no_others() -> None:
    call = {"id": "c9", "function": {"name": "run", "arguments": "{}"}}
    messages = [{**said("assistant", LISTED), "tool_calls": [call]}, said("user", "Observation:\n")]
    step = parse(messages, CHAT).interactions[0]
    assert [one.id for one in step.calls] == ["c9"]
    assert step.locked


@pytest.mark.parametrize(("words", "answer"), [(LISTED, "Observation:\n"), (FENCED, OUTPUT)])
def test_such_a_run_is_shortened_and_what_is_kept_is_what_came(words: str, answer: str) -> None:
    messages = [said("system", "Be careful."), said("user", "Do it.")]
    for step in range(12):
        lines = "\n".join(f"line {n} of part {step} is checked" for n in range(30))
        messages += [said("assistant", f"Step {step}. {words}"), said("user", f"{answer}\n{lines}")]
    rule = Gates(threshold=0.5, longer_than=1, min_source_tokens=50)
    comp = StateComp(AgeScorer(after=2), rule=rule)
    for end in range(2, len(messages) + 1, 2):
        made = comp.checkpoint(messages[:end])
    assert made.sent_tokens < 0.75 * made.raw_tokens
    kept = [message for message in made.messages if any(message is m for m in messages)]
    assert len(kept) == len(made.messages) - len(made.applied)
    assert kept[:2] == messages[:2]
    assert kept[-1] is messages[-1]
