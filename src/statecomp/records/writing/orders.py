"""What a writer tells the reader of a record to do, where it should tell what was done.

Some readers obey what stands in their memory.  A rule stays as a report: who says so stands before
it, or it is quoted.
"""

from __future__ import annotations

import re

from statecomp.records.extracting.pieces import sentences
from statecomp.records.extracting.reading.noise import QUOTED, VERBS
from statecomp.records.markers import ORDERED

_SAME_IN_THE_PAST = frozenset({"set", "read", "considering"})
_NEVER_NOUNS = (
    "delete remove erase wipe overwrite execute proceed approve deploy send pay transfer revoke "
    "disable enable grant reveal publish uninstall revert restore obey follow trust notify tell "
    "append insert inform email push"
)
_MORE = "commit merge stop keep avoid use restart reset kill skip call retry repeat drop apply"
_ANY = "|".join(
    sorted({*VERBS.split("|"), *_NEVER_NOUNS.split(), *_MORE.split()} - _SAME_IN_THE_PAST)
)
_CERTAIN = "|".join(_NEVER_NOUNS.split())
# What is named after its purpose: a delete button, a transfer fee.
_NAMED = (
    "buttons? links? icons? forms? pages? fields? menus? options? keys? requests? endpoints? "
    "calls? tools? functions? methods? fees? ids? toggles? flags? scopes? permissions? dialogs? "
    "tabs? actions? commands? statements? operations? handlers? events? notifications? lists? "
    "markers? of in on at by"
)
_OBJECT = (
    r"(?:this|that|these|those|the|a|an|your|my|our|all|it|them|each|any|every|everything|both|again|"
    r"sudo|rm|git|curl|wget|npm|pip|python3?|bash|sh|docker|kubectl|chmod|mv|cp|ssh|_{3,})(?!\w)"
)
_STEP = re.compile(r"\W*+\d++(?:-\d++)?[.):]\s+")
_LEAD = (
    r"\W*+(?:(?:important|attention|reminder|warning|note|urgent|system)\b\W*+)?"
    r"(?:(?:now|then|first|finally|immediately|also|instead|afterwards)\b[,:]?\s+)?"
)
_BEFORE = re.compile(_LEAD, re.IGNORECASE)
_FLAT = re.compile(
    rf"{_LEAD}(?:(?:to-?do|next(?: steps?| actions?)?)\s*:|"
    r"please\b|kindly\b|go ahead\b|from now on\b|let (?:the|me|us|them)\s|"
    r"(?:make|be) sure\b|remember to\s|(?:ensure|disregard|ignore|forget|beware)\s|"
    rf"(?:do not|don't)\s+[a-z]|(?:never|always)\s+(?:{_ANY}|ask|let|give)\s)",
    re.IGNORECASE,
)
"""An order whatever follows."""
_PLAIN = re.compile(
    rf"{_LEAD}(?:(?:{_CERTAIN})\s+(?!(?:{'|'.join(_NAMED.split())})\b)|"
    rf"(?:{_ANY})\s+(?:{_OBJECT}|and\s+(?:{_ANY})\s)|"
    r"(?:call|run|invoke)\s+[\w.]+\(|(?:answer|respond|reply) (?:only|with|in)\s|go (?:to|back)\s)",
    re.IGNORECASE,
)
_URGENT = re.compile(
    rf"{_LEAD}(?:{_ANY})\s.{{0,200}}\b(?:now\b|immediately\b|at once\b|right away\b|again\W*\Z)",
    re.IGNORECASE,
)
_OWED = re.compile(
    r"\byou (?:now )?(?:must|should|shall|need to|have to|are (?:now |required |asked )?to)\b"
    r"(?! be\b)|"
    r"\b(?:required|necessary|mandatory|essential|imperative) (?:that|for) you\b|"
    r"\A\W*the next (?:step|action|thing) (?:is|will be)\b|"
    r"\A\W*(?:the|this) (?:agent|assistant|reader|model) "
    r"(?:should|shall|needs to|has to|is to|must (?:now|next|first|then|immediately|again))\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"(?<!this)(?<!following)(?<!command):\s|->|→|=|"
    r"\b(?:was|were|is|are|had|has|did|does|gave|ran|found|took|went|got|held|led|made|wrote|left|"
    r"kept|said|told|saw|shows?|returns?|fails?|(?!need|feed|seed|embed|unus)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_OF_WHAT = re.compile(
    r"\b(?:the|all|an?|any|every|each)\s+[a-z]+ed\b|"
    r"\b(?:what|that|which|who|where|when|if|until|because|before|after|unless)\b.*",
    re.IGNORECASE,
)
"""What may hold a verb of its own: an object that was changed, a clause."""
_SAYS = re.compile(
    r"\b(?:says?|said|states?|stated|asks?|asked|told|tells|wants?|wanted|requires?|requested|"
    r"demands?|instructs?|instructed|rules?|according to|contained|contains|read as)\b",
    re.IGNORECASE,
)


def without_orders(entry: str) -> str:
    """An entry without its sentences that tell the reader to do something; often nothing is left.

    What follows "the handbook says:" is all of it a report.
    """
    if ORDERED.search(entry):
        return ""
    step = _STEP.match(entry)
    number, told = (step[0], entry[step.end() :]) if step else ("", entry)
    # As long as before, so that a sentence stands in both at one place.
    masked = QUOTED.sub(lambda quoted: "_" * len(quoted[0]), told)
    parts, kept = sentences(masked), list[str]()
    at, reported = 0, False
    for part in parts:
        at = masked.index(part, at)
        if reported or not _orders(part, does=bool(number and not at)):
            kept.append(told[at : at + len(part)])
        at += len(part)
        reported = reported or bool(_SAYS.search(part.rpartition(":")[0]))
    if len(kept) == len(parts):
        return entry
    return number + " ".join(kept) if kept else ""


def _orders(sentence: str, *, does: bool) -> bool:
    """`does` says that it is the line of a step, which may have slipped into the present."""
    owed = _OWED.search(sentence)
    said_by = sentence[: owed.start()] if owed else ""
    # "error: you have to log in" is what a service says.
    if _FLAT.match(sentence) or (owed and not (": " in said_by or _SAYS.search(said_by))):
        return True
    if not (_URGENT.match(sentence) or (not does and _PLAIN.match(sentence))):
        return False
    lead = _BEFORE.match(sentence)
    said = sentence[lead.end() if lead else 0 :]
    return not _OUTCOME.search(_OF_WHAT.sub("", said))
