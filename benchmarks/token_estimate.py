"""How far the token estimate is from exact counts, and how fast both are.

    python benchmarks/token_estimate.py [TOKENIZER_JSON ...]

Exact counters are whatever lies on this machine: tiktoken's cached vocabularies, and the files
named on the command line.  The weights were fitted on the runs whose group hashes to half 0;
half 1 had no part in the fit.  Recorded samples that carry no group are split by their id.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from statecomp.tokens import ESTIMATE, TokenCounter, counter_for

ROOT = Path(__file__).resolve().parent.parent
MODELS = ("gpt-4", "gpt-4o", "text-davinci-003", "davinci")


class Sample(NamedTuple):
    """The texts of one message, and the half its run belongs to."""

    half: int
    texts: list[str]


def files() -> list[Path]:
    recorded = sorted((ROOT.parent / "shared" / "data").glob("trajectories.jsonl*"))
    return recorded or sorted((ROOT / "samples").glob("*.jsonl"))


def texts_of(message: Mapping[str, Any]) -> Iterator[Any]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    yield from (block.get("text") for block in blocks if isinstance(block, dict))
    yield message.get("reasoning")
    for call in message.get("tool_calls") or []:
        yield call["function"]["name"]
        yield call["function"]["arguments"]


def lines_of(file: Path) -> list[str]:
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [line for line in data.decode("utf-8").split("\n") if line.strip()]


def samples(file: Path) -> Iterator[Sample]:
    for line in lines_of(file):
        run = json.loads(line)
        group = str(run.get("group") or run.get("id") or line)
        half = hashlib.sha1(group.encode(), usedforsecurity=False).digest()[-1] % 2
        for message in run.get("messages", []):
            texts = [text for text in texts_of(message) if isinstance(text, str) and text]
            if texts:
                yield Sample(half, texts)


def counted(count: TokenCounter, messages: list[Sample]) -> tuple[list[int], float]:
    """The tokens of each message, and the MB/s at which they were counted."""
    started = time.perf_counter()
    tokens = [sum(map(count, message.texts)) for message in messages]
    seconds = time.perf_counter() - started
    size = sum(len(text.encode("utf-8", "replace")) for m in messages for text in m.texts)
    return tokens, size / 1e6 / seconds


def deviation(estimated: list[int], exact: list[int]) -> str:
    pairs = [(guess, true) for guess, true in zip(estimated, exact, strict=True) if true]
    if not pairs:
        return "no messages"
    bias = sum(guess for guess, _ in pairs) / sum(true for _, true in pairs) - 1
    error = sum(abs(guess - true) / true for guess, true in pairs) / len(pairs)
    return f"bias {bias:+7.2%}   mean abs. error {error:6.2%}   {len(pairs)} messages"


def exact_counters(tokenizer_files: list[str]) -> list[TokenCounter]:
    found = [counter_for(model) for model in MODELS]
    found += [counter_for(tokenizer=file) for file in tokenizer_files]
    return [counter for counter in found if counter.exact]


def report(messages: list[Sample], counters: list[TokenCounter]) -> None:
    estimated, speed = counted(ESTIMATE, messages)
    print(f"{ESTIMATE.name:<24} {speed:7.1f} MB/s")
    for counter in counters:
        exact, speed = counted(counter, messages)
        print(f"{counter.name:<24} {speed:7.1f} MB/s")
        for half, label in enumerate(("fitting half", "held-out half")):
            chosen = [n for n, message in enumerate(messages) if message.half == half]
            line = deviation([estimated[n] for n in chosen], [exact[n] for n in chosen])
            print(f"    {label:<14} {line}")


def main() -> int:
    messages = [message for file in files() for message in samples(file)]
    if not messages:
        print("There are no recorded runs to count: neither shared data nor samples/*.jsonl.")
        return 0
    counters = exact_counters(sys.argv[1:])
    if not counters:
        print(
            "No exact tokenizer is on this machine; put tiktoken's vocabulary files into "
            "TIKTOKEN_CACHE_DIR or name a tokenizer.json, and the estimate is compared with it."
        )
    report(messages, counters)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
