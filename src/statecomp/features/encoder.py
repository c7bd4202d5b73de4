"""A frozen causal language model, read at one layer: token ids in, numpy vectors out.

Only the layers up to the one that is read are loaded and run, so an early layer is really cheaper.
A vector is what transformers calls `hidden_states[layer]`: the residual stream as it is, and behind
the final norm for the last layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.features import presets
from statecomp.features.view import Ids

Floats: TypeAlias = NDArray[np.float32]
Readout: TypeAlias = Literal["last", "mean", "both"]
"""Which vector stands for a text: that of its last token, the mean, or the two side by side."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """`model` is a preset, a local folder or a hub id.

    `layer` is an index counted from one (negative: from the end) or a fraction of the depth: 1 is
    the first layer, 1.0 the last; None takes the preset's, or the last.  `batch_tokens` bounds the
    padded tokens of one pass.
    """

    model: str = presets.DEFAULT
    layer: int | float | None = None
    readout: Readout = "last"
    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int = 8_192


def open_encoder(settings: EncoderSettings = EncoderSettings()) -> FrozenEncoder:
    """Loads the model; the default one is first converted into the user's cache, once."""
    preset = presets.PRESETS.get(settings.model)
    source = _source(settings.model, preset)
    device = _device(settings.device)
    dtype = _dtype(settings.dtype, preset, device)
    try:
        with presets.quietly():
            config = transformers.AutoConfig.from_pretrained(source)
            inner = config.get_text_config(decoder=True)
            usual = preset.layer if preset else 1.0
            wanted = usual if settings.layer is None else settings.layer
            layer = layer_index(wanted, inner.num_hidden_layers)
            is_last = layer == inner.num_hidden_layers
            _shorten(inner, layer)
            auto: Any = transformers.AutoModelForCausalLM
            decoder = auto.from_pretrained(source, config=config, dtype=dtype).get_decoder()
            tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadInput(f"the model cannot be loaded: {reason}", file=settings.model) from error
    if not is_last:
        # The final norm was fitted to the last layer; an earlier one is read as it is.
        decoder.norm = torch.nn.Identity()
    weights = presets.weights_digest(source)
    return FrozenEncoder(_moved(decoder, device), tokenizer, layer, settings, weights)


def layer_index(layer: int | float, depth: int) -> int:
    """The layer from 1 to `depth` that an index or a fraction means."""
    if isinstance(layer, float):
        if not 0 < layer <= 1:
            raise BadInput(f"a layer given as a fraction lies in (0, 1], not at {layer}")
        return max(1, round(layer * depth))
    index = layer if layer >= 0 else depth + 1 + layer
    if not 1 <= index <= depth:
        raise BadInput(f"there is no layer {layer}: the model has layers 1 to {depth}")
    return index


