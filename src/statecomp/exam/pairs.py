"""Key-value lines, and which file, line or address something is at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from statecomp.exam.facts import FactGroup, FactKind, FactRow
from statecomp.exam.text import folded, unescaped
from statecomp.history.interaction import Interaction

LONGEST_VALUE, LONGEST_LINE = 80, 160
MOST_LINES, FEWEST = 3000, 2
_PAIR = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\*\*)?(?P<key>[A-Za-z][\w .()/%#-]{2,38}[\w)%])(?:\*\*)?"
    r"\s*(?P<sign>[:=])\s+(?:\*\*\s*)?"
    r"(?P<value>\S.{0,79}?)\s*\Z"
)
_CODE = re.compile(
    r"[;{}]\s*\Z|\A\s*(?:\d+[:|]?\s*)?(?:def|class|return|if|for|import|from|const|let)\b"
)
_FOUND = re.compile(
    r"(?P<path>(?:[\w.@+-]*/)[\w./@+-]+\.\w{1,8}|[\w-]+\.\w{1,5}):(?P<line>\d+):(?P<text>.{8,200})\Z"
)
_PATH = re.compile(
    r"(?<![\w/.:@])(?P<folder>(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+)(?P<name>[\w@+-][\w.@+-]*)(?![\w/])"
)
_FILE = re.compile(
    r"\w\.(?:py|js|ts|tsx|java|go|rs|c|cc|cpp|h|cs|rb|php|sh|sql|db|sqlite|html?|css|xml|json|jsonl|"
    r"ya?ml|toml|ini|cfg|conf|md|rst|txt|log|csv|tsv|xlsx?|docx?|pptx?|pdf|png|jpe?g|gif|mp3|mp4|wav|"
    r"zip|tar|gz|bin|exe|dll|so|pcap|pem|key|patch|diff|pkl|ipynb|lock|bib|tex|asm|sage|img|pddl)\Z"
)
_LINK = re.compile(r"\[(?P<text>[^\]\[\n]{4,70})\]\((?P<url>https?://[^\s()]{8,200})\)")
_ANCHOR = re.compile(
    r"<a [^>]*?href=\"(?P<url>https?://[^\"\s]{8,200})\"[^>]*>(?P<text>[^<>\n]{4,70})</a>"
)


_PLAIN = re.compile(r"[\w.$€%/:@+-]+")
_NO_KEY = re.compile(
    r"(?:Error|Exception|Warning|Usage|Note|bash|Line \d+)\Z|\A(?:Error|Warning|Traceback)|"
    r"(?:execution|elapsed) time|duration|timeout|return code|exit code|current (?:step|date)",
    re.IGNORECASE,
)
"""Failures are asked for as verdicts, and what a client wraps around an output by nobody."""
_NAME = re.compile(r"[A-Za-z]{3}")
# What a page's elements are called in a snapshot: no keys of a record.
_SHOWN = """
    text paragraph generic listitem link button heading img cell row option list navigation group
    inflating creating extracting Snippet Sitelinks
