"""What the scripted model asks for: of a strategy's tools by its policy, and how often so far."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.baselines.tools import Use
from statecomp.history.interaction import JsonObject
from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.scripted.sight import PlanSight

NUMBER = re.compile(r"\d+")
AGAIN, BY_RULES, RULES = "So again:", "by the rules:", "the rules"
TRIED = "Tried so far:"
_TIMES = re.compile(r"(\d+) x ([^;\n]+);")
_MISSED = re.compile(r"do not see the ([^\n]+)\. " + AGAIN)


def tries(sight: PlanSight, aim: str) -> Counter[str]:
    """How often each thing was fetched for one goal, by the newest words that name the goal."""
    said = next((turn.said for turn in reversed(sight.turns) if aim in turn.said), "")
    _, _, note = said.partition(TRIED)
    found = Counter({name: int(times) for times, name in _TIMES.findall(note.partition("\n")[0])})
    found.update(_MISSED.findall(said))
    found.update([RULES] if BY_RULES in said else [])
    return found


def asked_for(sight: PlanSight, fact: Fact) -> bool:
    """Whether it is in sight that this value was looked for."""
    words = (f"need the {fact.label}, so I", f"do not see the {fact.label}. {AGAIN}")
    return any(one in turn.said for turn in sight.turns for one in words)


def tried_note(tried: Mapping[str, int]) -> str:
    """The same in words, for the next turn to read."""
    stated = " ".join(f"{times} x {name};" for name, times in tried.items())
    return f"{TRIED} {stated}\n" if stated else ""


def arguments_offered(tools: Sequence[JsonObject]) -> dict[str, frozenset[str]]:
    """The tools by name, with the arguments each takes."""
    functions = (tool["function"] for tool in tools)
    return {
        str(f["name"]): frozenset(f.get("parameters", {}).get("properties", {})) for f in functions
    }


def question(
    policy: Sequence[Use], step: Step, plan: Plan, known: frozenset[str]
) -> Mapping[str, Any]:
    """What a reading call takes along: a question for the values it can name.

    A document with rules is read whole, and so is what holds no value it knows of: every line of it
    may matter.
    """
    wanted = [fact.label for fact in plan.facts if fact.source == step.id]
    if step.writes or not wanted or any(rule.source == step.id for rule in plan.rules):
        return {}
    need = f"What is the {' and the '.join(wanted)}?"
    for use in policy:
        if use.when == "reading" and known.issuperset(use.arguments):
            return {key: str(value).replace("$need", need) for key, value in use.arguments.items()}
    return {}


def need_of(use: Use, fact: Fact) -> str:
    """What to ask for: exact search gets the words that stand beside the value, others a phrase."""
    key = beside(fact)
    exact = "search" in use.tool or "keyword" in use.arguments
    return key if exact else f"{fact.label} ({key})"


def beside(fact: Fact) -> str:
    """The longest words that stand literally beside a value in its source."""
    pieces = re.split(r"\(.*?\)|\\.|[\[\]^$*+?|{}()]+", fact.pattern)
    return max(pieces, key=len).strip()


def filled(use: Use, need: str, sight: PlanSight) -> dict[str, Any] | None:
    """A tool's arguments by its policy; None where what it should name is not in sight."""
    text = "\n".join(sight.texts)
    given: dict[str, Any] = {}
    for key, value in use.arguments.items():
        if value == "$need":
            given[key] = need
        elif value == "$found" or value == ["$found"]:
            found = _found(use, need, text, many=isinstance(value, list))
            if not found:
                return None
            given[key] = found if isinstance(value, list) else found[-1]
        else:
            given[key] = value
    return given


def _found(use: Use, need: str, text: str, *, many: bool) -> list[int | str]:
    """What the pattern names: all whose lines share a word with the need, or just the newest."""
    matches = list(re.finditer(use.pattern, text, re.MULTILINE))
    words = set(re.findall(r"\w{4,}", need.lower()))
    near = [m for m in matches if words & set(re.findall(r"\w{4,}", _paragraph(text, m).lower()))]
    chosen = (near or matches)[-5:] if many else (near or matches)[-1:]
    return [int(m[1]) if NUMBER.fullmatch(m[1]) else m[1] for m in chosen]


def _paragraph(text: str, match: re.Match[str]) -> str:
    stop = text.find("\n\n", match.end())
    return text[match.start() : stop if stop > 0 else len(text)]
