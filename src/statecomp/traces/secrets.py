"""Masking keys, tokens and passwords in what was recorded.

A secret becomes `[masked:KIND:4 hex digits of its hash]`, the same wherever it occurs, so that a
reader can still follow where a value went.  First the shapes that tell by themselves (`sk-ant-...`,
PEM blocks), then values that their context gives away (`password=...`, `Authorization: Bearer ...`,
`user:pass@host`); what the context gave away is also masked where it stands alone in the same run.
Possessive quantifiers and starting literals keep every pattern linear on hostile text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from math import log2
from typing import Any

from statecomp.history.windows import substituted
from statecomp.traces.given_away import given_away, lines_of_key
from statecomp.traces.many_words import ManyWords

# Groups are not possessive: Python 3.11 before 3.11.5 matches those wrongly (gh-106052).  There is
# one way only to read a key, so a text that is none is left after one look.
_GAP = r"(?:\s|\\[nrt])*"
_NUMBER = r"(?:\d{1,6}(?:[\t→:|]|\\t|\\u2192)\s?)?"  # tools that show files number their lines
_PEM_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_HEAD = rf"(?:{_NUMBER}[A-Z][A-Za-z-]{{1,20}}: [^\n\\]{{0,200}}(?=[\n\\]){_GAP})*"
# Of ten times the lines of the longest key in use: looking for the end of one stops everybody.
_PEM_LINE = rf"{_NUMBER}[A-Za-z0-9+/=]{{20,65536}}+{_GAP}"
_PEM_BODY = rf"(?:{_PEM_LINE}){{1,2000}}(?:{_NUMBER}[A-Za-z0-9+/=]{{1,76}}+)?"
_WORD = r"[A-Za-z0-9_-]"
# Shapes that begin a word; an alternative that fails fails within its first letters.
_SHAPES = {
    "anthropic": rf"sk-ant-{_WORD}{{20,}}+",
    "openai": rf"sk-[A-Za-z0-9]{_WORD}{{18,}}+",
    "github": r"gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{30,}+",
    "gitlab": rf"glpat-{_WORD}{{20,}}+",
    "aws": r"A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}(?![0-9A-Za-z])",
    "google": rf"AIza{_WORD}{{35,}}+|ya29\.{_WORD}{{20,}}+|GOCSPX-{_WORD}{{20,}}+",
    "slack": r"xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-[0-9]-[A-Za-z0-9-]{10,}+",
    "slack-hook": r"hooks\.slack\.com/services/[A-Za-z0-9_/+-]{20,}+",
    "stripe": r"(?:[rs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{10,}+",
    "hugging-face": r"hf_[A-Za-z0-9]{30,}+",
    "npm": r"npm_[A-Za-z0-9]{36,}+",
    "pypi": rf"pypi-{_WORD}{{50,}}+",
    "sendgrid": rf"SG\.{_WORD}{{16,}}+\.{_WORD}{{16,}}+",
    "other-key": r"(?:gsk_|xai-|pplx-|r8_|dop_v1_|tvly-)[A-Za-z0-9]{20,}+",
    "jwt": rf"eyJ{_WORD}{{8,}}+\.eyJ{_WORD}{{8,}}+\.{_WORD}{{10,}}+",
}
# Most texts hold none of these, and looking for plain words is ten times faster than the patterns.
_OPENINGS = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA"),
    *("ABIA", "ACCA", "AIza", "ya29.", "GOCSPX-", "xox", "xapp-", "hooks.slack.com", "k_live_"),
    *("k_test_", "whsec_", "hf_", "npm_", "pypi-", "SG.", "gsk_", "xai-", "pplx-", "r8_"),
    *("dop_v1_", "tvly-", "eyJ", "-----BEGIN "),
)
_TELLING = (
    *("_key", "-key", "apikey", "accesskey", "authkey", "privatekey", "secret", "token"),
    *("credential", "passw", "passphrase", "pwd", "bearer", "authorization", "://"),
)
_ALL_SHAPES = "|".join(f"(?P<{k.replace('-', '_')}>{shape})" for k, shape in _SHAPES.items())
_SHAPE = re.compile(
    rf"(?<!{_WORD})(?=[AGSadeghnprstwxy])(?:{_ALL_SHAPES})"
    rf"|(?P<private_key>-----BEGIN {_PEM_NAME}{_GAP}{_PEM_HEAD}{_PEM_BODY}"
    rf"(?:{_GAP}{_NUMBER}-----END {_PEM_NAME})?)"
)

_NAMES = r"api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|secret|token|credential"
_WORDS = r"passw(?:or)?d|passphrase|pwd"
_VALUE = r"[^\s\"'\\`,;<>&(){}\[\]|]{8,}+"
_CONTEXT = re.compile(
    rf"(?:(?P<named>{_NAMES})|(?P<worded>{_WORDS}))[A-Za-z0-9_-]{{0,30}}+[\"'\\]{{0,4}}\s{{0,3}}"
    rf"(?:=>|:=|=|:)\s{{0,3}}[\"'\\]{{0,4}}(?P<value>{_VALUE})(?!\()"
    r"|authorization[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}(?:basic|token|bearer)\s{1,3}"
    r"(?P<header>[A-Za-z0-9._~+/=-]{8,}+)|bearer\s{1,3}(?P<bearer>[A-Za-z0-9._~+/=-]{16,}+)"
    r"|(?<=://)[^\s:/@\"'<>\\]{0,128}+:(?P<url>[^\s/@\"'<>\\]{1,256}+)@",
    re.IGNORECASE,
)
_NAMED_FIELD = re.compile(rf"(?:{_NAMES}|(?P<worded>{_WORDS}))s?$", re.IGNORECASE)
_MASK = re.compile(r"\[masked:([a-z-]+):[0-9a-f]{4}\]")
_REFERENCE = ("$", "{", "<", "%", "*", "[masked:")
_PASSES = 4  # a mask can free the word behind it, which the secret itself had joined
_STANDS_ALONE = 12  # shorter values could be ordinary words elsewhere
_PASSWORD_ALONE = 8  # unless they are passwords and no words
PART = 20
"""Of a longer secret so much of its beginning or its end tells enough of it."""
_SURE = ("password-hash", "service-token")
_CODE = re.compile(r"[(){}\[\]]|::|->|\s|^[\w.]*\.\w+$|/")


@dataclass(slots=True)
class Masker:
    """Masks one run at a time and counts, over all of them, how many secrets it replaced."""

    counts: Counter[str] = field(default_factory=Counter)
    parts: set[str] | None = None  # beginnings and ends of what was found, where they are wanted

    def masked(self, value: Any, known: dict[str, str] | None = None) -> Any:
        """A JSON value with its secrets masked; everything else is as it was.

        `known` is what was found in the same conversation, and is added to: a secret found anywhere
        in it is one everywhere in it.
        """
        found = {} if known is None else known
        first = self._walk(value, found)
        alone = {secret: mask for secret, mask in found.items() if _tells_alone(secret, mask)}
        return self._replaced(first, alone) if alone else first

    def learn(self, value: Any, known: dict[str, str]) -> None:
        """Add what a value gives away to what is known of its conversation."""
        self._walk(value, known)

    def tells_part(self, text: str) -> bool:
        """Whether a text holds the beginning or the end of a secret, as one that was cut does."""
        found = self.parts or set()
        return bool(found) and any(text[n : n + PART] in found for n in range(len(text)))

    def text(self, text: str) -> str:
        """A text with its secrets masked."""
        return str(self.masked(text))

    def _walk(self, value: Any, found: dict[str, str], name: str = "") -> Any:
        if isinstance(value, str):
            return self._field(name, value, found) or self._text(value, found)
        if isinstance(value, Mapping):
            return {
                self._text(key, found): self._walk(item, found, key) for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._walk(item, found, name) for item in value]
        return value

    def _field(self, name: str, value: str, found: dict[str, str]) -> str:
        """The mask of a whole value that its field's name gives away, or nothing."""
        named = _NAMED_FIELD.search(name) if name and len(name) <= 64 else None
        if named is None or any(c.isspace() for c in value) or _SHAPE.search(value):
            return ""
        kind = "password" if named["worded"] else "secret-value"
        return self._mask(kind, value, found) if _is_likely(value, kind) else ""

    def _text(self, text: str, found: dict[str, str]) -> str:
        for _ in range(_PASSES):
            before = text
            if any(opening in text for opening in _OPENINGS):
                text = substituted(_SHAPE, lambda match: self._shape(match, found), text)
            lowered = text.lower()
            if any(word in lowered for word in _TELLING):
                text = substituted(_CONTEXT, lambda match: self._context(match, found), text)
            text = self._surrounded(text, found)
            if text == before:
                break
        return text

    def _surrounded(self, text: str, found: dict[str, str]) -> str:
        parts, end = [], 0
        for start, stop, kind in given_away(text):
            secret = text[start:stop]
            if _is_likely(secret, kind):
                parts += [text[end:start], self._mask(kind, secret, found)]
                end = stop
        return "".join((*parts, text[end:])) if parts else text

    def _shape(self, match: re.Match[str], found: dict[str, str]) -> str:
        kind, secret = str(match.lastgroup).replace("_", "-"), match[0]
        # `sk-` also begins names of CSS classes and branches.
        if kind == "openai" and not _mixed(secret[3:]):
            return secret
        mask = self._mask(kind, secret, {})
        if kind == "private-key":
            lines = lines_of_key(secret)
            found.update(dict.fromkeys(lines, mask))
            for line in lines:
                self._keep_parts(line)
        return mask

    def _context(self, match: re.Match[str], found: dict[str, str]) -> str:
        kinds = {"value": "password" if match["worded"] else "secret-value"}
        kinds |= {"header": "authorization", "bearer": "bearer", "url": "url-password"}
        group = next(name for name in kinds if match[name] is not None)
        secret, kind = match[group], kinds[group]
        if not _is_likely(secret, kind):
            return match[0]
        start, stop = (place - match.start() for place in match.span(group))
        return match[0][:start] + self._mask(kind, secret, found) + match[0][stop:]

    def _mask(self, kind: str, secret: str, found: dict[str, str]) -> str:
        self.counts[kind] += 1
        self._keep_parts(secret)
        if secret not in found:
            raw = secret.encode("utf-8", "surrogatepass")
            found[secret] = f"[masked:{kind}:{blake2b(raw, digest_size=2).hexdigest()}]"
        return found[secret]

    def _keep_parts(self, secret: str) -> None:
        if self.parts is not None and len(secret) > PART:
            self.parts |= {secret[:PART], secret[-PART:]}

    def _replaced(self, value: Any, masks: Mapping[str, str]) -> Any:
        """Values that some context gave away, masked where they stand without it."""
        words = ManyWords(masks)

        def mask(word: str) -> str:
            found = masks[word]
            self.counts[str(_MASK.fullmatch(found)[1])] += 1  # type: ignore[index]
            return found

        def walk(item: Any) -> Any:
            if isinstance(item, str):
                return words.replaced(item, mask)
            if isinstance(item, dict):
                return {key: walk(inner) for key, inner in item.items()}
            return [walk(inner) for inner in item] if isinstance(item, list) else item

        return walk(value)


