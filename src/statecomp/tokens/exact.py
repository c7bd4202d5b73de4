"""Exact counters, for models whose tokenizer lies on this machine already."""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from statecomp.errors import BadInput
from statecomp.tokens.counter import TokenCounter
from statecomp.tokens.estimate import ESTIMATE


@dataclass(frozen=True, slots=True)
class _Exact:
    name: str
    encode: Callable[[str], int]
    exact: bool = True

    def __call__(self, text: str) -> int:
        return self.encode(text)


_O200K: Final = ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")
_P50K: Final = ("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069")
# Encoding -> vocabulary file and its SHA-256, as tiktoken knows them.  tiktoken deletes a cached
# file with another hash and downloads it anew, so the hash must be checked before it is asked.
_VOCABULARIES: Final[Mapping[str, tuple[str, str]]] = {
    "cl100k_base": (
        "cl100k_base",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": _O200K,
    "o200k_harmony": _O200K,
    "p50k_base": _P50K,
    "p50k_edit": _P50K,
    "r50k_base": (
        "r50k_base",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
}
_VOCABULARY_URL: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def counter_for(model: str = "", *, tokenizer: str = "") -> TokenCounter:
    """The best counter there is on this machine.

    `tokenizer` is a Hugging Face `tokenizer.json`, or a folder with one; it must be usable, or
    `BadInput` is raised.  Without it, an OpenAI `model` whose tiktoken vocabulary is in tiktoken's
    cache is counted exactly; everything else by `ESTIMATE`.
    """
    if tokenizer:
        return _from_tokenizer_file(tokenizer)
    return (_from_tiktoken(model) if model else None) or ESTIMATE


def _from_tiktoken(model: str) -> TokenCounter | None:
    try:
        from tiktoken.model import encoding_name_for_model
    except ImportError:
        return None
    for router in ("openrouter/", "openai/", "azure/"):
        model = model.removeprefix(router)
    try:
        encoding = encoding_name_for_model(model)
    except KeyError:
        return None
    return _tiktoken_counter(encoding) if _vocabulary_is_local(encoding) else None


def _vocabulary_is_local(encoding: str) -> bool:
    """Whether tiktoken will find this encoding's file in its cache, and accept it."""
    if encoding not in _VOCABULARIES:
        return False
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":  # tiktoken's way to say: no cache, always download
        return False
    if folder is None:
        folder = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    file, expected = _VOCABULARIES[encoding]
    key = hashlib.sha1(_VOCABULARY_URL.format(file).encode(), usedforsecurity=False).hexdigest()
    try:
        return hashlib.sha256((Path(folder) / key).read_bytes()).hexdigest() == expected
    except OSError:
        return False


@functools.cache
def _tiktoken_counter(encoding: str) -> TokenCounter:
    import tiktoken

    encode = tiktoken.get_encoding(encoding).encode_ordinary
    return _Exact(f"tiktoken:{encoding}", lambda text: len(encode(text)))


def _from_tokenizer_file(tokenizer: str) -> TokenCounter:
    path = Path(tokenizer).expanduser()
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise BadInput(
            "there is no such tokenizer file; give the path of a Hugging Face tokenizer.json, "
            "or of a folder that holds one",
            file=str(path),
        )
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise BadInput(
            "reading a tokenizer.json needs the `tokenizers` library; install it with "
            "`pip install 'statecomp[tokenizers]'`",
            file=str(path),
        ) from error
    try:
        loaded = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for whatever it cannot read
        problem = "this is not a tokenizer.json that the `tokenizers` library can read; export it"
        raise BadInput(f"{problem} again from its model", file=str(path)) from error
    return _Exact(f"tokenizer.json:{path}", _plain_encoder(loaded))


def _plain_encoder(tokenizer: Any) -> Callable[[str], int]:
    # Files saved after training often carry a length limit, which would cap every count.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(text: str) -> int:
        # The library takes no lone surrogates; a model would see replacement characters.
        valid = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return len(tokenizer.encode(valid, add_special_tokens=False).ids)

    return encode
