"""Does the work behind a request grow faster than the history it is about?

A client sends one interaction more each time; with every request a decision is made under the
economic gate and the account is written, as in the proxy.  Prints, for runs of 50 and 200 requests
in one process:

- decide: processor time of the decisions, for each request;
- summaries: how many were written; those that did not pay were written in vain;
- account: processor time of the account, for each request.

Aim: account, N = 200 over N = 50, at most 4 (a request is four times as long there); at most one
summary in five requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from random import Random
from time import thread_time
from typing import Any

from statecomp.controller.age import AgeScorer
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import shipped_prices
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.account.accountant import Accountant
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.tenants import TenantCompressors
from statecomp.recipes import recipe_named
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Record
from statecomp.strategy import View
from statecomp.traces.secrets import Masker

SMALL, LARGE = 50, 200
MODEL = "claude-opus-4-6"
WORDS = ("handled", "order", "refund", "queue", "worker", "retry", "timeout", "shard", "stale")


@dataclass
class Counting:
    """The extractive summariser, and how often it was asked."""

    asked: int = 0

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.asked += 1
        return ExtractiveSummarizer().summarize(span, situation)


def messages(count: int) -> list[dict[str, Any]]:
    """Answers that are full of names, so that summaries are long and do not pay for long."""
    random = Random(0)
    out: list[dict[str, Any]] = [{"role": "user", "content": "audit the order service"}]
    for n in range(count):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": f"/o/{n}.log"}}
        lines = (
            f"{random.choice(WORDS)} /orders/{random.randrange(10**6)}.json: {random.choice(WORDS)}"
            f" item_{random.randrange(10**5)} in {random.random():.3f}"
            for _ in range(20)
        )
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": "\n".join(lines)}
        out += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return out


@dataclass(frozen=True)
class Cost:
    decide_ms: float
    account_ms: float
    summaries: int
    commits: int


def grown(count: int) -> Cost:
    """A run of so many requests, each with its decision and its account."""
    summarizer, history = Counting(), messages(count)
    method = Method(
        scorer=AgeScorer,
        summarizer=lambda account: summarizer,
        rule=recipe_named("balanced").rule(ratio=0.25),
    )
    ledger = open_ledger(":memory:", mask=Masker().masked)
    engine = TenantCompressors(ProxySettings(), method, ledger).of("t", "anthropic")
    accountant = Accountant(ledger, Metrics(), shipped_prices(), most_waiting=count)
    decided = told = 0.0
    for number in range(1, count + 1):
        body = {"model": MODEL, "messages": history[: 1 + 2 * number]}
        checkpoint = engine.checkpoint(body, decide=False)
        assert checkpoint.raw is not None
        begun = thread_time()
        now = Circumstances(number, number - 1, MODEL, deferred=True)
        view = engine.prepare(checkpoint.raw, now)
        between = thread_time()
        decision: Future[View | None] = Future()
        decision.set_result(view)
        exchange = Exchange(
            "anthropic",
            "compress",
            float(number),
            "t",
            "run",
            model=MODEL,
            engine=engine,
            checkpoint=checkpoint,
            decision=decision,
        )
        accountant._write([partial(accountant._whole, exchange)])
        decided, told = decided + between - begun, told + thread_time() - between
    commits = ledger.totals().commits
    ledger.close()
    return Cost(decided * 1e3 / count, told * 1e3 / count, summarizer.asked, commits)


def main() -> None:
    small, large = grown(SMALL), grown(LARGE)
    for count, cost in ((SMALL, small), (LARGE, large)):
        print(
            f"N={count}: decide {cost.decide_ms:6.1f} ms, account {cost.account_ms:5.2f} ms"
            f" a request; {cost.summaries} summaries written, {cost.commits} commits"
        )
    print(f"decide    ratio {large.decide_ms / small.decide_ms:.2f}")
    print(f"account   ratio {large.account_ms / small.account_ms:.2f} (aim <= 4)")
    print(f"summaries {large.summaries / LARGE:.2f} a request (aim <= 0.2)")


if __name__ == "__main__":
    main()
