"""Records written by the client's own upstream, with the client's own credential.

A credential is in memory for as long as the request that brought it and the decision behind that
request; it is part of no log, no ledger and no other tenant's question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from urllib.parse import quote, urlsplit

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.ledger import Ledger
from statecomp.llm.chat import Chat
from statecomp.llm.side import SideAccount
from statecomp.recent import LruCache
from statecomp.records.writing.credit import Breaker, Credit, DayPurse, Purse
from statecomp.records.writing.writer import ModelWriter, Secret
from statecomp.wire.providers import provider_named
from statecomp.writers import ModelRecords

OPENS = frozenset(
    [
        "authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "anthropic-version",
        "anthropic-beta",
        "openai-organization",
        "openai-project",
        "openai-beta",
        "chatgpt-account-id",
        "originator",
        "user-agent",
        "http-referer",
        "x-title",
    ]
)
"""The headers by which an upstream knows who asks, and for what."""

WINDOW = re.compile("context-1m")
"""A beta for the agent's model alone: another refuses the request."""
DEPLOYED = re.compile(r"(?<=/deployments/)[^/?]+(?=/)")
"""Where an address names the model, as Azure's do, and the body's is not read."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a request was going, and with what: enough to ask there once more."""

    protocol: str
    url: str = field(repr=False)
    opening: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, protocol: str, url: str, headers: Mapping[bytes, bytes]) -> Caller:
        given = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        opening = {name: value for name, value in given.items() if name in OPENS}
        if betas := opening.pop("anthropic-beta", ""):
            asked = [beta for beta in map(str.strip, betas.split(",")) if not WINDOW.match(beta)]
            opening |= {"anthropic-beta": ",".join(asked)} if asked else {}
        return cls(protocol, url, opening)

    def chat(self, model: str, *, acting: str = "", trust_env: bool = True) -> Chat:
        """Who is asked there for this model, by somebody whose agent acts with another."""
        parts = urlsplit(self.url)
        asked = provider_named(self.protocol).chat
        assert asked is not None  # every provider that serves a path can be asked; a test holds it
        return asked(
            model,
            f"{parts.scheme}://{parts.netloc}",
            target=self.url if model == acting else DEPLOYED.sub(quote(model, safe=""), self.url),
            opening=self.opening,
            trust_env=trust_env,
        )


class Writers:
    """A writer for each decision: its conversation's credit, its tenant's breaker, the day's purse.

    What is remembered between decisions is counts and pauses, never a credential.  What was spent
    today, and by each conversation, stands in the `ledger`, also what other workers spent.
    """

    def __init__(self, records: ModelRecords, ledger: Ledger, *, trust_env: bool = True) -> None:
        self.records = records
        self._ledger = ledger
        self.day = DayPurse(records.day_dollars, partial(_written_down, ledger, ""))
        self._trust_env = trust_env
        self._credits: LruCache[str, Credit] = LruCache(4096)
        self._breakers: LruCache[tuple[str, str, str], Breaker] = LruCache(1024)
        self._lock = Lock()

    def of(
        self,
        account: SideAccount,
        *,
        tenant: str,
        session: str,
        model: str,
        caller: Caller | None,
        secret: Secret = lambda text: False,
    ) -> ModelWriter | None:
        """Who writes for this conversation; None where nobody can be asked."""
        asked = self.records.model_for(model)
        chat = self.records.chat
        if chat is None and caller is not None:
            chat = caller.chat(asked, acting=model, trust_env=self._trust_env)
        if chat is None:
            return None
        where = urlsplit(caller.url).netloc if caller is not None else ""
        with self._lock:
            breaker = self._breakers.get((tenant, where, asked)) or self._breakers.put(
                (tenant, where, asked), Breaker()
            )
            credit = self._credits.get(session) or self._credits.put(session, self._credit(session))
        # A conversation that goes on with another model keeps its purse, not its breaker.
        return self.records.writer(account, chat, replace(credit, breaker=breaker), secret)

    def _credit(self, session: str) -> Credit:
        known = partial(_written_down, self._ledger, session)
        return Credit((Purse(self.records.session_dollars, known), self.day))


def _written_down(ledger: Ledger, session: str, since_s: float) -> float:
    try:
        return ledger.record_dollars(since_s, session=session)
    except LedgerFailed:
        return 0.0  # what this process spent itself it knows
