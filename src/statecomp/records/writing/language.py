"""Whether a record is in another language than what it is a record of.

A writer that changes the language renames what the agent must find again.  Told by the letters, and
for languages that share them by their commonest words: a guess, made only where it is clear.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

FEWEST_LETTERS, FEWEST_WORDS = 40, 5
READ = 20_000
"""Characters of a text from which its language is told."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMONEST = {
    "English": "the and is was were with that from for not this are has have which been its into",
    "German": "der die das und ist wurde wurden mit nicht ein eine den dem von auf auch sind",
    "French": "le la les des est une dans pour pas avec été sont sur aux cette ont plus",
    "Spanish": "el los las una que por para con fue del está son como más pero sus",
    "Portuguese": "os uma que para com foi não são mais dos das pelo pela como também",
    "Italian": "il gli che una per con non è stato della sono nel alla più anche",
    "Dutch": "de het een van niet met voor zijn werd werden ook aan naar dat",
}
_WORDS = {name: frozenset(words.split()) for name, words in _COMMONEST.items()}


def another_language(record: str, source: str) -> str:
    """In what the record is written and its source is not, or nothing."""
    script, share = _script(record)
    if share > 0.5 and _scripts(source)[script] * 20 < sum(_scripts(source).values()):
        return f"{script.capitalize()} letters"
    said, spoken = _language(record), _language(source, fewest=2)
    return said if said and spoken and said != spoken else ""


def _scripts(text: str) -> Counter[str]:
    letters = [letter for letter in text[:READ] if letter.isalpha()]
    counts = Counter(letters)
    found: Counter[str] = Counter()
    for letter, times in counts.items():
        found[unicodedata.name(letter, "unknown").split(" ", 1)[0]] += times
    return found


def _script(text: str) -> tuple[str, float]:
    found = _scripts(text)
    whole = sum(found.values())
    if whole < FEWEST_LETTERS:
        return "", 0.0
    name, times = found.most_common(1)[0]
    return name, times / whole


def _language(text: str, fewest: int = FEWEST_WORDS) -> str:
    """The language whose commonest words are clearly the most, or nothing."""
    words = Counter(word.lower() for word in _WORD.findall(text[:READ]))
    scores = sorted(
        ((sum(words[w] for w in known), name) for name, known in _WORDS.items()), reverse=True
    )
    (best, name), (second, _), *_ = scores
    return name if best >= fewest and best > 2 * second else ""
