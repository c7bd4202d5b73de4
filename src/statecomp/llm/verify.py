"""The fact ledger: a record must carry what only its span knew, and may hold nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.interaction import Call, Interaction
from statecomp.history.text import COMMON, Kind, argument_text, identifiers
from statecomp.llm.fragments import FENCED
from statecomp.llm.record import Record

BODY_LINES = 6
"""A written text of more lines than this is an artefact, not something the agent says."""
ENTRY_CHARS = 160

# Each runs to its end marker or to the end of the text, so no beginning is ever tried twice.
_HEREDOC = re.compile(
    r"<<-?[ \t]*(['\"]?)(\w{1,40})\1[^\n]*\n"
    r"(?:(?![ \t]*\2[ \t]*$).*\n)*(?:(?![ \t]*\2[ \t]*$).+\Z)?",
    re.MULTILINE,
)
_EDIT = re.compile(r"^edit \d+:\d+[^\n]*\n(?:(?!end_of_).*\n)*(?:(?!end_of_).+\Z)?", re.MULTILINE)
_RUN_KEYS = frozenset(
    {"command", "cmd", "code", "script", "keystrokes", "input", "bash", "commands"}
)
_ENTRY_NUMBER = re.compile(r"\A\W*\d+(?:-\d+)?[.:)]\s|\b[Ss]teps? \d+(?:(?:-| to | and |, )\d+)*")
# Quotation marks on two sides of a joint belong to two quotations.
_JOINT = re.compile(r"; | -> ")
_NOT_DIGITS = re.compile(r"[^\d.]")
_SPACES = re.compile(r"\s+")


def verify(record: Record, span: Sequence[Interaction], rest: FactIndex) -> Record:
    """The record with every identifier it owed; raises SummaryFailed on one it made up."""
    source = Source(span)
    for name, kind in _claims(record, source).items():
        if not source.holds(name, kind):
            raise SummaryFailed(f"the summary names {name!r}, which its source does not contain")
    return settle(record, owed(span, rest))


def owed(span: Sequence[Interaction], rest: FactIndex) -> Mapping[str, Kind]:
    """Identifiers the agent wrote in the span and that would be gone with it.

    What the agent wrote into files and scripts is an artefact that still exists: the symbols inside
    need not be carried, only where it was put.
    """
    found: dict[str, Kind] = {}
    for member in span:
        for name, kind in own_identifiers(member).items():
            if name not in COMMON and name not in rest:
                found.setdefault(name, kind)
    return found


def settle(record: Record, debts: Iterable[str]) -> Record:
    """The record with the missing debts added to its locations."""
    body = record.body
    named = identifiers(body)
    missing = [name for name in debts if name not in named and not _stands_in(name, body)]
    if not missing:
        return record
    return replace(record, locations=(*record.locations, *_packed(missing)))


def _stands_in(name: str, body: str) -> bool:
    """Whether the body has it as a whole: 162 is not in 1162."""
    return name in body and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", body))


def _packed(names: Iterable[str]) -> Iterator[str]:
    line = ""
    for name in names:
        if line and len(line) + len(name) > ENTRY_CHARS:
            yield line
            line = ""
        line = f"{line}, {name}" if line else f"also named: {name}"
    yield line


def own_identifiers(member: Interaction) -> Mapping[str, Kind]:
    """The identifiers of the agent's own words, without those inside what it wrote elsewhere."""
    prose = [member.reasoning]
    bodies: list[str] = []
    _divide(member.said, prose, bodies)
    for call in member.calls:
        for key, value in _arguments(call):
            if value.count("\n") <= BODY_LINES:
                prose.append(value)
            elif key in _RUN_KEYS:
                _divide(value, prose, bodies)
            # A long value under any other key is the content of a file, a page or a message.
    found = dict(identifiers("\n".join(prose)))
    for name, kind in identifiers("\n".join(bodies)).items():
        if kind is Kind.PATH and name.startswith(("/", "~", "./")):
            found.setdefault(name, kind)
    return found


