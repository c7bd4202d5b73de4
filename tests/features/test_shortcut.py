"""The last layer where it is read: the same vectors for less work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.features.small_model import TINY, frozen, needs_model, tiny
from tests.features.test_encoder import FEW, TEXTS, TOKENS, close

pytestmark = needs_model
encoders = pytest.importorskip(
    "statecomp.features.encoder", reason="the frozen model needs statecomp[encoder]"
)


def whole(model: Any, texts: list[list[int]], base: list[int]) -> Any:
    """The vector at each text's last token, all tokens computed at every layer."""
    return np.array([model.hidden([*base, *text])[-1] for text in texts])


@FEW
@given(TEXTS, st.one_of(st.just([]), TOKENS))
def test_a_vector_read_alone_is_the_one_among_all(texts: list[list[int]], base: list[int]) -> None:
    model = frozen()
    found, current = model.encode_behind(base, texts)
    assert close(found, whole(model, texts, base))
    if base:
        assert close(current, model.hidden(base)[-1])


@pytest.mark.parametrize("name", [*TINY, "sliding"])
def test_every_architecture_gives_the_same_vectors(name: str, tmp_path: Path) -> None:
    settings = encoders.EncoderSettings(tiny(name, tmp_path), device="cpu")
    model = encoders.open_encoder(settings)
    texts = [[7, *range(50, 50 + n)] for n in (1, 5, 30)]
    base = [*range(100, 120)]
    assert close(model.encode(texts), whole(model, texts, []))
    found, current = model.encode_behind(base, texts)
    assert close(found, whole(model, texts, base))
    assert close(current, model.hidden(base)[-1])


def test_only_what_is_read_goes_through_the_last_layer() -> None:
    model = frozen()
    seen: dict[str, int] = {}

    def count(part: str) -> Any:
        def add(module: Any, inputs: Any, output: Any) -> None:
            seen[part] = seen.get(part, 0) + inputs[0].numel() // model.width

        return add

    before, last = model._decoder.layers[-2:]
    parts = {
        "layer before": before.mlp,
        "last layer": last.mlp.whole,
        "its queries": last.self_attn.q_proj.whole,
        "its attention": last.self_attn.o_proj.whole,
    }
    hooks = [part.register_forward_hook(count(place)) for place, part in parts.items()]
    try:
        model.encode_behind([5] * 40, [[6] * 10, [7] * 10])
    finally:
        for hook in hooks:
            hook.remove()
    read = 3  # the state's last token and one for each target
    assert seen == {
        "layer before": 40 + 2 * 10,
        **dict.fromkeys(("last layer", "its queries", "its attention"), read),
    }
