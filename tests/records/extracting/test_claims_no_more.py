"""What readers of twenty unseen spans found misleading, each as a test of the rule it became."""

from __future__ import annotations

import json

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.verify import verify
from tests.records.extracting.test_plain_to_read import command, heads, several
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step

SHELL = "(Open file: n/a)\n(Current directory: /core)\nbash-$"


def opened(path: str, first: int, last: int, total: int, after: str = "") -> str:
    """A file as a common agent's viewer shows it."""
    above = f"({first - 1} more lines above)\n" if first > 1 else ""
    below = f"({total - last} more lines below)\n" if total > last else ""
    code = "\n".join(f"{n}:    int field_{n} = {n};" for n in range(first, last + 1))
    return f"[File: {path} ({total} lines total)]\n{above}{code}\n{below}{after}{SHELL}"


def line_of(record_of: str, number: int) -> str:
    """The line of a step in a record's body."""
    return next(line for line in record_of.split("\n") if line.startswith(f"- {number}. "))


# --- outcomes ---


def test_a_window_of_a_file_says_which_lines_of_how_many() -> None:
    seen = opened("/core/Version.java", 1, 100, 170)
    record = written(step(1, '{"path": "Version.java"}', seen, name="open"))
    assert "-> lines 1-100 of 170" in heads(record)[0]
    later = opened("/core/Version.java", 61, 160, 170)
    assert (
        "-> Version.java: lines 61-160 of 170"
        in heads(written(step(1, seen=later, name="scroll")))[0]
    )


def test_a_whole_file_says_so() -> None:
    created = step(1, seen="[File: /x (1 lines total)]\n1:", name="create")
    assert heads(written(created, step(2, seen=PADDING)))[0].endswith("-> x: a file of 1 line")
    seen = opened("/core/run.sh", 1, 40, 40)
    assert ": a file of 40 lines" in heads(written(step(1, seen=seen, name="open")))[0]


def test_what_a_tool_says_beside_a_listing_is_its_outcome_and_its_orders_are_left_out() -> None:
    said = "File updated. Please review the changes and make sure they are correct.\n"
    seen = opened("/core/Version.java", 1, 100, 171, said)
    (line,) = heads(written(step(1, '{"at": 7}', seen, name="edit")))
    assert "-> File updated. (Version.java: lines 1-100 of 171)" in line


@pytest.mark.parametrize(
    "words",
    [
        'More than 641 files matched for "ValueInstantiators" in /databind.',
        "Security violation: Command 'PYTHONPATH=/workspace/evaluation' is not allowed.",
        "Directory src not found.",
    ],
)
def test_a_short_answer_stands_in_its_own_words(words: str) -> None:
    seen = f"{words} Please narrow your search.\n{SHELL}"
    record = written(step(1, '{"for": "it"}', seen, name="search_dir"), step(2, seen=PADDING))
    assert words in heads(record)[0]
    assert "narrow" not in record.body


def test_nothing_is_called_nothing() -> None:
    blank = json.dumps({"stdout": "\n", "stderr": "", "returncode": 0, "timed_out": False})
    record = written(command(6, "python3 morse_decoder.py", blank), step(7, seen=PADDING))
    assert heads(record)[0].endswith("-> ok, no output")


def test_what_a_deadline_ended_did_not_go_through() -> None:
    refused = json.dumps({"stdout": "", "stderr": "sh: x: Permission denied", "returncode": 126})
    late = json.dumps({"stdout": None, "stderr": None, "returncode": None, "timed_out": True})
    record = written(command(6, "./x", refused), command(8, "./x", late), step(9, seen=PADDING))
    assert heads(record)[1].endswith("-> timed out")
    assert heads(record)[0].endswith("-> failed: sh: x: Permission denied")


def test_an_empty_screen_of_a_terminal_is_no_output() -> None:
    prompt = "root@2053061f0c2f:/#"
    seen = f"New Terminal Output:\n\n{prompt} find / -name target.c\n{prompt}\n\n\n\n"
    record = written(command(2, "find / -name target.c", seen), step(3, seen=PADDING))
    assert heads(record)[0].endswith("-> no output")


