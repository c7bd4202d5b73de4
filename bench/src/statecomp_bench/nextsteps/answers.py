"""What readers and judges wrote: read once, leniently, and never lost for its form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statecomp.llm.answer import json_object
from statecomp_bench.nextsteps.folder import MomentPage, NextFolder

NO_JSON = "the answer is no JSON object"
SCORES = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class NextAnswer:
    """A reader's next action; an answer without form is an action with a `problem`."""

    action: str
    missing: tuple[str, ...] = ()
    misleading: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    score: int
    looks_up: bool
    why: str = ""


def answer_of(text: str) -> NextAnswer:
    try:
        said = json_object(text)
    except ValueError:
        return NextAnswer(text.strip(), problem=NO_JSON)
    action = said.get("action")
    if not isinstance(action, str) or not action.strip():
        action = str(action or "")
    return NextAnswer(action, _listed(said.get("missing")), _listed(said.get("misleading")))


def verdicts_of(text: str, letters: Mapping[str, str]) -> tuple[dict[str, Verdict], str]:
    """Verdicts by page name, and what is wrong with them; a letter without a score has none."""
    try:
        said = json_object(text)
    except ValueError:
        return {}, NO_JSON
    found = {name: _verdict(said.get(letter)) for letter, name in letters.items()}
    good = {name: verdict for name, verdict in found.items() if verdict is not None}
    left = [letter for letter, name in letters.items() if name not in good]
    return good, f"no score for {', '.join(left)}" if left else ""


def _verdict(said: Any) -> Verdict | None:
    if not isinstance(said, Mapping) or said.get("score") not in SCORES:
        return None
    return Verdict(int(said["score"]), bool(said.get("looks_up")), str(said.get("why") or ""))


def _listed(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value] if value else []
    return tuple(str(item) for item in values if str(item).strip())


def written(path: Path) -> str | None:
    """What stands in an answer's file; None where nobody has answered."""
    try:
        return path.read_text("utf-8-sig", "replace")
    except FileNotFoundError:
        return None


def answered(folder: NextFolder) -> Iterator[tuple[MomentPage, NextAnswer]]:
    for page in folder.require():
        text = written(folder.answer_file(page.name))
        if text is not None and text.strip():
            yield page, answer_of(text)
