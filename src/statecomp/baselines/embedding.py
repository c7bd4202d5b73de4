"""Vectors of texts for methods that rank by cosine: a published embedder, or a plain substitute."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol

from statecomp.errors import BadInput
from statecomp.features import presets

EMBEDDERS = ("lexical", "smollm2", "bge-m3")
BGE = "BAAI/bge-m3"
BGE_TOKENS = 8_192
SMALL_TOKENS = 512
"""What the small model reads of a text: on a CPU a longer one takes seconds."""

Vector = Mapping[Any, float]
"""Length one; only what is not zero."""


class Embedder(Protocol):
    def embed(self, text: str) -> Vector: ...


def cosine(one: Vector, two: Vector) -> float:
    if len(two) < len(one):
        one, two = two, one
    return sum(value * two.get(key, 0.0) for key, value in one.items())


def unit(values: Mapping[Any, float]) -> Vector:
    length = math.sqrt(sum(value * value for value in values.values()))
    return {key: value / length for key, value in values.items()} if length else {}


_WORD = re.compile(r"[^\W_]{2,}")


class LexicalEmbedder:
    """Words, damped by how often they occur and weighted by their length; no model is read."""

    def embed(self, text: str) -> Vector:
        counts = Counter(_WORD.findall(text.lower()))
        return unit({w: (1 + math.log(n)) * min(len(w), 8) / 8 for w, n in counts.items()})


class SmallEmbedder:
    """The mean of the embedded language model's vectors."""

    def __init__(self, model: str = presets.DEFAULT) -> None:
        presets.require("torch", "transformers")
        from statecomp.features.encoder import EncoderSettings, open_encoder

        self._encoder = open_encoder(EncoderSettings(model, readout="mean"))

    def embed(self, text: str) -> Vector:
        ids = self._encoder.tokenize(text)[:SMALL_TOKENS]
        return unit(dict(enumerate(self._encoder.encode([ids])[0].tolist()))) if ids else {}


class BgeEmbedder:
    """BGE-M3, dense: the first token's vector of at most 8,192 tokens."""

    def __init__(self, model: str = BGE) -> None:
        presets.require("torch", "transformers")
        self._torch, library = import_module("torch"), import_module("transformers")
        try:
            with presets.quietly():
                self._model = library.AutoModel.from_pretrained(model, dtype="float32").eval()
                self._tokenizer = library.AutoTokenizer.from_pretrained(model)
        except (OSError, ValueError) as error:
            problem = "the embedder cannot be loaded; connect once, or give the folder it lies in"
            raise BadInput(problem, file=model) from error

    def embed(self, text: str) -> Vector:
        valid = text.encode("utf-8", "replace").decode("utf-8")
        read = self._tokenizer(
            valid, truncation=True, max_length=BGE_TOKENS, return_tensors="pt", verbose=False
        )
        with self._torch.inference_mode():
            states = self._model(**read).last_hidden_state  # (1, tokens, width)
        return unit(dict(enumerate(states[0, 0].tolist())))


@lru_cache(maxsize=2)
def open_embedder(name: str, model: str = "") -> Embedder:
    """One of EMBEDDERS; `model` is a preset, folder or hub id other than the usual one."""
    if name == "lexical":
        return LexicalEmbedder()
    if name == "smollm2":
        return SmallEmbedder(model or presets.DEFAULT)
    if name == "bge-m3":
        return BgeEmbedder(model or BGE)
    raise BadInput(f"is {name!r}; known are {', '.join(EMBEDDERS)}", field="embedder")