"""
_ROLES = frozenset(_SHOWN.split())


def pair_groups(span: Iterable[Interaction]) -> Iterator[FactGroup]:
    """For each step its `key: value` lines, without keys that have several values in the span."""
    by_step: dict[int, dict[str, FactRow]] = {}
    values: dict[str, set[str]] = {}
    for member in span:
        for line in unescaped(member.observed).splitlines()[:MOST_LINES]:
            if not (pair := _pair(line)) or pair[0] in _ROLES:
                continue
            key, value = pair
            values.setdefault(folded(key), set()).add(folded(value))
            entry = FactRow(member.number, key, {"": value}, line)
            by_step.setdefault(member.number, {}).setdefault(folded(key), entry)
    for entries in by_step.values():
        yield FactGroup(FactKind.PAIR, [e for key, e in entries.items() if len(values[key]) == 1])


def block_groups(span: Iterable[Interaction]) -> Iterator[FactGroup]:
    """Records written as key-value lines, nothing else between them, that begin with one key."""
    for member in span:
        by_key: dict[str, list[FactRow]] = {}
        for block in _blocks(unescaped(member.observed).splitlines()[:MOST_LINES]):
            (key, name), *rest = block.items()
            if rest and _NAME.search(name):
                text = "\n".join(f"{field}: {value}" for field, value in block.items())
                by_key.setdefault(key, []).append(FactRow(member.number, name, dict(rest), text))
        for entries in by_key.values():
            if len({entry.folded_name for entry in entries}) == len(entries) >= FEWEST:
                yield FactGroup(FactKind.OBJECT, [_usual(entry, entries) for entry in entries])


def _blocks(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Consecutive pairs, parted where the first key returns."""
    block: dict[str, str] = {}
    for line in (*lines, ""):
        pair = _pair(line)
        if block and (not pair or pair[0] in block):
            yield block
            block = {}
        if pair and pair[0] not in _ROLES:
            block[pair[0]] = pair[1]


def _usual(entry: FactRow, entries: Sequence[FactRow]) -> FactRow:
    """The entry with the fields that at least half of its kind have."""
    usual = {
        field: value
        for field, value in entry.values.items()
        if 2 * sum(field in other.values for other in entries) >= len(entries)
    }
    return replace(entry, values=usual)


def _pair(line: str) -> tuple[str, str] | None:
    found = _PAIR.match(line) if 6 <= len(line) <= LONGEST_LINE else None
    if not found or _CODE.search(line) or _NO_KEY.search(found["key"]):
        return None
    key, value = found["key"].strip(), found["value"].strip(" *`\"',\\")
    if value[:1] in "+=<" or value.endswith(";"):
        return None
    if found["sign"] == "=" and not _PLAIN.fullmatch(value):
        return None
    whole = all(text.count("(") == text.count(")") for text in (key, value))
    return (key, value) if whole and value else None


def location_groups(span: Iterable[Interaction]) -> Iterator[FactGroup]:
    """Where things are: the file of a line that a search found, the folder of a file, a link."""
    members = list(span)
    yield _unique(FactKind.LOCATION, (e for m in members for e in _lines_found(m)))
    yield _unique(FactKind.LOCATION, (e for m in members for e in _folders(m)))
    yield _unique(FactKind.LOCATION, (e for m in members for e in _links(m)))


def _unique(kind: FactKind, entries: Iterable[FactRow]) -> FactGroup:
    """Entries whose name has one value: of a name in two places nobody can say where it is."""
    known: dict[str, FactRow | None] = {}
    for entry in entries:
        name = entry.folded_name
        before = known.get(name, entry)
        known[name] = before if before and before.folded_values == entry.folded_values else None
    return FactGroup(kind, [entry for entry in known.values() if entry])


def _lines_found(member: Interaction) -> Iterator[FactRow]:
    for line in unescaped(member.observed).splitlines()[:MOST_LINES]:
        found = _FOUND.match(line.strip()) if len(line) <= 400 else None
        if found:
            yield FactRow(member.number, found["text"].strip()[:70], {"file": found["path"]}, line)


def _folders(member: Interaction) -> Iterator[FactRow]:
    for line in unescaped(member.observed).splitlines()[:MOST_LINES]:
        for found in _PATH.finditer(line[:LONGEST_LINE]):
            if len(found[0]) <= 120 and _FILE.search(found["name"]):
                yield FactRow(member.number, found["name"], {"path": found[0]}, line[:400])


def _links(member: Interaction) -> Iterator[FactRow]:
    for pattern in (_LINK, _ANCHOR):
        for found in pattern.finditer(member.observed[:200_000]):
            yield FactRow(member.number, found["text"].strip(), {"link": found["url"]}, found[0])


def fields_named() -> Mapping[str, str]:
    """How a location is asked for."""
    return {"file": "In which file", "path": "At which path", "link": "At which address"}
