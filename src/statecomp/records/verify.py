"""The fact ledger: a record carries what only its span knew, and names nothing made up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.history.text import COMMON, Kind, identifiers
from statecomp.records.extracting.arguments import RUN_KEYS, acted, texts_of
from statecomp.records.extracting.ending import ending_of
from statecomp.records.extracting.gaps import GAP
from statecomp.records.extracting.lengthy import COUNTED
from statecomp.records.extracting.pieces import FENCED
from statecomp.records.extracting.reading.noise import guesses, intends, without_shown
from statecomp.records.extracting.units import of_step
from statecomp.records.extracting.unread import unread
from statecomp.records.record import Record
from statecomp.records.record import entry as quoting
from statecomp.records.source import SaidText, SourceText, stands, whole

BODY_LINES = 6
"""A written text of more lines than this is an artefact, not something the agent says."""
ENTRY_CHARS = 160
BESIDE_CHARS = 40
"""What is quoted on each side of a name: enough for its label."""

OWN_WORDS, FAILED = "the agent's own words", ", of a step that failed"

# Each runs to its end marker or to the end of the text, so no beginning is ever tried twice.
_HEREDOC = re.compile(
    r"<<-?[ \t]*(['\"]?)(\w{1,40})\1[^\n]*\n"
    r"(?:(?![ \t]*\2[ \t]*$).*\n)*(?:(?![ \t]*\2[ \t]*$).+\Z)?",
    re.MULTILINE,
)
_EDIT = re.compile(r"^edit \d+:\d+[^\n]*\n(?:(?!end_of_).*\n)*(?:(?!end_of_).+\Z)?", re.MULTILINE)
_ENTRY_NUMBER = re.compile(
    r"\A\W*\d+(?:-\d+)?[.:)]\s|\b[Ss]teps? \d+(?:(?:-| to | and |, )\d+)*|"
    # What an extract counted itself.
    r"\bitem \d+(?=[;:\n]|\Z)|\(\d+ more not shown\)|"
    r"\((?:only )?rows? [\d, -]{1,400} of \d+ (?:not )?shown\)|\b\d+ (?:[\w ]{1,40} )?listed\b|"
    r"\b\d+ x (?=\S)|"
    r"(?:-> |\(|-> ok, |file of )[\d,]+ (?:lines?|characters|fields?|things?)(?=[);\n]|\Z)|"
    r"(?:-> |\(|: )lines \d+-\d+(?: of \d+)?(?=[);\n]|\Z)|\band \d+ more\b|"
    # How long a program is.
    r"\b\d+ lines(?=, \"|, with |, beginning \"|\])|"
    # Half of a long word, which dots end.
    r"\S{60,} \.\.\."
)
_ARGUMENTS = re.compile(r"(?<=\w)\(\d[\d,]{1,60}\)")
"""Numbers handed to a function: `pow(17,128,3329)` names no number of millions."""
_CALLED = re.compile(r"\s*(?:\[\{|\{['\"])")
"""Data in the words of the agent: what a client wrote of its calls, which are told elsewhere."""
_SENTENCE = re.compile(r"(?:\S+ ){3,}\S+[.!?]\Z")
"""A quotation that is a sentence of the agent names nothing."""
_MANNER = re.compile(
    r"(?:\A|_)(?:fields|duration|timeout|limit|page_size|per_page|max_results)\Z", re.IGNORECASE
)
"""Arguments that say how much of an answer is wanted, or for how long: none of it comes back."""
_MARKUP = re.compile(r"</?[a-z_]{1,20}>")
# Quotation marks on two sides of a joint belong to two quotations.
_JOINT = re.compile(r"; | -> | \.\.\. ")


def verify(record: Record, span: Sequence[Interaction], situation: Situation) -> Record:
    """The record without the entries that name what nothing contains, and with what it owed.

    Raises SummaryFailed where no entry is left.
    """
    made_up = inventions(record, span, situation)
    if not made_up:
        return completed(record, span, situation)
    left = record.changed({entry: _without(names, entry) for entry, names in made_up.items()})
    if not left:
        names = ", ".join(repr(name) for names in made_up.values() for name in names[:3])
        raise SummaryFailed(f"the summary names {names}, which its source does not contain")
    return completed(left, span, situation)


def inventions(
    record: Record, span: Sequence[Interaction], situation: Situation
) -> dict[str, list[str]]:
    """The entries that name what neither the span nor the rest of the history contains."""
    source = SourceText(span)
    elsewhere = SourceText((*situation.before, *situation.after))
    found: dict[str, list[str]] = {}
    for entry in record.entries:
        names = [
            name
            for name, kind in _claims(entry).items()
            if name not in source.measures
            and not source.holds(name, kind)
            and name not in situation.rest
            and not elsewhere.holds(name, kind)
        ]
        if names:
            found[entry] = names
    return found


def _without(names: Sequence[str], entry: str) -> str:
    """The entry without its lines that name these; nothing where its first does."""
    head, *lines = entry.split("\n")
    kept = [line if _claims(line).keys().isdisjoint(names) else f"  {GAP}" for line in lines]
    left = "\n".join((head, *kept))
    return left if _claims(left).keys().isdisjoint(names) else ""


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


def completed(record: Record, span: Sequence[Interaction], situation: Situation) -> Record:
    """The record with what it owes and does not say, each with its step: files listed and not read,
    and the agent's own names in its own words.

    A bare list of names told no reader anything: a name stands with its words or, where it says
    what it is of by itself, as a path does, alone.
    """
    left = unread(span, situation, record.body)
    record = replace(record, locations=(*record.locations, *left))
    body = SaidText(record.body)
    missing = {
        name: kind
        for name, kind in owed(span, situation.rest).items()
        if not _SENTENCE.match(name) and not body.carries(name, kind)
    }
    stays = (*situation.before, *situation.after) if missing else ()
    others = [segment.text for segment in stays]
    missing = {
        name: kind
        for name, kind in missing.items()
        if not any(_names(text, name, kind) for text in others)
    }
    ends = {name.rpartition("/")[2] for name in missing if "/" in name}
    missing = {name: kind for name, kind in missing.items() if name not in ends}
    if not missing:
        return record
    words, places = list[str](), list[str]()
    for line, names, placed in _quoted(missing, span):
        located = placed and all(missing[name] in _PLACES for name in names)
        (places if located else words).append(line)
    return replace(record, facts=(*record.facts, *words), locations=(*record.locations, *places))


_PLACES = frozenset({Kind.PATH, Kind.URL})
_NO_PLACE = re.compile(r"\.\w+\Z|[*+?]|[A-Za-z][\w-]*/v?\d[\d.]*\Z|[^A-Za-z]*\Z")
"""An ending of files, a pattern, a program with its version, a ratio: they lead nowhere."""


def leads(name: str, kind: Kind) -> bool:
    """Whether it says by itself where something is."""
    return kind in _PLACES and not _NO_PLACE.match(name)


def _names(text: str, name: str, kind: Kind) -> bool:
    """Whether another text has it: a path is known by its end, with what stands before it."""
    if kind is Kind.PATH:
        name = name.removeprefix("./").rstrip("/")
    return stands(name, text)


def _quoted(
    debts: Mapping[str, Kind], span: Sequence[Interaction]
) -> Iterator[tuple[str, Sequence[str], bool]]:
    """For each step, the words around the names it is the first to hold, and these names.

    Last whether they may be looked up: not what a call sent in vain, or a plan was about.
    """
    left = dict(debts)
    for member in span:
        pieces: list[str] = []
        named: list[str] = []
        end = ending_of(member)
        placed = fine = not (end.failed or end.said)
        sent = False
        for line in _lines_of(member) if left else ():
            here = {name: left[name] for name in identifiers(line.text) if name in left}
            if here and (piece := _around(here, line)):
                pieces.append(piece)
                named += here
                sent = sent or not (line.spoken and member.calls)
                bare = here.keys() >= {*piece.split(", ")}
                placed = placed and not (line.spoken and bare)
            for name in here:
                del left[name]
        if pieces:
            # What was said before a call is not refuted where the call failed.
            head = f"{OWN_WORDS}{FAILED}" if sent and not fine else OWN_WORDS
            yield quoting(f"{member.number}, {head}:", pieces), named, placed


class _Line(NamedTuple):
    """A line of the agent's; `whole` where half of it says something else, as of a command."""

    text: str
    spoken: bool
    whole: bool


