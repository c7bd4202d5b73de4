"""mini-swe-agent: its three kinds of model, sent less; the trajectory stays whole.

    model:
      model_class: statecomp.adapters.mini_swe_agent.StateCompModel
      statecomp: {recipe: bold, store: ledger.sqlite}             # if anything

Instead of `litellm_textbased` it is `StateCompTextModel`, of `litellm_response`
`StateCompResponseModel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.adapters.binding import dropping, with_beta
from statecomp.adapters.catalogue import needs
from statecomp.adapters.claims import is_record
from statecomp.adapters.shortener import Saving, Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.providers import wire_named

needs("mini_swe_agent")

from minisweagent.models.litellm_model import LitellmModel  # noqa: E402  what is missing first
from minisweagent.models.litellm_response_model import LitellmResponseModel  # noqa: E402
from minisweagent.models.litellm_textbased_model import LitellmTextbasedModel  # noqa: E402


class _Shorter(Saving):
    """The option `statecomp` holds what `Shortener` takes; `shortener` is one that others use."""

    protocol = "openai-chat"
    tells = True  # Claude's own words about thinking are passed on

    def __init__(
        self,
        *,
        statecomp: Mapping[str, Any] | None = None,
        shortener: Shortener | None = None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self.shortener = shortener or Shortener("mini_swe_agent", **(statecomp or {}))

    def _prepare_messages_for_api(self, messages: Sequence[JsonObject]) -> list[JsonObject]:
        # `extra` is for people: times, costs, whole answers.
        bare = [{key: m[key] for key in m if key != "extra"} for m in messages]
        return self._prepared(self._shortened(bare))

    def _query(self, messages: Sequence[JsonObject], **given: Any) -> Any:
        settings = {**self._settings, **given}
        shorter = self.tells and any(map(is_record, messages))
        told = dropping(self._name, settings.get("thinking"), messages) if shorter else None
        if told is not None:
            headers = with_beta(settings.get("extra_headers") or {}, told.headers)
            given |= {"thinking": told.body["thinking"], "extra_headers": headers}
        return super()._query(messages, **given)  # type: ignore[misc]

    @property
    def _name(self) -> str:
        return str(getattr(getattr(self, "config", None), "model_name", ""))

    @property
    def _settings(self) -> Mapping[str, Any]:
        return getattr(getattr(self, "config", None), "model_kwargs", None) or {}

    def _prepared(self, messages: list[JsonObject]) -> list[JsonObject]:
        made: list[JsonObject] = super()._prepare_messages_for_api(messages)  # type: ignore[misc]
        return made

    def _shortened(self, messages: Sequence[JsonObject]) -> list[JsonObject]:
        body: dict[str, Any] = {"model": self._name, "thinking": self._settings.get("thinking")}
        body[wire_named(self.protocol).key] = messages
        made = self.shortener.checkpoint(body, self.protocol, tells=self.tells)
        return list(messages) if made is None else made.messages


class StateCompModel(_Shorter, LitellmModel):
    """The one with a tool for the shell; the default."""


class StateCompTextModel(_Shorter, LitellmTextbasedModel):
    """The one that reads commands out of the model's words."""

    protocol = "text-action"


class StateCompResponseModel(_Shorter, LitellmResponseModel):
    """The one for the Responses API: answers are taken apart first, then shortened."""

    protocol = "openai-responses"
    tells = False

    def _prepare_messages_for_api(self, messages: Sequence[JsonObject]) -> list[JsonObject]:
        return self._shortened(self._prepared(list(messages)))
