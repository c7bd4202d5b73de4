"""LiteLLM: a callback for the library, the router and the proxy, in three protocols.

litellm.callbacks = [StateCompCallback()]                  # acompletion, aresponses, messages
callback.completion(model=..., messages=...)               # LiteLLM asks no callback about it
litellm_settings: {callbacks: my_module.callback}          # the proxy's config.yaml
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from statecomp.adapters.binding import dropping, with_beta
from statecomp.adapters.catalogue import needs
from statecomp.adapters.shortener import Saving, Shortener
from statecomp.checkpoint import Checkpoint

needs("litellm")

import litellm  # noqa: E402  what is missing is said first
from litellm.integrations.custom_logger import CustomLogger  # noqa: E402

PROTOCOLS = {
    "completion": "openai-chat",
    "acompletion": "openai-chat",
    "responses": "openai-responses",
    "aresponses": "openai-responses",
    "anthropic_messages": "anthropic",
}


class StateCompCallback(Saving, CustomLogger):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        super().__init__()
        self.shortener = shortener or Shortener("litellm", **options)
        self._replaced: dict[str, Callable[..., Any]] = {}

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        protocol = PROTOCOLS.get(str(getattr(call_type, "value", call_type)), "")
        if not protocol:
            return kwargs
        return _with(kwargs, await self.shortener.acheckpoint(kwargs, protocol, tells=True))

    def completion(self, *args: Any, **kwargs: Any) -> Any:
        """`litellm.completion`, sent less."""
        return self._called("completion", *args, **kwargs)

    def responses(self, *args: Any, **kwargs: Any) -> Any:
        """`litellm.responses`, sent less; of these LiteLLM asks the callbacks that are listed."""
        if self in litellm.callbacks:
            return litellm.responses(*args, **kwargs)
        return self._called("responses", *args, **kwargs)

    def attach(self) -> None:
        """For all that this program asks of LiteLLM, in libraries too, until `detach`."""
        if not self._replaced:
            self._replaced = {"completion": litellm.completion}
            litellm.callbacks.append(self)
            litellm.completion = self.completion

    def detach(self) -> None:
        if self._replaced:
            litellm.callbacks.remove(self)
        for name, function in self._replaced.items():
            setattr(litellm, name, function)
        self._replaced = {}

    def _called(self, name: str, *args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(POSITIONS[name], args, strict=False)), **kwargs}
        made = self.shortener.checkpoint(given, PROTOCOLS[name], tells=True)
        function = self._replaced.get(name) or getattr(litellm, name)
        if made is None:
            return function(*args, **kwargs)
        return function(*args[len(POSITIONS[name]) :], **_with(given, made))


POSITIONS = {"completion": ("model", "messages"), "responses": ("input", "model")}
"""What people give without a name."""


def _with(given: dict[str, Any], made: Checkpoint | None) -> dict[str, Any]:
    """The request with what changed: messages, and what the provider must be told about them."""
    if made is None:
        return given
    changed = {key: value for key, value in made.body.items() if value is not given.get(key)}
    headers = made.headers
    # Chat has no word for it, and LiteLLM passes Claude's own on.
    model = str(given.get("model") or "")
    if not headers and (told := dropping(model, given.get("thinking"), made.messages)):
        changed["thinking"], headers = told.body["thinking"], told.headers
    if headers:
        changed["extra_headers"] = with_beta(given.get("extra_headers") or {}, headers)
    return {**given, **changed}