def _lines_of(member: Interaction) -> Iterator[_Line]:
    for line in _MARKUP.sub(" ", without_shown(member.said)).split("\n"):
        yield _Line(line, spoken=True, whole=False)
    for call in member.calls:
        yield _Line(call.name, spoken=False, whole=True)
        for key, value in texts_of(call):
            first, *others = value.split("\n")
            yield _Line(f"{key}: {first}", spoken=False, whole=key in RUN_KEYS)
            yield from (_Line(line, spoken=False, whole=key in RUN_KEYS) for line in others)


def _around(names: Mapping[str, Kind], line: _Line) -> str:
    """The part of a line from the first of some names to the last, and a few words beside them.

    Of a sentence or a command the paths alone, if it does not fit: half of it is not what the agent
    said.  A number says nothing without its words, unless they are a guess.
    """
    text = line.text
    alone = ", ".join(name for name, kind in names.items() if leads(name, kind))
    spans = [place.span() for name in names if (place := whole(name).search(text))]
    if not spans:
        return alone
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    start = text.rfind(" ", 0, max(0, first - BESIDE_CHARS)) + 1 if first > BESIDE_CHARS else 0
    stop = text.find(" ", last + BESIDE_CHARS)
    if len(text.strip()) <= ENTRY_CHARS:
        start, stop = 0, -1
    part = text[start : len(text) if stop < 0 else stop].strip()
    torn = start > 0 or stop >= 0
    half = torn and (line.whole or (line.spoken and (guesses(text) or not _bare(names))))
    if half or len(part) > ENTRY_CHARS + sum(map(len, names)) or intends(part):
        # Far apart on a line of data: what stands between them is no label of theirs.
        # And a torn sentence about what the agent meant to do reads like what is to be done.
        return alone
    return f"{'... ' if start else ''}{part}{' ...' if stop >= 0 else ''}"


