"""What a span showed the agent, and which of it a summary lists."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.inventory import inventory, listing_cost, rows_of
from statecomp.records.shown import form_of
from statecomp.records.verify import verify
from statecomp.tokens import ESTIMATE
from tests.records.test_extract import NOTHING, step

SONGS = '{"playlist_id": 338, "song_ids": [136, 156, 204, 208, 231], "owner": "joyce@mail.example"}'
IDS = st.lists(st.from_regex(r"[a-f]{3}[0-9]{4}", fullmatch=True), min_size=1, max_size=40)


def seen(text: str, number: int = 1) -> Interaction:
    return step(number, seen=text)


def test_values_stand_behind_the_name_of_their_field() -> None:
    rows = rows_of(inventory([seen(SONGS)], NOTHING))
    assert "owner: joyce@mail.example" in rows


def test_amounts_are_not_listed_without_what_they_belong_to() -> None:
    assert not inventory([seen("premium 7.4 of 1,250.00 and 'Night shift'")], NOTHING)


def test_what_the_rest_of_the_history_holds_is_not_listed() -> None:
    rest = FactIndex([seen("the file is /srv/app/settings.toml", 9)])
    names = [n.text for n in inventory([seen("/srv/app/settings.toml and /srv/app/main.py")], rest)]
    assert names == ["/srv/app/main.py"]


def test_a_name_shown_twice_is_listed_where_it_was_seen_last() -> None:
    names = inventory([seen("id ab1234x", 1), seen("id ab1234x", 2)], NOTHING)
    assert [(n.text, n.step) for n in names] == [("ab1234x", 1)]


def test_a_field_is_paid_for_once() -> None:
    names = inventory([seen('{"song_id": "a1b2c3"}\n{"song_id": "d4e5f6"}')], NOTHING)
    first, second = (name for name in names if name.key == "song_id")
    alone = listing_cost(first, set())
    assert listing_cost(second, {(first.step, first.key)}) < alone


@given(IDS)
def test_a_summary_lists_ids_that_sentences_would_never_carry(ids: list[str]) -> None:
    span = [seen("\n".join(f"row {place}: {name}" for place, name in enumerate(ids)) + "\n" * 4)]
    record = ExtractiveSummarizer(budget=0.6, least=0).summarize(span, Situation(NOTHING))
    verified = verify(record, span, Situation(NOTHING))
    distinct = set(ids)
    if len(distinct) >= 10:
        assert sum(name in verified.body for name in distinct) >= len(distinct) // 3


@pytest.mark.parametrize(("worth", "most"), [(0, 0.25), (20_000, 0.75), (10**9, 0.75)])
def test_a_list_is_no_longer_than_the_summary_may_be(worth: int, most: float) -> None:
    span = [seen("\n".join(f"/srv/data/part-{n:04}.csv" for n in range(800)))]
    source = ESTIMATE(span[0].text)
    summarizer = ExtractiveSummarizer(budget=0.25, name_worth=worth, dense=0)
    assert ESTIMATE(summarizer.summarize(span, Situation(NOTHING)).body) <= source * most + 1


def test_an_agent_that_works_through_a_list_is_expected_to_go_on() -> None:
    ids = [str(uuid5(NAMESPACE_URL, str(n))) for n in range(20)]
    span = [seen("\n".join(f"page {n}: {name}" for n, name in enumerate(ids)))]
    taken = FactIndex(step(n + 2, f'{{"page": "{ids[n]}"}}') for n in range(3))

    def odds(rest: FactIndex) -> dict[str, float]:
        return {name.text: name.odds for name in inventory(span, rest)}

    fresh, going_on = odds(NOTHING), odds(taken)
    assert all(going_on[name] > fresh[name] for name in ids[3:])
    assert going_on[ids[3]] > going_on[ids[10]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("27460215-0acf-8111-9285-ce91b4751dc2", "27460215-0acf-81d5-8818-f1590bdf5646"),
        ("573df0ce8a18d894", "159d10afa59e7dc9"),
        ("https://a.example/x", "https://a.example/y/z.html"),
        ("/srv/app/main.py", "tests/check.py"),
        ("INV-2041", "INV-7"),
        ("A long title", "another title of some length"),
    ],
)
def test_names_of_one_list_have_one_form(one: str, other: str) -> None:
    assert form_of(one) == form_of(other)
    assert form_of(one) != form_of("word_of_another_sort")
