"""One question over HTTP: attempts, pauses and every byte within one deadline, and no key shown."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlsplit

from statecomp.errors import BadInput
from statecomp.llm.chat import ChatFailed, Completion, QuestionFailed
from statecomp.llm.deadline import Clock, Sockets
from statecomp.llm.replies import Json, parsed, reason_in, retry_after_s

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
LARGEST_REPLY_BYTES = 8_000_000
LONGEST_REASON = 300
SHORTEST_SECRET = 8

_FORMAT_FIELDS = ("response_format", "output_config", "text")
_FORMAT_WORDS = {
    "response_format",
    "output_config",
    "text.format",
    "output_format",
    "json_schema",
    "structured output",
}
_TOO_LONG = re.compile(r"too long|context[ _](?:length|size|window)", re.IGNORECASE)
"""How providers say that a question does not fit into the window of a model."""
LIMIT_FIELD = "max_completion_tokens"
_FIELD_WORDS = _FORMAT_WORDS | {LIMIT_FIELD}


class _Rejected(ChatFailed):
    """An HTTP status that is no success; `blames` are the fields of the request it names."""

    def __init__(self, problem: str, status: int, named: Set[str], retry_after_s: float) -> None:
        super().__init__(problem, retryable=status in (408, 409, 429) or status >= 500)
        self.blames = named if status in (400, 422) else frozenset()
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class HttpChat:
    """What all protocols share: from `ask` down to `_send`, each step adds one concern.

    `trust_env` lets httpx take proxies and certificates from the environment.  With a `target` that
    very address is asked, with the `opening` headers, as somebody else asked it before.
    """

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    deadline_s: float = 60.0
    retries: int = 2
    trust_env: bool = True
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    target: str = field(default="", repr=False)
    opening: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        _check_address(self.base_url, self.api_key)

    def _body(
        self, system: str, prompt: str, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Json:
        raise NotImplementedError

    def _address(self) -> tuple[str, dict[str, str]]:
        """The URL to post to, and the headers that open it."""
        raise NotImplementedError

    def _completion(self, reply: Json) -> Completion:
        raise NotImplementedError

    def ask(
        self,
        system: str,
        prompt: str,
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> Completion:
        seconds = self.deadline_s if deadline_s is None else deadline_s
        clock = Clock(seconds, time.monotonic() + seconds)
        body = self._body(system, prompt, max_tokens, schema)
        while True:
            try:
                return self._completion(self._post(body, clock))
            except _Rejected as error:
                amended = _amended(body, error, schema)
                if amended is None:
                    raise
                body = amended

    def _post(self, body: Json, clock: Clock) -> Json:
        """The JSON object the server answers; the caller's thread never outstays the clock."""
        # Escaped to ASCII: a lone surrogate in a tool's output must not stop the call.
        content = json.dumps(body).encode("ascii")
        sockets = Sockets()
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="statecomp-chat")
        try:
            waiting = pool.submit(self._persist, content, clock, sockets)
            answer, kind = waiting.result(timeout=clock.left_s)
        except TimeoutError:
            raise self._late(clock) from None
        finally:
            sockets.cut()
            pool.shutdown(wait=False)
        value = parsed(answer)
        if not isinstance(value, dict):
            shown = self._masked(kind) or "something"
            raise ChatFailed(f"{self._host} answered with {shown}, no JSON object")
        if value.get("error"):
            raise ChatFailed(f"{self._host} reported an error: {self._masked(reason_in(answer))}")
        return value

    def _persist(self, content: bytes, clock: Clock, sockets: Sockets) -> tuple[bytes, str]:
        # Seeded by content: the same call pauses the same, different clients spread out.
        jitter = Random(content)
        for attempt in range(self.retries):
            try:
                return self._send(content, clock, sockets)
            except ChatFailed as error:
                if not error.retryable:
                    raise
                pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**attempt)
                pause_s *= 0.5 + jitter.random() / 2
                if isinstance(error, _Rejected):
                    pause_s = max(pause_s, error.retry_after_s)
                if pause_s >= clock.left_s:
                    problem = f"{error}; another try does not fit into {clock.seconds:g} s"
                    raise ChatFailed(problem, retryable=True) from error
            self.sleep(pause_s)
        return self._send(content, clock, sockets)

    def _send(self, content: bytes, clock: Clock, sockets: Sockets) -> tuple[bytes, str]:
        """One attempt: the bytes of a success, and the content type it claims."""
        import httpx  # an optional extra: only who opens a connection needs it

        url, headers = self._address()
        if self.target:
            url, headers = self.target, {**headers, **self.opening}
        extensions = {"trace": sockets.watch}
        try:
            # A client of its own per attempt: no connection outlives the call it was cut for.
            with (
                httpx.Client(timeout=clock.left_s, trust_env=self.trust_env) as client,
                client.stream(
                    "POST", url, headers=headers, content=content, extensions=extensions
                ) as response,
            ):
                answer = self._read(response.iter_bytes(), clock)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            # The latter two: host names that the URL parser or the resolver cannot take.
            if clock.left_s == 0:
                raise self._late(clock) from error
            reason = self._masked(str(error)) or type(error).__name__
            raise ChatFailed(
                f"the connection to {self._host} failed: {reason}",
                retryable=isinstance(error, httpx.TransportError),
            ) from error
        if response.is_success:
            return answer, response.headers.get("content-type", "")
        reason = self._masked(reason_in(answer))
        status = response.status_code
        problem = f"{self._host} answered {status}" + (reason and f": {reason}")
        if status == 413 or (status == 400 and _TOO_LONG.search(reason)):
            raise QuestionFailed(problem)
        wait_s = retry_after_s(response.headers.get("retry-after", ""))
        blamed = {word for word in _FIELD_WORDS if word.encode() in answer.lower()}
        raise _Rejected(problem, status, blamed, wait_s)

    def _read(self, chunks: Iterable[bytes], clock: Clock) -> bytes:
        answer = bytearray()
        for chunk in chunks:
            answer += chunk
            if clock.left_s == 0:
                raise self._late(clock)
            if len(answer) > LARGEST_REPLY_BYTES:
                raise ChatFailed(f"{self._host} sent more than {LARGEST_REPLY_BYTES:,} bytes")
        return bytes(answer)

    def _late(self, clock: Clock) -> ChatFailed:
        problem = f"{self._host} gave no whole answer within {clock.seconds:g} s"
        return ChatFailed(problem, retryable=True)

    @property
    def _host(self) -> str:
        return urlsplit(self.base_url).netloc

    def _masked(self, text: str) -> str:
        """The text without any credential, and short; in this order, or half a key could stay."""
        query = [part.rpartition("=")[2] for part in urlsplit(self.target).query.split("&")]
        for secret in (self.api_key, *self.opening.values(), *query):
            for part in (secret, secret.rpartition(" ")[2]):
                text = text.replace(part, "***") if len(part) >= SHORTEST_SECRET else text
        return (text.replace(self.api_key, "***") if self.api_key else text)[:LONGEST_REASON]


