from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Call, Interaction, Observation, Pinned, Summary
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Record
from statecomp.records.verify import inventions, owed, verify

NOTHING = FactIndex()


def step(number: int = 1, said: str = "", arguments: str = "{}", seen: str = "") -> Interaction:
    return Interaction(
        id=f"i{number}", number=number, messages=(), tokens=0, said=said,
        calls=(Call(f"c{number}", "run", arguments),), observations=(Observation("", seen),),
    )  # fmt: skip


def test_what_only_the_agent_knew_is_added_to_the_locations() -> None:
    span = [step(said="I put the token into /srv/app/secret.env", seen="ok")]
    record = verify(Record(facts=("1. run -> ok",)), span, Situation(NOTHING))
    assert record.locations == (
        "1, the agent's own words: I put the token into /srv/app/secret.env",
    )


def listed(*names: str, number: int = 1) -> Interaction:
    return step(number, arguments='{"command": "ls /srv/app"}', seen="\n".join(names))


def test_files_that_were_listed_and_never_read_are_added_where_no_writer_says_so() -> None:
    span = [listed("main.py", "cli.py", "util.py"), step(2, arguments='{"path": "cli.py"}')]
    there = Situation(
        after=(step(3, arguments='{"path": "/srv/app/util.py"}', seen="def f(): ..."),)
    )
    record = verify(Record(facts=("1. listed /srv/app", "2. read cli.py")), span, there)
    assert record.locations == ("1: listed, not read: main.py",)
    told = Record(facts=("1. listed /srv/app", "2. read cli.py; main.py was not read"))
    assert verify(told, span, there) == told


def test_names_that_stand_in_no_line_of_the_agent_are_not_listed_bare() -> None:
    span = [step(said="It prints <html><body>the sum</body></html>.", arguments='{"n": 1}')]
    assert verify(Record(facts=("1. run",)), span, Situation(NOTHING)) == Record(facts=("1. run",))


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("mill.example.org:13336 answers", True),
        ("mill.example.org:22 answers", False),
        ("M4-M8 are gates", True),
        ("M4-M9 are gates", False),
    ],
)
def test_two_names_that_stand_there_may_be_joined_as_people_join_them(
    fact: str, told: bool
) -> None:
    seen = "Opening connection to mill.example.org on port 13336; ssh is at 22\nM4 gate\nM8 gate"
    record = verify(Record(facts=("1. ran", fact)), [step(seen=seen)], Situation(NOTHING))
    assert (fact in record.facts) == told


@pytest.mark.parametrize("name", ["include_output_fields", "duration", "page_size"])
def test_how_much_of_an_answer_was_wanted_is_no_name_to_keep(name: str) -> None:
    told = json.dumps({name: ["results.mill_id", "3.75"], "mill": "/srv/upper_mill"})
    record = verify(Record(facts=("1. run",)), [step(arguments=told)], Situation(NOTHING))
    said = "1, the agent's own words: mill: /srv/upper_mill"
    assert record == Record(("1. run",), locations=(said,))


def test_what_the_agent_said_before_a_call_is_not_said_to_have_failed_with_it() -> None:
    span = [step(said="The upper mill, M-4471, ground 38.5 sacks.", seen="Error: no such mill")]
    record = verify(Record(facts=("1. run: failed",)), span, Situation(NOTHING))
    assert record.facts[1].startswith("1, the agent's own words: The upper mill, M-4471")


def test_what_is_carried_or_held_elsewhere_is_not_added_again() -> None:
    span = [step(said="wrote /srv/a.txt and /srv/b.txt")]
    rest = FactIndex([Pinned("p", (), 0, "user", "the file is /srv/b.txt")])
    record = Record(facts=("1. wrote /srv/a.txt",))
    assert verify(record, span, Situation(rest)) == record


def test_a_number_inside_another_number_is_not_carried() -> None:
    record = verify(Record(facts=("1. got 1162",)), [step(said="162, 1162")], Situation(NOTHING))
    assert record.facts[1:] == ("1, the agent's own words: 162, 1162",)


