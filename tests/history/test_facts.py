from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.interaction import Call, Interaction, Observation, Pinned, Segment, Summary


def interaction(name: str, said: str = "", arguments: str = "{}", seen: str = "") -> Interaction:
    calls = (Call(f"c-{name}", "run", arguments),)
    return Interaction(
        id=name, number=1, messages=(), tokens=0, said=said, calls=calls,
        observations=(Observation(f"c-{name}", seen),),
    )  # fmt: skip


def pinned(name: str, text: str) -> Pinned:
    return Pinned(name, (), 0, "user", text)


def test_the_agents_words_are_kept_apart_from_what_it_was_told() -> None:
    facts = facts_of(
        interaction("a", said="I set max_rows", arguments='{"p": "x\\n/srv/q"}', seen="id 98765")
    )
    assert facts.own == {"max_rows", "/srv/q"}
    assert facts.observed == {"98765"}


def test_pinned_text_and_summaries_are_observed() -> None:
    assert facts_of(pinned("p", "keep /srv/a")).observed == {"/srv/a"}
    summary = Summary("s", (), 0, "was /srv/b", (), 1, 1)
    assert facts_of(summary).observed == {"/srv/b"}
    assert facts_of(summary).own == frozenset()


def test_one_id_with_two_texts_is_read_twice() -> None:
    assert facts_of(pinned("same", "/srv/a")).observed == {"/srv/a"}
    assert facts_of(pinned("same", "/srv/b")).observed == {"/srv/b"}


def test_an_identifier_stays_until_its_last_holder_is_removed() -> None:
    first, second = interaction("a", seen="see ABC-12"), interaction("b", said="fixed ABC-12")
    index = FactIndex([first, second])
    assert index.agent_used("ABC-12")
    index.remove(second)
    assert "ABC-12" in index
    assert not index.agent_used("ABC-12")
    index.remove(first)
    assert "ABC-12" not in index


def test_adding_twice_counts_once_and_removing_a_stranger_is_no_mistake() -> None:
    segment = pinned("p", "/srv/a")
    index = FactIndex([segment, segment])
    index.remove(pinned("q", "/srv/a"))
    assert "/srv/a" in index
    index.remove(segment)
    assert "/srv/a" not in index


NAMES = ["/srv/a", "/srv/b", "x_1", "ABC-12"]


@given(
    st.lists(st.lists(st.sampled_from(NAMES), max_size=3), max_size=6),
    st.lists(st.integers(0, 5), max_size=6),
)
def test_the_index_equals_one_built_from_what_is_left(
    texts: list[list[str]], removed: list[int]
) -> None:
    segments: list[Segment] = [pinned(f"p{n}", " ".join(t)) for n, t in enumerate(texts)]
    index = FactIndex(segments)
    for place in removed:
        if place < len(segments):
            index.remove(segments[place])
    left = FactIndex(s for n, s in enumerate(segments) if n not in removed)
    assert [name in index for name in NAMES] == [name in left for name in NAMES]