def _amended(body: Json, error: _Rejected, schema: Mapping[str, Any] | None) -> Json | None:
    """The request without what the server refused; None where no field of it is to blame.

    Every amendment takes a field away for good, so asking again ends.
    """
    if "max_tokens" in body and LIMIT_FIELD in error.blames:
        rest = {name: value for name, value in body.items() if name != "max_tokens"}
        return {**rest, LIMIT_FIELD: body["max_tokens"]}
    rest = {name: value for name, value in body.items() if name not in _FORMAT_FIELDS}
    if schema is not None and len(rest) < len(body) and error.blames & _FORMAT_WORDS:
        return _with_schema(rest, schema)
    return None


def _with_schema(body: Json, schema: Mapping[str, Any]) -> Json:
    """The request with the schema said in words, after all else in its last message."""
    field = "messages" if "messages" in body else "input"
    *before, last = body[field]
    wish = "Answer with one JSON object and nothing else. It fits this JSON Schema:"
    content = f"{last['content']}\n\n{wish}\n{json.dumps(dict(schema))}"
    return {**body, field: [*before, {**last, "content": content}]}


def _check_address(base_url: str, api_key: str) -> None:
    """Refuse what could put a secret into an error text later; neither is repeated here."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BadInput("a base URL looks like https://host[:port][/path]")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadInput("a base URL carries no user name, password, query or fragment")
    if not re.fullmatch(r"[!-~]*", api_key):
        raise BadInput("the API key holds characters that no HTTP header can carry")