def test_calls_that_were_answered_together_have_no_outcome_each() -> None:
    prompt = "root@2053061f0c2f:/#"
    screen = (
        f"{prompt} ls\nbin\netc\n{prompt} cat target.c\ncat: target.c: No such file or directory"
    )
    merged = "[result merged with the first call of this turn]"
    member = several(1, ("sh", '{"k": "ls"}', screen), ("sh", '{"k": "cat target.c"}', merged))
    first, *below = written(member, step(2, seen=PADDING)).facts[0].split("\n")
    assert "said: cat: target.c: No such file or directory" in first
    assert [line.strip() for line in below[:2]] == ["k: ls", "k: cat target.c"]


def test_a_folder_of_few_names_is_told_whole_on_its_line() -> None:
    seen = "main\nmoditect\ntest\ntest-jdk11\ntest-jdk17\ntest-jdk21"
    record = written(command(4, "ls src/", seen), step(5, seen=PADDING))
    assert heads(record)[0].endswith("-> main, moditect, test, test-jdk11, test-jdk17, test-jdk21")


def test_what_is_shown_of_an_answer_is_called_a_part_of_it() -> None:
    record = written(step(4, seen=PADDING))
    assert heads(record)[0].endswith("-> 60 lines; from its output:")


def test_a_program_in_a_message_was_answered_by_no_tool() -> None:
    said = "Let me know.\n```python\nfrom pwn import *\np = process('saltserver')\n```"
    silent = Interaction(id="m", number=17, messages=(), tokens=0, said=said)
    (line,) = heads(written(step(16, seen=PADDING), silent))[1:]
    assert line.startswith("17. a message, no tool answered: ")


def test_a_count_of_lines_is_that_of_the_file() -> None:
    seen = "\n\n".join(f"def f_{n}(x):\n    return x + {n}" for n in range(30))
    (line,) = heads(written(step(1, '{"cmd": "cat chall.py"}', seen)))
    assert "-> 89 lines" in line


# --- failures ---


def test_the_cause_of_a_refused_edit_is_its_error_and_no_order() -> None:
    seen = (
        "Your proposed edit has introduced new syntax error(s). Please read this error message "
        "carefully and then retry editing the file.\n\nERRORS:\n- E999 SyntaxError: invalid syntax"
    )
    record = written(step(14, '{"edit": 1}', seen, name="edit"), step(15, seen=PADDING))
    assert "-> failed: E999 SyntaxError: invalid syntax" in heads(record)[0]


def test_names_that_only_a_refused_call_showed_are_not_listed() -> None:
    seen = "Your proposed edit has introduced new syntax error(s).\n3: version.getSnapshotInfo();"
    record = written(step(15, seen=f"{seen}\n{PADDING}"), step(16, seen=PADDING))
    assert not any("getSnapshotInfo" in line for line in record.locations)


# --- names ---


@pytest.mark.parametrize(
    "torn",
    [
        "PATH: /usr/local/sbin",
        "bin: /usr/sbin",
        "evaluation: e.stderr",
        "profile.d: debuginfod.csh",
    ],
)
def test_a_part_of_a_value_is_not_the_value_of_a_key(torn: str) -> None:
    seen = "\n".join(
        (
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
            'print(f"Error running {benchmark_name} evaluation: {e.stderr}", file=sys.stderr)',
            "/var/lib/ucf/cache/:etc:profile.d:debuginfod.csh",
            PADDING,
        )
    )
    assert torn not in written(command(5, "env", seen)).body


def test_the_index_says_that_it_is_a_part_and_leaves_hashes_out() -> None:
    paths = "\n".join(f"found /srv/data/checkpoints/step_{n}00/config.json" for n in range(40))
    hashes = "\n".join(f"blob {n:07x}ab4eb433ffe9214168962446c7ad26 stored" for n in range(40))
    record = written(command(13, "find", f"{paths}\n{hashes}"), step(14, seen=PADDING))
    assert "showed:" not in record.body
    _, told, listed = record.facts[0].partition("some more names in its output:")
    assert told
    assert "ab4eb433" not in listed


def test_the_label_of_an_element_that_is_left_out_names_nothing_else() -> None:
    marks = "\n".join(f"[{n}]<img />" for n in range(30, 40))
    seen = f"{marks}\nSearch for:\n[34]<input s;Search/>\n[35]<button submit>\nTop posts\n{PADDING}"
    body = written(step(10, seen=seen)).body
    assert "Search for: Top posts" not in body


