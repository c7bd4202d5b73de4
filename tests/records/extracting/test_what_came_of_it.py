"""The line of a step says what came of it, or where that stands."""

from __future__ import annotations

import json

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Record
from tests.records.extracting.test_plain_to_read import command, several
from tests.records.extracting.test_stands_as_it_stood import outcome
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step

PROMPT = "root@2053061f0c2f:/#"
MERGED = "[result merged with the first call of this turn]"


def counted(number: int, table: str, seconds: float, rows: int = 360) -> Interaction:
    """A query that many tables answer in the same words."""
    asked = json.dumps({"query": f"SELECT COUNT(*) AS count FROM mills.{table}"})
    done = f"Query done.\nTotal rows: 1, returned: 1\nExecution time: {seconds}s"
    seen = f"{done}\nThe table was read in parts, each once.\n\nFirst rows:\nRow 1: {rows}"
    return step(number, asked, seen, name="run_query")


def entry(number: int, record: Record) -> str:
    """A step's line with all that stands below it."""
    return next(fact for fact in record.facts if fact.startswith(f"{number}. "))


# --- answered the same ---


def test_the_answer_of_another_step_is_said_by_its_number_however_long_it_took() -> None:
    record = written(*(counted(n, f"mill_{n}", n / 7) for n in range(4, 8)))
    assert "Row 1: 360" in entry(4, record)
    assert all(entry(n, record).endswith("as at step 4") for n in (5, 6, 7))


def test_another_value_is_another_answer() -> None:
    record = written(counted(4, "upper", 0.2), counted(5, "lower", 0.3, rows=361))
    assert "as at step" not in record.body
    assert "Row 1: 361" in entry(5, record)


def test_what_a_step_that_stays_was_answered_is_said_by_its_number() -> None:
    record = written(counted(4, "upper", 0.2), step(5, seen=PADDING), after=[step(9, seen=PADDING)])
    assert entry(5, record) == "5. run {} -> as at step 9"


def test_two_spans_that_are_replaced_together_do_not_send_their_reader_to_each_other() -> None:
    mine, other = step(4, seen=PADDING), step(9, seen=PADDING)
    situation = Situation(FactIndex([other]), after=(other,), going=((other,),))
    record = ExtractiveSummarizer().summarize([mine], situation)
    assert "as at step" not in record.body
    assert "row 0 of the listing" in record.body


def test_a_brief_answer_is_said_in_its_own_words_each_time() -> None:
    saved = [step(n, f'{{"path": "mill_{n}.txt"}}', "saved to the mill") for n in range(1, 4)]
    record = written(*saved, step(4, seen=PADDING))
    assert [entry(n, record).endswith("-> saved to the mill") for n in range(1, 4)] == [True] * 3


def test_a_few_words_of_the_result_stand_beside_the_number() -> None:
    page = "Page URL: https://mill.example/offers\nPage Title: Offers\n" + PADDING
    record = written(step(1, '{"mark": 3}', page), step(2, '{"mark": 5}', page))
    assert entry(2, record).endswith(", at https://mill.example/offers, as at step 1")


def test_calls_of_one_kind_that_went_as_well_do_not_look_as_if_they_were_answered_alike() -> None:
    def added(number: int, title: str) -> Interaction:
        sent = json.dumps({"list": "repairs of the upper mill", "title": title})
        seen = json.dumps({"kind": "added", "key": f"{title[:3]}-{number * 77}", "n": [number, 4]})
        return step(number, sent, seen, name="add_entry")

    record = written(added(1, "wheel"), added(2, "stone"), added(3, "sluice"))
    assert "likewise" not in record.body
    assert "stone"[:3] + "-154" in entry(2, record)


# --- something is told of every answer ---


def test_of_an_answer_whose_lines_stand_elsewhere_one_is_told_all_the_same() -> None:
    files = [f"Ann Miller-Bakery-20213020{n}-loaves.txt" for n in range(10, 15)]
    listed = step(3, '{"cmd": "ls"}', "\n".join([*files, *(f"notes-{n}.md" for n in range(60))]))
    part = command(4, "ls | head -5", "\n".join(files))
    record = written(part, step(5, seen=PADDING), after=[listed])
    assert files[0] in entry(4, record)


