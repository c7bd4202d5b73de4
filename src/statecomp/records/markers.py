"""The words and shapes by which units are told apart.

Every unit of a long span is looked at, so whatever a set of words can tell is told by it: a set is
asked in a tenth of the time that a pattern takes.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ERROR_WORDS = _words(
    "fail failed failure fails denied invalid cannot unable unknown unsupported undefined timeout "
    "timed traceback refused missing unexpected unmatched forbidden unauthorized conflict exceeds "
    "exceeded panic fatal segmentation"
)
CONCLUSION_WORDS = _words(
    "found confirms confirmed fixed passes passed works worked success successful successfully "
    "because means shows show indicates suggests appears seems contains there completed complete "
    "done created identified determined therefore located cause reason answer result"
)
INTENT_WORDS = _words(
    "will need should want going could might let next now first try trying plan start can"
)
CREATED_WORDS = _words(
    "create created save saved written wrote added update updated uploaded deleted inserted "
    "generated sent successfully installed copied moved renamed committed merged modified deployed "
    "published released booked reserved registered issued"
)
COUNTED_WORDS = _words(
    "total count number found sum average mean size length row rows column columns line lines "
    "result results item items version score price amount status port step files matches passed "
    "failed pages runs"
)
STORED_WORDS = _words("saved written stored moved copied uploaded downloaded")
RULE_WORDS = _words("must should never always only required mandatory forbidden limited least most")
ADDRESSED_WORDS = _words("ignore disregard forget you system instruction instructions")
_KEYS = (
    "id name title url path email key token type status message value address username user date "
    "file filename number subject label slug sku code"
)
NAMED_KEYS = tuple(_KEYS.split())
OFF_VALUES = (": false", ": 0", ": none", ": default", ": n/a")

CONCLUSION = re.compile(
    r"\b(?:found|confirm(?:s|ed)|fixed|pass(?:es|ed)|works?\b|worked|success(?:ful|fully)?|"
    r"the (?:issue|problem|cause|reason|answer|result|fix|bug|key|flag) (?:is|was)|because|"
    r"means|shows?|indicates?|suggests?|appears?|seems?|contains?|there (?:is|are)|it is|I see|"
    r"has been|have been|completed?|done|created|identified|determined|root cause|so the|"
    r"therefore|turns out|is (?:in|at|on|located|now|already|not)|are (?:in|at|all|not))\b",
    re.IGNORECASE,
)
INTENT = re.compile(
    r"\b(?:I(?:'ll| will| need to| should| want to|'m going to| can| could| might)|"
    r"let(?:'s| me| us)|next,?|now,? |first,|we (?:need|should|can|will)|try(?:ing)?\b|"
    r"going to|plan(?: is|:)|start by|to do this)",
    re.IGNORECASE,
)
CAPITALS = re.compile(r"\b[A-Z][a-z]+ (?:[a-z]{1,3} )?[A-Z][a-z]+")
CHOICE = re.compile(r"""\A\W*\w+["']?\s*:\s*["']?[a-z_]+["']?\W*\Z""")
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
RAISED = re.compile(r"\A[\w.]*(?:Error|Exception)\b")
ROW = re.compile(r"\A\s*(?:[-*|]|\d+[.)|:]|\[\w+\])\s?")
CONSTRAINT = re.compile(
    r"\b(?:must(?: not)?|should(?: not|n't)?(?! (?:help|now|see|look)\b)|never|always|only|"
    r"required|do not|don't|mandatory|at (?:most|least)|no more than|not allowed|forbidden|"
    r"limited to)\b",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"\?\s*\Z|\b(?:TODO|FIXME|still (?:need|have|must|missing)|remain(?:s|ing)|not yet|left to do|"
    r"unclear|unresolved|pending|need to (?:check|verify|find|fix))\b",
    re.IGNORECASE,
)
# Text that gives orders to its reader would be obeyed by some; a record must not relay it.
_ORDERED = (
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your |of )*(?:previous|prior|above|earlier)|"
    r"\byou (?:are now|must now)\b"
)
ORDERED = re.compile(rf"{_ORDERED}|\bnew instructions?:", re.IGNORECASE)
ADDRESSED = re.compile(rf"{_ORDERED}|\bsystem prompt\b|\bnew instructions?\b", re.IGNORECASE)
"""What tools show is not quoted where it may only be about orders; a writer says which it is."""
