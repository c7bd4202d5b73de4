from __future__ import annotations

import pytest

from statecomp.llm.chat import Chat, ChatFailed, ChatUsage, Completion
from statecomp.testing.chat import Asked, ScriptBroken, ScriptedChat


def say(chat: Chat, prompt: str = "which colour?") -> Completion:
    return chat.ask("be brief", prompt, max_tokens=50)


def test_replies_come_in_their_order() -> None:
    whole = Completion("green", ChatUsage(1, 2, 3))
    chat = ScriptedChat(["blue", whole])
    assert say(chat).text == "blue"
    assert say(chat) is whole
    chat.assert_exhausted()


def test_an_error_in_the_script_is_raised() -> None:
    chat = ScriptedChat([ChatFailed("out of paint", retryable=True), "blue"])
    with pytest.raises(ChatFailed, match="out of paint"):
        say(chat)
    assert say(chat).text == "blue"


def test_a_function_answers_every_question() -> None:
    chat = ScriptedChat(lambda asked: asked.prompt.upper())
    assert [say(chat, word).text for word in ("a", "b")] == ["A", "B"]
    chat.assert_exhausted()


def test_one_call_too_many_is_no_failure_of_a_model() -> None:
    chat = ScriptedChat(["blue"])
    say(chat)
    with pytest.raises(ScriptBroken, match="call 2 was not in the script"):
        say(chat)


def test_replies_left_over_are_reported() -> None:
    chat = ScriptedChat(["blue", "green", "red"])
    say(chat)
    with pytest.raises(ScriptBroken, match="2 scripted replies"):
        chat.assert_exhausted()


def test_usage_is_counted_as_told() -> None:
    assert say(ScriptedChat(["blue!"])).usage == ChatUsage(input_tokens=6, output_tokens=2)
    assert say(ScriptedChat(["blue!"], count=len)).usage == ChatUsage(21, 5)


def test_questions_are_remembered() -> None:
    chat = ScriptedChat(["blue"], model="painter")
    say(chat)
    assert chat.asked == [Asked("be brief", "which colour?", 50)]
    assert chat.model == "painter"
