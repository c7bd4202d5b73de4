"""Several layers of a frozen model in one pass.

The vectors of the layers stand side by side, so whatever reads an encoder reads this one unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import torch

from statecomp.errors import BadInput
from statecomp.features.encoder import EncoderSettings, Floats, FrozenEncoder, open_encoder, read_of
from statecomp.features.view import Ids, both_ends
from statecomp.recent import LruCache

TEXTS: Final = 2_048
"""More than the longest run holds, so that all constructions of a run tokenize each text once."""


class TappedEncoder(FrozenEncoder):
    """A vector is (layers * depth_width,): the layers in ascending order.

    Of a text longer than `longest` tokens only both ends are read.
    """

    def __init__(
        self, deepest: FrozenEncoder, layers: Sequence[int], longest: int | None = None
    ) -> None:
        # It is the opened encoder itself, with taps on its way.
        self.__dict__.update(deepest.__dict__)
        self.layers = tuple(layers)
        self.longest = longest
        self.depth_width = deepest.width
        self.width = deepest.width * len(self.layers)
        self._taps: dict[int, Any] = {}
        self._tokens: LruCache[str, list[int]] = LruCache(TEXTS)
        for layer in self.layers[:-1]:
            self._decoder.layers[layer - 1].register_forward_hook(self._hook(layer))

    def _hook(self, layer: int) -> Any:
        def keep(module: Any, inputs: Any, output: Any) -> None:
            self._taps[layer] = output[0] if isinstance(output, tuple) else output  # (n, t, d)

        return keep

    @torch.inference_mode()
    def _pass(
        self, texts: Sequence[Ids], cache: Any = None, only_last: bool = False
    ) -> list[Floats]:
        deepest = super()._pass(texts, cache, only_last)
        lengths = [len(text) for text in texts]
        taps = (read_of(self._taps[layer], lengths, only_last) for layer in self.layers[:-1])
        earlier = [tap.float().cpu().numpy() for tap in taps]
        return [
            np.concatenate([*(tap[row, : len(state)] for tap in earlier), state], axis=1)
            for row, state in enumerate(deepest)
        ]  # (t, layers * d) or (1, layers * d)

    def tokenize(self, text: str) -> list[int]:
        if (known := self._tokens.get(text)) is not None:
            return known
        ids = super().tokenize(text)
        return self._tokens.put(
            text, ids if self.longest is None else [*both_ends(ids, self.longest)]
        )

    def split(self, vectors: Floats) -> dict[int, Floats]:
        """(n, layers * d) -> (n, d) for each layer."""
        parts = np.split(vectors, len(self.layers), axis=-1)
        return dict(zip(self.layers, parts, strict=True))


def open_tapped(
    settings: EncoderSettings, layers: Sequence[int], longest: int | None = None
) -> TappedEncoder:
    """The model up to the deepest of these layers, or the one its preset names."""
    if not layers:
        opened = open_encoder(settings)
        return TappedEncoder(opened, (opened.layer,), longest)
    ascending = sorted(set(layers))
    if ascending[0] < 1:
        raise BadInput(f"is {ascending[0]}; layers are counted from 1", field="layer")
    deepest = open_encoder(replace(settings, layer=ascending[-1]))
    return TappedEncoder(deepest, ascending, longest)