def test_what_only_announces_a_result_is_none() -> None:
    found = ["Found 2 matches in 1 page:", "Pages with matches: 2", "", "Page 2, line 139:"]
    found += ["the large wheel, from 1,349 EUR", "the small wheel, sold out"]
    elsewhere = step(3, seen="\n".join([*found, "more of them"]))
    span = (step(1, seen="\n".join(found)), step(2, seen=PADDING))
    assert "from 1,349 EUR" in entry(1, written(*span, after=[elsewhere]))


def test_a_short_thing_is_told_by_all_its_fields_and_not_by_its_name() -> None:
    assert (
        outcome('[{"title": "Upper Mill", "mill_id": 1001}]') == "title: Upper Mill; mill_id: 1001"
    )
    assert outcome('[{"count": 10}]') == "count: 10"


# --- a screen of several commands ---


def test_a_screen_that_shows_several_commands_answers_each_call() -> None:
    screen = (
        f"{PROMPT} ls -a /srv\nbin  mill\n{PROMPT} cat mill.c\n{PROMPT} file mill\nmill: data\n"
    )
    calls = [json.dumps({"keystrokes": f"{line}\n"}) for line in ("ls -a /srv", "cat mill.c")]
    calls.append('{"keystrokes": "file mill\\n"}')
    answers = [f"New Terminal Output:\n{screen}{PROMPT}", MERGED, MERGED]
    member = several(1, *(("sh", sent, seen) for sent, seen in zip(calls, answers, strict=True)))
    head, *below = written(member, step(2, seen=PADDING)).facts[0].split("\n")
    assert head == "1. 3 calls of sh"
    assert [line.rpartition(" -> ")[2] for line in below] == ["bin mill", "no output", "mill: data"]


def test_what_a_terminal_echoes_of_a_text_that_was_typed_is_no_output() -> None:
    typed = "cat << 'EOF' > mill.py\nprint(6 * 7)\nEOF\npython3 mill.py"
    shown = ["cat << 'EOF' > mill.py", "> print(6 * 7)", "> EOF"]
    screen = f"{PROMPT} " + "\n".join(shown) + f"\n{PROMPT} python3 mill.py\n42\n{PROMPT}"
    record = written(step(1, json.dumps({"keystrokes": typed}), screen), step(2, seen=PADDING))
    assert record.facts[0].split("\n")[0].endswith("-> 42")


@pytest.mark.parametrize("late", ["FAIL: 1 of 8\n", ""])
def test_what_an_earlier_command_still_printed_is_of_none_of_the_calls(late: str) -> None:
    screen = f"{late}{PROMPT} nm mill\nU wheel\n{PROMPT} date\nMonday\n"
    sent = [json.dumps({"keystrokes": line}) for line in ("nm mill", "date")]
    member = several(1, ("sh", sent[0], screen), ("sh", sent[1], MERGED))
    below = written(member, step(2, seen=PADDING)).facts[0].split("\n")[1:]
    assert below[0].endswith("-> U wheel") is not bool(late)


def test_a_prompt_does_not_go_on_in_the_line_before_it() -> None:
    full = (
        "/srv/mill/of/the/upper/valley/with/a/name/that/fills/the/line/to/its/very/edge/recording"
    )
    screen = f"{PROMPT} find /\n{full}\n{full[:-1]}2\n{PROMPT} id\nuid=0"
    assert "root@" not in outcome(screen)


# --- attempts and messages ---


def test_a_program_sent_again_with_others_between_says_what_changed() -> None:
    lines = [f"grind(stone_{n}, speed={n})" for n in range(30)]
    sent = json.dumps({"code": "\n".join(lines)})
    again = json.dumps({"code": "\n".join([*lines[:15], "stop(wheel)", *lines[15:]])})
    others = [command(n, f"ls /srv/{n}", f"mill_{n}") for n in (2, 3)]
    record = written(step(1, sent, "A"), *others, step(4, again, "B"))
    assert "much like step 1, but stop(wheel)" in entry(4, record)


def test_of_a_long_message_whole_sentences_stand_from_its_beginning() -> None:
    said = "The upper mill has two wheels. " + "The lower one has been empty since spring. " * 20
    silent = Interaction(id="m", number=17, messages=(), tokens=0, said=said)
    line = entry(17, written(step(16, seen=PADDING), silent))
    assert line.startswith("17. a message, no tool answered: The upper mill has two wheels. ")
    assert line.endswith("since spring. ...")
