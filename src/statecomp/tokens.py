"""How many tokens a text or a message costs, and whether that number is exact.

A counter says what it is: `name` for reports, `exact` for whoever decides on the number.

- `ESTIMATE` needs nothing but the text.  It counts what makes a byte-pair tokenizer begin a new
  token (words, case changes, digits, punctuation, line breaks, scripts) with weights fitted
  midway between OpenAI's cl100k_base and o200k_base; `benchmarks/token_estimate.py` measures it.
- `counter_for` gives an exact counter where the tokenizer of a model lies on this machine already.
  Nothing here ever opens a connection, and nothing is read or imported before it is asked for.

The estimate is good for English, code, JSON, logs and other machine text.  On scripts other than
Latin the two encodings differ from each other by a factor of up to three, so no single number can
be right for both; it then stands between them.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from statecomp.errors import BadInput


class TokenCounter(Protocol):
    """Counts the tokens of a text; `exact` is True only for the model's own tokenizer."""

    @property
    def name(self) -> str: ...

    @property
    def exact(self) -> bool: ...

    def __call__(self, text: str) -> int: ...


# ---------------------------------------------------------------------------------------------
# The estimate
#
# Python's `re` needs about 60 ns a match, too slow for one match a token.  Mapping every byte to
# its kind and counting a few patterns of kinds needs 1 to 2 ns a byte and pattern, all of it in C.

_CHUNK: Final = 1 << 16  # characters; bounds the memory, and its byte tables stay in the cache


def _kind(byte: int) -> str:
    """a lower, A upper, 0 digit, - rule characters, . other ASCII marks, x part of non-ASCII."""
    char = chr(byte)
    if byte >= 0x80:
        return "x"
    for kind, found in (("a", char.islower()), ("A", char.isupper()), ("0", char.isdigit())):
        if found:
            return kind
    if char in " \t\n":
        return char
    if char == "\r":
        return "\n"
    # Runs of these are drawn as rules and headings, and become one token; runs of others do not.
    return "-" if char in "-=#*_~" else "."


def _table(choose: Callable[[int], str]) -> bytes:
    return "".join(map(choose, range(256))).encode("ascii")


# All weights are thousandths of a token: whole numbers give the same count on every machine.
# None is negative, and every pattern is a run or a change of kind, so a longer text never counts
# less, and joining two texts adds at most what can begin at the seam.

# The start of a run of these kinds.  Non-ASCII bytes are letters here: an accent ends no word.
_RUNS: Final = (("aAx", 942), ("0", 694), ("-.", 640), ("\n", 726))
_RUN_BITS: Final = bytes(
    sum(1 << bit for bit, (kinds, _) in enumerate(_RUNS) if _kind(byte) in kinds)
    for byte in range(256)
)
_RUN_PATTERNS: Final = tuple((bytes([1 << bit]), weight) for bit, (_, weight) in enumerate(_RUNS))

_KINDS: Final = _table(_kind)
_KIND_PATTERNS: Final = (
    (b"a" * 7, 345),  # longer words are rarer, and come in pieces
    (b"a" * 16, 8141),  # hardly ever a word: random letters, about two to a token
    (b"A", 127),
    (b"A" * 16, 7763),
    (b"aA", 851),  # camelCase, base64
    (b"AAa", 2521),
    (b"0", 338),  # three digits a token
    (b" 0", 1191),  # a number does not take the space before it, as a word does
    (b" .", 483),
    (b"..", 276),
    (b"--", 159),
    (b".-", 2401),
    (b"\t", 1333),
)

# A word takes one space before it; a longer run of blanks is a token of its own.
_BLANKS: Final = _table(lambda byte: " " if _kind(byte) in " \t" else ".")
_BLANK_PATTERNS: Final = ((b".  ", 327), (b" " * 16, 182))

# First byte of a UTF-8 sequence -> weight of the character.  (first, last, weight)
_SCRIPTS: Final = (
    (0xC2, 0xC2, 1308),  # Latin-1 marks: § © « »
    (0xC3, 0xC9, 1900),  # accented Latin; most of it pays for words that are not English
    (0xCA, 0xCD, 2000),  # phonetic and combining
    (0xCE, 0xCF, 624),  # Greek
    (0xD0, 0xD3, 425),  # Cyrillic
    (0xD4, 0xD7, 784),  # Armenian, Hebrew
    (0xD8, 0xDB, 475),  # Arabic
    (0xDC, 0xDF, 1500),  # Syriac, Thaana, N'Ko: about a token a byte
    (0xE0, 0xE0, 749),  # Indic, Thai
    (0xE1, 0xE1, 1117),  # Georgian, Khmer, Vietnamese
    (0xE2, 0xE2, 764),  # dashes, quotes, arrows, boxes
    (0xE3, 0xE3, 654),  # kana
    (0xE4, 0xE9, 861),  # Han
    (0xEA, 0xED, 498),  # Hangul; lone surrogates end up here too
    (0xEE, 0xEF, 800),  # private use, full-width forms
    (0xF0, 0xF4, 2772),  # emoji and everything else beyond the first plane
)


def _script_of(byte: int) -> str:
    for number, (first, last, _) in enumerate(_SCRIPTS):
        if first <= byte <= last:
            return chr(ord("A") + number)
    return "."


_SCRIPT_TABLE: Final = _table(_script_of)
_SCRIPT_PATTERNS: Final = tuple(
    (chr(ord("A") + number).encode(), weight) for number, (_, _, weight) in enumerate(_SCRIPTS)
)


def _weigh(kinds: bytes, patterns: Iterable[tuple[bytes, int]]) -> int:
    return sum(weight * kinds.count(pattern) for pattern, weight in patterns)


