"""Markup is read as what it says, but where the agent works on its source."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Observation
from statecomp.history.situation import Situation
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.ending import ending_of
from statecomp.records.extracting.markup.hypertext import page_of
from statecomp.records.extracting.markup.tags import KNOWN, undressed
from statecomp.records.extracting.units import parts_of, units_of
from statecomp.records.extracting.unwrap import WORDLESS, Payload, unwrapped
from statecomp.records.record import Record
from statecomp.records.verify import verify
from tests.growth import growth
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step, summary

FETCH = '{"url": "https://mill.example/page"}'
HEAD = (
    '<!DOCTYPE html><html lang="en"><head><meta property="og:type" content="website"/>'
    "<title>Mill &amp; Son</title><style>.x{color:red}</style>"
    '<link rel="stylesheet" href="/css/mill.css"/></head><body class="wide">'
)
PAGE = (
    f'{HEAD}<nav class="top"><ul><li><a href="/">Home</a></li><li><a href="/all">All</a></li>'
    '</ul></nav><main><h1>Mills of the <em>north</em></h1><p class="lead">Three are\n   left.</p>'
    "<script>var held = '<p>never shown</p>';</script>"
    '<table class="t"><tr><th>Mill</th><th>Tons in 2024</th></tr>'
    '<tr><td><a href="/m/1">Upper</a></td><td>31</td></tr><tr><td>Lower</td><td>7</td></tr></table>'
    "<ul><li>rye<li>oats</ul><pre>grind --all\n  --day 7</pre></main>"
    '<footer><a href="/imprint">Imprint</a></footer></body></html>'
)


RULED = "| --- | --- | --- |"


def told(markup: str) -> list[str]:
    return [line for line in page_of(markup).text.split("\n") if line]


def payload(arguments: str, seen: str) -> Payload:
    return parts_of(step(1, arguments, seen)).payloads[0]


def labels(text: str) -> dict[str, str]:
    pieces = cut(unwrapped(Observation("", text)).body, read=True)
    return {piece.text: piece.owner.label if piece.owner else "" for piece in pieces}


# --- what a page says ---


def test_a_page_is_told_by_its_words_and_by_nothing_that_dresses_them() -> None:
    assert told(PAGE) == [
        "== Mills of the north ==",
        "Three are left.",
        "| Mill | Tons in 2024 |",
        "| --- | --- |",
        "| Upper, link: /m/1 | 31 |",
        "| Lower | 7 |",
        "- rye",
        "- oats",
        "```",
        "grind --all",
        "  --day 7",
        "```",
    ]
    assert page_of(PAGE).title == "Mill & Son"


def test_the_one_sentence_of_a_page_is_what_its_record_says() -> None:
    seen = (
        f'{HEAD}<header><h1>Oops</h1><hr/></header><div class="row"><div class="col-10"><h4>'
        'The server says:</h4><pre class="bad">The mill 9W2Lxo was not found</pre></div></div>'
        f"<footer>{'<a href=/about>About us</a>' * 40}</footer></body></html>"
    )
    body = written(step(1, FETCH, seen, name="fetch"), step(2, seen=PADDING)).body
    assert 'page "Mill & Son"' in body
    assert "The mill 9W2Lxo was not found" in body
    assert not any(mark in body for mark in ("og:type", "col-10", "<div", "About us"))


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ('<p>See the <a href="/x?a=1&amp;b=2">plan</a></p>', ["See the plan, link: /x?a=1&b=2"]),
        (
            f'<p>{"many words " * 20}<a href="/a">one</a> and <a href="/b">two</a></p>',
            [f"{'many words ' * 20}one and two", "one, link: /a", "two, link: /b"],
        ),
        ('<p><a href="#top">Up</a> <a href="javascript:go()">go</a></p>', ["Up go"]),
        (
            '<a href="/url?q=https://mill.example/a%3Fday%3D7&amp;sa=U">Mill</a>',
            ["Mill, link: https://mill.example/a?day=7"],
        ),
        ('<h2><a href="/m/3">Mill 3</a></h2><p>x y', ["== Mill 3 ==", "link: /m/3", "x y"]),
    ],
)  # fmt: skip
def test_words_stand_with_where_they_lead(markup: str, lines: list[str]) -> None:
    assert told(markup) == lines


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("<div><div>Price</div><div>$12.50</div></div>", ["Price: $12.50"]),
        ("<div><b>Upper mill</b><div>open</div><div>31</div></div>", ["- Upper mill; open; 31"]),
        ("<dl><dt>Grain<dd>rye<dt>Tons<dd>31</dl>", ["Grain: rye", "Tons: 31"]),
        ("<div><div>North</div><div>3</div></div>" * 2, ["North: 3", "North: 3"]),
        ("<span>rye</span><span>31</span> <b>H</b><sub>2</sub>O", ["rye 31 H2O"]),
        ("<ol><li>grind<li>sieve<ul><li>twice</ul></ol>", ["1. grind", "2. sieve", "  - twice"]),
        ("<td>loose</td><p>end", ["loose", "end"]),
    ],
)  # fmt: skip
def test_a_value_stands_with_what_it_is_of(markup: str, lines: list[str]) -> None:
    assert told(markup) == lines


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        (
            "<table><thead><tr><th rowspan=2>City<th colspan=2>2024<tr><th>in<th>out</thead>"
            "<tr><td rowspan=2>Rome<td>1<td>2<tr><td>3<td>4</table>",
            ["| City | 2024 in | 2024 out |", RULED, "| Rome | 1 | 2 |", "| Rome | 3 | 4 |"],
        ),
        ("<table><tr><th>Mill<th>Tons<tr><td>Upper<td>31</table>", ["Mill: Upper; Tons: 31"]),
        ("<table><tr><th>Mill<td>Upper<tr><th>Tons:<td>31</table>", ["Mill: Upper", "Tons: 31"]),
        (
            "<table><tr><td>menu<td><h2>Mills</h2><p>Three are left.</table>",
            ["- menu", "== Mills ==", "Three are left."],
        ),
    ],
)  # fmt: skip
def test_a_cell_stands_below_its_header_and_a_layout_is_no_table(
    markup: str, lines: list[str]
) -> None:
    assert told(markup) == lines


def test_the_header_of_a_table_holds_though_it_has_numbers_in_it() -> None:
    assert labels(PAGE)["| Lower | 7 |"] == "Mills of the north | Mill | Tons in 2024 |"


def test_things_side_by_side_have_their_own_names_as_titles() -> None:
    cards = "".join(
        f'<div><a href="/m/{n}">Mill number {n}</a><div>{"it grinds rye " * 25}</div>'
        f"<div>{n} tons a day</div></div>"
        for n in range(4)
    )
    found = labels(f"{HEAD}<section>{cards}</section><p>Nothing else was found.</p></body></html>")
    assert found["2 tons a day"] == "Mill number 2"
    assert found["Nothing else was found."] == ""


def test_a_title_ends_with_the_part_of_the_page_it_stands_in() -> None:
    page = f"{HEAD}<nav><h2>Where to go</h2></nav><p>Three mills are left.</p></body></html>"
    assert labels(page)["Three mills are left."] == ""


def test_the_fields_of_a_form_are_told_with_what_they_hold() -> None:
    form = (
        '<form action="/login" method="post"><label>Name <input name="user" value="ann"></label>'
        '<input type="hidden" name="csrf" value="0123456789012345678901234567890123456789abc">'
        '<input type="checkbox" name="stay" checked><select name="mill"><option>Upper'
        '<option selected>Lower</select><textarea name="note">soon</textarea><button>Go</button>'
    )
    assert told(form) == [
        "form, sent by POST to /login",
        "Name",
        "textbox user: ann",
        "hidden csrf: ...",
        "checkbox stay (checked)",
        "choice mill: Lower (of Upper, Lower)",
        "textbox note: soon",
        'button "Go"',
    ]


def test_programs_of_a_small_page_and_comments_with_places_are_told() -> None:
    page = '<!-- was /backup/2024.zip --><!-- begin --><p>Hi there.</p><script src="/js/mill.js">'
    assert told(f"{page}</script>") == [
        "Hi there.",
        "comment in the page: was /backup/2024.zip",
        "programs of the page: /js/mill.js",
    ]


def test_no_line_of_a_page_goes_on_in_the_next() -> None:
    line = "The upper mill of the north grinds more rye than any other mill that is left there"
    found = labels(f"{HEAD}<p>{line}</p><p>8 of ten are closed</p></body></html>")
    assert {line, "8 of ten are closed"} <= found.keys()


# --- how it came ---


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (FETCH, True),
        ('{"command": "curl -s localhost:8000/index.html"}', True),
        ('{"command": "curl -so page.html https://mill.example/ && cat page.html"}', True),
        ('{"email_id": "5"}', True),
        ('{"path": "site/index.html"}', False),
        ('{"command": "cat index.html"}', False),
        ('{"command": "sed -n 1,40p templates/mill.jinja"}', False),
        ('{"command": "cat site/mill"}', False),
        ('{"filename": "mill"}', False),
        ('{"code": "print(requests.get(base + \'/index.html\').text)"}', True),
    ],
)
def test_what_was_fetched_is_read_and_a_file_stays_its_source(arguments: str, read: bool) -> None:
    assert payload(arguments, PAGE).page is read
    if not read:
        assert payload(arguments, PAGE).text == PAGE


def test_a_page_that_a_server_sent_is_read_whatever_named_the_call() -> None:
    seen = f"HTTP/1.0 200 OK\nServer: MillHTTP/0.6\n\n{PAGE}"
    found = payload('{"command": "echo -e \\"GET /a.txt HTTP/1.1\\" | nc mill 80"}', seen)
    assert found.page
    assert found.text.startswith("HTTP/1.0 200 OK\nServer: MillHTTP/0.6\n")


@pytest.mark.parametrize(
    "text",
    [
        "const Mill = () => <div className='row'><p>rye</p></div>;\nexport default Mill;",
        "- [0] <div>All mills</div>\n" * 9,
        "std::vector<int> tons; if (a < b && c > d) return <T>(x);\n" * 9,
        "Write to Ann <ann@mill.example> or Bo <bo@mill.example>.",
        "diff --git a/x.html b/x.html\n@@ -1 +1 @@\n-<p>rye</p>\n+<p>oats</p>\n",
    ],
)
def test_text_with_some_brackets_in_it_is_no_page(text: str) -> None:
    assert unwrapped(Observation("", text)) == Payload(text)


def test_a_page_about_errors_is_no_failure() -> None:
    page = f"{HEAD}<h1>Error handling in mills</h1><p>{'Read the log. ' * 9}</p></body></html>"
    assert not ending_of(step(1, FETCH, page)).failed
    assert ending_of(step(1, FETCH, page, is_error=True)).failed


# --- torn, broken and hostile ---


@pytest.mark.parametrize("envelope", ['{"type":"text","text":"', '{"stdout": "'])
def test_what_a_tool_says_of_a_page_it_cut_stays(envelope: str) -> None:
    note = "(The output is too long! All of it is in /tmp/out/Czo3.json)"
    whole = envelope + json.dumps(PAGE)[1:-1]
    for stop in range(len(HEAD) + 200, len(whole), 7):
        found = unwrapped(Observation("", f"{whole[:stop]} ...\n\n{note}"))
        assert found.page
        assert found.text.endswith(note)
        assert not KNOWN.search(found.text)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PAGE.replace(">", "> ").replace("<", " <").split(" "))))
def test_any_order_of_tags_is_read(parts: list[str]) -> None:
    page_of("".join(parts))
    undressed("".join(parts))


def test_a_page_without_words_says_so_and_a_small_program_stays() -> None:
    program = "<html><body><script>document.write(unescape('%3c'))</script></body></html>"
    assert unwrapped(Observation("", program)).text == program
    page = f"{HEAD}<script>{'held(1);' * 999}</script></body></html>"
    assert unwrapped(Observation("", page)).text == WORDLESS


@pytest.mark.parametrize(
    "shape",
    [
        "<div>a ", "<p>", "</div>", "<ul><li>a", "<td>x", "<tr><td>1", "<table><tr><td>x", "<a ",
        '<a href="', ' b=""', "<!--", "<![CDATA[", "<script>", "<svg>", "&amp;", "&#9999999999",
        "<pre>a\n",
        "<h1>a", "<select><option>a", "<dl><dt>a<dd>b", "<nav><li>a b", "<input name=x>", "\n", "<",
        '<div><a href="/x">thing</a><p>and words of it</p></div>',
    ],
)  # fmt: skip
@pytest.mark.parametrize("opening", [f"{HEAD}<table><tr>", '<?xml version="1.0"?><a '])
def test_any_shape_of_markup_costs_in_proportion(opening: str, shape: str) -> None:
    def read(size: int) -> Callable[[], object]:
        text = opening + shape * (size // len(shape))
        return lambda: cut(unwrapped(Observation("", text)).body, read=True)

    assert (
        growth(lambda work: work(), read(10_000), read(100_000), 10, enough=6, nothing_s=0.01) < 6
    )


# --- documents of things, and values ---


def test_a_document_of_things_is_told_as_objects() -> None:
    feed = (
        '<?xml version="1.0"?>\n<rss version="2.0" xmlns:m="http://m.example/"><channel><title>Mills'
        "</title><item><title>Upper</title><m:tons>31</m:tons></item><item><title>Lower</title>"
        "<m:tons>7</m:tons><text><![CDATA[a < b]]></text></item><item><title>Old"
    )
    body = payload(FETCH, feed).body
    assert body["rss"]["channel"]["item"] == [
        {"title": "Upper", "tons": "31"},
        {"title": "Lower", "tons": "7", "text": "a < b"},
        {"title": "Old"},
    ]
    assert payload('{"path": "feed.xml"}', feed).text == feed


def test_tags_in_a_value_are_no_part_of_what_it_says() -> None:
    data: dict[str, str] = {"way": "Turn <b>left</b><div>Take the stairs</div>"}
    data |= {"name": "<b>Upper</b> mill", "about": f"<p>{'It grinds rye. ' * 40}</p><p>Daily.</p>"}
    texts = labels(json.dumps({**data, "price_html": "<span>&#36;</span>645.99", "code": "a<b>c"}))
    assert "name: Upper mill" in texts
    assert "way: Turn left; Take the stairs" in texts
    assert "Daily." in texts
    assert "price_html: $645.99" in texts
    assert "code: a<b>c" in texts


def test_values_of_a_file_that_was_read_keep_their_tags() -> None:
    held = json.dumps({"name": "Upper mill", "about": "It grinds <b>rye</b>."})
    for arguments, about in (('{"path": "a.json"}', "<b>rye</b>"), ('{"id": 7}', "rye")):
        texts = [unit.text for unit in units_of([step(1, arguments, held)])]
        assert f"about: It grinds {about}." in texts


# --- what may be said of it ---


def test_the_ledger_takes_what_a_page_says_and_nothing_it_does_not() -> None:
    seen = (
        f'{HEAD}<p>Tons: <b>1,2</b>34 of CE-85<i>L</i></p><a href="/m?id=7&amp;day=2024-05-01">Day'
        "</a><table><tr><td>417</td><td>208</td></tr></table></body></html>"
    )
    span, here = [step(1, FETCH, seen)], Situation(FactIndex(()))
    for fact in ("1. 1,234 tons", "1. CE-85L", "1. see /m?id=7&day=2024-05-01", "1. 417"):
        assert verify(Record(facts=(fact,)), span, here).facts == (fact,)
    for fact in ("1. 417208 tons", "1. see /m?id=9&day=2024-05-02"):
        with pytest.raises(SummaryFailed):
            verify(Record(facts=(fact,)), span, here)


def test_a_record_of_pages_passes_the_ledger() -> None:
    assert "Three are left." in summary(step(1, FETCH, PAGE), step(2, seen=PADDING)).body
