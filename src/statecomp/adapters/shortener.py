"""What every adapter asks before each model call: the one engine, with a ledger and an account."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar, Unpack
from weakref import finalize

from statecomp.adapters.account import AdapterTally, Books, Savings
from statecomp.adapters.asking import Beside, WireRequest
from statecomp.adapters.binding import refusal
from statecomp.adapters.catalogue import client_name
from statecomp.adapters.claims import claimed_by_another, release
from statecomp.adapters.options import chosen_method, mode_of, on_stderr
from statecomp.adapters.ownership import ToRecord, ToWire
from statecomp.checkpoint import Checkpoint
from statecomp.compressor import Keep
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import shipped_prices
from statecomp.method import Method
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.account.lines import shown_note
from statecomp.proxy.sessions import EXPLICIT, session_of
from statecomp.proxy.settings import ProxySettings, window_of
from statecomp.recent import LruCache
from statecomp.wire.content import markers
from statecomp.wire.providers import provider_named, wire_named

LOG = logging.getLogger("statecomp.adapters")
TENANT = "adapters"
KEPT_ELSEWHERE = "kept_elsewhere"
"""In a body, for an adapter to say: the provider has the history, and is sent its news."""
TWICE = "another adapter acts on these requests already; this one lets them pass"
Item = TypeVar("Item")


class Shortener:
    """One for an agent, or for all agents of a program: what it commits is found by content.

    `options` are the words that follow `statecomp:` on the command line: recipe, scorer,
    records, pin, pin_tools and so on; `method` says it all at once instead.  `store` is the
    ledger, as for `statecomp serve --store`; without one everything is forgotten at the end.
    `session` names the run for people.  With `progress` each commit is told on stderr, or to the
    function given.  `drops_thinking` says that the model is set to drop thinking behind a change
    (`block_binding`), for frameworks whose hook cannot set that.
    """

    def __init__(
        self,
        framework: str,
        *,
        method: Method | None = None,
        store: str = "",
        mode: str = "",
        session: str = "",
        progress: bool | Callable[[str], object] = False,
        drops_thinking: bool = False,
        **options: object,
    ) -> None:
        self.mode = mode_of(mode)
        self._client = client_name(framework)
        self._method = chosen_method(method, options)
        self._prices = shipped_prices()
        self._store = store
        self._session = session
        self._drops = drops_thinking
        self._tally = AdapterTally(on_stderr if progress is True else progress or None)
        self._books: Books | None = None
        self._ending: Callable[[], object] | None = None
        self._last_s: LruCache[str, float] = LruCache(4096)
        self._said: set[str] = set()
        self._lock = Lock()

    @property
    def savings(self) -> Savings:
        """Tokens, dollars and commits so far."""
        if self._books is not None and self._books.pid == os.getpid():
            self._books.flush()
        return self._tally.savings

    def rewrite(
        self,
        items: Sequence[Item],
        to_wire: ToWire[Item],
        record: ToRecord[Item],
        **beside: Unpack[Beside[Item]],
    ) -> list[Item]:
        """The messages to send instead: originals, and one new message a record.

        Whatever fails, the items that came in go out.
        """
        try:
            asked = WireRequest.of(items, to_wire, beside)
            made = self.checkpoint(asked.body, asked.protocol, keep=asked.keep, tells=asked.tells)
            return asked.restored(made, record)
        except Exception as error:  # noqa: BLE001  nothing here may stop a user's agent
            self._failed(error)
            return list(items)

    async def arewrite(
        self,
        items: Sequence[Item],
        to_wire: ToWire[Item],
        record: ToRecord[Item],
        **beside: Unpack[Beside[Item]],
    ) -> list[Item]:
        """`rewrite`, deciding in a thread: the event loop is not held up."""
        try:
            asked = WireRequest.of(items, to_wire, beside)
            keep = asked.keep
            made = await self.acheckpoint(asked.body, asked.protocol, keep=keep, tells=asked.tells)
            return asked.restored(made, record)
        except Exception as error:  # noqa: BLE001  nothing here may stop a user's agent
            self._failed(error)
            return list(items)

    def checkpoint(
        self,
        body: Mapping[str, Any],
        protocol: str,
        *,
        keep: Keep | None = None,
        tells: bool = False,
    ) -> Checkpoint | None:
        """What to send instead of a request body, or None where it goes out as it came.

        Who `tells` sends what the provider must be told about thinking with the messages.
        """
        try:
            return self._decided(body, protocol, keep) if self._may(body, protocol, tells) else None
        except Exception as error:  # noqa: BLE001  nothing here may stop a user's agent
            self._failed(error)
            return None

    async def acheckpoint(
        self,
        body: Mapping[str, Any],
        protocol: str,
        *,
        keep: Keep | None = None,
        tells: bool = False,
    ) -> Checkpoint | None:
        """`checkpoint` in a thread: a scorer or a summariser then holds up nobody else."""
        try:
            if not self._may(body, protocol, tells):
                return None
            return await asyncio.to_thread(self._decided, body, protocol, keep)
        except Exception as error:  # noqa: BLE001  nothing here may stop a user's agent
            self._failed(error)
            return None

    def close(self) -> None:
        """Write what the ledger has not got yet; at the end of the program this happens anyway."""
        release(self)
        if self._ending is not None:
            self._ending()
        self._books = self._ending = None

    def _may(self, body: Mapping[str, Any], protocol: str, tells: bool) -> bool:
        """Runs where the framework calls us: who acts on a request is known by task and thread."""
        messages = body.get(wire_named(protocol).key)
        if self.mode == "off" or not isinstance(messages, list | tuple) or not messages:
            return False
        if body.get(KEPT_ELSEWHERE):
            return False
        if claimed_by_another(self, messages):
            self.say(TWICE)
            return False
        if why := refusal(body, messages, tells=tells or self._drops):
            self.say(why)
            return False
        return True

    def _decided(
        self, body: Mapping[str, Any], protocol: str, keep: Keep | None
    ) -> Checkpoint | None:
        books = self._opened()
        engine = books.engines.of(TENANT, protocol)
        look = engine.checkpoint(body, decide=False, keep=keep)
        if look.raw is None:
            self.say(look.note, "unreadable")
            return None
        headers = {EXPLICIT: self._session.encode()} if self._session else {}
        exchange = Exchange(
            protocol=protocol,
            mode=self.mode,
            tenant=TENANT,
            session=session_of(TENANT, headers, body, look.raw),
            client=self._client,
            model=str(body.get("model") or ""),
            caching=_caches(body, protocol),
            engine=engine,
        )
        made = look
        if look.view is not None:
            now = self._circumstances(exchange, body, books)
            made = engine.checkpoint(body, now=now, keep=keep)
        self._last_s.put(exchange.session, exchange.when_s)
        raw = self.mode == "observe" or not made.rewritten
        books.finish(replace(exchange, checkpoint=made, note=made.note, sent_raw=raw))
        return None if raw else made

    def _circumstances(
        self, exchange: Exchange, body: Mapping[str, Any], books: Books
    ) -> Circumstances:
        tools = body.get("tools")
        return Circumstances(
            now_s=exchange.when_s,
            last_s=self._last_s.get(exchange.session),
            model=exchange.model,
            caching=exchange.caching,
            window_tokens=self._method.window or window_of(exchange.model),
            outside_tokens=self._method.count(json.dumps(tools, default=str)) if tools else 0,
            horizon=books.horizons.of(exchange.client, exchange.model),
        )

    def _opened(self) -> Books:
        with self._lock:
            if self._books is None or self._books.pid != os.getpid():
                settings = ProxySettings(mode=self.mode)
                self._books = Books(self._method, settings, self._prices, self._store, self._tally)
                # A server may make an adapter for every request: each takes its books along.
                self._ending = finalize(self, self._books.close)
            return self._books

    def _failed(self, error: Exception) -> None:
        kind = type(error).__name__
        self.say(f"a request goes out as it came ({kind}: {error})", kind)

    def say(self, sentence: str, kind: str = "") -> None:
        """Once of a kind: an agent makes hundreds of requests, and each may have its own words."""
        if (kind or sentence) not in self._said:
            self._said.add(kind or sentence)
            LOG.warning("%s: %s", self._client, shown_note(sentence))


class Saving:
    """An adapter that holds a shortener, and tells what it saved."""

    shortener: Shortener

    @property
    def savings(self) -> Savings:
        return self.shortener.savings


def _caches(body: Mapping[str, Any], protocol: str) -> bool:
    """Claude caches on request only, whatever it is asked through; the others always do."""
    model = str(body.get("model") or "").lower()
    if "claude" not in model and (model or provider_named(protocol).caches_unasked):
        return True
    marked = (body.get("messages"), body.get("tools"), body.get("system"))
    parts = [part for held in marked if isinstance(held, list | tuple) for part in held]
    return "cache_control" in body or any(
        True for part in parts if isinstance(part, Mapping) for _ in markers(part)
    )