def _tells_alone(secret: str, mask: str) -> bool:
    """Whether a value is masked where nothing gives it away; short ones could be ordinary words."""
    passwordlike = mask.startswith(("[masked:password", "[masked:url-password"))
    return len(secret) >= (_PASSWORD_ALONE if passwordlike and _odd(secret) else _STANDS_ALONE)


def _is_likely(value: str, kind: str) -> bool:
    """Whether a value is a secret, and not a placeholder, a variable or a word of code."""
    if "[masked:" in value:
        return False
    if kind in _SURE:
        return True
    if value.startswith(_REFERENCE):
        return False
    if kind in ("url-password", "authorization"):
        return True
    if kind == "password" and _odd(value) and not _CODE.search(value):
        return len(value) >= _PASSWORD_ALONE
    if len(value) < 8 or not _mixed(value) or "://" in value or value.startswith(("/", "./")):
        return False
    return _entropy(value) >= (2.5 if kind == "password" else 3.0)


def _odd(text: str) -> bool:
    """Whether it is no word: three kinds of characters in it, or digits among letters."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum())
    return _mixed(text) or sum(any(map(kind, text)) for kind in kinds) >= 3


def _mixed(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _entropy(text: str) -> float:
    """Bits a character, by the frequencies in the text itself."""
    return -sum(n / len(text) * log2(n / len(text)) for n in Counter(text).values())
