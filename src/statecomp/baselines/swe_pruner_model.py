"""SWE-Pruner's own scorer: a reranker that was taught to say which tokens of a text to keep.

The published checkpoint is a folder with `config.json`, a tokenizer and `model.safetensors`: a
Qwen3-Reranker-0.6B backbone whose hidden states at a quarter, a half and the whole of its depth are
joined, passed through self-attention with a residual, and read by a small head with two outputs a
token, keep and drop.  Its CRF shapes training only; the difference of the two decides.
The backbone's shape is read from `backbone/config.json` inside the folder, or, if that is absent,
from the backbone's name, out of the local cache of the hub; nothing is downloaded.

Needs statecomp[encoder].
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput, ScoringFailed

LONGEST_INPUT, OVERLAP, LEAST_ROOM = 8_192, 50, 100
INSTRUCTION = "Given a query, judge if the document(code) is related to query."
# The words the backbone was trained with: other words would ask another model.
BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n"
)
BEHIND = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


@dataclass(frozen=True)
class RerankedLines:
    """Mean probability of "keep" over the characters of each line."""

    tokenizer: Any
    keep_logits: Any  # ids (1, tokens) -> logits (tokens,)
    torch: Any
    longest_input: int = LONGEST_INPUT
    name: str = "qwen-reranker"

    def score(self, question: str, lines: Sequence[str]) -> Sequence[float]:
        text = "\n".join(lines)
        if not text:
            return [0.0] * len(lines)
        opening = f"{BEFORE}<Instruct>: {INSTRUCTION}\n<Query>: {question}\n<Document>: "
        head, tail = self._ids(opening), self._ids(BEHIND)
        room = self.longest_input - len(head) - len(tail)
        if room < LEAST_ROOM:
            raise ScoringFailed("the question leaves no room for the text")
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, offsets = list(encoded["input_ids"]), list(encoded["offset_mapping"])
        kept = [list[float]() for _ in ids]  # by token: one probability a chunk it stands in
        for start, stop in chunks(len(ids), room, OVERLAP):
            chances = self._chances(head, ids[start:stop], tail)
            for place, chance in enumerate(chances, start=start):
                kept[place].append(chance)
        means = [sum(seen) / len(seen) for seen in kept]
        return list(by_line(lines, means, offsets))

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _chances(self, head: list[int], ids: list[int], tail: list[int]) -> list[float]:
        with self.torch.no_grad():
            tokens = self.torch.tensor([[*head, *ids, *tail]])
            logits = self.keep_logits(tokens)[len(head) : len(head) + len(ids)]
            return [float(chance) for chance in self.torch.sigmoid(logits.float())]


def chunks(length: int, room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Stretches of at most `room` that cover everything, each reaching into the next."""
    start = 0
    while True:
        stop = min(length, start + room)
        yield start, stop
        if stop >= length:
            return
        start += room - overlap


def by_line(
    lines: Sequence[str], chances: Sequence[float], offsets: Sequence[tuple[int, int]]
) -> Iterator[float]:
    """A token's probability holds for each of its characters; a line's score is their mean."""
    total = sum(map(len, lines)) + len(lines)
    spread: list[float | None] = [None] * total
    for chance, (start, stop) in zip(chances, offsets, strict=True):
        for place in range(start, min(stop, total)):
            spread[place] = chance
    start = 0
    for line in lines:
        seen = [chance for chance in spread[start : start + len(line)] if chance is not None]
        yield sum(seen) / len(seen) if seen else 0.0
        start += len(line) + 1


def open_reranker(folder: str) -> RerankedLines:
    """The checkpoint in a folder; BadInput says what is wrong with it."""
    if not folder:
        problem = "needs the folder of the published checkpoint: write model=FOLDER"
        raise BadInput(problem, field="scorer qwen-reranker")
    try:
        torch, transformers = import_module("torch"), import_module("transformers")
        safetensors = import_module("safetensors.torch")
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: install statecomp[encoder]"
        raise BadInput(problem, field="scorer qwen-reranker") from error
    place = Path(folder)
    try:
        config = json.loads((place / "config.json").read_text("utf-8"))
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=True)
        backbone = transformers.AutoModel.from_config(_backbone(place, config, transformers))
        weights = safetensors.load_file(place / "model.safetensors")
        scorer = _assembled(backbone, config, weights, torch)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BadInput(f"cannot be read as a SWE-Pruner model ({error})", file=folder) from error
    return RerankedLines(tokenizer, scorer, torch)


def _backbone(place: Path, config: Mapping[str, Any], transformers: Any) -> Any:
    inside = place / "backbone"
    source = inside if inside.is_dir() else config["backbone_model_name_or_path"]
    return transformers.AutoConfig.from_pretrained(source, local_files_only=True)


def _assembled(
    backbone: Any, config: Mapping[str, Any], weights: Mapping[str, Any], torch: Any
) -> Any:
    """Backbone, fusion and head with their weights, every one of which must find its place."""
    nn = torch.nn
    depth, width = backbone.config.num_hidden_layers, 3 * backbone.config.hidden_size
    early = max(1, int(depth * config["early_layer_ratio"]))
    middle = max(1, int(depth * config["middle_layer_ratio"]))
    several = range(config["num_fusion_layers"])
    parts = nn.ModuleDict(
        {
            "backbone": backbone,
            "fusion_layers": nn.ModuleList(
                nn.MultiheadAttention(width, config["num_heads"], batch_first=True) for _ in several
            ),
            "fusion_norms": nn.ModuleList(nn.LayerNorm(width) for _ in several),
            "head": nn.Sequential(
                nn.LayerNorm(width),
                nn.Linear(width, config["bottleneck"]),
                nn.GELU(),
                nn.Dropout(config["dropout"]),
                nn.Linear(config["bottleneck"], 2),
            ),
        }
    )
    parts.load_state_dict(dict(_renamed(weights)))
    parts.float().eval()

    def keep_logits(ids: Any) -> Any:
        states = parts["backbone"](input_ids=ids, output_hidden_states=True).hidden_states
        h = torch.cat([states[early], states[middle], states[depth]], dim=-1)  # (1, tokens, 3w)
        for attention, norm in zip(parts["fusion_layers"], parts["fusion_norms"], strict=True):
            h = norm(attention(h, h, h, need_weights=False)[0] + h)
        both = parts["head"](h)[0]  # (tokens, 2): drop, keep
        return both[:, 1] - both[:, 0]

    return keep_logits


def _renamed(weights: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Weights under our names; the CRF's transitions were for training."""
    for name, tensor in weights.items():
        short = name.removeprefix("model.")
        if short.startswith(("compression_head.crf.", "embedding_layer.")):
            continue
        yield short.replace("compression_head.feature_extractor.", "head."), tensor
