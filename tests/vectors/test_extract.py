"""Extraction on the real frozen model: what a shard holds, what it costs, and going on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.features.store import FeatureStore
from statecomp.history.history import History
from statecomp.history.trajectory import Trajectory
from tests.features.small_model import folder, frozen, needs_model
from tests.vectors.made_up import run_of

pytestmark = needs_model
LIBRARIES = "the frozen model needs statecomp[encoder,learn]"
extract = pytest.importorskip("statecomp.vectors.extract", reason=LIBRARIES)
shelf = pytest.importorskip("statecomp.vectors.shelf", reason=LIBRARIES)
cost = pytest.importorskip("statecomp.vectors.cost", reason=LIBRARIES)
states = pytest.importorskip("statecomp.features.states", reason=LIBRARIES)
sample = pytest.importorskip("statecomp.vectors.sample", reason=LIBRARIES)

RUN, OTHER = run_of("one", 5), run_of("two", 4, "Web")
LAYERS = (1, 2)


def extraction(construction: str, **more: Any) -> Any:
    settings = {
        "layers": LAYERS,
        "encoder": str(folder()),
        "sample": sample.Sample(2, None),
        **more,
    }
    return extract.Extraction(construction, **settings)


@cache
def opened(readout: str, layers: tuple[int, ...], longest: int | None) -> Any:
    """The product holds one encoder; here several take turns, and each is loaded once."""
    settings = extract.EncoderSettings(model=str(folder()), readout=readout)
    return extract.open_tapped(settings, layers, longest)


def encoder_for(wanted: Any) -> Any:
    return opened(wanted.readout, wanted.layers, wanted.longest)


def read(construction: str, run: Trajectory = RUN, **more: Any) -> Any:
    wanted = extraction(construction, **more)
    arrays = extract.read_run(encoder_for(wanted), run, wanted)
    if wanted.readout == "both":
        return arrays
    return {layer: found for (layer, _), found in arrays.items()}


def prefix(run: Trajectory, k: int) -> History:
    segments = Reading.of(run).history.segments
    place = next(n for n, s in enumerate(segments) if getattr(s, "number", None) == k)
    return History(segments[:place])


def close(one: Any, other: Any) -> bool:
    return bool(np.abs(one - other).max() <= 1e-3 * np.abs(other).max())


@pytest.mark.parametrize("construction", extract.CONSTRUCTIONS)
def test_a_shard_holds_what_the_features_room_reads_at_the_same_state(construction: str) -> None:
    shard = read(construction)[2]
    as_views = "full" if construction in extract.GROWING else construction
    for place, k in enumerate(shard["checkpoints"]):
        rows = shard["checkpoint"] == k
        fresh = states.read_views(frozen(2), prefix(RUN, int(k)), as_views)
        chosen = fresh.candidates[shard["number"][rows] - 1]
        assert close(shard["candidates"][rows], chosen)
        assert close(shard["current"][place], fresh.current)


def test_every_construction_reads_the_same_pairs() -> None:
    shards = [read(construction)[1] for construction in extract.CONSTRUCTIONS]
    for shard in shards[1:]:
        for name in ("number", "checkpoint", "checkpoints"):
            assert np.array_equal(shard[name], shards[0][name])


@pytest.mark.parametrize("construction", extract.CONSTRUCTIONS)
def test_readouts_read_together_are_those_read_alone(construction: str) -> None:
    both = read(construction, readout="both")
    for readout in ("last", "mean"):
        alone = read(construction, readout=readout)
        for layer in LAYERS:
            for name in ("candidates", "current"):
                assert close(both[layer, readout][name], alone[layer][name])


def test_a_part_of_every_limit_reads_both_ends_of_long_texts_and_is_another_recipe() -> None:
    wanted = extraction("recent4", scale=128)
    encoder = encoder_for(wanted)
    long = "the quick brown fox jumps over the lazy dog " * 40
    whole = encoder_for(extraction("recent4")).tokenize(long)
    assert wanted.longest == 16
    assert encoder.tokenize(long) == [*whole[:8], *whole[-8:]]
    shard = extract.read_run(encoder, RUN, wanted)[2, "last"]
    assert np.array_equal(shard["number"], read("recent4")[2]["number"])
    assert shard["cost"][2] <= 64
    more: tuple[dict[str, Any], ...] = (
        {},
        {"scale": 4},
        {"dtype": "bfloat16"},
        {"readout": "mean"},
    )
    assert len({extraction("once", **one).recipe(1) for one in more}) == 4


def test_full_context_can_be_cut_to_the_window_of_the_others() -> None:
    context, scale = 256, 4
    whole, cut, recent4 = (
        extract.budget_of(name, context, scale) for name in ("full", "cut-full", "recent4")
    )
    assert whole.longest == context
    assert cut.longest == recent4.longest == context // scale
    length = Reading.of(RUN).history.tokens
    assert length > context // scale
    found = cost.cost_of(Reading.of(RUN).history, "cut-full", len, context, scale)
    assert found.peak == context // scale
    assert found.apart < cost.cost_of(Reading.of(RUN).history, "full", len, context, scale).apart


def test_layers_read_together_are_those_read_alone() -> None:
    both = read("once")
    for layer in LAYERS:
        alone = read("once", layers=(layer,))
        assert close(both[layer]["candidates"], alone[layer]["candidates"])
        assert close(both[layer]["current"], alone[layer]["current"])


@pytest.mark.parametrize("construction", extract.CONSTRUCTIONS)
def test_the_counted_cost_is_what_reading_every_pair_takes(construction: str) -> None:
    encoder = encoder_for(extraction(construction))
    history, before = Reading.of(RUN).history, encoder.tokens_read
    read(construction, sample=sample.ALL)
    spent = encoder.tokens_read - before
    counted = cost.cost_of(
        history, construction, lambda text: len(encoder.tokenize(text)), encoder.context
    )
    assert spent == counted.shared
    assert counted.apart >= counted.shared
    assert 0 < counted.peak <= encoder.context


def test_an_extraction_goes_on_where_it_was_and_leaves_the_same_bytes(tmp_path: Path) -> None:
    work = extract.ExtractOne(extraction("local"), tmp_path)
    first = work(RUN)
    assert not first.found
    assert first.tokens_read > 0
    kept = {path.name: path.read_bytes() for path in tmp_path.glob("*.npz")}
    assert len(kept) == len(LAYERS)
    assert work(RUN).found
    assert not work(OTHER).found
    assert all((tmp_path / name).read_bytes() == held for name, held in kept.items())
    next(tmp_path.glob("*.npz")).unlink()  # as if killed between the layers of a run
    assert [work(RUN).found, work(OTHER).found].count(False) == 1


def test_several_constructions_of_a_run_leave_what_each_leaves_alone(tmp_path: Path) -> None:
    works = [
        extract.ExtractOne(extraction(name), tmp_path / "all") for name in extract.CONSTRUCTIONS
    ]
    together = extract.ExtractAll(tuple(works))
    assert [done.found for done in together(RUN)] == [False] * len(works)
    assert all(done.found for done in together(RUN))
    for work in works:
        extract.ExtractOne(work.extraction, tmp_path / "alone")(RUN)
        for layer in LAYERS:
            recipe = work.extraction.recipe(layer)
            one, other = (
                FeatureStore(tmp_path / name, recipe).read(RUN) for name in ("all", "alone")
            )
            assert np.array_equal(one["candidates"], other["candidates"])


def test_a_text_is_tokenized_once() -> None:
    encoder = opened("last", LAYERS, 16)
    assert encoder.tokenize("a text " * 40) is encoder.tokenize("a text " * 40)


def shelved(tmp_path: Path, construction: str = "local") -> Any:
    wanted = extraction(construction)
    extract.ExtractOne(wanted, tmp_path)(RUN)
    card = shelf.StudyCard(construction, "last", wanted.recipe(2), wanted.sample, (RUN.id,))
    shelf.put_card(tmp_path, card)
    return card


def test_a_folder_knows_its_recipes_and_gives_their_vectors(tmp_path: Path) -> None:
    card = shelved(tmp_path)
    assert shelf.cards([tmp_path]) == [(tmp_path, card)]
    vectors = shelf.load(tmp_path, card, {RUN.id: RUN})
    shard = read("local")[2]
    assert np.array_equal(vectors.candidate, shard["candidates"])
    assert np.array_equal(vectors.number, shard["number"])
    assert len(vectors.current) == len(vectors.candidate)
    assert vectors.tokens_read > 0


def test_bad_stores_are_one_sentence_each(tmp_path: Path) -> None:
    card = shelved(tmp_path)
    with pytest.raises(BadInput, match="features of run 'one', which is not among the runs given"):
        shelf.load(tmp_path, card, {})
    changed = Trajectory(RUN.id, RUN.messages[:-1], domain="Code")
    with pytest.raises(BadInput, match="run one has no features yet; extract them"):
        shelf.load(tmp_path, card, {RUN.id: changed})
    with pytest.raises(BadInput, match="holds no features; make them by statecomp extract"):
        shelf.cards([tmp_path / "nowhere"])
    store = extraction("local").stores(tmp_path, LAYERS)[2, "last"]
    shard = store.read(RUN)
    shard["candidates"][0, 0] = np.nan
    store.write(RUN, shard)
    with pytest.raises(BadInput, match="candidates of run one are not all numbers"):
        shelf.load(tmp_path, card, {RUN.id: RUN})
    foreign = extraction("local").stores(tmp_path, LAYERS)[1, "last"]
    foreign.path(RUN).replace(store.path(RUN))
    with pytest.raises(BadInput, match="not made from this run by this recipe"):
        shelf.load(tmp_path, card, {RUN.id: RUN})
    card.path(tmp_path).write_text('{"format": 0}')
    with pytest.raises(BadInput, match="is no card of features that this version writes"):
        shelf.cards([tmp_path])


def test_an_unknown_construction_or_readout_is_refused() -> None:
    with pytest.raises(BadInput, match="construction: is 'recent9', none of once"):
        extract.Extraction("recent9")
    with pytest.raises(BadInput, match="readout: is 'first'"):
        extract.Extraction("once", readout="first")
