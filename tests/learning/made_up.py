"""A ledger of made-up sessions: an agent that reads files, edits some of them, and comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import time
from typing import Any

from statecomp.ledger.audit import Cell, Entry, Regret, Request, Session, Totals
from statecomp.ledger.commits import Commit
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from tests.ledger.samples import masked

YESTERDAY = time() - 86_400.0  # a ledger forgets what is older than its limits
CLIENTS = ("claude-cli/2.0", "codex/0.4")


def opened(path: Path) -> Ledger:
    return open_ledger(str(path), mask=masked)


def conversation(seed: int, steps: int = 14) -> list[dict[str, Any]]:
    """Reads files; every third is edited two steps later with a value it showed."""
    random = Random(seed)
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"tidy up module {seed}"}]
    shown: dict[int, str] = {}
    for n in range(1, steps + 1):
        value = f"const_{seed}_{n}_{random.randrange(10_000)}"
        edits = n % 3 == 0 and n - 2 in shown
        name, arguments = (
            ("edit_file", {"path": f"src/m{n - 2}.py", "old": shown[n - 2], "new": "None"})
            if edits
            else ("read_file", {"path": f"src/m{n}.py"})
        )
        body = "edited" if edits else f"{value} = {n}\n" + f"def f{n}(): return {value}\n" * 12
        shown[n] = value
        call = {"name": name, "arguments": json.dumps(arguments)}
        messages += [
            {
                "role": "assistant",
                "content": f"Step {n}.",
                "tool_calls": [{"id": f"c{seed}-{n}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{seed}-{n}", "content": body},
        ]
    return messages


def request_at(name: str, step: int) -> Request:
    """Made when `step` interactions were there."""
    grid = tuple(Cell(n, "kept", 0.9) for n in range(1, step + 1))
    about = ("openai-chat", "gpt-5", "compress", 1000, 400)
    return Request(name, step, YESTERDAY + step, *about, grid=grid)


def commit_over(name: str, first: int, last: int) -> Commit:
    sources = tuple(f"{name}-{n}" for n in range(first, last + 1))
    return Commit(f"commit-{name}-{first}", f"{name}-at", sources, first, last, "text", 900, 90)


def entry_at(
    name: str, first: int, last: int, step: int, state: Any = "live", score: float = 0.95
) -> Entry:
    scores = dict.fromkeys(range(first, last + 1), score)
    return Entry(
        commit_over(name, first, last),
        name,
        YESTERDAY + step,
        state,
        scores,
        {"router": "shipped"},
        tuple(conversation(0)[2 * first - 1 : 2 * last + 1]),
    )


def live(
    ledger: Ledger,
    seed: int,
    *,
    steps: int = 14,
    entries: Sequence[Entry] = (),
    regrets: Sequence[Regret] = (),
    client: str = "",
    at_s: float = YESTERDAY,
) -> str:
    """One session of the ledger; the name of it."""
    name = f"session-{seed:02}"
    about = (client or CLIENTS[seed % 2], f"task {seed}", "openai-chat", "gpt-5")
    when = at_s + 60.0 * seed
    session = Session(name, "t", *about, started_s=when, last_s=when, totals=Totals())
    for step in range(1, steps + 1):
        done = step == steps
        ledger.record(
            session,
            request_at(name, step),
            entries if done else (),
            regrets if done else (),
            conversation(seed, steps) if done else (),
        )
    return name
