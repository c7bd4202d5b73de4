"""Unmodified clients, direct and through the proxy: tokens, dollars, time, and what was noted.

    python benchmarks/real_clients.py --client claude --client codex --steps 52 --steps 112

Each run is a coding session that the scripted provider plays in a real workspace; it reports usage
as providers bill it, and dollars are its numbers at list prices.  Clients are fetched once, pinned
(benchmarks/clients/installing.py).  It is a simulation: no language model is run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clients.installing import NotInstalled
from benchmarks.clients.launching import CLIENTS
from benchmarks.clients.running import Outcome, Wish, run

NOTES = 3
HEAD = (
    f"{'client':24} {'requests':>8} {'to send':>9} {'sent':>9} {'tokens':>8} "
    f"{'direct $':>9} {'proxy $':>9} {'dollars':>8} {'own ms':>7} {'refused':>8} {'retried':>8}"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """The same session twice."""

    name: str
    direct: Outcome
    through: Outcome

    def row(self) -> str:
        before, after = self.direct, self.through
        tokens, dollars = after.tokens / before.tokens - 1, after.dollars() / before.dollars() - 1
        return (
            f"{self.name:24} {len(after.requests):8} {before.tokens:9,} {after.tokens:9,} "
            f"{tokens:+8.1%} {before.dollars():9.4f} {after.dollars():9.4f} {dollars:+8.1%} "
            f"{after.own_ms:7.1f} {len(after.provider.refusals):8} {after.retried:8}"
        )

    def remarks(self) -> Iterator[str]:
        for label, outcome in (("direct", self.direct), ("through", self.through)):
            if not outcome.ended:
                said = (outcome.errors or outcome.output).strip().splitlines()[-1:]
                yield f"{label}: DID NOT END as scripted (exit {outcome.exit_code}): {said}"
            if outcome.failed:
                yield f"{label}: {len(outcome.failed)} answers not 200: {outcome.failed[:3]}"
        if not self.through.identical:
            yield "through: answers are NOT byte-identical"
        yield f"{self.through.commits} commits, {self.through.regrets} regrets"
        for note, times in self.through.notes.most_common(NOTES):
            yield f"{times} x note: {note}"

    def as_json(self) -> dict[str, object]:
        after = self.through
        return {
            "name": self.name,
            "requests": len(after.requests),
            "tokens_direct": self.direct.tokens,
            "tokens_through": after.tokens,
            "dollars_direct": self.direct.dollars(),
            "dollars_through": after.dollars(),
            "priced_as": after.prices.model,
            "own_ms": after.own_ms,
            "refused": len(after.provider.refusals),
            "retried": after.retried,
            "commits": after.commits,
            "regrets": after.regrets,
            "seconds": [self.direct.seconds, after.seconds],
            "identical": after.identical,
            "ended": after.ended,
            "notes": dict(after.notes),
            "sent": [spent.input for spent in after.spent],
            "cached": [spent.cached for spent in after.spent],
        }


def compared(wish: Wish, serve: str) -> Compared:
    name = wish.client + (f" {wish.model}" if wish.model else "")
    name += "" if wish.thinking else " unthinking"
    name += f", {wish.at_once} at once" if wish.at_once > 1 else ""
    return Compared(name, run(wish), run(wish, serve))


def wishes(options: argparse.Namespace) -> Iterator[Wish]:
    for client in options.client or ["claude", "codex"]:
        for steps in options.steps or [52]:
            how = (options.thinking == "on", options.model, options.version)
            for at_once in options.at_once or [1]:
                yield Wish(client, steps, *how, options.pace, at_once)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--client", action="append", choices=list(CLIENTS), help="again for more")
    parser.add_argument("--steps", action="append", type=int, help="of the session; again for more")
    parser.add_argument("--thinking", choices=["on", "off"], default="on")
    parser.add_argument("--serve", default="", metavar="OPTIONS", help="of statecomp serve")
    parser.add_argument("--pace", type=float, default=0.0, metavar="S", help="before each answer")
    parser.add_argument(
        "--at-once", action="append", type=int, metavar="N", help="modules worked on at a time"
    )
    parser.add_argument("--model", default="", help="instead of the client's own choice")
    parser.add_argument("--version", default="", help="of the client, instead of the pinned one")
    parser.add_argument("--json", type=Path, help="append one line a comparison to this file")
    options = parser.parse_args()
    print(
        f"serve {options.serve or '(defaults)'}, a pause of {options.pace:g} s before each answer"
    )
    print(HEAD)
    for wish in wishes(options):
        try:
            found = compared(wish, options.serve)
        except NotInstalled as error:
            print(f"{wish.client:24} not run: {error}")
            continue
        print(found.row(), *found.remarks(), sep="\n    ", flush=True)
        if options.json:
            with options.json.open("a") as file:
                file.write(json.dumps({"serve": options.serve, **found.as_json()}) + "\n")


if __name__ == "__main__":
    main()
