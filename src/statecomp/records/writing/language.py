"""Whether a record is in another language than what it is a record of.

A writer that changes the language renames what the agent must find again.  Told by the letters, and
for languages that share them by their commonest words: a guess, made only where it is clear.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

FEWEST_LETTERS, FEWEST_WORDS = 6, 2
"""Of a record, that its sources do not hold: a single line is written in a language too."""
CLEAR, HINTED = 5, 2
"""Of the commonest words, in a source: whose language is clear, and which it may hold besides."""
SELDOM = 50
"""One word in so many with a mark on a letter, as in a name, is no sign of a language."""
READ = 20_000
"""Characters of a text from which its language is told."""

_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_RUN = re.compile(r"[^\W\d_]+")
# With a blank before it: what is part of an address or a path, or stands in quotes, is no language.
_WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}(?=[\s,.;:!?)]|\Z)(?!\.\w)")
_COMMONEST = {
    "English": "the and is was were with that from for not this are has have which been its into "
    "of to by it",
    "German": "der die das und ist wurde wurden mit nicht ein eine den dem von auf auch sind alle "
    "alles durch kein keine wird zu zum zur es im als hat nach bei aber noch liegt fehlt fehler "
    "datei zeile liefen lief offen gelesen gefunden",
    "French": "le la les des est une dans pour pas avec été sont sur aux cette ont plus du tout "
    "tous aucun ne qui se fichier",
    "Spanish": "el los las una que por para con fue del está son como más pero sus se todo todos "
    "sin archivo",
    "Portuguese": "os uma que para com foi não são mais dos das pelo pela como também se todos sem "
    "arquivo",
    "Italian": "il gli che una per con non è stato della sono nel alla più anche tutti senza di",
    "Dutch": "de het een van niet met voor zijn werd werden ook aan naar dat geen alle bestand",
    "Polish": "nie jest się na do za jako oraz przez plik został wszystkie że ale pliku",
    "Swedish": "och att det är som inte med till av för alla filen har ett",
}
_WORDS = {name: frozenset(words.split()) for name, words in _COMMONEST.items()}


def another_language(record: str, *sources: str) -> str:
    """In what the record is written and nothing of its sources is, or nothing."""
    new = _new(record, sources)
    if script := _another_script(new, sources):
        return f"{script.capitalize()} letters"
    heard = [_words(source) for source in sources]
    counts = [_counted(words) for words in heard]
    if not any(_clearest(count, CLEAR) for count in counts):
        return ""
    spoken = {_clearest(count, HINTED) for count in counts} - {""}
    marks = not any(_marked(words) * SELDOM > words.total() for words in heard)
    return _spoken_anew(_words(record), Counter(new), spoken, marks=marks)


def _new(record: str, sources: Sequence[str]) -> list[str]:
    """What of a record its sources do not hold: a value that is quoted has a language of its own.

    Not every script parts its words.
    """
    known = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), "\n".join(sources)).lower()
    words = frozenset(_RUN.findall(known))
    runs = _RUN.findall(record[:READ].lower())
    return [run for run in runs if run not in words and (run.isascii() or run not in known)]


def _another_script(new: Sequence[str], sources: Sequence[str]) -> str:
    """The script of most letters that are new, if the sources have next to none of it."""
    found = _scripts("".join(new))
    (script, times), *_ = found.most_common(1) or [("", 0)]
    letters = [other for other in map(_scripts, sources) if other]
    if times < FEWEST_LETTERS or 2 * times <= found.total() or not letters:
        return ""
    return script if all(other[script] * 20 < other.total() for other in letters) else ""


def _scripts(text: str) -> Counter[str]:
    letters = [letter for letter in text[:READ] if letter.isalpha()]
    counts = Counter(letters)
    found: Counter[str] = Counter()
    for letter, times in counts.items():
        found[unicodedata.name(letter, "unknown").split(" ", 1)[0]] += times
    return found


def _marked(words: Counter[str]) -> int:
    """How many words have a letter that no English one has."""
    return sum(times for word, times in words.items() if not word.isascii())


def _spoken_anew(words: Counter[str], new: Counter[str], spoken: set[str], *, marks: bool) -> str:
    """The language of words the sources do not hold: by the commonest, and by marks on letters.

    `marks` says that in the sources they are seldom.  Told where all these are more than twice as
    many as the commonest words of what the sources speak.
    """
    others = {name: known for name, known in _WORDS.items() if name not in spoken}
    shared = frozenset[str]().union(*(_WORDS[name] for name in spoken))
    scores = {
        name: sum(words[w] for w in known - shared if w in new) for name, known in others.items()
    }
    marked = _marked(new) if marks else 0
    own = max(sum(words[w] for w in _WORDS[name]) for name in spoken)
    if not scores:
        return ""
    name = max(scores, key=lambda one: scores[one])
    if scores[name] + marked < FEWEST_WORDS or scores[name] + marked <= 2 * own:
        return ""
    return name if scores[name] else "another language"


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text[:READ]))


def _counted(words: Counter[str]) -> dict[str, int]:
    return {name: sum(words[w] for w in known) for name, known in _WORDS.items()}


def _clearest(counts: Mapping[str, int], fewest: int) -> str:
    """The language whose commonest words are clearly the most, or nothing."""
    (best, name), (second, _), *_ = sorted(
        ((times, name) for name, times in counts.items()), reverse=True
    )
    return name if best >= fewest and best > 2 * second else ""
