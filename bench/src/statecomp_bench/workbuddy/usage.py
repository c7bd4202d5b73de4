"""The tokens of a trial, from the log of its model calls or else from what the agent CLI reported.

I_r and O_r of appendix F.1: cached input is part of the input and reasoning part of the output, so
neither is added again.  OpenAI counts that way; Anthropic reports cached input apart, and there it
is put back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from statecomp.errors import BadInput

Report: TypeAlias = Callable[[BadInput], None]


@dataclass(frozen=True)
class Tokens:
    """`cached` is part of `input`."""

    input: int = 0
    output: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input, self.output + other.output, self.cached + other.cached
        )


def tokens_of(usage: Any) -> Tokens | None:
    """A usage object of either provider; None where it says nothing."""
    if not isinstance(usage, Mapping):
        return None
    if "prompt_tokens" in usage:
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
        found = Tokens(
            whole(usage["prompt_tokens"]), whole(usage.get("completion_tokens")), whole(cached)
        )
    else:
        cached = whole(usage.get("cache_read_input_tokens"))
        written = whole(usage.get("cache_creation_input_tokens"))
        found = Tokens(
            whole(usage.get("input_tokens")) + cached + written,
            whole(usage.get("output_tokens")),
            cached + written,
        )
    return found if found.total else None


def logged_tokens(path: Path, report: Report) -> Tokens | None:
    """The sum over `agent/requests.jsonl`; None where there is no log or nothing in it.

    Calls on another route than the trial's first are those of a judge, and are left out.  A call
    that failed was not billed.
    """
    total, route, silent = Tokens(), "", 0
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                record = _record(line, path, number, report)
                if record is None:
                    continue
                route = route or str(record.get("route") or "")
                if str(record.get("route") or "") != route:
                    continue
                found = _billed(record)
                silent += found is None and _went_well(record)
                total += found or Tokens()
    except FileNotFoundError:
        return None
    except OSError as error:
        report(BadInput(f"cannot be read: {error.strerror}", file=str(path)))
        return None
    if silent:
        report(BadInput(f"has {silent} answers without usage; they count as 0", file=str(path)))
    return total if total.total else None


def reported_tokens(result: Mapping[str, Any], path: Path, report: Report) -> Tokens | None:
    """What the agent CLI said itself, in `agent_result`.

    The framework's agents report cached input apart (as Anthropic does), while Harbor's field is
    meant to hold all of it.  Whoever runs Claude Code has it apart; of others it is only certain
    where the cached part is larger than what should be the whole.
    """
    told = result.get("agent_result")
    if not isinstance(told, Mapping) or told.get("n_input_tokens") is None:
        return None
    given, cached = whole(told.get("n_input_tokens")), whole(told.get("n_cache_tokens"))
    info = result.get("agent_info")
    name = str(info.get("name")) if isinstance(info, Mapping) else ""
    apart = name in ("cc", "claude-code") or cached > given
    found = Tokens(given + (cached if apart else 0), whole(told.get("n_output_tokens")), cached)
    if found.total:
        problem = "has no log of model calls beside it; its tokens are those the agent reported"
        report(BadInput(problem, file=str(path)))
    return found if found.total else None


def whole(value: Any) -> int:
    """A count; whatever is none counts as 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _record(line: str, path: Path, number: int, report: Report) -> Mapping[str, Any] | None:
    if not line.strip():
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        report(BadInput("is no JSON object; left out", file=str(path), line=number))
        return None
    return found


def _billed(record: Mapping[str, Any]) -> Tokens | None:
    response = record.get("response")
    if not isinstance(response, Mapping):
        return None
    bodies = (response, response.get("body"), response.get("upstream_body"))
    usages = (body.get("usage") for body in bodies if isinstance(body, Mapping))
    return next((found for usage in usages if (found := tokens_of(usage))), None)


def _went_well(record: Mapping[str, Any]) -> bool:
    response = record.get("response")
    status = response.get("status") if isinstance(response, Mapping) else None
    return status == 200 and not record.get("error")
