"""Side calls: every auxiliary model call a strategy makes, in one account apart from the agent's.

The paper's rule (appendix F.1): agent input and output plus side input and output; cached and
reasoning tokens are part of those and never added again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from statecomp.llm.chat import NOTHING_USED, Chat, ChatFailed, ChatUsage

DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True)
class SideCall:
    """One auxiliary call and what it was billed.

    `dollars` is None where the price of the model that was asked is not known apart; it then counts
    as if the acting model had been asked.
    """

    kind: str
    input_tokens: int
    output_tokens: int
    dollars: float | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass
class SideAccount:
    """The calls made since the account was last drawn up, and what is to be said of them."""

    calls: list[SideCall] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def charge(self, kind: str, usage: ChatUsage, dollars: float | None = None) -> None:
        self.calls.append(SideCall(kind, usage.input_tokens, usage.output_tokens, dollars))

    def remark(self, text: str) -> None:
        self.remarks.append(text)

    def drain(self) -> tuple[SideCall, ...]:
        """The calls so far; the account starts again from nothing."""
        settled = tuple(self.calls)
        self.calls.clear()
        return settled

    def heard(self) -> tuple[str, ...]:
        """The remarks so far, each once."""
        heard = tuple(dict.fromkeys(self.remarks))
        self.remarks.clear()
        return heard


@dataclass(frozen=True)
class SideChannel:
    """Asks a model on behalf of a strategy and charges the account, for useless answers too."""

    chat: Chat
    account: SideAccount

    def ask(
        self,
        kind: str,
        system: str,
        prompt: str,
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        try:
            completion = self.chat.ask(
                system, prompt, max_tokens=max_tokens, schema=schema, deadline_s=DEADLINE_S
            )
        except ChatFailed as error:
            # Cut off or refused is billed all the same; of a lost connection nobody knows.
            if error.usage != NOTHING_USED:
                self.account.charge(kind, error.usage)
            raise
        self.account.charge(kind, completion.usage)
        # A lone surrogate in an answer could not be sent on.
        return completion.text.encode("utf-8", "replace").decode("utf-8")


def account_of(channel: SideChannel | None) -> SideAccount:
    """Where the calls of a channel are charged; an account nobody charges where there is none."""
    return channel.account if channel else SideAccount()


def channel_of(chat: Chat | None) -> SideChannel | None:
    """One account a run: what a run's side calls cost belongs to that run."""
    return SideChannel(chat, SideAccount()) if chat else None
