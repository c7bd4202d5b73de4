"""Forty shapes of text and body that have made programs like this one slow, at any size."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from random import Random
from typing import Any
from uuid import UUID

ALNUM = string.ascii_letters + string.digits
Messages = list[dict[str, Any]]


def _again(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def _random(letters: str, line: int = 0) -> Callable[[int], str]:
    def make(size: int) -> str:
        text = "".join(Random(7).choices(letters, k=size))
        if not line:
            return text
        return "\n".join(text[place : place + line] for place in range(0, size, line))[:size]

    return make


def _each(write: Callable[[Random, int], str]) -> Callable[[int], str]:
    def make(size: int) -> str:
        chance, parts, length, number = Random(3), list[str](), 0, 0
        while length < size:
            parts.append(write(chance, number))
            length, number = length + len(parts[-1]) + 1, number + 1
        return "\n".join(parts)[:size]

    return make


def _word(chance: Random, length: int = 16) -> str:
    return "".join(chance.choices(ALNUM, k=length))


TEXTS: Mapping[str, Callable[[int], str]] = {
    "one letter": _again("a"),
    "one random line": _random(ALNUM + "+/"),
    "random words": _random(string.ascii_lowercase + "    "),
    "empty lines": _again("\n"),
    "spaces": _again(" "),
    "digits": _again("0123456789"),
    "dots": _again("."),
    "dashes": _again("-"),
    "quotes": _again("\"'"),
    "backslashes": _again("\\"),
    "brackets": _again("[({"),
    "tags": _again("<a href='x'>"),
    "emoji": _again("\U0001f600\U0001f680"),
    "han": _again("漢字仮名交"),
    "combining marks": _again("é́"),
    "a token in each line": _each(lambda chance, n: f"token={_word(chance)}"),
    "the same password": _again("password: Zx81kqPw22Lm\n"),
    "beginnings of keys": _again("sk-ant-"),
    "beginnings of blocks": _again("-----BEGIN RSA "),
    "a key without an end": lambda size: (
        "-----BEGIN RSA PRIVATE KEY-----\n" + _random(ALNUM, 64)(size)
    ),
    "addresses": _each(lambda chance, n: f"https://user:pw{n}@host{n}.example/a?b={n}"),
    "half addresses": _again("a://"),
    "one long path": _again("/abc"),
    "paths": _each(lambda chance, n: f"/srv/{_word(chance, 5)}/{_word(chance, 8)}.py:{n}"),
    "hexadecimal": _each(lambda chance, n: f"{chance.getrandbits(160):040x}"),
    "uuids": _each(lambda chance, n: str(UUID(int=chance.getrandbits(128)))),
    "a log": _each(lambda chance, n: f"2026-03-01 12:00:{n % 60:02d} worker-{n} ERROR failed {n}"),
    "a table": _each(lambda chance, n: f"{n},{_word(chance, 6)},{chance.random():.6f},true"),
    "json in text": _each(lambda chance, n: json.dumps({"id": _word(chance), "n": [n, {"a": n}]})),
    "records of ours": _again("[Record of past steps 1-2]\n[End of record]\n"),
}


def _call(number: int, arguments: str = "{}") -> dict[str, Any]:
    function = {"name": "read", "arguments": arguments}
    return {"id": f"c{number}", "type": "function", "function": function}


def _step(number: int, result: str, arguments: str = "{}") -> Messages:
    return [
        {"role": "assistant", "content": None, "tool_calls": [_call(number, arguments)]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def _wide(calls: int) -> Messages:
    """Answered in the other order."""
    made = [_call(number) for number in range(calls)]
    results = ({"role": "tool", "tool_call_id": f"c{n}", "content": "ok"} for n in range(calls))
    return [{"role": "assistant", "content": None, "tool_calls": made}, *reversed([*results])]


def _nested(size: int) -> str:
    """As deep as JSON is read at all, as often as it takes."""
    depth = 60
    return "[" + ",".join(["[" * depth + "]" * depth] * (size // (2 * depth) + 1)) + "]"


BODIES: Mapping[str, Callable[[int], Messages]] = {
    "tiny messages": lambda size: [{"role": "user", "content": "x"}] * (size // 35),
    "tiny steps": lambda size: [m for n in range(size // 170) for m in _step(n, "ok")],
    "one step of many calls": lambda size: _wide(size // 140),
    "blocks": lambda size: [
        {"role": "user", "content": [{"type": "text", "text": "x"}] * (size // 30)}
    ],
    "a long system prompt": lambda size: [{"role": "system", "content": _again("Do this. ")(size)}],
    "harness words": lambda size: [{"role": "user", "content": _again("<system-reminder>")(size)}],
    "many fields": lambda size: [
        {"role": "user", "content": "x", **{f"field{n}": n for n in range(size // 18)}}
    ],
    "one long argument": lambda size: _step(0, "ok", json.dumps({"text": _again("word ")(size)})),
    "nested arguments": lambda size: _step(0, "ok", _nested(size)),
    "numbers": lambda size: [
        {"role": "user", "content": "x", "weights": [1.1] * (size // 5)},
    ],
}


def conversation(shape: str, size: int) -> Messages:
    """A short run of an agent in which the shape stands, old enough to be decided about."""
    task = {"role": "user", "content": "Look at it."}
    later = [m for n in range(900, 904) for m in _step(n, f"step {n} was fine")]
    if shape in BODIES:
        return [task, *BODIES[shape](size), *later]
    return [task, *_step(899, TEXTS[shape](size)), *later]


def shapes() -> list[str]:
    return [*TEXTS, *BODIES]
