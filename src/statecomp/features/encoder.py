"""A frozen causal language model, read at one layer: token ids in, numpy vectors out.

Only the layers up to the one that is read are loaded and run, so an early layer is really cheaper.
A vector is what transformers calls `hidden_states[layer]`: the residual stream as it is, and behind
the final norm for the last layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.features import presets, shortcut
from statecomp.features.devices import device_named, dtype_named, moved, within_memory
from statecomp.features.tape import Tape
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
    device = device_named(settings.device)
    dtype = dtype_named(settings.dtype, preset, device)
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
    except BadInput:
        raise
    except Exception as error:  # each parser of the library raises its own
        reason = presets.first_line(error)
        raise BadInput(f"the model cannot be loaded: {reason}", file=settings.model) from error
    if not is_last:
        # The final norm was fitted to the last layer; an earlier one is read as it is.
        decoder.norm = torch.nn.Identity()
    shortcut.install(decoder)
    weights = presets.weights_digest(source)
    return FrozenEncoder(moved(decoder, device), tokenizer, layer, settings, weights)


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
        current = tape.extend(base, only_last=True)[0]  # (d,)
        return self.encode_after(tape, targets), current  # (n, d), (d,)

    def encode_after(self, tape: Tape, targets: Sequence[Ids]) -> Floats:
        """Each target as if it stood alone behind what is on the tape, which stays as it is."""
        return self._in_batches(targets, past=tape)  # (n, d)

    def tape(self) -> Tape:
        return Tape(self)

    def _in_batches(self, texts: Sequence[Ids], past: Tape | None) -> Floats:
        out = np.zeros((len(texts), self.readings * self.width), np.float32)  # (n, d)
        shared = len(past) if past else 0
        only_last = self.readout == "last"
        for batch in _by_length([len(ids) for ids in texts], shared, self._batch_tokens):
            with within_memory(self._decoder.device, shared * len(batch)):
                cache = past.copies(len(batch)) if past else None
            states = self._pass([texts[place] for place in batch], cache, only_last)
            for place, state in zip(batch, states, strict=True):
                out[place] = read_out(state, self.readout)  # (t, d) -> (d,)
        return out

    @torch.inference_mode()
    def _pass(
        self, texts: Sequence[Ids], cache: Any = None, only_last: bool = False
    ) -> list[Floats]:
        """The model once over a padded batch: for each text its vectors, (t, d) or (1, d)."""
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
        device = self._decoder.device
        where = shortcut.only_at(self._decoder, lengths) if only_last else nullcontext()
        with within_memory(device, ids.numel(), behind), where:
            out = self._decoder(
                input_ids=ids.to(device), past_key_values=cache, use_cache=cache is not None
            ).last_hidden_state  # (n, t, d)
        self.tokens_read += sum(lengths)
        states: Floats = read_of(out, lengths, only_last).float().cpu().numpy()  # (n, t or 1, d)
        shown = [1] * len(texts) if only_last else lengths
        found = [state[:length] for state, length in zip(states, shown, strict=True)]
        if not all(np.isfinite(state).all() for state in found):
            raise BadInput(f"{self.name} gives vectors in which not all are numbers")
        return found


def read_of(states: torch.Tensor, lengths: Sequence[int], only_last: bool) -> torch.Tensor:
    """The vectors that are read of padded texts: all, or of each that of its last token."""
    if not only_last:
        return states  # (n, t, d)
    return torch.stack([states[row, length - 1 : length] for row, length in enumerate(lengths)])


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
    kinds = getattr(config, "layer_types", None)
    if not kinds:
        return
    attending = [place for place, kind in enumerate(kinds, start=1) if "linear" not in kind]
    if attending and attending[0] > layers:
        # Recurrent layers alone do not know how far they have read.
        problem = f"is {layers}, and the first that attends is {attending[0]}; take that or a later"
        raise BadInput(problem, field="layer")
    config.layer_types = kinds[:layers]


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