def test_a_debt_on_a_long_line_is_quoted_with_the_words_beside_it() -> None:
    said = f"{'well ' * 60}the cap for leavers is 140.25 euro per night {'and so on ' * 60}"
    _, line = verify(Record(facts=("1. run",)), [step(said=said)], Situation(NOTHING)).facts
    assert "the cap for leavers is 140.25 euro per night" in line
    assert len(line) < 150


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        ("wrote ./checkpoints/", "wrote ./checkpoints"),
        ("the levels L1/L2/L3/L4 were covered", "L1\nL2\nL3\nL4"),
        ("uses copy_data/copy_size", "copy_data = 1\ncopy_size = 2"),
        ("reads with mem_get_le16/le24/le32", "mem_get_le16(x) mem_get_le24(x) mem_get_le32(x)"),
        ("see /repo/src/app.py", "cd /repo\nM src/app.py"),
        ("read `tests/test_*.py`", "tests/test_tables.py\ntests/test_views.py"),
        ("classes like `Big.*Table`", "class BigGreenTable:"),
        ("edited `app/{tables,views}.py`", "M app/tables.py\nM app/views.py"),
        ("due 2026-03-04", "due March 4, 2026"),
        ("due 04.03.2026", "due 2026-03-04"),
        ("costs 30.50", "costs 30.5 EUR"),
        ("12.5K rows", "12,500 rows"),
        ('said "don\'t touch it"', "said \u201cdon\u2019t touch it\u201d"),
        ("errors in Task!H12:L15", "Task!H12\nTask!H13\nTask!L15"),
        ("the entry is at 0x400970", ".text:00400970  31ed  XOR EBP,EBP"),
        ("main is at 0x400DAA", "FUN_00400daa"),
        (
            "see https://example.org/wiki/2022-23_season",
            "Link: https://example.org/wiki/2022%E2%80%9323_season",
        ),
        ("the protein CE85L", "Row 7: sp|Q5SZL2|CE85L_HUMAN"),
        ("pow(17,128,3329) is 3328", "pow(zeta, 128, q) with q=3329 and zeta=17: 3328"),
        ("opened issue #41", '{"number":41,"state":"open"}'),
        ("the mean is 1234.57", "mean: 1234.56789"),
        ("ended at 05:13", "2025-08-20T05:13:30Z"),
        ("commit 3ab71a3", '"sha":"3ab71a3d41a0ded10af4b14e9f1995de71dc02be"'),
        ("see /repo/src/app.py", "cd /repo\n--- a/src/app.py\n+++ b/src/app.py"),
        ("see /repo/notes.txt", "cd /repo\n./notes.txt"),
        (
            "see /repo/docs/api/index.md",
            "cd /repo\n\u251c\u2500 docs/\n  \u251c\u2500 api/\n    \u2514\u2500 index.md",
        ),
    ],
)
def test_another_form_of_a_name_is_no_invention(entry: str, seen: str) -> None:
    assert not inventions(Record(facts=(entry,)), [step(seen=seen)], Situation())


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        ("see src/read/models.py", "src/read/views.py\nsrc/write/models.py"),
        ("see /srv/app/models.py", "/srv/app/views.py\n/srv/old/models.py"),
        ("listening on port 3753", "id 137530"),
        ("a score of 0.6", "10.6 and 0.65"),
        ("at 2025-08-20T05:43:30Z", "2025-08-20T05:13:30Z"),
        ("fixed #12", "#123 is open"),
        ("errors in H12:L19", "H12 to L15"),
        ("the entry is at 0x400971", ".text:00400970"),
    ],
)
def test_what_is_made_up_of_pieces_is_an_invention(entry: str, seen: str) -> None:
    assert inventions(Record(facts=(entry,)), [step(seen=seen)], Situation())


def test_numbers_of_a_range_that_is_told_are_not_added_one_by_one() -> None:
    span = [step(n, said=f"used port {n}") for n in range(1300, 1313)]
    record = Record(facts=("ports 1300 to 1312 were tried, none answered",))
    assert verify(record, span, Situation()) == record
    (_, *added) = verify(Record(facts=("ports 1300 to 1311 were tried",)), span, Situation()).facts
    assert added == ["1312, the agent's own words: used port 1312"]


def test_what_stands_elsewhere_in_the_history_is_no_invention() -> None:
    there = step(7, seen="see agent/policy.py, due 2026-03-04")
    situation = Situation(FactIndex([there]), after=(there,))
    record = Record(facts=("policy.py was read", "due 4 March 2026"))
    assert verify(record, [step(seen="ok")], situation) == record


def test_an_invention_costs_its_entry_and_not_the_record() -> None:
    record = Record(facts=("read /srv/app.py", "due 2026-03-05"), unresolved=("see ABC-99",))
    kept = verify(record, [step(seen="/srv/app.py, due 2026-03-04")], Situation())
    assert kept == Record(facts=("read /srv/app.py",))


def test_what_the_agent_was_only_told_is_no_debt() -> None:
    assert not owed([step(said="look", seen="/srv/a /srv/b 98765")], NOTHING)


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("", '{"path": "/srv/new.py", "content": "' + "inner_name = 1\\n" * 12 + '"}'),
        ("", '{"command": "cat > /srv/new.py <<EOF\\n' + "inner_name = 1\\n" * 12 + 'EOF"}'),
        ("Now `/srv/new.py`:\n```python\n" + "inner_name = 1\n" * 12 + "```", "{}"),
        ("```\n" + "first_line = 2\n" + "inner_name = 1\n" * 12 + "open('/srv/new.py')\n```", "{}"),
    ],
)
def test_of_a_written_file_only_the_path_is_owed(said: str, arguments: str) -> None:
    debts = owed([step(said=said, arguments=arguments)], NOTHING)
    assert "/srv/new.py" in debts
    assert "inner_name" not in debts


