"""Questions about a span, their answers, and the answers that would be wrong."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from statecomp.exam.clozes import NEAR, ClozeRule, Mention, mentions_of, rules_of, words_of
from statecomp.exam.edits import Change, changes_of
from statecomp.exam.facts import FactGroup, FactKind, FactRow
from statecomp.exam.objects import object_groups
from statecomp.exam.pairs import block_groups, fields_named, location_groups, pair_groups
from statecomp.exam.spans import Exam
from statecomp.exam.tables import tables_of
from statecomp.exam.text import folded, stands, telling
from statecomp.exam.verdicts import AnswerVerdict, verdicts_of
from statecomp.history.facts import own_words
from statecomp.history.text import identifier_set
from statecomp.records.extracting.reading.actions import action_of

USED, PLAIN = "used", "plain"
MOST = {USED: 8, PLAIN: 5}
"""Questions of one kind about one span: mostly what a later step really used."""
MOST_WRONG = 60
_ENVELOPE = re.compile(
    r"(?:request_?id|etag|node_?id|avatar|gravatar|cursor|created|updated|edited|modified|timestamp|"
    r"_time|_at|date|width|height|color|icon|url|permissions?|fields?)\Z|_url\b|_id\Z",
    re.IGNORECASE,
)
"""Fields nobody asks for unless a later step used them."""
_EMPTY = re.compile(
    r"(?:\b|_)(?:type|object|status_code|site_admin|locked|archived|in_trash|has_children|required|"
    r"method|success|mode|format|encoding|annotations?|action_name|server_name)\Z",
    re.IGNORECASE,
)
"""Fields that tell one record from another for nobody."""
SUCCEEDED, FAILED = "succeeded", "failed"
NOT_SHOWN, IN_SIGHT = "no step shows the answer", "something else in sight tells the answer"


@dataclass(frozen=True)
class ExamQuestion:
    """What is asked, what is right, and what a reader needs to tell right from wrong.

    All but `text` and `shown` is folded.  `entity` is whose value is asked for, `field` what the
    value is called, `rivals` are the others of its kind and `wrong` what is theirs; `quoted` is
    how entity and value stand in one line of the source.
    """

    id: str
    kind: FactKind
    stratum: str
    step: int
    text: str
    shown: str
    answer: str
    wrong: tuple[str, ...] = ()
    entity: str = ""
    field: str = ""
    rivals: tuple[str, ...] = ()
    quoted: str = ""


@dataclass(frozen=True, slots=True)
class PosedQuestion:
    """What somebody who read a span asks about it, and answers that would be wrong."""

    text: str
    answer: str
    wrong: tuple[str, ...] = ()


def questions_of(exam: Exam) -> list[ExamQuestion]:
    """At most a few of each kind and stratum, chosen by a hash so that the choice stays."""
    found = sorted(_candidates(exam), key=lambda question: question.id)
    taken: dict[tuple[str, str], int] = {}
    chosen = []
    for question in found:
        key = (question.kind, question.stratum)
        taken[key] = taken.get(key, 0) + 1
        most = MOST[question.stratum] // (2 if question.kind is FactKind.VERDICT else 1)
        if taken[key] <= most:
            chosen.append(question)
    return chosen


def groups_of(exam: Exam) -> Iterator[FactGroup]:
    """Everything in the span that has a name and values."""
    tables = (t for member in exam.span for t in tables_of(member.observed, member.number))
    makers = (object_groups, block_groups, pair_groups, location_groups)
    return chain(tables, *(make(exam.span) for make in makers))


def _candidates(exam: Exam) -> Iterator[ExamQuestion]:
    scene = _Scene(exam)
    for group in groups_of(exam):
        yield from _about_group(group, scene)
    for rule in rules_of(exam.span):
        yield _about_rule(rule, scene)
    for change in changes_of(exam.span):
        yield _about_change(change, scene)
    for verdict in verdicts_of(exam.span):
        yield _about_verdict(verdict, scene)
    for mention in mentions_of(exam):
        yield _about_mention(mention, scene)


class _Scene:
    """What stands around the span: what stays in sight, and what later steps say."""

    def __init__(self, exam: Exam) -> None:
        self.exam = exam
        self.rest = [folded(segment.text) for segment in exam.rest]
        self.later = [folded(own_words(member)) for member in exam.later]
        self.lines = [
            line for member in exam.span for line in folded(member.text).split("\n") if line
        ]

    def elsewhere(self, entity: str, value: str) -> bool:
        """Whether something that stays tells the same: then no record need say it."""
        return any(value in text and (not entity or entity in text) for text in self.rest)

    def stratum(self, entity: str, value: str) -> str:
        """Used, where a later step says the answer; one that says little, with its entity."""
        for words in self.later:
            if stands(value, words) and (telling(value) or (entity and stands(entity, words))):
                return USED
        return PLAIN

    def beside(self, entity: str, rivals: Sequence[str]) -> str:
        """The short lines that name the entity and no other: what rightly stands with it."""
        return "\n".join(
            line
            for line in self.lines
            if len(line) < 300 and entity in line and not any(rival in line for rival in rivals)
        )

    def id_of(self, *parts: str) -> str:
        text = "\x1f".join((self.exam.name, *parts))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _about_group(group: FactGroup, scene: _Scene) -> Iterator[ExamQuestion]:
    """For each record of a group what later steps used of it, and else one field."""
    for entry in group.entries:
        asked = [q for field in entry.values if (q := _asked(entry, field, group, scene))]
        used = [question for question in asked if question.stratum == USED]
        yield from used or sorted(asked, key=lambda question: question.id)[:1]


def _asked(entry: FactRow, field: str, group: FactGroup, scene: _Scene) -> ExamQuestion | None:
    value, entity = entry.folded_values[field], entry.folded_name
    if _EMPTY.search(field) or not _worth_asking(entity, value, group.kind):
        return None
    if scene.elsewhere(entity, value):
        return None
    stratum = scene.stratum(entity, value)
    if stratum == PLAIN and _ENVELOPE.search(field):
        return None
    others = [other for other in group.entries if other.folded_name != entity]
    rivals = [o.folded_name for o in others if o.folded_name not in entity]
    beside = f"{entry.folded_text}\n{scene.beside(entity, rivals)}"
    wrong = dict.fromkeys(
        theirs
        for other in others
        if (theirs := other.folded_values.get(field or next(iter(other.values)), ""))
        and theirs != value
        and theirs not in beside
    )
    if others and not wrong:
        return None
    return ExamQuestion(
        id=scene.id_of(group.kind, str(entry.step), entity, field, value),
        kind=group.kind,
        stratum=stratum,
        step=entry.step,
        text=_wording(entry, field, group.kind),
        shown=entry.values[field],
        answer=value,
        wrong=tuple(wrong)[:MOST_WRONG],
        entity=entity,
        field=folded(field),
        rivals=tuple(rivals),
        quoted=_quoted(entry.folded_text, entity, value),
    )


def _worth_asking(entity: str, value: str, kind: FactKind) -> bool:
    if not 3 <= len(entity) <= 70 or not 1 <= len(value) <= 80 or value in ("none", "null", "-"):
        return False
    if value in entity or (entity in value and kind is not FactKind.LOCATION):
        return False
    return telling(value) or (kind in (FactKind.ROW, FactKind.OBJECT) and value[0].isalnum())


def _wording(entry: FactRow, field: str, kind: FactKind) -> str:
    shown = f"step {entry.step}"
    if kind is FactKind.PAIR:
        return f'What is "{entry.name}", as {shown} showed it?'
    if kind is FactKind.LOCATION:
        return f'{fields_named()[field]} is "{entry.name}", as {shown} showed it?'
    return f'Which "{field}" belongs to "{entry.name}", as {shown} showed it?'


def _quoted(line: str, entity: str, value: str) -> str:
    """The stretch of one line from entity to value, or from value to entity."""
    if "\n" in line or entity not in line or value not in line or entity == value:
        return ""
    start, other = line.find(entity), line.find(value)
    first, last = min(start, other), max(start + len(entity), other + len(value))
    return line[first:last] if last - first <= 240 else ""


def posed_questions(
    exam: Exam, posed: Sequence[PosedQuestion]
) -> tuple[list[ExamQuestion], Counter[str]]:
    """Those that can be asked, and why how many of the others cannot.

    Models answer in words of their own now and then: that costs the question, not the span.
    """
    scene, left_out = _Scene(exam), Counter[str]()
    asked = []
    for one in posed:
        answer = folded(one.answer)
        step = next((m.number for m in exam.span if stands(answer, folded(m.text))), 0)
        if not step:
            left_out[NOT_SHOWN] += 1
        elif _in_sight(one, answer, scene):
            left_out[IN_SIGHT] += 1
        else:
            asked.append(_about_posed(one, answer, step, scene))
    return asked, left_out


def _in_sight(posed: PosedQuestion, answer: str, scene: _Scene) -> bool:
    """Whether what stays tells it: a short answer only beside words of its question."""
    words = words_of(folded(posed.text))
    lines = (line for text in scene.rest if answer in text for line in text.split("\n"))
    return any(
        telling(answer) or len(words & words_of(line)) >= NEAR * len(words)
        for line in lines
        if stands(answer, line)
    )


def _about_posed(posed: PosedQuestion, answer: str, step: int, scene: _Scene) -> ExamQuestion:
    return ExamQuestion(
        id=scene.id_of(FactKind.ASKED, posed.text, answer),
        kind=FactKind.ASKED,
        stratum=scene.stratum("", answer),
        step=step,
        text=posed.text,
        shown=posed.answer,
        answer=answer,
        wrong=tuple(map(folded, posed.wrong)),
        field=folded(posed.text),
    )


def _about_rule(rule: ClozeRule, scene: _Scene) -> ExamQuestion:
    answer = folded(rule.number)
    return ExamQuestion(
        id=scene.id_of(FactKind.RULE, rule.sentence),
        kind=FactKind.RULE,
        stratum=scene.stratum(folded(rule.sentence)[:40], answer),
        step=rule.step,
        text=f'Which number does the rule of step {rule.step} state: "{rule.cloze}"',
        shown=rule.number,
        answer=answer,
        entity=folded(rule.sentence),
        field=folded(rule.cloze),
    )


def _about_change(change: Change, scene: _Scene) -> ExamQuestion:
    old, new = folded(change.old), folded(change.new)
    where = f" of {change.path}" if change.path else ""
    return ExamQuestion(
        id=scene.id_of(FactKind.EDIT, str(change.step), old, new),
        kind=FactKind.EDIT,
        stratum=scene.stratum("", new),
        step=change.step,
        text=f"Which line{where} stands now, after step {change.step}, where this one stood: "
        f'"{change.old}"?',
        shown=change.new,
        answer=new,
        wrong=(old,),
        entity=folded(change.path.rsplit("/", 1)[-1]),
    )


def _about_mention(mention: Mention, scene: _Scene) -> ExamQuestion:
    return ExamQuestion(
        id=scene.id_of(FactKind.MENTION, mention.name),
        kind=FactKind.MENTION,
        stratum=USED,
        step=mention.step,
        text=f'What did step {mention.step} show in the blank: "{mention.cloze}"',
        shown=mention.name,
        answer=folded(mention.name),
        entity=folded(mention.line),
        field=folded(mention.cloze),
    )


def _about_verdict(verdict: AnswerVerdict, scene: _Scene) -> ExamQuestion:
    action = action_of(verdict.member)
    answer, wrong = (SUCCEEDED, FAILED) if verdict.succeeded else (FAILED, SUCCEEDED)
    return ExamQuestion(
        id=scene.id_of(FactKind.VERDICT, str(verdict.member.number)),
        kind=FactKind.VERDICT,
        stratum=_repeated(verdict, scene),
        step=verdict.member.number,
        text=f"Did step {verdict.member.number} ({action[:120]}) succeed or fail?",
        shown=answer,
        answer=answer,
        wrong=(wrong,),
        entity=folded(action)[:60],
        quoted=folded(f"{verdict.member.action}\n{verdict.member.observed}"),
    )


def _repeated(verdict: AnswerVerdict, scene: _Scene) -> str:
    """Used, where a later action is about the same thing: a name that is not in every action."""
    actions = [identifier_set(action_of(member)) for member in scene.exam.span]
    often = len(actions) // 2 + 1
    names = {
        name
        for name in identifier_set(action_of(verdict.member))
        if sum(name in known for known in actions) < often
    }
    later = (identifier_set(action_of(member)) for member in scene.exam.later)
    return USED if any(names & known for known in later) else PLAIN


def verdict_questions(exam: Exam) -> list[ExamQuestion]:
    """One for every step of which the recording says how it ended."""
    scene = _Scene(exam)
    return [_about_verdict(verdict, scene) for verdict in verdicts_of(exam.span)]
