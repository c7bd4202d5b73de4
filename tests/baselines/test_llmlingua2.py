"""LLMLingua-2: words of old observations go, the least telling first, marks and digits stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.baselines.llmlingua2 import Lingua, chunks, percentile
from statecomp.baselines.token_models import TokenPiece, open_token_model
from statecomp.config import Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy
from statecomp.tokens import ESTIMATE
from tests.baselines.steps import WIRE, growing, history, run_of
from tests.baselines.tiny_models import tiny_xlm_r
from tests.features.small_model import folder, needs_model

PAGE = "the river is long and the boat on the river was made of teak by carpenters in Lyon "


def lingua(options: str = "") -> Strategy:
    return strategy_factory(f"llmlingua2:{options}", Settings())(Trajectory("run", ()), WIRE)


class Told:
    """A token model that was told which words to keep, and how surely."""

    def __init__(self, **chances: float) -> None:
        self._chances = chances

    def pieces(self, chunk: str) -> Sequence[TokenPiece]:
        found, place = [], 0
        for word in chunk.split():
            start = chunk.index(word, place)
            place = start + len(word)
            found.append(TokenPiece(start, place, self._chances.get(word, 0.1)))
        return found


def test_only_observations_older_than_the_last_two_steps_are_touched() -> None:
    request = history(run_of(4, lambda n: PAGE * 5))
    sent = lingua().before_request(request).history
    same = [a is b for a, b in zip(sent.segments, request.segments, strict=True)]
    assert same == [True, False, False, True, True]
    short, full = sent.interactions[0], request.interactions[0]
    assert short.calls == full.calls
    assert short.said == full.said
    assert ESTIMATE(short.observed) < 0.7 * ESTIMATE(full.observed)


def test_an_old_observation_is_compressed_once_and_stays_so() -> None:
    strategy = lingua()
    views = [strategy.before_request(request).history for request in growing(6)]
    first = {view.interactions[0].id for view in views[3:]}
    assert len(first) == 1


def test_the_words_above_the_percentile_stay_in_order() -> None:
    text = "alpha beta gamma delta"
    model = Told(alpha=0.9, gamma=0.8)
    assert Lingua(model).compress(text, 0.5) == "alpha gamma"
    assert Lingua(model).compress(text, 0.1) == "alpha"


def test_line_ends_marks_and_digits_are_forced() -> None:
    text = "the file\n/etc/app.conf has port = 8080 and more words that say little\nthe end"
    short = Lingua().compress(text, 0.2)
    assert "8080" in short
    assert "=" in short
    assert short.count("\n") == 2
    assert "little" not in short


@given(st.text(), st.sampled_from([0.1, 0.33, 0.5, 0.9]))
def test_nothing_is_invented_or_moved(text: str, rate: float) -> None:
    rest = iter("".join(text.split()))
    short = "".join(Lingua().compress(text, rate).split())
    assert all(char in rest for char in short)


@given(st.text("ab .\n", max_size=3000), st.integers(5, 60))
def test_chunks_are_the_text_cut_at_sentence_ends_where_there_are_some(
    text: str, longest: int
) -> None:
    parts = list(chunks(text, longest))
    assert "".join(parts) == text
    assert all(len(part) <= 2 * longest for part in parts)
    for part in parts[:-1]:
        assert part[-1] in ".\n" or not set(part[1:]) & set(".\n")


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1), st.floats(0, 100))
def test_a_percentile_weighs_each_word_by_its_tokens(
    pairs: list[tuple[float, int]], percent: float
) -> None:
    numpy = pytest.importorskip("numpy")
    values, weights = [v for v, _ in pairs], [w for _, w in pairs]
    expected = float(numpy.percentile(numpy.repeat(values, weights), percent))
    assert percentile(values, weights, percent) == pytest.approx(expected, abs=1e-9)


def test_a_budget_in_tokens_acts_only_above_it_and_sets_the_rate() -> None:
    request = history(run_of(8, lambda n: PAGE * 5))
    assert lingua("budget=100000").before_request(request).history is request
    whole = sum(ESTIMATE(i.observed) for i in request.interactions[:-2])
    sent = lingua(f"budget={whole // 2}").before_request(request).history
    left = sum(ESTIMATE(i.observed) for i in sent.interactions[:-2])
    assert 0.2 * whole < left < 0.75 * whole


def test_the_whole_history_can_be_flattened_to_a_budget() -> None:
    request = history(run_of(8, lambda n: PAGE * 5))
    strategy = lingua("place=history,budget=600")
    sent = strategy.before_request(request).history
    assert sent.shape() == "psii"
    assert sent.summaries[0].tokens < 700
    assert lingua("place=history,budget=99999").before_request(request).history is request


def test_a_classifier_that_is_not_there_is_one_clear_sentence(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(BadInput, match="the classifier cannot be loaded"):
        open_token_model("llmlingua2", str(tmp_path))


def test_the_published_form_of_classifier_is_read_at_every_sub_token(tmp_path: Path) -> None:
    """A tiny untrained XLM-R: the loading code is the real one."""
    tiny_xlm_r(tmp_path, "XLMRobertaForTokenClassification")
    text = "the river \ud800 " * 400
    pieces = open_token_model("llmlingua2", str(tmp_path)).pieces(text)
    assert len(pieces) == 1200
    assert [text[p.start : p.stop] for p in pieces[:2]] == ["the", "river"]
    assert all(0.0 <= piece.keep <= 1.0 for piece in pieces)


@needs_model
def test_the_likelihood_model_keeps_what_could_not_be_predicted() -> None:
    model = open_token_model("likelihood", str(folder()))
    text = "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, zebra"
    keep = {text[p.start : p.stop].strip(): p.keep for p in model.pieces(text)}
    rarest = max((name for name in keep if "z" in name), key=len)
    assert keep[rarest] > keep["Saturday"]
