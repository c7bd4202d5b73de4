"""Untrained models of a published architecture, small enough to make in a test."""

from __future__ import annotations

from pathlib import Path

import pytest


def tiny_xlm_r(folder: Path, architecture: str) -> None:
    """An XLM-R of this architecture and a tokenizer of four words, as a folder models load from."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"<s>": 0, "</s>": 1, "<unk>": 2, "river": 3}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )
    config = transformers.XLMRobertaConfig(
        vocab_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=8_200,
        num_labels=2,
    )
    getattr(transformers, architecture)(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)