def _divide(text: str, prose: list[str], bodies: list[str]) -> None:
    """Put what is said into `prose`, and long blocks of code or content into `bodies`."""
    spoken: list[str] = []
    place = 0
    for match in sorted(_blocks(text), key=lambda block: block.start()):
        if match.start() < place or match[0].count("\n") <= BODY_LINES:
            continue
        first, second = match[0].split("\n", 2)[:2]
        # The line that opens a block says where it goes; inside a fence that is its second line.
        head = f"{first}\n{second}" if "<<" in second or second.startswith("edit ") else first
        spoken += [text[place : match.start()], head]
        bodies.append(match[0])
        place = match.end()
    tail = text[place:]
    if tail.count("\n") > 4 * BODY_LINES and not spoken and _looks_like_code(tail):
        bodies.append(tail)
    else:
        spoken.append(tail)
    prose.append("\n".join(spoken))


def _blocks(text: str) -> Iterator[re.Match[str]]:
    for pattern in (FENCED, _HEREDOC, _EDIT):
        yield from pattern.finditer(text)


def _looks_like_code(text: str) -> bool:
    lines = text.split("\n")
    marked = sum(1 for line in lines if line[:1] in " \t#}" or line.endswith((":", ";", "{", ")")))
    return marked * 2 > len(lines)


def _arguments(call: Call) -> Iterator[tuple[str, str]]:
    """(key, value) of each argument; text that is no JSON object is one argument."""
    try:
        decoded = json.loads(call.arguments)
    except (ValueError, RecursionError):
        decoded = call.arguments
    if not isinstance(decoded, dict):
        yield "input", decoded if isinstance(decoded, str) else call.arguments
        return
    for key, value in decoded.items():
        yield str(key), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _claims(record: Record, source: Source) -> Mapping[str, Kind]:
    """The identifiers of the record, leaving aside the step numbers that we wrote ourselves."""
    entries: list[str] = [
        _JOINT.sub("\n", _ENTRY_NUMBER.sub(" ", entry))
        for field in fields(record)
        for entry in getattr(record, field.name)
    ]
    return {
        name: kind
        for name, kind in identifiers("\n".join(entries)).items()
        if name not in source.measures
    }


class Source:
    """What a span says, in the forms a faithful record may repeat it in."""

    def __init__(self, span: Sequence[Interaction]) -> None:
        self._span = span
        facts = [facts_of(member) for member in span]
        self._names = COMMON.union(*(known.own | known.observed for known in facts))

    @cached_property
    def measures(self) -> frozenset[str]:
        """Numbers that are true of the span though it does not spell them."""
        numbers = {str(member.number) for member in self._span}
        for member in self._span:
            numbers.add(str(line_count(member.observed)))
        return frozenset(numbers)

    @cached_property
    def text(self) -> str:
        parts: list[str] = []
        for member in self._span:
            parts.append(member.text)
            parts.extend(argument_text(call.arguments) for call in member.calls)
        joined = "\n".join(parts)
        return _plain(f"{joined}\n{_decoded(joined)}")

    @cached_property
    def digits(self) -> str:
        """The text with the thousands separators gone."""
        return re.sub(r"(?<=\d)[,_ ](?=\d{3})", "", self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.text))

    def holds(self, name: str, kind: Kind) -> bool:
        """Whether the span contains it, as a name or as part of its text."""
        if name in self._names:
            return True
        plain = _plain(name)
        if plain in self.text or plain.removesuffix("()") in self.text:
            return True
        if kind is Kind.NUMBER:
            number = _NOT_DIGITS.sub("", plain)
            return bool(number) and number in self.digits
        if kind in (Kind.SYMBOL, Kind.QUOTED):
            # `Class.method`, or a quotation with its spacing changed: every word must be there.
            return all(word in self.words for word in re.findall(r"\w+", plain))
        return False


def line_count(text: str) -> int:
    return text.count("\n") + 1 if text else 0


def _decoded(text: str) -> str:
    text = text.replace('\\"', '"').replace("\\/", "/")
    return text.replace("\\r", "\n").replace("\\n", "\n").replace("\\t", " ")


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).casefold()
