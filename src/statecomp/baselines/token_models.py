"""Where keep-probabilities of tokens come from: a published classifier, or a plain substitute."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from statecomp.errors import BadInput
from statecomp.features import presets

PUBLISHED = "microsoft/llmlingua-2-xlm-roberta-large-meetingbank"
CLASSIFIERS = ("lexical", "likelihood", "llmlingua2")
LONGEST = 510
"""Sub-tokens the published classifier reads at once."""
SUBTOKEN = 4
"""Characters of a sub-token where no tokenizer cuts the text."""


class TokenPiece(NamedTuple):
    """A sub-token of a text, by its characters, and how surely it should be kept."""

    start: int
    stop: int
    keep: float


class TokenModel(Protocol):
    """Reads one chunk at a time."""

    def pieces(self, chunk: str) -> Sequence[TokenPiece]: ...


_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_+")
_EVERYWHERE = """
    a an and are as at be been but by can could did do does for from had has have he her here
    him his how i if in into is it its may me more most my no not of on or our out she should so
    some such than that the their them then there these they this those to too up us very was we
    were what when where which while who will with would you your
"""
_FUNCTION_WORDS = frozenset(_EVERYWHERE.split())


class LexicalModel:
    """Rare words of the chunk are kept, function words and marks go; no model is read."""

    def pieces(self, chunk: str) -> Sequence[TokenPiece]:
        found = list(_PIECE.finditer(chunk))
        words = [match[0].lower() for match in found]
        counts, most = Counter(words), math.log(len(words) + 1.0)
        chances = {
            word: _rarity(word) * math.log((len(words) + 1.0) / n) / most
            for word, n in counts.items()
        }
        return [
            TokenPiece(start, min(start + SUBTOKEN, match.end()), chances[word])
            for match, word in zip(found, words, strict=True)
            for start in range(match.start(), match.end(), SUBTOKEN)
        ]


def _rarity(word: str) -> float:
    if not word[0].isalnum():
        return 0.2
    return 0.3 if word in _FUNCTION_WORDS else min(1.0, 0.6 + 0.05 * len(word))


class LikelihoodModel:
    """A small causal language model: what it could have predicted goes first."""

    def __init__(self, model: str = presets.DEFAULT) -> None:
        presets.require("torch", "transformers")
        self._torch = import_module("torch")
        library = import_module("transformers")
        with presets.quietly():
            preset = presets.PRESETS.get(model)
            folder = str(presets.pull(preset)) if preset else model
            self._model = library.AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
            self._tokenizer = library.AutoTokenizer.from_pretrained(folder)
        self._model.eval()

    def pieces(self, chunk: str) -> Sequence[TokenPiece]:
        return _in_windows(self._tokenizer, chunk, self._surprise)

    def _surprise(self, ids: list[int]) -> list[float]:
        torch = self._torch
        with torch.inference_mode():
            logits = self._model(torch.tensor([ids])).logits[0, :-1]  # (tokens - 1, vocabulary)
            chosen = torch.tensor(ids[1:], dtype=torch.long)[:, None]  # (tokens - 1, 1)
            likely = logits.softmax(-1).gather(1, chosen)[:, 0].tolist()  # (tokens - 1,)
        # Nothing came before the first token, so nothing could predict it.
        return [1.0, *(1.0 - chance for chance in likely)]


class ClassifierModel:
    """The published token classifier, or one like it: class 1 is keep."""

    def __init__(self, model: str = PUBLISHED) -> None:
        presets.require("torch", "transformers")
        self._torch = import_module("torch")
        library = import_module("transformers")
        try:
            with presets.quietly():
                auto = library.AutoModelForTokenClassification
                self._model = auto.from_pretrained(model, dtype="float32")
                self._tokenizer = library.AutoTokenizer.from_pretrained(model)
        except (OSError, ValueError) as error:
            problem = "the classifier cannot be loaded; connect once, or give the folder it lies in"
            raise BadInput(problem, file=model) from error
        self._model.eval()

    def pieces(self, chunk: str) -> Sequence[TokenPiece]:
        return _in_windows(self._tokenizer, chunk, self._kept)

    def _kept(self, ids: list[int]) -> list[float]:
        torch, marks = self._torch, self._tokenizer
        framed = [marks.cls_token_id, *ids, marks.sep_token_id]
        with torch.inference_mode():
            logits = self._model(torch.tensor([framed])).logits[0, 1:-1]  # (tokens, classes)
            keep: list[float] = logits.softmax(-1)[:, 1].tolist()  # (tokens,)
        return keep


def _in_windows(
    tokenizer: Any, chunk: str, read: Callable[[list[int]], list[float]]
) -> list[TokenPiece]:
    """Every sub-token of a chunk, read in as many passes as it needs; mostly one."""
    # The library takes no lone surrogates; a replacement has the length of what it replaces.
    valid = "".join("?" if "\ud800" <= char <= "\udfff" else char for char in chunk)
    found = tokenizer(valid, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    ids, spans = found["input_ids"], found["offset_mapping"]
    pieces: list[TokenPiece] = []
    for start in range(0, len(ids), LONGEST):
        part = slice(start, start + LONGEST)
        chances = zip(spans[part], read(ids[part]), strict=True)
        pieces += (TokenPiece(begin, end, chance) for (begin, end), chance in chances)
    return pieces


@lru_cache(maxsize=2)
def open_token_model(classifier: str, model: str = "") -> TokenModel:
    """One of CLASSIFIERS; `model` is a preset, folder or hub id other than the usual one."""
    given: Iterable[str] = (model,) if model else ()
    if classifier == "lexical":
        return LexicalModel()
    if classifier == "likelihood":
        return LikelihoodModel(*given)
    if classifier == "llmlingua2":
        return ClassifierModel(*given)
    known = ", ".join(CLASSIFIERS)
    raise BadInput(f"is {classifier!r}; known are {known}", field="classifier")
