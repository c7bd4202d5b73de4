"""Secrets that only their surroundings give away, beyond `name=value`.

What is handed to a program (`mysql -p'...'`, `curl -u user:...`), stands in files with a form of
their own (`.netrc`, `.pgpass`, a shadow file), in cookies and addresses, or is said in a sentence.
Every pattern starts at a literal and is bounded, so hostile text costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from typing import NamedTuple

from statecomp.history.windows import matches_in

_QUOTE = r"\\{0,3}[\"']"
_BARE = r"[^\s\"'\\`|;<>]"
# Up to the quote that opened it; a password may hold whatever the others may not.
_QUOTED = rf"(?P<quote>{_QUOTE})(?P<inner>(?:(?!(?P=quote))[^\n]){{6,200}}?)(?P=quote)"
_GIVEN = rf"(?:{_QUOTED}|(?P<bare>{_BARE}{{6,200}}))"
_PROGRAMS = ("mysql", "mariadb", "sshpass", "mongo", "redis-cli", "docker login", "smbclient")
_HANDED = re.compile(rf"\s-[paw]\s{{0,2}}{_GIVEN}")
NEAR = 160
_PATTERNS = {
    # what stands in the text -> where the secret is
    "password": (
        ((" -p",), rf"\s-p{_QUOTED}"),
        (
            ("--pass", "--pwd", "--token", "--secret", "--api"),
            rf"\s--(?:pass(?:word|wd|phrase)?|pwd|token|secret|api-?key)[\s=]{{1,2}}{_GIVEN}",
        ),
        (
            (" -u", "--user"),
            rf"\s(?:-u|--user)[\s=]{{0,2}}{_QUOTE}?[\w.@-]{{1,64}}:(?P<bare>{_BARE}{{6,200}})",
        ),
        (("pass",), r"\blogin\s{1,4}\S{1,64}\s{1,4}password\s{1,4}(?P<bare>\S{6,200})"),
        (
            ("passw", "passphrase"),
            rf"\bpass(?:word|wd|phrase)\s{{1,2}}(?:is|was|to|=|:)\s{{1,2}}{_GIVEN}",
        ),
        (
            ("pass", "pwd", "secret", "token", "key"),
            rf"(?:pass(?:word|wd|phrase)?|pwd|secret|token|key)[\"'\\]{{0,4}}\s{{0,3}}[:=]\s{{0,3}}{_QUOTED}",
        ),
        (
            (":5432:", ":5433:", ":6432:", ":*:"),
            rf"(?<![\w.*:/-])[\w.*-]{{1,100}}:(?:\d{{4,5}}|\*):[\w*-]{{1,64}}:[\w*-]{{1,64}}:(?P<bare>{_BARE}{{6,200}})",
        ),
    ),
    "password-hash": ((("$",), r"(?P<bare>\$(?:1|2[abxy]|5|6|y|argon2id?)\$[^\s:\"'\\]{20,200})"),),
    "url-token": (
        (("://",), r"(?<=://)(?P<bare>[A-Za-z0-9_-]{20,200})@"),
        (
            ("sig", "Sig", "key="),
            r"[?&](?:[\w-]{0,20}[sS]ig(?:nature)?|key)=(?P<bare>[A-Za-z0-9%+/=_-]{16,400})",
        ),
    ),
    "account-key": (
        (
            ("AccountKey=", "AccessKey=", "SigningKey=", "account_key=", "master_key="),
            r"(?:AccountKey|AccessKey|SigningKey|account_key|master_key)=(?P<bare>[A-Za-z0-9+/=_-]{16,200})",
        ),
        (
            ("auth",),
            r"\b_?auth[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}(?P<bare>[A-Za-z0-9+/=]{16,400})",
        ),
    ),
    "service-token": (
        (("AGE-SECRET-KEY-",), r"(?P<bare>AGE-SECRET-KEY-1[0-9A-Z]{50,70})"),
        ((":AA",), r"\b(?P<bare>\d{8,10}:AA[\w-]{30,40})"),
        (("hvs.", "hvb."), r"\b(?P<bare>hv[sb]\.[\w-]{20,200})"),
        (("dapi",), r"\b(?P<bare>dapi[0-9a-f]{32})"),
        (
            (
                "shp",
                "lin_api",
                "ntn_",
                "figd_",
                "ATATT3",
                "PMAK-",
                "NRAK-",
                "HRKU-",
                "SK",
                "pscale_",
            ),
            r"\b(?P<bare>(?:shp(?:at|ca|pa|ss)_|lin_api_|ntn_|figd_|ATATT3|PMAK-|NRAK-|HRKU-"
            r"|pscale_[a-z]{2,8}_)[\w=.-]{20,200}|SK[0-9a-f]{32})",
        ),
    ),
}
_COMPILED = tuple(
    (kind, words, re.compile(pattern))
    for kind, patterns in _PATTERNS.items()
    for words, pattern in patterns
)
_COOKIES = re.compile(
    r"(?i)\b(?:set-)?cookie[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}([^\n\"'\\]{8,4096})"
)
_COOKIE = re.compile(r"[\w.-]{1,80}=([^;,\s]{8,2048})")


class GivenAway(NamedTuple):
    """Where a secret stands in a text."""

    start: int
    stop: int
    kind: str


def given_away(text: str) -> list[GivenAway]:
    """What surroundings give away, in order, nothing twice."""
    # Each finds in order, so they are merged: sorting very many at once would hold everybody up.
    found = (*_by_patterns(text), _handed(text), _cookies(text))
    apart: list[GivenAway] = []
    for one in merge(*found):
        if not apart or one.start >= apart[-1].stop:
            apart.append(one)
    return apart


def lines_of_key(block: str) -> list[str]:
    """The lines of a private key: each of them alone is a part of the secret."""
    return [line for line in re.findall(r"[A-Za-z0-9+/=]{16,}", block) if "PRIVATE" not in line]


def _by_patterns(text: str) -> Iterator[Iterator[GivenAway]]:
    for kind, words, pattern in _COMPILED:
        if any(word in text for word in words):
            yield _by_pattern(kind, pattern, text)


def _by_pattern(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[GivenAway]:
    for match in matches_in(pattern, text):
        groups = match.groupdict()
        group = "bare" if groups.get("bare") is not None else "inner"
        yield GivenAway(*match.span(group), kind)


def _handed(text: str) -> Iterator[GivenAway]:
    """`-p SECRET` behind the name of a program that takes it so, in one line."""
    if not any(name in text for name in _PROGRAMS):
        return
    for match in matches_in(_HANDED, text):
        before = text[max(0, match.start() - NEAR) : match.start()].rpartition("\n")[2]
        if any(name in before for name in _PROGRAMS):
            group = "bare" if match["bare"] is not None else "inner"
            yield GivenAway(*match.span(group), "password")


def _cookies(text: str) -> Iterator[GivenAway]:
    if "ookie" not in text and "OOKIE" not in text:
        return
    for header in matches_in(_COOKIES, text):
        for cookie in _COOKIE.finditer(text, *header.span(1)):
            yield GivenAway(*cookie.span(1), "cookie")