def _run_starts(data: bytes) -> bytes:
    """The bit of its kind where a run starts, zero elsewhere."""
    # One number of 8 bits a byte: shifting it by 8 puts every byte above its successor's place,
    # which compares all neighbours at once.
    bits = int.from_bytes(data.translate(_RUN_BITS), "little")
    return (bits & ~(bits << 8)).to_bytes(len(data), "little")


def _milli_tokens(text: str) -> int:
    """The estimate for one chunk, in thousandths."""
    # Lone surrogates occur in what tools print; the strict codec would raise on them.
    data = text.encode("utf-8", "surrogatepass")
    total = _weigh(data.translate(_KINDS), _KIND_PATTERNS)
    total += _weigh(data.translate(_BLANKS), _BLANK_PATTERNS)
    total += _weigh(_run_starts(data), _RUN_PATTERNS)
    if len(data) != len(text):
        total += _weigh(data.translate(_SCRIPT_TABLE), _SCRIPT_PATTERNS)
    return total


@dataclass(frozen=True, slots=True)
class _Estimate:
    name: str = "estimate"
    exact: bool = False

    def __call__(self, text: str) -> int:
        if not text:
            return 0
        starts = range(0, len(text), _CHUNK)
        total = sum(_milli_tokens(text[start : start + _CHUNK]) for start in starts)
        return max(1, (total + 500) // 1000)


ESTIMATE: Final[TokenCounter] = _Estimate()


# ---------------------------------------------------------------------------------------------
# Exact counters


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


# ---------------------------------------------------------------------------------------------
# Messages

MESSAGE_TOKENS: Final = 4  # what a chat template puts around a message
BLOCK_TOKENS: Final = 3  # and around a content block or a tool call
# An image or file is billed by its size in pixels or pages, which its encoding does not show: 85 to
# 1,600 tokens for an image with the large providers.  Its base64 text would say up to a million.
MEDIA_TOKENS: Final = 1000
# Ids and encrypted parts are no text to the model, but they stand for something: encrypted
# reasoning of n tokens is some 5 n characters of base64, an id is at most a few tokens.
OPAQUE_CHARS_PER_TOKEN: Final = 8

_FREE: Final = frozenset({"type", "status", "cache_control", "logprobs"})
_OPAQUE: Final = frozenset(
    {"id", "call_id", "tool_call_id", "tool_use_id", "item_id", "file_id"}
    | {"signature", "encrypted_content", "encrypted_index"}
)
_ARGUMENTS: Final = frozenset({"input", "arguments"})
_MEDIA_TYPES: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "video_url"}
    | {"computer_screenshot", "image_generation_call"}
)
_NO_JSON: Final = object()  # key of the parts of arguments that could not be written as JSON
_LEAVE: Final = object()  # on the stack: the container with this id is done


def count_message(message: Mapping[str, Any], count: TokenCounter) -> int:
    """What one wire message costs: OpenAI chat, Anthropic, or an OpenAI Responses item.

    Text, names, roles and arguments count as `count` says, each string for itself; objects given
    as arguments count as their compact JSON.  Types, statuses and cache marks cost nothing.
    """
    total = MESSAGE_TOKENS
    stack: list[tuple[Any, Any]] = [("", message)]
    above: set[int] = set()  # containers around the current value: a loop is entered once
    while stack:
        key, value = stack.pop()
        if key is _LEAVE:
            above.discard(value)
        elif id(value) not in above:
            cost, parts = _cost(key, value, count)
            total += cost
            if parts:
                above.add(id(value))
                stack.append((_LEAVE, id(value)))
                stack.extend(parts)
    return total


def _cost(key: Any, value: Any, count: TokenCounter) -> tuple[int, list[tuple[Any, Any]]]:
    """The cost of a value by itself, and the parts that remain to be counted."""
    if value is None or key in _FREE:
        return 0, []
    if isinstance(value, str):
        return _text_cost(key, value, count), []
    if isinstance(value, Mapping):
        return _object_cost(key, value, count)
    if isinstance(value, list | tuple):
        blocks = sum(isinstance(item, Mapping) for item in value)
        return BLOCK_TOKENS * blocks, [(key, item) for item in value]
    return 1, []


def _text_cost(key: Any, text: str, count: TokenCounter) -> int:
    if key in _OPAQUE:
        return -(-len(text) // OPAQUE_CHARS_PER_TOKEN)
    # Only where a link or file belongs: the same characters inside a text are read as text.
    if key in {"media", "url", "image_url", "file_data"} and text.startswith("data:"):
        return MEDIA_TOKENS
    return MEDIA_TOKENS if key == "media" else count(text)


def _object_cost(
    key: Any, value: Mapping[Any, Any], count: TokenCounter
) -> tuple[int, list[tuple[Any, Any]]]:
    # First of all: an argument that happens to be named `type` makes no image of a call.
    if key in _ARGUMENTS:
        try:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
            return count(text), []
        except (RecursionError, TypeError, ValueError):
            key = _NO_JSON  # too deep for the encoder, or a loop
    if key is _NO_JSON:
        names = sum(count(str(name)) + 1 for name in value)
        return names, [(_NO_JSON, part) for part in value.values()]
    kind = value.get("type")
    if isinstance(kind, str) and kind in _MEDIA_TYPES:
        return MEDIA_TOKENS, []
    data = _meaning_of_data(value, kind)
    return 0, [(data if name == "data" else name, part) for name, part in value.items()]


def _meaning_of_data(value: Mapping[Any, Any], kind: object) -> str:
    """A field named `data` is a text, an encrypted part or a file; its neighbours tell."""
    if kind == "redacted_thinking":
        return "encrypted_content"
    if kind == "base64" or {"media_type", "mime_type", "mimeType", "format"} & value.keys():
        return "text" if kind == "text" else "media"
    return "data"
