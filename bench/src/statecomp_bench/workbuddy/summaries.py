"""What the ledger adds: the tokens of summary calls, shared among the trials they were made for.

A ledger knows sessions, not trials.  A summary call belongs to the trials that were under way when
it was made, in equal parts: exact for the sum of a domain while jobs run one after the other, and
an approximation for a single task where several ran at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from statecomp.ledger.audit import Request
from statecomp.ledger.own import Account as Kept
from statecomp_bench.workbuddy.trials import Trial
from statecomp_bench.workbuddy.usage import Tokens

# The proxy in front of a summariser's model only observes; the agent's own requests are compressed.
SUMMARY_MODE = "observe"
EVERY = 1_000_000
NOTHING = Tokens()


@dataclass(frozen=True)
class ArmAccount:
    """The ledger's part in an arm; `shares` are summary tokens by the folder of a trial."""

    agent_requests: int = 0
    agent: Tokens = NOTHING
    raw_tokens: int = 0
    sent_tokens: int = 0
    summary_requests: int = 0
    summary: Tokens = NOTHING
    commits: int = 0
    regrets: int = 0
    outside: int = 0  # requests made while no trial was under way: other work
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def direct_saving(self) -> float:
        """Of the very requests that were made, by our own count."""
        return 1 - self.sent_tokens / self.raw_tokens if self.raw_tokens else 0.0


def read_account(ledger: Kept, trials: Sequence[Trial]) -> ArmAccount:
    agent: list[Request] = []
    summary: list[Request] = []
    shares: dict[str, float] = {}
    commits = regrets = outside = 0
    for session in ledger.sessions(EVERY):
        ours = False
        for request in ledger.requests(session.id):
            running = [trial.folder for trial in trials if trial.under_way(request.when_s)]
            if not running:
                outside += 1
                continue
            ours = True
            (summary if request.mode == SUMMARY_MODE else agent).append(request)
            if request.mode == SUMMARY_MODE:
                for folder in running:
                    part = _tokens(request).total / len(running)
                    shares[folder] = shares.get(folder, 0.0) + part
        if ours:
            commits += session.totals.commits
            regrets += session.totals.regrets
    return ArmAccount(
        agent_requests=len(agent),
        agent=sum(map(_tokens, agent), NOTHING),
        raw_tokens=sum(request.raw_tokens for request in agent),
        sent_tokens=sum(request.sent_tokens for request in agent),
        summary_requests=len(summary),
        summary=sum(map(_tokens, summary), NOTHING),
        commits=commits,
        regrets=regrets,
        outside=outside,
        shares=shares,
    )


def _tokens(request: Request) -> Tokens:
    usage = request.usage
    return Tokens(usage.input, usage.output, usage.cached)
