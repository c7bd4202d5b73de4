"""Views keep their budget, know where interactions end, and say what was left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from statecomp.features import view
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Observation, Pinned, Summary

WORDS: dict[str, int] = {}


def tokenize(text: str) -> list[int]:
    """One token a word, the same word the same token."""
    return [WORDS.setdefault(word, len(WORDS)) for word in text.split()]


def step(number: int, words: int) -> Interaction:
    text = " ".join(f"w{number}.{place}" for place in range(words))
    seen = (Observation("", text),)
    return Interaction(f"i{number}", number, (), words, said=f"step{number}", observations=seen)


def history_of(sizes: list[int], task: int = 3) -> History:
    pinned = Pinned("p", (), task, "user", " ".join(f"task{n}" for n in range(task)))
    return History((pinned, *(step(n, size) for n, size in enumerate(sizes, start=1))))


SIZES = st.lists(st.integers(0, 60), min_size=1, max_size=8)


@given(SIZES, st.integers(0, 80), st.integers(1, 50), st.integers(1, 30), st.integers(1, 5))
def test_a_capped_view_never_exceeds_its_budget_and_records_the_cut(
    sizes: list[int], task: int, base: int, room: int, count: int
) -> None:
    history = history_of(sizes, task)
    for target in history.interactions:
        whole = view.recent(target, history, tokenize, count)
        capped = view.capped_recent(target, history, tokenize, count, base, room)
        assert len(capped.ids) <= base + room
        assert len(capped.ids) + capped.truncated == len(whole.ids)
        assert capped.shared <= base
        assert capped.ends[target.id] == len(capped.ids) - 1
        assert all(0 <= end < len(capped.ids) for end in capped.ends.values())


@given(SIZES, st.integers(1, 4))
def test_all_views_of_a_checkpoint_begin_with_the_same_tokens(sizes: list[int], count: int) -> None:
    history = history_of(sizes)
    views = [view.capped_recent(t, history, tokenize, count, 40, 20) for t in history.interactions]
    assert len({(v.shared, v.ids[: v.shared]) for v in views}) == 1


def test_the_paper_s_budget_is_the_default() -> None:
    history = history_of([3_000, 3_000, 3_000])
    capped = view.capped_recent(history.interactions[0], history, tokenize)
    assert len(capped.ids) == view.VIEW_BUDGET == 5_120


def test_a_full_view_knows_the_last_token_of_each_interaction() -> None:
    history = history_of([2, 0, 5])
    whole = view.full(history, tokenize)
    lengths = [len(tokenize(view.serialize(segment))) for segment in history.segments]
    assert whole.ends == {"i1": sum(lengths[:2]) - 1, "i2": sum(lengths[:3]) - 1} | {
        "i3": len(whole.ids) - 1
    }


def test_a_long_target_keeps_what_was_done_and_how_it_ended() -> None:
    cut = view.local(step(1, 100), tokenize, 10)
    words = [word for token in cut.ids for word, known in WORDS.items() if known == token]
    assert words[:2] == ["[assistant]", "step1"]
    assert words[-1] == "w1.99"
    assert cut.truncated == len(tokenize(view.serialize(step(1, 100)))) - 10


def test_the_state_ends_with_what_happened_last_and_begins_with_the_request() -> None:
    history = history_of([1, 1, 1, 1, 1, 1])
    state = view.state(history, tokenize, 2)
    assert state.ids[:1] == tuple(tokenize("[user]"))
    assert list(state.ends) == ["i5", "i6"]
    assert state.ends["i6"] == len(state.ids) - 1


def test_summaries_and_roles_are_read_as_what_they_are() -> None:
    assert view.serialize(Summary("s", (), 1, "done", ("i1",), 1, 1)) == "[summary]\ndone\n"
    assert view.serialize(Pinned("p", (), 1, "system", "be kind")) == "[system]\nbe kind\n"


def test_reasoning_that_clients_drop_later_does_not_change_what_is_read() -> None:
    silent = Interaction("i", 1, (), 1, said="ls")
    thinking = Interaction("i", 1, (), 1, said="ls", reasoning="let me look")
    assert view.serialize(silent) == view.serialize(thinking)
