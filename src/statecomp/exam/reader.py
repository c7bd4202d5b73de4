"""A reader without judgment: what a record says in answer to a question, by where things stand.

Right: the answer stands with what it belongs to.  Misleading: it does not, and the answer of
another stands where it would be looked for.  Missing: neither.

- Of a value (row, object, pair, location) the reader looks at each line that names its owner,
  behind it up to the next owner on the line and before it back to the last one.  The source's own
  stretch of text from owner to value is right whatever stands around it; else a single value there
  is taken for the owner's; among several, and in a bare list, nobody can tell: missing.  Where the
  line names no other owner and holds no value, the line directly under it counts, and further ones
  of the same entry that name the field.  A value that could stand there by chance (a short or
  everyday word) counts against the record only beside the name of its field, and not where it is
  itself the name of a field: "title: Plan" gives nothing the value "title".  A value that breaks
  off in the middle, with nothing to show for it, misleads too.  Of a pair, an address or a title in
  an entry about its step is right without its key.
- Of a rule: a line with most of its words.  Another number in the place of the number misleads.
- Of a mention (an identifier a later step took over): the identifier in an entry about its step, or
  beside some of the words it was shown with.  Another in its place misleads, as with a rule.
- Of an edit: the new line is right.  The old one alone misleads, unless it is marked as old or the
  record says that the step edited that file.
- Of a verdict: see `claims`.
- Of what somebody else asked: the answer, if it can hardly stand there by chance, or is in an entry
  about its step or beside some words of the question.  A wrong one beside such words misleads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from statecomp.exam.claims import read_verdict
from statecomp.exam.clozes import NEAR, words_of
from statecomp.exam.facts import FactKind
from statecomp.exam.lines import MISSING, Line, ReaderFinding, ReaderOutcome, RecordText
from statecomp.exam.questions import ExamQuestion
from statecomp.exam.text import places, stands, telling

BELOW = 10
"""Lines below its owner in which a value is looked for."""
LIST, LONG_LIST = 4, 8
"""Items that make a line a list; in a long one each stands for itself."""
TITLE = 4
"""Words of a value that needs no key, in an entry about its step."""
ENOUGH = 0.7
SAME = 0.95
"""The share of a rule's words that makes a line that rule, and no other."""