# --- things ---


MAILS = "\n\n".join(
    f"{n}. ID: {40 - n}\n   Subject: Decision on paper {n}\n   From: noreply@example.org\n"
    f"   Date: Sun, {n} Oct 2025"
    for n in range(1, 8)
)


def test_mails_of_a_list_are_told_by_their_subject_with_their_id() -> None:
    record = written(step(13, '{"q": "COML"}', f"Total results: 7\n\n{MAILS}\n{PADDING}"))
    assert "Decision on paper 3 | 37" in record.body
    assert "listed by From" not in record.body


def test_an_object_of_which_a_part_is_shown_ends_in_dots() -> None:
    thing = {"path": "/artists", **{f"field_{n}": f"value {n} of it" for n in range(80)}}
    record = written(step(3, seen=json.dumps(thing)))
    (line,) = (
        line for line in record.body.split("\n") if line.strip().startswith("path: /artists;")
    )
    assert line.endswith("; ...")


# --- what the agent said ---


@pytest.mark.parametrize(
    "sentence",
    [
        "7. zeejij fium",
        "play_counts[song_id] = response",
    ],
)
def test_what_is_no_sentence_is_no_view(sentence: str) -> None:
    record = written(
        step(1, seen=PADDING), step(2, said=sentence, seen=PADDING), step(3, said="Ok.")
    )
    assert sentence.strip(".") not in record.body


def test_what_was_open_once_is_not_open_after_the_agent_went_on() -> None:
    record = written(
        step(1, said="The table orders_2024 is still missing in db_main.", seen=PADDING),
        step(2, said="The table orders_2024 stands in db_main with 12 rows.", seen=PADDING),
    )
    assert record.unresolved == ()


def test_no_entry_is_lost_because_an_extract_counted() -> None:
    seen = "\n".join(f"\n\n{line}" for line in PADDING.split("\n"))
    span, situation = (
        [step(1, seen=seen), step(2, seen=opened("/a", 3, 90, 91))],
        Situation(FactIndex([])),
    )
    body = verify(ExtractiveSummarizer().summarize(span, situation), span, situation).body
    assert line_of(body, 1)
    assert line_of(body, 2)


def test_an_offer_of_a_page_stands_on_one_line_with_its_price() -> None:
    offers = "\n".join(
        f"[{n}]<a House {n} by the sea\nBudapest\n8.{n}\n8.{n}\n11,4{n}0 reviews\n${n}17/>"
        for n in range(1, 9)
    )
    body = written(step(7, seen=f"{offers}\n{PADDING}")).body
    assert "House 3 by the sea, Budapest, 8.3, 11,430 reviews, $317" in body
    assert "[3]<a" not in body


def test_data_that_a_client_repeats_is_told_once_and_not_as_loose_lines() -> None:
    rows = [{"account": f"shop_{n}", "balance": f"{n}17.20"} for n in range(8)]
    data = json.dumps(rows, indent=1)
    body = written(step(5, seen=f"[Output]\n{data}\n\n[Message to the agent]\n{data}")).body
    assert body.count("shop_3 | 317.20") == 1
    assert '"balance"' not in body


def test_what_is_shown_once_stands_in_the_row_of_its_owner() -> None:
    rows = [{"account_name": f"shop_{n}", "password": f"x{n}]&y-{n}"} for n in range(9)]
    body = written(step(5, seen=json.dumps(rows)), step(6, seen=PADDING)).body
    assert all(f"shop_{n} | x{n}]&y-{n}" in body for n in range(9))


def test_a_document_of_rules_is_kept_rule_by_rule() -> None:
    rules = [f"A {thing} must be booked by the office itself." for thing in THINGS]
    story = "\n\n".join(f"Trip TR-70{n} went to plant P-{n} for order O-{n}77." for n in range(99))
    seen = f"# Travel policy\n\n{story}\n\n## Limits\n\n- {f'{chr(10)}- '.join(rules)}\n"
    record = written(step(2, '{"path": "docs/travel_policy.md"}', seen, name="read_file"))
    assert all(rule in record.body for rule in rules)


THINGS = ("room", "flight", "meal", "taxi", "ticket", "visa", "boat", "car", "guide")
