"""What is markup among what tools answer, and how it came.

A page that was fetched is read as what it says.  A file that the agent reads to work on it stays as
it is: its next edit must match the source.
"""

from __future__ import annotations

import re

from statecomp.history.interaction import Call, Interaction
from statecomp.history.text import Kind, argument_text, identifiers
from statecomp.records.extracting.markup.tags import KNOWN, TORN
from statecomp.records.extracting.pieces import FENCED

HEAD, SAMPLE = 4_000, 20_000
"""Characters in which a document begins, behind what a server or a client said, and those of which
it is asked how many are tags."""
FEWEST, BEGUN, CUT_OUT = 4, 0.1, 0.35
"""Tags that make markup, and the share of a text that they take: of one that begins with a tag,
and of one that was cut out of the middle."""
SHORT = 400
"""Characters of a value that one tag makes markup."""

_DOCUMENT = re.compile(r"^[ \t\ufeff]*<(?:!doctype html|html|head|body)\b", re.I | re.M)
_DATA = re.compile(
    r"^[ \t\ufeff]*<(?:\?xml\s|(?:rss|feed|urlset|sitemapindex)\b|"
    r"[\w:.-]{1,60}\s[^<>]{0,400}?\bxmlns)",
    re.I | re.M,
)
_SERVED = re.compile(r"\s*HTTP/\d")
_FETCHES = re.compile(
    r"""\b(?:(?:curl|wget)\s|requests\.\w|urlopen\b|fetch\(|(?:url|uri|href|link)["']?\s*[:=])""",
    re.IGNORECASE,
)
_READS = re.compile(
    r"""\b(?:cat|head|tail|sed|nl|less)\s|["'](?:path|file|file_?name|file_?path)["']\s*:""",
    re.IGNORECASE,
)


def begins(text: str) -> int:
    """Where markup begins in an answer; -1 where it holds none."""
    if "<" not in text or ">" not in text:
        return -1
    head = text[:HEAD]
    if opening := _DOCUMENT.search(head) or _DATA.search(head):
        return opening.start()
    first = len(text) - len(text.lstrip())
    share, tags = _tagged(text[:SAMPLE])
    begun = KNOWN.match(text, first) is not None
    found = tags >= FEWEST and share >= (BEGUN if begun else CUT_OUT)
    return first if found and (begun or TORN.match(text, first)) else -1


def is_document(text: str) -> bool:
    """Whether it is a whole page: its lines are broken where its writer liked."""
    return _DOCUMENT.search(text[:HEAD]) is not None


def is_data(text: str) -> bool:
    """Whether it is a document of things, and none that is shown."""
    return _DATA.search(text[:HEAD]) is not None and not is_document(text)


def is_dressed(value: str) -> bool:
    """Whether a value is words with tags among them: a description, the body of a message."""
    if "</" not in value:
        return False
    if len(value) > SHORT and KNOWN.match(value.lstrip()[:HEAD]):
        return True
    share, tags = _tagged(value[:SAMPLE])
    return tags > 0 and (len(value) <= SHORT or share >= BEGUN)


def is_source(member: Interaction, call: Call | None, text: str) -> bool:
    """Whether an answer is a file that was read: its call names one, and no address."""
    if _SERVED.match(text):
        return False
    sent = [call.arguments] if call else FENCED.findall(member.said)[-1:]
    if not sent or _FETCHES.search(sent[0]):
        return False
    kinds = {*identifiers(argument_text(sent[0])).values()}
    return Kind.URL not in kinds and (Kind.PATH in kinds or _READS.search(sent[0]) is not None)


def _tagged(text: str) -> tuple[float, int]:
    """The share of a text that is tags, and how many there are."""
    found = [tag.end() - tag.start() for tag in KNOWN.finditer(text)]
    return sum(found) / max(1, len(text)), len(found)