def find(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    """What the record answers."""
    return _READERS[question.kind](question, record)


def _of_value(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    if question.entity in question.answer and stands(question.answer, record.text):
        return ReaderFinding(ReaderOutcome.RIGHT, question.answer)  # a path tells whose it is
    if question.kind is FactKind.PAIR and _tells_itself(question.answer):
        lines = (line for line in record.lines if line.of_step(question.step))
        if said := next((line.text for line in lines if stands(question.answer, line.text)), ""):
            return ReaderFinding(ReaderOutcome.RIGHT, said)
    best = MISSING
    for place, line in enumerate(record.lines):
        for at in places(question.entity, line.text):
            stop = at + len(question.entity)
            if not _is_named(question, line.text[stop:]) or _is_part(question, line.text, at, stop):
                continue
            finding = _beside(question, line.text, at)
            if finding.outcome is ReaderOutcome.MISSING and not finding.evidence:
                finding = _below(question, record.lines, place)
            if finding.outcome is ReaderOutcome.RIGHT:
                return finding
            if finding.outcome is ReaderOutcome.MISLEADING or not best.evidence:
                best = finding
    return best


def _tells_itself(value: str) -> bool:
    """Whether it says what it is without its key, as an address and a title do."""
    return "://" in value or value.count(" ") >= TITLE - 1


def _is_named(question: ExamQuestion, behind: str) -> bool:
    """Whether the words are the owner's name: no folder on the way, no part of a longer name."""
    if question.kind is FactKind.PAIR:
        return bool(_KEY_END.match(behind))
    return not behind.startswith("/") and (
        telling(question.entity) or bool(_NAME_END.match(behind))
    )


def _is_part(question: ExamQuestion, line: str, start: int, stop: int) -> bool:
    """Whether the words stand there as a part of another owner's name."""
    longer = (rival for rival in question.rivals if question.entity in rival and rival in line)
    return any(
        at <= start and stop <= at + len(rival) for rival in longer for at in places(rival, line)
    )


def _beside(question: ExamQuestion, line: str, at: int) -> ReaderFinding:
    """On the owner's own line, between its neighbours."""
    if question.quoted and question.quoted in line:
        return ReaderFinding(ReaderOutcome.RIGHT, line)
    if _is_listed(question.entity, line):
        return ReaderFinding(ReaderOutcome.MISSING, line)
    before, after = _between(question.rivals, line, at, at + len(question.entity))
    if line.count(", ") >= LONG_LIST:
        before, after = _ITEM.split(before)[-1], _ITEM.split(after)[0]
    behind, ahead = _candidates(question, after), _candidates(question, before)
    if behind == {question.answer} or (ahead == {question.answer} and not behind):
        return ReaderFinding(ReaderOutcome.RIGHT, line)
    if _is_cut(question.answer, after):
        return ReaderFinding(ReaderOutcome.MISLEADING, line)
    told = behind | ahead
    if question.answer in told or len(told) > 1:
        return ReaderFinding(ReaderOutcome.MISSING, line)
    return ReaderFinding(ReaderOutcome.MISLEADING, line) if told else MISSING


def _is_cut(answer: str, text: str) -> bool:
    """Whether a line breaks off in the middle of the answer, which half of it looks like."""
    for end in range(len(answer) - 1, max(5, len(answer) // 2), -1):
        if answer[end - 1].isalnum() and answer[end].isalnum() and text.endswith(answer[:end]):
            return True
    return False


def _is_listed(entity: str, line: str) -> bool:
    """Whether the owner is one item of a bare list, which says nothing of what belongs to what."""
    items = line.split(", ")
    return len(items) >= LIST and any(item.rpartition(": ")[2] == entity for item in items)


def _between(rivals: Sequence[str], line: str, start: int, stop: int) -> tuple[str, str]:
    """What stands before and behind the owner, up to the next owner of something alike."""
    left, right = 0, len(line)
    for rival in rivals:
        if rival not in line:
            continue
        for at in places(rival, line):
            if at >= stop:
                right = min(right, at)
                break
            if at + len(rival) <= start:
                left = max(left, at + len(rival))
    return line[left:start], line[stop:right]


def _candidates(question: ExamQuestion, text: str) -> set[str]:
    """The values in a text that a reader could take for the answer."""
    named = bool(question.field) and stands(question.field.rsplit(".", 1)[-1], text)
    found = {
        wrong
        for wrong in question.wrong
        if (stands(wrong, text) if telling(wrong) else named and _is_told(wrong, text))
    }
    if stands(question.answer, text):
        # What is part of a longer value is not a value of its own.
        longer = any(question.answer in wrong for wrong in found)
        return found if longer else found | {question.answer}
    return found


def _is_told(value: str, text: str) -> bool:
    """Whether a word stands somewhere as what is said, and not as the name of a field."""
    return any(not text.startswith(": ", at + len(value)) for at in places(value, text))


def _below(question: ExamQuestion, lines: Sequence[Line], place: int) -> ReaderFinding:
    """Under the owner's line, where it names no other: one value is its own, several a list."""
    head = lines[place]
    field = question.field.rsplit(".", 1)[-1]
    if any(stands(rival, head.text) for rival in question.rivals):
        return MISSING
    if " | " in head.text and field and not stands(field, head.text):
        return MISSING  # a header, and below it the rows of something else of the owner's
    for below, line in enumerate(lines[place + 1 : place + 1 + BELOW]):
        other_entry = line.opens or line.heading != head.heading
        if other_entry or line.text.startswith("{") or " -> " in line.text:
            break  # another entry, or another call of this one
        if any(stands(rival, line.text) for rival in question.rivals):
            break
        named = bool(question.field) and stands(question.field.rsplit(".", 1)[-1], line.text)
        told = _candidates(question, line.text) if named or not below else set()
        evidence = f"{head.text} / {line.text}"
        if told == {question.answer}:
            return ReaderFinding(ReaderOutcome.RIGHT, evidence)
        if told:
            single = len(told) == 1
            return ReaderFinding(
                ReaderOutcome.MISLEADING if single else ReaderOutcome.MISSING, evidence
            )
    return MISSING


_ITEM = re.compile(r"[,;] ")
_KEY_END = re.compile(r"\s?(?:[:=|(]|->|is\b|was\b|of\b|\s\d)")
_NAME_END = re.compile(r"\s*(?:[,;:|)\]}=(/]|->|→|\Z)")
_NUMBER = re.compile(r"[$€£]?\d+(?:[.,]\d+)*(?:\s?%)?")


def _of_rule(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    words = words_of(question.entity)
    best = MISSING
    for line in record.lines:
        shared = len(words & words_of(line.text)) / len(words)
        if shared >= ENOUGH and stands(question.answer, line.text):
            return ReaderFinding(ReaderOutcome.RIGHT, line.text)
        if shared >= SAME and (other := _in_its_place(question, line.text)):
            best = ReaderFinding(ReaderOutcome.MISLEADING, f"{other}: {line.text}")
    return best


def _of_mention(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    words = words_of(question.field)
    best = MISSING
    for line in record.lines:
        shared = len(words & words_of(line.text)) / max(1, len(words))
        near = shared >= NEAR or line.of_step(question.step)
        if near and stands(question.answer, line.text):
            return ReaderFinding(ReaderOutcome.RIGHT, line.text)
        if shared >= SAME and (other := _in_its_place(question, line.text)):
            best = ReaderFinding(ReaderOutcome.MISLEADING, f"{other}: {line.text}")
    return best


def _of_asked(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    words = words_of(question.field)
    best = MISSING
    for line in record.lines:
        near = len(words & words_of(line.text)) >= NEAR * max(1, len(words))
        known = near or line.of_step(question.step) or telling(question.answer)
        if known and stands(question.answer, line.text):
            return ReaderFinding(ReaderOutcome.RIGHT, line.text)
        if near and any(stands(wrong, line.text) for wrong in question.wrong):
            best = ReaderFinding(ReaderOutcome.MISLEADING, line.text)
    return best


def _in_its_place(question: ExamQuestion, line: str) -> str:
    """Another number between the same two words as the one asked for."""
    before, _, after = question.field.partition("____")
    last, following = before.split()[-1:], after.split()[:1]
    for number in _NUMBER.finditer(line):
        left, right = line[: number.start()].split()[-1:], line[number.end() :].split()[:1]
        if left == last and right == following and (last or following):
            return number[0]
    return ""


_MARKED_OLD = re.compile(
    r"\b(?:old|was|replaced?|removed?|before|instead|formerly|changed)\b|^- ?-|->"
)


def _of_edit(question: ExamQuestion, record: RecordText) -> ReaderFinding:
    if question.answer in record.text:
        return ReaderFinding(ReaderOutcome.RIGHT, question.answer)
    (old,) = question.wrong
    stale = [line for line in record.lines if old in line.text]
    if not stale or any(_MARKED_OLD.search(line.text.replace(old, "")) for line in stale):
        return MISSING
    told = any(
        line.of_step(question.step) and question.entity and question.entity in line.text
        for line in record.lines
    )
    return MISSING if told else ReaderFinding(ReaderOutcome.MISLEADING, stale[0].text)


_READERS: Mapping[FactKind, Callable[[ExamQuestion, RecordText], ReaderFinding]] = {
    FactKind.ROW: _of_value,
    FactKind.OBJECT: _of_value,
    FactKind.PAIR: _of_value,
    FactKind.LOCATION: _of_value,
    FactKind.RULE: _of_rule,
    FactKind.EDIT: _of_edit,
    FactKind.VERDICT: read_verdict,
    FactKind.MENTION: _of_mention,
    FactKind.ASKED: _of_asked,
}