def _bare(names: Iterable[str]) -> bool:
    return any(not any(map(str.isalpha, name)) for name in names)


@of_step
def own_identifiers(member: Interaction) -> Mapping[str, Kind]:
    """The identifiers of the agent's own words, without those inside what it wrote elsewhere."""
    # Reasoning is left out: a record never contains thinking.
    prose: list[str] = []
    bodies: list[str] = []
    commands: list[str] = []
    message = acted(member.said)
    _divide(str(message[0]) if message else without_shown(member.said), prose, bodies)
    for call in member.calls:
        for key, value in texts_of(call):
            if _MANNER.search(key):
                continue
            if key in RUN_KEYS:
                _divide(value, commands if "\n" not in value.strip() else bodies, bodies)
            elif value.count("\n") <= BODY_LINES:
                prose.append(value)
            # A long value under any other key is the content of a file, a page or a message.
    found = _named_in(prose)
    for name, kind in _named_in(commands).items():
        if kind in _OF_COMMANDS:
            found.setdefault(name, kind)
    for name, kind in identifiers("\n".join(bodies)).items():
        if kind is Kind.PATH and name.startswith(("/", "~", "./")) and leads(name, kind):
            found.setdefault(name, kind)
    return found


_OF_COMMANDS = frozenset({Kind.PATH, Kind.URL, Kind.ID, Kind.NUMBER})
"""What a command names that may be needed: its patterns and its code are told with the step."""


def _named_in(texts: Sequence[str]) -> dict[str, Kind]:
    lines = (line for text in texts for line in text.split("\n"))
    names = identifiers("\n".join(line for line in lines if not _CALLED.match(line)))
    return {n: kind for n, kind in names.items() if kind is not Kind.PATH or leads(n, kind)}


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


def _claims(entry: str) -> Mapping[str, Kind]:
    """The identifiers of an entry, leaving aside the step numbers that we wrote ourselves."""
    apart = _ARGUMENTS.sub(lambda found: found[0].replace(",", ", "), entry)
    return identifiers(_JOINT.sub("\n", _ENTRY_NUMBER.sub(" ", COUNTED.sub(" ", apart))))
