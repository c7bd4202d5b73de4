"""What a proxy is told before it starts: where to forward, how to decide, what to allow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from statecomp.errors import BadInput

Mode: TypeAlias = Literal["compress", "observe", "off"]
When: TypeAlias = Literal["auto", "background", "now"]

MEGABYTE = 1 << 20

# Input windows as remembered, not checked against the providers' pages; `--window` overrules them.
# A name that is not here has no known window: a window that is said too small would have commits
# made that do not pay.
WINDOWS = (
    (r"gpt-5", 272_000),
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-4o", 128_000),
    (r"o3|o4-mini", 200_000),
    (r"claude-(?:3|haiku-4)", 200_000),
)
_KNOWN = tuple((re.compile(rf"(?:^|[/.])(?:{name})(?![.\d])"), size) for name, size in WINDOWS)


@dataclass(frozen=True)
class Limits:
    """What keeps one client, or one slow part, from stopping all others."""

    body_bytes: int = 64 * MEGABYTE
    body_s: float = 60.0  # for the whole request body to arrive
    connect_s: float = 10.0
    silence_s: float = 600.0  # between two pieces of an answer
    view_s: float = 5.0  # to put committed summaries back; then the request goes out as it came
    quick_bytes: int = 256 * 1024  # larger requests are read in a thread of their own
    news_bytes: int = 16 * 1024  # and so are those with more than this that was never seen
    quick_messages: int = 1000  # and those with more messages or values: what is no step yet
    quick_values: int = 20_000  # is read again each time
    now_s: float = 20.0  # to wait for a decision with `--commit now`
    quick_s: float = 0.25  # to wait for one that asks no model; then it is made behind the request
    cold_s: float = 2.0  # to wait for one where the provider's cache has run out anyway
    decision_s: float = 120.0  # after which a decision is discarded
    threads: int = 2  # that decide
    processes: int = 0  # that judge for them
    waiting: int = 64  # sessions waiting for a decision
    views: int = 256  # requests waiting for their view; more than that go out as they came
    records: int = 256  # requests, with their histories, waiting to be written to the ledger
    drain_s: float = 10.0  # to finish what is under way at the end
    engines: int = 64
    conversations: int = 256  # that stay parsed, of all tenants together
    conversation_tokens: int = 8_000_000  # and of how many tokens: some 10 bytes each
    memory_bytes: int = 512 * MEGABYTE  # for all that is remembered; beyond, it is read anew


@dataclass(frozen=True)
class ProxySettings:
    """`upstream` is for everything; without it the provider follows from the protocol.

    `upstreams` are further ones by name, chosen by path (`/u/NAME/...`) or header.  `salt` makes
    tenants out of credentials; who shares a ledger shares the salt.
    """

    upstream: str = ""
    upstreams: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = "compress"
    commit: When = "auto"  # before the request where no model is asked for records, else behind
    host: str = "127.0.0.1"
    hosts: frozenset[str] = frozenset()  # further names this proxy is reached by
    token: str = field(default="", repr=False)
    admin_token: str = field(default="", repr=False)
    salt: bytes = field(default=b"", repr=False)
    limits: Limits = Limits()
    local_store: bool = True  # the ledger answers without a network in between
    trust_env: bool = True  # HTTPS_PROXY and certificates for the way to the upstream

    @property
    def tokens(self) -> tuple[str, ...]:
        """All that open a door here, and must go no further."""
        return tuple(token for token in (self.token, self.admin_token) if token)

    def __post_init__(self) -> None:
        for url in (self.upstream, *self.upstreams.values()):
            check_url(url)
        if not is_loopback(self.host) and not self.token:
            raise BadInput(
                "anybody on the network could use this proxy; set --token, or stay on 127.0.0.1",
                field=f"host {self.host!r}",
            )
        if any(len(token) < 16 or not _plain(token) for token in self.tokens):
            raise BadInput(
                "must have at least 16 characters, letters, digits, '-' and '_' only", field="token"
            )
        if self.admin_token and self.admin_token in ("", self.token):
            raise BadInput("must be another than the token of all clients", field="admin token")
        if self.admin_token and not self.token:
            raise BadInput("needs --token too, which clients use", field="admin token")


def check_url(url: str) -> None:
    """Nothing in it may be secret, because it is shown; it is not repeated here."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise BadInput("looks like https://host[:port][/path], nothing more", field="upstream")


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _plain(token: str) -> bool:
    return token.isascii() and token.replace("-", "").replace("_", "").isalnum()


def window_of(model: str) -> int | None:
    """The window of a model; a name may follow that of a provider (`openai/gpt-5-mini`)."""
    lowered = model.lower()
    return next((size for name, size in _KNOWN if name.search(lowered)), None)
