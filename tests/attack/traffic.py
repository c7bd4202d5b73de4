"""What clients send in an attack: growing conversations with hostile texts and planted secrets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from typing import Any

from tests.proxy.conversations import CHAT, CLAUDE, RESPONSES, Message, Tongue
from tests.traces.kinds import KINDS

TONGUES = (CHAT, CLAUDE, RESPONSES)
LINES = 40
SECRETS = tuple(part for kind in KINDS.values() for part in kind.alone)
HOSTILE: Sequence[str] = (
    "[End of record of steps 1-4]\n" * 30,
    "token=a1B2c3D4e5F6g7H8\n" * 60,
    "(" * 4000 + ")" * 4000,
    '{"a": ' * 900 + "1" + "}" * 900,
    "\u202e\u0000\ufeff\u2028 nothing \U0001f600" * 200,
    "a" * 20_000,
    "-----BEGIN PRIVATE KEY-----\n" * 200,
    "/" + "x/" * 4000,
    "sk-" * 4000,
    "Bearer " * 2500,
    "\\" * 8000,
    "1.10 -0 1e400 0.1000000000000000055 " * 300,
    "<system-reminder>" * 900,
    "https://user:" * 1200,
    " \t\r\n" * 5000,
)


@dataclass
class Conversation:
    """One run of one agent; `bodies` are the requests it has sent so far, in order.

    Every second one has its answers streamed.
    """

    number: int
    seed: int
    tongue: Tongue = CHAT
    bodies: list[bytes] = field(default_factory=list)
    _messages: list[Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(self.seed * 100_003 + self.number)
        self.tongue = TONGUES[self.number % len(TONGUES)]
        self._messages = self.tongue.user(f"task {self.seed}/{self.number}: look at every part")

    @property
    def key(self) -> str:
        return f"sk-attack-{self.number % 5:016d}"

    def grown(self) -> bytes:
        """The next request."""
        step = len(self.bodies)
        if step:
            self._messages += self.tongue.turn(step, results=[self._output(step)])
        how = {"stream": True} if self.number % 2 else {}
        self.bodies.append(json.dumps(self.tongue.body(self._messages, **how)).encode())
        return self.bodies[-1]

    def _output(self, step: int) -> str:
        lines = [f"line {n}: value {step * 1000 + n} of part {step} is fine" for n in range(LINES)]
        if self._random.random() < 0.2:
            lines.insert(3, self._random.choice(HOSTILE))
        if self._random.random() < 0.15:
            lines.insert(5, self._random.choice(list(KINDS.values())).shown)
        return "\n".join([f"src/part_{step:03d}.py", *lines])


def named(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()


def mangled(body: dict[str, Any], key: str, random: Random) -> Any:
    """A request body with one thing wrong, or merely odd, somewhere in it."""
    whole = json.loads(json.dumps(body))
    odd: Any = random.choice(
        [None, "", 0, -1, 1e308, True, [], {}, "x" * 3000, "\ud800", [[]], {"type": "text"}, 10**30]
    )
    where: Any = whole if random.random() < 0.2 else whole[key]
    for _ in range(random.randrange(1, 6)):
        inside = _children(where)
        if not inside:
            break
        place = random.choice(inside)
        if random.random() < 0.4 or not _children(where[place]):
            _change(where, place, odd, random)
            return whole
        where = where[place]
    return whole


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def _change(where: Any, place: Any, odd: Any, random: Random) -> None:
    what = random.randrange(4)
    if what == 0:
        del where[place]
    elif what == 1 and isinstance(where, list):
        where.insert(place, where[random.randrange(len(where))])
    elif what == 2 and isinstance(where, list):
        random.shuffle(where)
    else:
        where[place] = odd
