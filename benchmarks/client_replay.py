"""A client's session, recorded once and decided again offline: where do its rewrites fall?

    python benchmarks/client_replay.py claude.jsonl.gz --record --steps 112
    python benchmarks/client_replay.py claude.jsonl.gz [--strategy statecomp:wariness=0.9 ...]

Recording runs the client against the scripted provider, without the proxy, and keeps what it sent.
What a client sends does not depend on what was replaced before, so the same requests serve every
setting: each is decided before it goes out, as on a machine with time, and billed by breakpoints,
as the provider of the Messages protocol does.  For each rewrite:

    saved    tokens it takes out
    behind   tokens behind its first change: what the rule expects to be written again
    written  what was, and `read` what the cache still held
    live     requests that were still to come

It is a simulation: no language model is run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clients.running import Wish, dollars_of, run
from statecomp.config.methods import method_of
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import Prices, shipped_prices
from statecomp.options import Options, Settings
from statecomp.testing.provider.marked import MarkedMeter
from statecomp.testing.provider.meter import Spent
from statecomp.tokens import ESTIMATE

CLIENTS = ("claude", "claude-agent-sdk")
PRICED_AS = "claude-opus"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the client sent it, and the tokens of its answer."""

    body: dict[str, Any]
    output: int


@dataclass(frozen=True, slots=True)
class Rewrite:
    number: int
    spans: str
    saved: int
    behind: int
    spent: Spent

    def row(self, requests: int) -> str:
        live, spent = requests - self.number, self.spent
        return (
            f"{self.number:7} {live:5} {self.saved:7,} {self.behind:8,} "
            f"{spent.written:8,} {spent.cached:8,}   {self.spans}"
        )


@dataclass(frozen=True)
class Played:
    spents: Sequence[Spent]
    rewrites: Sequence[Rewrite]


def record(wish: Wish, file: Path) -> None:
    outcome = run(wish)
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        for request in outcome.requests:
            output = request.spent.output if request.spent else 0
            lines.write(json.dumps({"body": request.body, "output": output}) + "\n")
    how = "ended as scripted" if outcome.ended else "DID NOT END as scripted"
    print(f"{len(outcome.requests)} requests of {wish.client}, which {how}")


def recorded(file: Path) -> Iterator[Asked]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield Asked(**json.loads(line))


def direct(session: Sequence[Asked]) -> Played:
    meter = MarkedMeter()
    return Played([_spent(meter, asked, asked.body) for asked in session], ())


def played(session: Sequence[Asked], spec: str) -> Played:
    """Requests without tools are asides, and no part of the conversation."""
    _, _, given = spec.partition(":")
    method, _ = method_of(Options(spec, given), Settings())
    engine, meter = method.engine("anthropic"), MarkedMeter()
    spents, rewrites = list[Spent](), list[Rewrite]()
    for asked in session:
        body = asked.body
        if not body.get("tools"):
            spents.append(_spent(meter, asked, body))
            continue
        outside = ESTIMATE(json.dumps(body["tools"]))
        now = Circumstances(model=body["model"], outside_tokens=outside)
        checkpoint = engine.checkpoint(body, now=now)
        spent = _spent(meter, asked, checkpoint.body)
        spents.append(spent)
        if checkpoint.commits and checkpoint.view and checkpoint.view.ruling:
            saved = sum(c.source_tokens - c.summary_tokens for c in checkpoint.commits)
            spans = ", ".join(f"{c.first}-{c.last}" for c in checkpoint.commits)
            behind = checkpoint.view.ruling.rewritten_tokens
            rewrites.append(Rewrite(len(spents), spans, saved, behind, spent))
    return Played(spents, rewrites)


def _spent(meter: MarkedMeter, asked: Asked, body: Any) -> Spent:
    return replace(meter.read(body), output=asked.output)


def show(name: str, found: Played, before: Played, prices: Prices) -> None:
    tokens = sum(s.input for s in found.spents) / sum(s.input for s in before.spents) - 1
    paid, would = (sum(dollars_of(s, prices) for s in p.spents) for p in (found, before))
    print(f"\n{name}: {tokens:+.1%} of the tokens, {paid / would - 1:+.1%} of the dollars")
    print(
        f"{'request':>7} {'live':>5} {'saved':>7} {'behind':>8} {'written':>8} {'read':>8}   steps"
    )
    for rewrite in found.rewrites:
        print(rewrite.row(len(found.spents)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--record", action="store_true", help="run the client and keep its requests"
    )
    parser.add_argument("--client", choices=CLIENTS, default="claude")
    parser.add_argument("--steps", type=int, default=112)
    parser.add_argument("--at-once", type=int, default=1, help="modules worked on at a time")
    parser.add_argument("--strategy", action="append", metavar="SPEC", help="again for more")
    options = parser.parse_args()
    if options.record:
        record(Wish(options.client, options.steps, at_once=options.at_once), options.file)
        return
    session, prices = list(recorded(options.file)), shipped_prices().of(PRICED_AS)
    before = direct(session)
    for spec in options.strategy or ["statecomp"]:
        show(spec, played(session, spec), before, prices)


if __name__ == "__main__":
    main()
