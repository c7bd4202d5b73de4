"""Lists of things as tables: whole rows with their header, what all share once, nothing cut."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.listing.columns import (
    NOTHING,
    Path,
    counted,
    grid_of,
    kind_of,
    table_of,
)
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.unwrap import unwrapped

ORDERS = [
    {
        "id": 10 + n,
        "status": "completed",
        "total_tax": "0.00",
        "billing": {"first_name": f"Ann{n}", "email": f"ann{n}@example.org"},
        "line_items": [{"id": n, "name": f"Lamp {n}"}],
    }
    for n in range(8)
]


def rows_in(data: object) -> list[tuple[str, str]]:
    pieces = cut(json.dumps(data))
    return [(p.owner.label if p.owner else "", p.text) for p in pieces if p.form is Form.ROW]


def test_each_order_is_one_row_with_what_it_is_referred_to_by() -> None:
    rows = rows_in(ORDERS)
    (header,) = {header for header, _ in rows}
    assert "id" in header.split(" | ")
    assert "billing email" in header
    (row,) = (text for _, text in rows if "Ann3" in text)
    assert "13" in row.split(" | ")
    assert "ann3@example.org" in row


def test_what_all_have_in_common_is_said_once() -> None:
    texts = [text for _, text in rows_in(ORDERS)]
    assert [text for text in texts if "completed" in text] == ["each: status: completed"]
    assert not any("0.00" in text for text in texts)


def test_a_thing_without_a_value_has_a_cell_all_the_same() -> None:
    orders = [dict(order, note=f"n-{n}") for n, order in enumerate(ORDERS)]
    del orders[3]["status"]
    orders[4]["status"] = "open"
    for header, row in rows_in(orders):
        assert row.startswith("each: ") or len(row.split(" | ")) == len(header.split(" | "))
    (row,) = (text for _, text in rows_in(orders) if "Ann3" in text)
    assert NOTHING in row.split(" | ")


def test_options_keep_their_ids() -> None:
    options = [{"id": f"0{n}1961ec-55e6", "name": f"Food {n}", "color": "pink"} for n in range(9)]
    rows = rows_in({"properties": {"Tags": {"type": "select", "options": options}}})
    assert any("Food 4 | 041961ec-55e6" in text for _, text in rows)


def test_a_sheet_told_cell_by_cell_is_a_sheet() -> None:
    cells = [
        {"address": f"{column}{row}", "value": f"{column.lower()}-{row}", "row": row}
        for row in range(1, 6)
        for column in "ABC"
    ]
    table = grid_of(cells)
    assert table is not None
    assert table.header == "a-1 | b-1 | c-1"
    assert table.rows[1] == "a-3 | b-3 | c-3"
    assert ("sheet: a-1 | b-1 | c-1", "a-5 | b-5 | c-5") in [
        (header.replace("cells", "sheet"), text) for header, text in rows_in({"cells": cells})
    ]


def test_an_answer_that_was_cut_inside_its_envelope_is_still_read() -> None:
    inner = json.dumps([{"id": n, "name": f"row {n}"} for n in range(40)])
    whole = json.dumps({"type": "text", "text": inner})
    payload = unwrapped(Observation("c", whole[:700] + "\n(too long, 700 shown)"))
    assert payload.text.startswith('[{"id": 0, "name": "row 0"}')
    assert any("row 9" in piece.text for piece in cut(payload.body))


def test_blocks_of_text_are_rows_too() -> None:
    text = "\n\n".join(
        f"Title: Paper {n}\nPublication Year: 201{n}\nAuthor IDs: x{n}, y{n}\nURL: https://h.org/{n}"
        for n in range(6)
    )
    rows = [piece for piece in cut(text) if piece.form is Form.ROW]
    assert any(p.text == "Paper 2 | 2012 | https://h.org/2" for p in rows), rows
    assert not any("Author IDs" in piece.text for piece in cut(text))


PAPERS = "\n\n".join(
    f"## Paper {n}\n\nPublished in 201{n}\n\n### Abstract\n\nSomething was shown in this study.\n"
    f"**Link to paper:** [https://h.org/{n}](https://h.org/{n})\n\n---"
    for n in range(4)
)


def test_sections_with_the_same_keys_are_rows() -> None:
    rows = [piece for piece in cut(PAPERS) if piece.form is Form.ROW]
    assert [piece.text for piece in rows] == [f"Paper {n} | https://h.org/{n}" for n in range(4)]
    assert {piece.owner.label for piece in rows if piece.owner} == {"title | Link to paper"}


def test_a_heading_stands_with_the_one_above_it() -> None:
    owners = {piece.owner.label for piece in cut(PAPERS) if piece.owner and "shown" in piece.text}
    assert owners == {f"Paper {n}; Abstract" for n in range(4)}


def test_a_list_of_things_is_kept_whole_where_it_is_cheap() -> None:
    noise = "\n".join(f"log line {n} of the service, nothing to see" for n in range(600))
    span = [
        Interaction("a", 1, (), 900, observations=(Observation("c", json.dumps(ORDERS)),)),
        Interaction("b", 2, (), 9000, observations=(Observation("d", noise),)),
    ]
    body = ExtractiveSummarizer().summarize(span, Situation(FactIndex())).body
    assert all(f"ann{n}@example.org" in body for n in range(8)), body


def test_names_that_come_again_and_again_are_counted() -> None:
    assert list(counted(["divider"] * 9 + ["callout"] * 2 + ["toggle"])) == [
        "9 x divider",
        "2 x callout",
        "toggle",
    ]
    assert list(counted(["a", "b", "a"])) == ["a", "b", "a"]


def test_fields_are_known_by_their_names() -> None:
    names = ["billing email", "orderId", "full_name", "status", "unit_price", "due_date", "etag"]
    kinds = ["address", "id", "name", "state", "amount", "when", "idle"]
    assert [kind_of(name) for name in names] == kinds


CELLS = st.dictionaries(
    st.sampled_from(["id", "name", "status", "url", "x"]), st.text(max_size=200), max_size=5
)


@given(st.lists(CELLS, max_size=12))
def test_every_row_has_the_cells_of_its_header(things: list[dict[str, str]]) -> None:
    given_cells: list[dict[Path, str]] = [
        {(key,): value for key, value in t.items() if value.strip()} for t in things
    ]
    table = table_of(given_cells, " ".join)
    if table is not None:
        assert len(table.rows) == len(things)
        assert len(table.header.split(" | ")) >= 2
