"""What a model runs on, with which numbers, and what is said where that does not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from statecomp.errors import BadInput
from statecomp.features import presets


def device_named(name: str) -> str:
    if name != "auto":
        return name
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def moved(decoder: Any, device: str) -> Any:
    try:
        return decoder.to(device).eval()
    except (RuntimeError, AssertionError) as error:  # torch has one for each way not to be there
        problem = f"the model cannot be put on {device}: {presets.first_line(error)}"
        raise BadInput(problem, field="device") from error


def dtype_named(name: str, preset: presets.Preset | None, device: str) -> torch.dtype:
    if name == "auto":
        # Half precision is emulated on most CPUs, at a fifth of the speed.
        name = "float32" if device == "cpu" else preset.dtype if preset else "bfloat16"
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise BadInput(f"there is no number type {name!r}; use float32, float16 or bfloat16")
    return found


@contextmanager
def within_memory(device: Any, tokens: int, behind: int = 0) -> Iterator[None]:
    """Says in one sentence that so many tokens were too many."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        problem = f"the memory of {device} is too small for {tokens:,} tokens behind {behind:,}"
        raise BadInput(f"{problem}; choose another device") from error
