"""One HTML page of a replay: the tables, tokens step by step, what became of each interaction.

The page is a single file that loads nothing.  What agents and tools wrote is hostile: it travels
as JSON in which no character can end the element around it, and the page writes it as text only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from itertools import islice, zip_longest
from typing import Any

from statecomp.controller.prices import Prices
from statecomp.replays.accounting import Bill, dollars_of
from statecomp.replays.run import Replay, ReplayStep, RunReplay, Standing
from statecomp.replays.table import hindsight_share, rows, rows_by_domain
from statecomp.replays.timing import LabelSource
from statecomp.tokens import ESTIMATE

TITLE_MARK = "{{title}}"
DATA_MARK = "{{data}}"

KEPT, SUMMARISED, EDITED, DROPPED = "k", "s", "e", "d"
NO_SCORE = "--"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

# `<` and `>` could end the element, `&` starts a reference in XML tools, and U+2028 and U+2029 end
# a line in older JavaScript.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def report_html(data: Mapping[str, Any]) -> str:
    """The page of this `report_data` as text; it can always be written as UTF-8."""
    page = files("statecomp.replays").joinpath("report.html").read_text("utf-8")
    # Split before anything is filled in: what is filled in may itself contain a mark.
    head, _, tail = page.partition(DATA_MARK)
    shown = _CONTROL.sub("\ufffd", _encodable(data["title"]))
    return head.replace(TITLE_MARK, escape(shown)) + island(data) + tail


def report_data(
    results: Sequence[RunReplay],
    prices: Prices,
    *,
    title: str,
    counter: str,
    labels: LabelSource | None = None,
    detailed: int = 40,
) -> dict[str, Any]:
    """Everything the page shows, as JSON.

    `counter` names the token counter, `labels` what timing is judged by.  All runs are in the
    tables, `detailed` of them get a grid.
    """
    chosen = choose_detailed(results, detailed)
    raw = sum((result.raw for result in results), Bill())
    dollars = dollars_of((bill for result in results for bill in result.raw_bills), prices)
    return {
        "title": title,
        "counter": counter,
        "estimate": counter == ESTIMATE.name,
        "prices": {**asdict(prices), "as_of": prices.as_of.isoformat()},
        "recorded": sum(result.recorded for result in results),
        "labels": labels.as_json() if labels else None,
        "labelled": sum(result.labelled for result in results),
        "interactions": sum(result.interactions for result in results),
        "checkpoints": sum(len(result.raw_tokens) for result in results),
        "raw": {**asdict(raw), "dollars": dollars},
        "hindsight": hindsight_share(results),
        "rows": [row.as_json() for row in rows(results, prices)],
        "domains": _domains(results, prices),
        "runs": [_listed(result) for result in results],
        "details": {place: _detail(results[place]) for place in chosen},
    }


def choose_detailed(results: Sequence[RunReplay], limit: int) -> list[int]:
    """Places of the runs that get a grid: the first of each domain in turn, so that none is left
    out because another stood before it."""
    by_domain: dict[str, list[int]] = {}
    for place, result in enumerate(results):
        by_domain.setdefault(result.domain, []).append(place)
    turns = zip_longest(*by_domain.values())
    places = (place for turn in turns for place in turn if place is not None)
    return sorted(islice(places, max(0, limit)))


def island(value: Any) -> str:
    """JSON that is inert inside a `<script type="application/json">`, whatever its strings say."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _encodable(text.translate(_ESCAPES))


def _encodable(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def _domains(results: Sequence[RunReplay], prices: Prices) -> list[dict[str, Any]]:
    shares = {
        domain or "-": hindsight_share([r for r in results if r.domain == domain])
        for domain in {result.domain for result in results}
    }
    return [
        {"name": name, "hindsight": shares[name], "rows": [row.as_json() for row in table]}
        for name, table in rows_by_domain(results, prices).items()
    ]


def _listed(result: RunReplay) -> dict[str, Any]:
    """One line of the list of runs; figures are in the order of the strategies."""
    raw = result.raw.total
    return {
        "id": result.id,
        "domain": result.domain,
        "group": result.group,
        "interactions": result.interactions,
        "raw": raw,
        "totals": [replay.bill.total for replay in result.replays],
        "saved": [
            round(1 - replay.bill.total / raw, 4) if raw else 0.0 for replay in result.replays
        ],
        "broken": [len(replay.broken) for replay in result.replays],
    }


def _detail(result: RunReplay) -> dict[str, Any]:
    """One run's grid.  A summary or a reason recurs at many checkpoints, so each text is written
    once, in `texts`, and named by its place there."""
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    steps = result.replays[0].steps if result.replays else ()
    replays = [_replay(replay, place) for replay in result.replays]
    return {
        "labels": result.labels,
        "checkpoints": [step.checkpoint for step in steps],
        "raw": result.raw_tokens,
        "replays": replays,
        "texts": list(texts),
    }


def _replay(replay: Replay, place: Callable[[str], int]) -> dict[str, Any]:
    """One strategy, column by column; what most columns lack is listed by column number."""
    steps = replay.steps
    standings = [step.standing for step in steps]
    refusals = [[(r.first, r.last, place(r.reason)) for r in step.refusals] for step in steps]
    scored = any(standing.scores for standing in standings)
    return {
        "sent": [step.bill.input for step in steps],
        "cached": [step.bill.cached for step in steps],
        "side": _sparse([step.bill.side for step in steps]),
        "states": [states(step) for step in steps],
        "scores": [score_code(step) for step in steps] if scored else [],
        "blocks": _unrepeated([_blocks(standing, place) for standing in standings]),
        "refusals": _sparse(refusals),
        "missing": _sparse([step.missing for step in steps]),
        "commits": _sparse([step.commits for step in steps]),
        "rewrote": [column for column, step in enumerate(steps) if step.rewrote],
        "notes": _sparse([step.note for step in steps]),
    }


def states(step: ReplayStep) -> str:
    """One letter for each interaction that exists at this checkpoint."""
    standing = step.standing
    return "".join(_state(number, standing) for number in range(1, step.checkpoint))


def _state(number: int, standing: Standing) -> str:
    if number in standing.kept:
        return KEPT
    if number in standing.edited:
        return EDITED
    covered = any(first <= number <= last for first, last, _ in standing.summaries)
    return SUMMARISED if covered else DROPPED


def score_code(step: ReplayStep) -> str:
    """Two base-36 digits for each interaction, in thousandths; `--` where there is no score."""
    scores = step.standing.scores
    return "".join(_score_digits(scores.get(number)) for number in range(1, step.checkpoint))


def _score_digits(score: float | None) -> str:
    if score is None or not 0.0 <= score <= 1.0:  # also false for NaN
        return NO_SCORE
    high, low = divmod(round(score * 1000), 36)
    return _DIGITS[high] + _DIGITS[low]


def _blocks(standing: Standing, place: Callable[[str], int]) -> list[tuple[int, int, int]]:
    return [(first, last, place(text)) for first, last, text in standing.summaries]


def _unrepeated(columns: Sequence[Any]) -> list[Any]:
    """None where a column is as the one before it."""
    before = [None, *columns]
    return [None if now == then else now for then, now in zip(before, columns, strict=False)]


def _sparse(columns: Sequence[Any]) -> Mapping[int, Any]:
    return {column: value for column, value in enumerate(columns) if value}