class FrozenEncoder:
    """Reads token ids; `tokens_read` counts every token the model was ever given, padding aside."""

    def __init__(
        self,
        decoder: Any,
        tokenizer: Any,
        layer: int,
        settings: EncoderSettings,
        weights: str = "",
    ) -> None:
        self._decoder, self._tokenizer = decoder, tokenizer
        self._batch_tokens = settings.batch_tokens
        self.name = settings.model
        self.layer = layer
        self.weights = weights
        self.dtype = str(decoder.dtype).removeprefix("torch.")
        self.readout: Readout = settings.readout
        self.width = int(decoder.config.hidden_size)
        self.readings = 2 if settings.readout == "both" else 1
        self.context = int(decoder.config.max_position_embeddings)
        self.tokens_read = 0

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text, in which the model's own markers are plain text: it is untrusted."""
        # The library takes no lone surrogates; a model would see replacement characters.
        valid = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        ids: list[int] = self._tokenizer(
            valid, add_special_tokens=False, split_special_tokens=True, verbose=False
        ).input_ids
        return ids

    def encode(self, texts: Sequence[Ids]) -> Floats:
        """One vector for each text, read at its last token or as the mean over its tokens."""
        return self._in_batches(texts, past=None)  # (n, d)

    def hidden(self, ids: Ids) -> Floats:
        """The vector at every token of one text."""
        return self._pass([ids])[0]  # (t, d)

    def encode_behind(self, base: Ids, targets: Sequence[Ids]) -> tuple[Floats, Floats]:
        """Each target as if it stood alone behind `base`, which is read once for all of them.

        The second vector is the one at the last token of the base.
        """
        if not base:
            return self.encode(targets), np.zeros(self.width, np.float32)  # (n, d), (d,)
        tape = self.tape()
        current = tape.extend(base)[-1]  # (d,)
        return self.encode_after(tape, targets), current  # (n, d), (d,)

    def encode_after(self, tape: Tape, targets: Sequence[Ids]) -> Floats:
        """Each target as if it stood alone behind what is on the tape, which stays as it is."""
        return self._in_batches(targets, past=tape)  # (n, d)

    def tape(self) -> Tape:
        return Tape(self)

    def _in_batches(self, texts: Sequence[Ids], past: Tape | None) -> Floats:
        out = np.zeros((len(texts), self.readings * self.width), np.float32)  # (n, d)
        shared = len(past) if past else 0
        for batch in _by_length([len(ids) for ids in texts], shared, self._batch_tokens):
            cache = past.copies(len(batch)) if past else None
            states = self._pass([texts[place] for place in batch], cache)
            for place, state in zip(batch, states, strict=True):
                out[place] = read_out(state, self.readout)  # (t, d) -> (d,)
        return out

    @torch.inference_mode()
    def _pass(self, texts: Sequence[Ids], cache: Any = None) -> list[Floats]:
        """The model once over a padded batch: for each text its vectors, (t, d)."""
        lengths = [len(ids) for ids in texts]
        behind = cache.get_seq_length() if cache is not None else 0
        if not all(lengths):
            raise ValueError("a text without tokens has no vector")
        if behind + max(lengths) > self.context:
            problem = f"{behind + max(lengths):,} tokens are more than {self.name} can read at once"
            raise BadInput(f"{problem}, which is {self.context:,}")
        # Padding stands on the right and needs no mask: attention is causal, so no token before it
        # ever sees it, and its own vectors are dropped.  Without a mask the fast kernel is used.
        ids = torch.zeros((len(texts), max(lengths)), dtype=torch.long)  # (n, t)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.as_tensor(text)
        try:
            out = self._decoder(
                input_ids=ids.to(self._decoder.device),
                past_key_values=cache,
                use_cache=cache is not None,
            ).last_hidden_state  # (n, t, d)
        except torch.OutOfMemoryError as error:
            problem = (
                f"the memory of {self._decoder.device} is too small for {ids.numel():,} tokens"
            )
            raise BadInput(f"{problem} behind {behind:,}; choose another device") from error
        self.tokens_read += sum(lengths)
        states: Floats = out.float().cpu().numpy()  # (n, t, d)
        if not all(
            np.isfinite(state[:length]).all() for state, length in zip(states, lengths, strict=True)
        ):
            raise BadInput(f"{self.name} gives vectors in which not all are numbers")
        return [state[:length] for state, length in zip(states, lengths, strict=True)]


class Tape:
    """A text that grows: each extension is read behind what was read, which is not read again."""

    def __init__(self, encoder: FrozenEncoder) -> None:
        self._encoder = encoder
        self.ids: list[int] = []
        self.clear()

    def __len__(self) -> int:
        return len(self.ids)

    def extend(self, ids: Ids) -> Floats:
        """The vectors of the new tokens."""
        states = self._encoder._pass([ids], self._cache)[0]  # (t, d)
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


def read_out(states: Floats, readout: Readout) -> Floats:
    if readout == "both":
        return np.concatenate([states[-1], states.mean(axis=0)])  # (t, d) -> (2 * d,)
    vector: Floats = states[-1] if readout == "last" else states.mean(axis=0)  # (t, d) -> (d,)
    return vector


def _source(model: str, preset: presets.Preset | None) -> str:
    if preset is None:
        return model
    if preset.source and presets.folder_of(preset) is None:
        # Tens of gigabytes: nobody should find them being downloaded by surprise.
        raise BadInput(f"{model} is not on this machine: statecomp models pull {model}")
    return str(presets.pull(preset))


def _shorten(config: Any, layers: int) -> None:
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]


def _device(name: str) -> str:
    if name != "auto":
        return name
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _moved(decoder: Any, device: str) -> Any:
    try:
        return decoder.to(device).eval()
    except (RuntimeError, AssertionError) as error:  # torch has one for each way not to be there
        reason = str(error).strip().splitlines()[0]
        raise BadInput(f"the model cannot be put on {device}: {reason}", field="device") from error


def _dtype(name: str, preset: presets.Preset | None, device: str) -> torch.dtype:
    if name == "auto":
        # Half precision is emulated on most CPUs, at a fifth of the speed.
        name = "float32" if device == "cpu" else preset.dtype if preset else "bfloat16"
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise BadInput(f"there is no number type {name!r}; use float32, float16 or bfloat16")
    return found


def _by_length(lengths: Sequence[int], shared: int, batch_tokens: int) -> Iterator[list[int]]:
    """Places of similar lengths together, so that little of a batch is padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        # In ascending order the newest is the longest, and sets the width of the batch.
        if batch and (len(batch) + 1) * (shared + lengths[place]) > batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
