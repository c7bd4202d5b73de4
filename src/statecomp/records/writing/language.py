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

# With a blank before it: what is part of an address or a path, or stands in quotes, is no language.
_WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}(?=[\s,.;:!?)]|\Z)(?!\.\w)")
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


def another_language(record: str, *sources: str) -> str:
    """In what the record is written and nothing of its sources is, or nothing."""
    script, share = _script(record)
    letters = [found for found in map(_scripts, sources) if found]
    if share > 0.5 and all(found[script] * 20 < found.total() for found in letters):
        return f"{script.capitalize()} letters" if letters else ""
    said, spoken = _language(record), {_language(source, fewest=2) for source in sources} - {""}
    return said if said and spoken and said not in spoken else ""


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
