"""A text on its way through a frozen model, with what the model remembers of it."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
import transformers

from statecomp.features.view import Ids

if TYPE_CHECKING:
    from statecomp.features.encoder import Floats, FrozenEncoder


class Tape:
    """A text that grows: each extension is read behind what was read, which is not read again."""

    def __init__(self, encoder: FrozenEncoder) -> None:
        self._encoder = encoder
        self.ids: list[int] = []
        self.clear()

    def __len__(self) -> int:
        return len(self.ids)

    def extend(self, ids: Ids, only_last: bool = False) -> Floats:
        """The vectors of the new tokens, or that of the last of them."""
        states = self._encoder._pass([ids], self._cache, only_last)[0]  # (t, d) or (1, d)
        self.ids.extend(ids)
        return states

    def crop(self, length: int) -> bool:
        """Forgets all behind `length`; False, and empty, where the model cannot step back."""
        if length == len(self.ids):
            return True
        if not length or not self._cache.is_croppable:
            self.clear()
            return length == 0
        self._cache.crop(length - len(self.ids))
        del self.ids[length:]
        return True

    def clear(self) -> None:
        self._cache = transformers.DynamicCache(config=self._encoder._decoder.config)
        self.ids = []

    def copies(self, count: int) -> Any:
        """The cache for a batch of texts that all stand behind this one."""
        cache: Any = deepcopy(self._cache)
        # Recurrent layers have no other way to be repeated: the first row, so many times.
        cache.reorder_cache(torch.zeros(count, dtype=torch.long))
        return cache
