"""All numbers of a replay as one JSON document, for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecomp.controller.prices import Prices
from statecomp.replays.run import RunReplay
from statecomp.replays.table import hindsight_share, rows, rows_by_domain, steps_table
from statecomp.replays.timing import LabelSource
from statecomp.tokens import TokenCounter


def replay_document(
    results: Sequence[RunReplay], prices: Prices, count: TokenCounter, labels: LabelSource | None
) -> dict[str, Any]:
    return {
        "tokens": {"counter": count.name, "exact": count.exact},
        "prices": {"model": prices.model, "as_of": prices.as_of.isoformat()},
        "labels": labels.as_json() if labels else None,
        "hindsight_share": hindsight_share(results),
        "strategies": [row.as_json() for row in rows(results, prices)],
        "domains": {
            domain: [row.as_json() for row in table]
            for domain, table in rows_by_domain(results, prices).items()
        },
        "runs": [_run(result) for result in results],
    }


def _run(result: RunReplay) -> dict[str, Any]:
    return {
        "id": result.id,
        "domain": result.domain,
        "recorded": result.recorded,
        "labelled": result.labelled,
        "interactions": result.interactions,
        "raw_tokens": list(result.raw_tokens),
        "strategies": {
            replayed.strategy: steps_table(replayed.steps) for replayed in result.replays
        },
    }
