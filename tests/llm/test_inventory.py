"""What a span showed the agent, and which of it a summary lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.llm.extract import OVERSHOOT, ExtractiveSummarizer
from statecomp.llm.inventory import chosen, inventory, rows_of, worth
from statecomp.llm.verify import verify
from statecomp.tokens import ESTIMATE
from tests.llm.test_extract import NOTHING, step

SONGS = '{"playlist_id": 338, "song_ids": [136, 156, 204, 208, 231], "owner": "joyce@mail.example"}'
IDS = st.lists(st.from_regex(r"[a-f]{3}[0-9]{4}", fullmatch=True), min_size=1, max_size=40)


def seen(text: str, number: int = 1) -> Interaction:
    return step(number, seen=text)


def test_values_stand_behind_the_name_of_their_field() -> None:
    rows = rows_of(inventory([seen(SONGS)], NOTHING))
    assert "playlist_id: 338" in rows
    assert "song_ids: 136" in rows
    assert "owner: joyce@mail.example" in rows


def test_what_the_rest_of_the_history_holds_is_not_listed() -> None:
    rest = FactIndex([seen("the file is /srv/app/settings.toml", 9)])
    names = [n.text for n in inventory([seen("/srv/app/settings.toml and /srv/app/main.py")], rest)]
    assert names == ["/srv/app/main.py"]


def test_a_name_shown_twice_is_listed_where_it_was_seen_last() -> None:
    names = inventory([seen("id ab1234x", 1), seen("id ab1234x", 2)], NOTHING)
    assert [(n.text, n.step) for n in names] == [("ab1234x", 1)]


@given(IDS, st.integers(0, 120))
def test_the_list_fits_its_room_and_prefers_what_is_worth_more(ids: list[str], room: int) -> None:
    names = inventory([seen("\n".join(ids))], NOTHING)
    taken = chosen(names, "", room)
    assert sum(len(n.text) / 3.2 + 1 for n in taken) <= room
    left = [n for n in names if n not in taken]
    alike = [n for n in left if any(len(n.text) == len(t.text) for t in taken)]
    assert all(worth(n) <= max(map(worth, taken)) for n in alike)


@given(IDS)
def test_a_summary_lists_ids_that_sentences_would_never_carry(ids: list[str]) -> None:
    span = [seen("\n".join(f"row {place}: {name}" for place, name in enumerate(ids)) + "\n" * 4)]
    record = ExtractiveSummarizer(budget=0.6, least=0).summarize(span, NOTHING)
    verified = verify(record, span, NOTHING)
    distinct = set(ids)
    if len(distinct) >= 10:
        assert sum(name in verified.body for name in distinct) >= len(distinct) // 3


def test_a_list_is_no_longer_than_the_summary_may_be() -> None:
    span = [seen("\n".join(f"/srv/data/part-{n:04}.csv" for n in range(800)))]
    source = ESTIMATE(span[0].text)
    record = ExtractiveSummarizer(budget=0.25, dense=0).summarize(span, NOTHING)
    assert ESTIMATE(record.body) <= source * 0.25 * OVERSHOOT + 1
