"""A router on hidden states online: it reads what it learned from, once, in time, or says why not.

The model is the real embedded one, two layers of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from statecomp.annotation.records import Reading
from statecomp.controller.controller import Controller
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput, ScoringFailed
from statecomp.features.constructions import CONSTRUCTIONS, budget_of
from statecomp.features.evidence import EvidenceReader
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Observation, Pinned, Segment, Summary
from statecomp.router.bundle import Bundle
from statecomp.router.calibrate import Raw
from statecomp.router.hidden.opened import Serving, must_be, must_be_here
from statecomp.router.hidden.reader import HiddenReader
from statecomp.router.hidden.spec import Encoder, Spec, parse
from statecomp.router.network import Layer, Network
from statecomp.router.scorer import Late, RouterScorer, reasons
from statecomp.testing.words import OneLiner, history_of
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.features.small_model import TINY, folder, frozen, needs_model, tiny
from tests.vectors.made_up import run_of

pytestmark = needs_model
LIBRARIES = "the frozen model needs statecomp[encoder,learn]"
candidates = pytest.importorskip("statecomp.router.hidden.candidates", reason=LIBRARIES)
extract = pytest.importorskip("statecomp.vectors.extract", reason=LIBRARIES)
shelf = pytest.importorskip("statecomp.vectors.shelf", reason=LIBRARIES)
blocks = pytest.importorskip("statecomp.vectors.blocks", reason=LIBRARIES)
LAYER, RUN = 2, run_of("one", 6)
BEHIND = ("recent2", "recent4", "capped-recent4")


def spec_of(construction: str = "capped-recent4", context: str = "hybrid", **more: Any) -> Spec:
    model = frozen(LAYER)
    encoder = Encoder(str(folder()), LAYER, model.weights, model.dtype, model.width, model.context)
    budget = budget_of(construction, model.context)
    return Spec(
        construction, context, **{"evidence": False, "encoder": encoder, "budget": budget, **more}
    )


def close(one: Any, other: Any) -> bool:
    return bool(np.abs(one - other).max() <= 1e-3 * np.abs(other).max())


def prefix(k: int) -> History:
    segments = Reading.of(RUN).history.segments
    place = next(n for n, s in enumerate(segments) if getattr(s, "number", None) == k)
    return History(segments[:place])


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_online_a_router_reads_what_it_learned_from(construction: str, tmp_path: Any) -> None:
    reads = spec_of(construction, evidence=True)
    wanted = extract.Extraction(construction, (LAYER,), encoder=str(folder()))
    extract.ExtractOne(wanted, tmp_path)(RUN)
    card = shelf.StudyCard(construction, "last", wanted.recipe(LAYER), wanted.sample, (RUN.id,))
    vectors = shelf.load(tmp_path, card, {RUN.id: RUN})
    learned = blocks.inputs(vectors, reads)
    reader = HiddenReader(reads, Serving(device="cpu"))
    assert list(reader.NAMES) == [*reads.columns(), *EvidenceReader.NAMES]
    assert learned.shape[1] == len(reader.NAMES)
    for k in (2, 4, 6):
        ids, x = reader.read(prefix(k))
        rows = learned[vectors.checkpoint == k]
        assert list(ids) == [i.id for i in prefix(k).interactions]
        assert close(x[:, 1:], rows[:, 1:])  # column 0 only names the state


def step(number: int, seed: int) -> Interaction:
    text = f"{seed}: order {number * 37 + seed} was refused by worker {seed % 7}"
    return Interaction(
        f"i{number}-{seed}",
        number,
        (),
        40,
        said=f"grep {seed}",
        observations=(Observation("", text),),
    )


def changed(random: Random, segments: list[Segment], fresh: Iterator[int]) -> list[Segment]:
    """The history a step later: an interaction more, a commit, or an edited past."""
    steps = [n for n, s in enumerate(segments) if isinstance(s, Interaction)]
    what = random.choice(("more", "more", "commit", "edit")) if len(steps) > 4 else "more"
    number = 1 + sum(isinstance(s, Interaction) for s in segments)
    if what == "more":
        return [*segments, step(number, next(fresh))]
    place = random.choice(steps[1:-2])
    if what == "edit":
        # Ids are rolling: whatever stands behind an edit is another interaction.
        kept = segments[:place]
        later = (s for s in segments[place:] if isinstance(s, Interaction))
        return [*kept, *(step(s.number, next(fresh)) for s in later)]
    source = segments[place]
    summary = Summary(f"s{next(fresh)}", (), 9, "orders were refused", (source.id,), 1, 1)
    return [*History(tuple(segments)).replace(Span(place, place + 1), summary).segments]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_what_follows_never_changes_a_vector_and_no_commit_or_edit_leaves_a_trace(
    construction: str,
) -> None:
    """Causal prefix invariance, by a reader that keeps what it can."""
    random, fresh = Random(construction), count(1)
    budget = budget_of(construction, frozen(LAYER).context)
    kept = candidates.candidates_of(frozen(LAYER), construction, budget)
    segments: list[Segment] = [
        Pinned("p", (), 9, "user", "Find out why the import fails."),
        step(1, 0),
    ]
    known: dict[str, Any] = {}
    for _ in range(14):
        history = History(tuple(segments))
        found = kept.read(history, lambda: True)
        assert list(found.ids) == [i.id for i in history.interactions]
        assert not found.stale
        if construction in BEHIND:
            new = candidates.candidates_of(frozen(LAYER), construction, budget)
            anew = new.read(history, lambda: True)
            assert close(found.candidates, anew.candidates)
            assert close(found.current, anew.current)
        else:
            rows = dict(zip(found.ids, found.candidates, strict=True))
            assert all(np.array_equal(rows[name], known[name]) for name in rows.keys() & known)
            known |= rows
        segments = changed(random, segments, fresh)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_same_state_again_reads_nothing(construction: str) -> None:
    model = frozen(LAYER)
    kept = candidates.candidates_of(model, construction, budget_of(construction, model.context))
    first = kept.read(prefix(5), lambda: True)
    other = kept.read(prefix(3), lambda: True)
    before = model.tokens_read
    again = kept.read(prefix(3), lambda: True)
    assert model.tokens_read == before
    assert np.array_equal(again.candidates, other.candidates)
    assert len(first.ids) == 4


def test_a_state_that_only_grew_is_extended() -> None:
    model = frozen(LAYER)
    kept = candidates.candidates_of(model, "capped-recent4", budget_of("capped-recent4", 8_192))
    kept.read(prefix(2), lambda: True)
    before = model.tokens_read
    kept.read(prefix(3), lambda: True)
    spent = model.tokens_read - before
    fresh = candidates.candidates_of(model, "capped-recent4", budget_of("capped-recent4", 8_192))
    before = model.tokens_read
    fresh.read(prefix(3), lambda: True)
    assert spent < model.tokens_read - before


@pytest.mark.parametrize("name", TINY)
def test_the_larger_presets_are_read_online_as_they_are_offline(name: str, tmp_path: Path) -> None:
    encoders = pytest.importorskip("statecomp.features.encoder", reason=LIBRARIES)
    states = pytest.importorskip("statecomp.features.states", reason=LIBRARIES)
    model = tiny(name, tmp_path)
    opened = encoders.open_encoder(encoders.EncoderSettings(model, device="cpu"))
    encoder = Encoder(model, 4, opened.weights, "float32", opened.width, opened.context)
    for construction in ("capped-recent4", "once"):
        budget = budget_of(construction, 8_192)
        reads = Spec(construction, "topk", evidence=False, encoder=encoder, budget=budget)
        reader = HiddenReader(reads, Serving(device="cpu"))
        as_views = "full" if construction == "once" else construction
        for k in (3, 5):
            _, x = reader.read(prefix(k))
            fresh = states.read_views(opened, prefix(k), as_views)
            assert close(x[:, :32], fresh.candidates)
            assert close(x[0, 32:64], fresh.current)


def often(times: int) -> Callable[[], bool]:
    """May go on so many times."""
    left = iter(range(times))
    return lambda: next(left, None) is not None


def test_a_reader_out_of_time_goes_on_with_those_it_neglected_longest() -> None:
    model, history = frozen(LAYER), Reading.of(run_of("long", 9)).history
    kept = candidates.candidates_of(model, "capped-recent4", budget_of("capped-recent4", 8_192))
    with pytest.raises(TimeoutError):
        kept.read(history, often(0))
    some = kept.read(history, often(2))  # the state, and one batch of targets
    assert list(some.ids) == [i.id for i in history.interactions[: candidates.AT_ONCE]]
    rest = kept.read(history, often(1))
    assert list(rest.ids) == [i.id for i in history.interactions[: 2 * candidates.AT_ONCE]]
    assert not rest.stale
    later = History((*history.segments, step(10, 77)))
    mixed = kept.read(later, often(2))
    assert {*mixed.ids} - mixed.stale == {i.id for i in later.interactions[-2:]} | {
        i.id for i in later.interactions[:2]
    }
    assert len(mixed.ids) == 10


@pytest.mark.parametrize("construction", ["once", "local"])
def test_what_was_read_before_the_time_was_over_is_not_read_again(construction: str) -> None:
    model, history = frozen(LAYER), Reading.of(run_of("longer", 9)).history
    kept = candidates.candidates_of(model, construction, budget_of(construction, 8_192))
    with pytest.raises(TimeoutError):
        kept.read(history, often(0))
    before = model.tokens_read
    tries = 0
    while True:
        tries += 1
        try:
            if len(kept.read(history, often(2)).ids) == 9:
                break
        except TimeoutError:
            continue
    assert tries > 1
    whole = candidates.candidates_of(model, construction, budget_of(construction, 8_192))
    spent, before = model.tokens_read - before, model.tokens_read
    whole.read(history, lambda: True)
    # `once` begins anew with an overlap after each stop.
    assert spent <= 2 * (model.tokens_read - before) + 9 * 240


@dataclass
class Slow:
    """A reader that has time for the first `rows` interactions."""

    rows: int
    NAMES: tuple[str, ...] = ("read",)

    def read(self, history: History) -> Any:
        ids = [i.id for i in history.interactions]
        x = np.array([[1.0]] * len(ids), np.float32)
        if self.rows < len(ids):
            raise Late(ids, x, frozenset(ids[self.rows :]))
        return ids, x


def test_where_the_time_is_over_the_previous_scores_stand() -> None:
    layer = Layer(np.full((1, 1), 8.0, np.float32), np.full(1, -4.0, np.float32))
    router = Network(np.zeros(1, np.float32), np.ones(1, np.float32), (layer,))
    reader = Slow(3)
    scorer = RouterScorer(reader, Bundle(router, ("read",), 0.6, Raw(), "drawn", "by hand"))
    history = history_of("prrrr")
    ids = [i.id for i in history.interactions]
    assert list(scorer.score(history)) == ids[:3]  # the fourth never had a score, and gets none
    reader.rows = 1
    again = scorer.score(history)
    assert {*again} == {*ids[:3]}


def test_where_there_was_no_time_for_anything_the_note_says_so() -> None:
    layer = Layer(np.full((1, 1), 8.0, np.float32), np.full(1, -4.0, np.float32))
    router = Network(np.zeros(1, np.float32), np.ones(1, np.float32), (layer,))
    scorer = RouterScorer(Slow(0), Bundle(router, ("read",), 0.6, Raw(), "drawn", "by hand"))
    history = Reading.of(RUN).history
    view = Controller(scorer, OneLiner(), OpenAIChat(), Gates(0.5, 1, 50)).rewrite(history)
    assert view.history is history
    assert "there was no time to read any of the history" in view.note


def served(reads: Spec) -> RouterScorer:
    width = len(reads.columns())
    layer = Layer(np.zeros((1, width), np.float32), np.ones(1, np.float32))
    router = Network(np.zeros(width, np.float32), np.ones(width, np.float32), (layer,))
    bundle = Bundle(router, reads.columns(), 0.6, Raw(), "none", "by hand", reads)
    return RouterScorer(HiddenReader(reads, Serving(device="cpu")), bundle, reads.encoder)


def test_a_reason_names_a_vector_as_one_feature() -> None:
    scorer = served(spec_of("local", "none", evidence=False))
    ids, x = scorer.reader.read(Reading.of(RUN).history)
    layer = Layer(np.ones((1, x.shape[1]), np.float32), np.ones(1, np.float32))
    router = Network(np.zeros(x.shape[1], np.float32), np.ones(x.shape[1], np.float32), (layer,))
    for row, found in zip(x, reasons(replace(scorer.bundle, router=router), x), strict=True):
        assert {reason.feature for reason in found} <= {"candidate", "current"}
        assert all(
            reason.value == pytest.approx(np.linalg.norm(row[:576]))
            for reason in found
            if reason.feature == "candidate"
        )
    assert len(ids) == len(x)


def test_other_weights_than_the_bundles_leave_the_history_as_it_was_and_say_why() -> None:
    reads = spec_of(context="none")
    assert reads.encoder is not None
    other = replace(reads, encoder=replace(reads.encoder, weights="0" * 64))
    history = Reading.of(RUN).history
    controller = Controller(served(other), OneLiner(), OpenAIChat(), Gates(0.5, 1, 50))
    view = controller.rewrite(history)
    assert view.history is history
    assert "holds other weights than those the router learned from (layer 2 of" in view.note
    assert (
        Controller(served(reads), OneLiner(), OpenAIChat(), Gates(0.5, 1, 50))
        .rewrite(history)
        .commits
    )


def test_a_context_shorter_than_the_budget_is_one_sentence() -> None:
    reads = spec_of()
    assert reads.encoder is not None
    with pytest.raises(BadInput, match="reads 8,192 tokens at once, and the router needs 9,000"):
        must_be(frozen(LAYER), reads.encoder, 9_000)


def test_a_vector_that_is_no_number_is_one_sentence() -> None:
    import torch

    reads = spec_of("local", "none", readout="mean")
    scorer = served(reads)
    assert scorer.score(Reading.of(RUN).history)
    shared: Any = scorer.reader
    decoder = shared._model._encoder._decoder
    weight = decoder.layers[0].mlp.down_proj.weight
    held = weight.detach().clone()
    try:
        with torch.no_grad():
            weight.fill_(float("nan"))
        with pytest.raises(ScoringFailed, match="gives vectors in which not all are numbers"):
            scorer.score(Reading.of(run_of("another", 4)).history)
    finally:
        with torch.no_grad():
            weight.copy_(held)


def test_a_device_without_memory_is_one_sentence() -> None:
    import torch

    reads = spec_of("local", "none", readout="mean")
    scorer = served(reads)
    assert scorer.score(Reading.of(RUN).history)
    shared: Any = scorer.reader

    def full(*args: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB ...")

    hook = shared._model._encoder._decoder.layers[0].register_forward_pre_hook(full)
    try:
        with pytest.raises(
            ScoringFailed, match=r"the memory of cpu is too small for [\d,]+ tokens"
        ):
            scorer.score(Reading.of(run_of("a third", 4)).history)
    finally:
        hook.remove()
    assert scorer.score(Reading.of(run_of("a third", 4)).history)


def test_a_model_that_is_not_here_is_refused_before_the_first_history() -> None:
    reads = spec_of()
    assert reads.encoder is not None
    gone = replace(reads, encoder=replace(reads.encoder, name="qwen2.5-7b"))
    with pytest.raises(BadInput, match=r"statecomp models pull qwen2\.5-7b"):
        must_be_here(gone)
    must_be_here(gone, Serving(model=str(folder())))
    nowhere = replace(reads, encoder=replace(reads.encoder, name="/no/such/folder"))
    with pytest.raises(BadInput, match="/no/such/folder is not on this machine"):
        must_be_here(nowhere)


def test_what_cannot_be_read_is_one_sentence() -> None:
    for text, sentence in (
        ("recent9", "representation: is 'recent9', none of evidence, once"),
        ("once+age", "the only thing to add is \\+evidence"),
    ):
        with pytest.raises(BadInput, match=sentence):
            parse(text)
    with pytest.raises(BadInput, match="has neither vectors nor a context"):
        parse("evidence", "gru")
    assert str(parse("capped-recent4+evidence", "hybrid")) == "capped-recent4+evidence + hybrid"


def test_the_recipe_of_the_paper_opens_no_model_before_it_scores() -> None:
    code = (
        "import sys, statecomp; statecomp.StateComp(recipe='paper');"
        "print(*(name for name in sys.modules if name in ('torch', 'transformers')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