@pytest.mark.parametrize(
    "entry",
    [
        "1. read /srv/other.py",
        "the port was 48151",
        "opened https://example.org/made-up",
        "raised KeyError",
        "fixed ABC-99",
        "ran made_up_name",
        "read `tests/test_*.py`",
        "all of `*`, as in `lib/*.js`",
    ],
)
def test_an_invented_identifier_is_refused_by_name(entry: str) -> None:
    span = [step(said="read /srv/app.py", seen="12345 lines")]
    with pytest.raises(SummaryFailed, match="does not contain"):
        verify(Record(facts=(entry,)), span, Situation(NOTHING))


@pytest.mark.parametrize(
    "entry",
    [
        "120. run -> failed (3 lines)",
        "sold 1,234,567 units",
        "opened app/main.py",
        "Parser.read_all is in `main.py`",
        'the title is "Blue Lamp"',
        "step 120 then went through",
        "the total is 1234567",
    ],
)
def test_an_honest_record_passes_in_other_words(entry: str) -> None:
    seen = 'sold 1234567\nin /srv/app/main.py: class Parser, def read_all\n"Blue  Lamp"'
    span = [step(120, seen=seen)]
    assert verify(Record(facts=(entry,)), span, Situation(NOTHING)).facts == (entry,)


def test_the_second_copy_of_a_fact_must_carry_it_when_the_first_is_replaced() -> None:
    first, second = step(1, said="chose port 48151"), step(2, said="used port 48151")
    rest = FactIndex([first])
    later = verify(Record(facts=("2. run",)), [second], Situation(rest))
    assert later.facts == ("2. run",)  # the first copy still stands
    rest.remove(first)
    rest.add(Summary("s", (), 0, later.body, ("i2",), 2, 2))
    earlier = verify(Record(facts=("1. run",)), [first], Situation(rest))
    assert earlier.facts[1:] == ("1, the agent's own words: chose port 48151",)


WORD = st.sampled_from(["/srv/a.py", "x_one", "48151", "ABC-12", "ready", "the", '"Big Box"'])
TEXT = st.lists(WORD, max_size=6).map(" ".join)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3), TEXT)
def test_a_verified_record_holds_every_debt(steps: list[tuple[str, str]], held: str) -> None:
    span = [step(n, said=said, seen=seen) for n, (said, seen) in enumerate(steps, start=1)]
    rest = FactIndex([Pinned("p", (), 0, "user", held)])
    record = verify(Record(facts=("1. run",)), span, Situation(rest))
    assert all(name in record.body for name in owed(span, rest))
    assert all(name not in rest for name in owed(span, rest))
    # Settled debts are claims like any other, and true ones.
    assert verify(record, span, Situation(rest)) == record


@given(TEXT, st.from_regex(r"\A/[a-z]{3,8}/[a-z]{3,8}\.py\Z"))
def test_an_invented_path_never_passes(said: str, path: str) -> None:
    with pytest.raises(SummaryFailed):
        verify(Record(locations=(f"see {path}",)), [step(said=said)], Situation(NOTHING))


def test_a_hostile_path_in_a_record_takes_linear_time() -> None:
    span = [step(seen=f"{'/ab' * 100} {'xab/yab ' * 250_000}")]
    record = Record(facts=tuple(f"see {'ab/' * 60}{name}.py" for name in "abcdefgh"))
    start = time.thread_time()
    inventions(record, span, Situation())
    assert time.thread_time() - start < 10


@pytest.mark.parametrize(
    "text",
    ["<<A\n" * 200_000, "`" * 10**6, "\n" * 10**6, "edit 1:2\n" * 100_000, "```a\n" * 200_000],
    ids=lambda text: repr(text[:6]),
)
def test_hostile_words_of_the_agent_take_linear_time(text: str) -> None:
    start = time.thread_time()
    owed([step(said=text)], NOTHING)
    assert time.thread_time() - start < 10


def test_how_many_more_were_listed_is_no_name_that_was_made_up() -> None:
    days = [f"2023-{n // 28 + 1:03}-{n % 28 + 1:02}T04:00:00.000Z" for n in range(500)]
    span = [step(seen=json.dumps([{"Date": day, "Low": "-"} for day in days]))]
    record = verify(ExtractiveSummarizer().summarize(span, Situation()), span, Situation())
    assert record.facts[0].startswith("1. run {} -> 500 listed: ")


def test_half_of_a_long_word_before_dots_is_no_name_that_was_made_up() -> None:
    flag = "8830257787332468" * 12
    span = [step(arguments=f"flag{{{flag}}}")]
    fact = f"1. run flag{{{flag[:90]} ... -> no output"
    assert verify(Record(facts=(fact,)), span, Situation(NOTHING)).facts[0] == fact


def test_a_line_that_names_what_nothing_contains_costs_no_more_than_itself() -> None:
    span = [step(seen="wheel.c\nstone.c\n")]
    first = "1. run {} -> 2 lines; its output:"
    record = Record(facts=(f"{first}\n  /srv/oven.c\n  wheel.c",))
    assert verify(record, span, Situation(NOTHING)).facts == (f"{first}\n  ...\n  wheel.c",)
