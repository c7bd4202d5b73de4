"""The arguments of a call: by name, as an edit, as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from statecomp.history.given import NotGiven, given
from statecomp.history.interaction import Call
from statecomp.records.extracting.decode import Json, decoded
from statecomp.records.extracting.pieces import FENCED, one_line


def arguments_of(call: Call) -> dict[str, object]:
    """The arguments by name; text that is no JSON object is one argument."""
    try:
        found = given(call.arguments)
    except NotGiven:
        found = call.arguments
    return found if isinstance(found, dict) else {"input": found}


def texts_of(call: Call) -> Iterator[tuple[str, str]]:
    """The arguments by name, each as the text it is or as the data it would be sent as."""
    for key, value in arguments_of(call).items():
        yield key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


RUN_KEYS = frozenset(
    {"command", "cmd", "code", "script", "keystrokes", "input", "bash", "commands"}
)
"""Arguments that are run."""


def command_of(call: Call) -> str:
    """The text that a call has run; nothing where it runs none."""
    given = arguments_of(call)
    return next((str(value) for key, value in given.items() if key in RUN_KEYS), "")


_OLD = ("old_string", "old_str", "oldText", "old_text", "search", "old")
_NEW = ("new_string", "new_str", "newText", "new_text", "replace", "new")
_TARGET = ("file_path", "path", "filename", "file", "url", "uri", "filePath", "target")


def edit_of(arguments: Mapping[str, object]) -> tuple[str, str] | None:
    """The old and the new text of an edit."""
    for old, new in zip(_OLD, _NEW, strict=True):
        before, after = arguments.get(old), arguments.get(new)
        if isinstance(before, str) and isinstance(after, str) and before.strip():
            return before, after
    return None


def as_diff(old: str, new: str) -> str:
    """The lines that go and the lines that come, spaced as they are: an edit must match them."""
    before, after = (list(map(str.rstrip, text.split("\n"))) for text in (old, new))
    # Where lines changed places only, or blanks at their ends did, both are told whole.
    same = {"", *before} & {"", *after} if {*before} != {*after} else {""}
    gone = (f"- {line}" for line in before if line not in same)
    come = (f"+ {line}" for line in after if line not in same)
    return "\n".join((*gone, *come))


def target_of(arguments: Mapping[str, object]) -> str:
    """The file or the page a call is about."""
    return next((str(arguments[key]) for key in _TARGET if isinstance(arguments.get(key), str)), "")


def pairs_of(call: Call) -> dict[str, str]:
    """The arguments as names and values, those inside others by the names on the way.

    Texts keep their lines.
    """
    given = arguments_of(call)
    if acts := acts_of(call):
        return acts  # what else such a call says is what the agent thought of it
    pairs: dict[str, str] = {}
    for name, value in pairs_in(given, ""):
        # Two that are called alike, in two places, are both told.
        pairs[name] = f"{pairs[name]}, {value}" if pairs.get(name, value) != value else value
    if "content" in pairs and "sha" in pairs:
        # What is written over is named by its old hash.
        first = {"path": pairs["path"]} if "path" in pairs else {}
        pairs = {**first, "sha before": pairs.pop("sha"), **pairs}
    return pairs


def pairs_in(value: object, name: str) -> Iterator[tuple[str, str]]:
    """The plain values inside a value; lists of them are one."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _loaded(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from pairs_in(inner, key)
    elif isinstance(value, list) and not any(isinstance(inner, dict | list) for inner in value):
        yield name, one_line(", ".join(map(str, value)))
    elif isinstance(value, str):
        yield name, value
    else:
        yield name, json.dumps(value, ensure_ascii=False)


_ACTS = ("actions", "action", "commands", "command", "tool_calls")
_PLANS = frozenset({"next_goal", "plan"})
_UNSAID = frozenset({"next_steps", "relevant_interactions", *_ACTS})


class Thoughts(NamedTuple):
    """What a message says beside what it does, and what it marks as its plan itself."""

    stated: str
    planned: str = ""


def acts_of(call: Call) -> dict[str, str]:
    """What a call does that is a message of data itself; nothing where it is none."""
    given = arguments_of(call)
    return {key: told(given[key]) for key in _ACTS if isinstance(given.get(key), list | dict)}


def thoughts_of(call: Call) -> Thoughts:
    """What a call that is a message of data says beside what it does."""
    return _thoughts_in(arguments_of(call) if acts_of(call) else {})


def acted(said: str) -> tuple[Json, Thoughts] | None:
    """What a message of data does, and what it says of that; None where it is no such message.

    Some agents answer with one object: their thoughts, and a list of what is to be done.
    """
    block = (FENCED.findall(said) or [said])[-1].strip()
    data = decoded(block) if block[:1] == "{" else None
    if not isinstance(data, dict):
        return None
    acts = next((data[key] for key in _ACTS if data.get(key)), None)
    if acts is None or isinstance(acts, str):
        return None
    return acts, _thoughts_in(data)


def _thoughts_in(data: Mapping[str, object]) -> Thoughts:
    told = list(_texts(data, planned=False))
    return Thoughts(
        *("\n".join(text for plan, text in told if plan is one) for one in (False, True))
    )


def _texts(value: object, *, planned: bool) -> Iterator[tuple[bool, str]]:
    if isinstance(value, str):
        yield planned, value
    elif isinstance(value, dict):
        # What it says of its last step comes first.
        for key, inner in sorted(value.items(), key=lambda pair: "eval" not in pair[0]):
            if key not in _UNSAID:
                yield from _texts(inner, planned=planned or key in _PLANS)


def told(acts: Json) -> str:
    """The acts of such a message on one line, each with its values."""
    if isinstance(acts, list):
        return "; ".join(map(told, acts))
    if not isinstance(acts, dict):
        return one_line(str(acts))
    parts = (
        f"{key} {told(value)}" if isinstance(value, dict) else f"{key}: {told(value)}"
        for key, value in acts.items()
    )
    return ", ".join(parts)


def _loaded(text: str) -> object:
    """Data that was sent as text; the text where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
