"""What a blind review of extracts found misleading, each as a test that would have caught it."""

from __future__ import annotations

import json
from time import thread_time

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.records.extracting.reading.noise import intends, orders, telling
from statecomp.records.record import Record
from statecomp.records.verify import inventions, verify
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step


def command(number: int, line: str, seen: str) -> Interaction:
    return step(number, json.dumps({"command": line}), seen, name="run_command")


def several(number: int, *calls: tuple[str, str, str]) -> Interaction:
    """One step with several calls: name, arguments and answer of each."""
    return Interaction(
        id=f"p{number}", number=number, messages=(), tokens=0,
        calls=tuple(Call(f"c{n}", name, sent) for n, (name, sent, _) in enumerate(calls)),
        observations=tuple(Observation(f"c{n}", seen) for n, (_, _, seen) in enumerate(calls)),
    )  # fmt: skip


def heads(record: Record) -> list[str]:
    return [entry.split("\n")[0] for entry in record.facts]


# --- recoveries ---


def test_another_command_of_the_same_tool_is_no_recovery() -> None:
    record = written(
        command(1, "pdftotext mail.pdf -", "bash: line 1: pdftotext: command not found"),
        command(2, "file mail.pdf", "mail.pdf: PDF document, version 1.7"),
        command(3, "ls", PADDING),
    )
    assert heads(record)[0].endswith("-> failed: bash: line 1: pdftotext: command not found")
    assert record.unresolved == ()


def test_a_call_that_failed_again_after_it_went_through_did_not_go_through() -> None:
    failing = "Error: no such table: orders"
    span = [command(n, "make db", s) for n, s in enumerate((failing, "built", failing), 1)]
    assert "went through" not in written(*span, step(4, seen=PADDING)).body


# --- outcomes ---

TRACE = (
    'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in recv\n    raise EOFError\n'
)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (f"{TRACE}EOFError\n[*] Closed connection to port 1337", "said: EOFError"),
        ("# Page\n- title: Access Denied\n- ref 18.52", "- title: Access Denied"),
        ("file content SHA is nil", "file content SHA is nil"),
        ("Session is busy.\nEXECUTION TIMED OUT AFTER 300 SECONDS.", "EXECUTION TIMED OUT AFTER"),
        ("Session already open. Please close it first.", "Session already open."),
    ],
)  # fmt: skip
def test_an_error_without_a_flag_is_not_called_shown(seen: str, said: str) -> None:
    (line, *_) = heads(written(step(1, seen=seen), step(2, seen=PADDING)))
    assert "shown" not in line
    assert said in line


def test_a_pipe_that_ended_well_does_not_hide_a_missing_command() -> None:
    seen = '{"stdout": "", "stderr": "bash: line 1: xpdf: command not found", "returncode": 0}'
    (line, *_) = heads(written(command(1, "xpdf a.pdf | head", seen), step(2, seen=PADDING)))
    assert "said: bash: line 1: xpdf: command not found" in line


def test_each_of_several_calls_has_its_own_outcome() -> None:
    refused = "failed to update reference: 422"
    sent = [json.dumps({"repo": "homepage", "path": f"old/paper-{n}.md"}) for n in range(3)]
    seen = [refused, '{"deleted": "yes"}', refused]
    calls = [("delete_file", a, s) for a, s in zip(sent, seen, strict=True)]
    first, *_ = written(several(1, *calls), step(2, seen=PADDING)).facts
    line, *below = first.split("\n")
    assert "3 calls of delete_file repo: homepage -> 2 of 3 failed" in line
    assert [part.strip() for part in below[:3]] == [
        f"path: old/paper-0.md -> failed: {refused}",
        'path: old/paper-1.md -> {"deleted": "yes"}',
        "path: old/paper-2.md -> failed as well",
    ]


def test_the_cause_of_a_failure_is_its_error_line() -> None:
    seen = "Reading package lists...\nBuilding dependency tree...\nE: Package 'x' has no candidate"
    record = written(step(1, seen=seen, is_error=True), step(2, seen=PADDING))
    assert "-> failed: E: Package 'x' has no candidate" in heads(record)[0]


# --- the agent's own words ---


@pytest.mark.parametrize(
    "sentence",
    [
        "Let me look at the second column.",
        "Now let me query the table to find restaurants:",
        "I'll search for the 2023 final and cross-reference it.",
        "That fails, so I will download the data with wget.",
        "We'll restart the session with input.txt.",
        "First, the folder has to be listed.",
        "Here is the code to add to quotes.py.",
        "Please review the changes.",
        "2. Delete this project",
    ],
)
def test_what_the_agent_meant_to_do_is_not_quoted(sentence: str) -> None:
    assert intends(sentence)
    record = written(step(1, seen=PADDING), step(2, said=sentence, seen=PADDING))
    assert sentence.strip(".:") not in record.body


def test_what_the_agent_stated_is_quoted_as_its_words_about_what_was_before() -> None:
    said = "Commit 7f3a modified only notes.md in docs_2020."
    record = written(step(4, seen="docs_2020/notes.md"), step(5, said=said, seen=PADDING))
    (line,) = (line for line in record.body.split("\n") if said in line)
    assert "agent's view: " in line
    facts = record.body.split("\n")
    # It is about the step before, and stands below that one.
    assert facts.index(line) < next(n for n, text in enumerate(facts) if text.startswith("- 5."))


def test_a_name_that_stands_in_a_plan_is_given_without_the_plan() -> None:
    said = "That fails, so I will download the data with /opt/tools/fetch_all.sh and go on."
    span = [step(1, said=said, seen="ok")]
    _, line = verify(Record(facts=("1. run",)), span, Situation(FactIndex())).facts
    assert line == "1, the agent's own words: /opt/tools/fetch_all.sh"


def test_orders_of_a_tool_are_not_relayed() -> None:
    for line in ("PLEASE REFINE YOUR COMMAND.", "Please close the session.", "Delete this project"):
        assert orders(line)
        assert line not in written(step(1, seen=f"{PADDING}\n{line}")).body


# --- values and their owners ---


def page(name: str, level: str, number: int) -> dict[str, object]:
    runs = [{"type": "text", "plain_text": name, "annotations": {"bold": False}}]
    return {
        "object": "page", "id": f"27460215-0acf-8119-a333-c96a8b8b86{number:02}",
        "properties": {
            "Level": {"id": "Ml%3F", "type": "number", "number": level},
            "Skill": {"id": "title", "type": "title", "title": runs},
        },
    }  # fmt: skip


def test_a_list_of_objects_is_counted_and_named() -> None:
    pages = [page(f"Tool {n}", f"0.{n}", n) for n in range(1, 7)]
    record = written(step(1, seen=json.dumps({"object": "list", "results": pages})))
    told = ", ".join(f"Tool {n} (Level 0.{n})" for n in range(1, 7))
    assert f"-> 6 listed: {told}" in heads(record)[0]


def test_what_a_search_found_is_counted_and_named() -> None:
    found = [
        f"Title: {'Paper ' * n}{n}\nLink: https://h/{n}\nAuthors: A, B\n" for n in range(1, 30)
    ]
    record = written(step(1, seen="\n".join(found)))
    assert "-> 29 listed by Title: Paper 1, Paper Paper 2, " in heads(record)[0]


def test_a_nested_value_stands_with_the_name_of_its_object() -> None:
    pages = [page(f"Tool {n}", f"0.{n}7", n) for n in range(1, 7)]
    for line in written(step(1, seen=json.dumps(pages))).body.split("\n")[2:]:
        for number in range(1, 7):
            if f"0.{number}7" in line:
                assert f"Tool {number}" in line


def test_files_of_a_commit_are_told_by_name_and_not_by_hash() -> None:
    files = [
        {"sha": f"{n}8620de57a2eef8866b55194128d7ce24a06885", "filename": f"docs/{n}.md",
         "status": "removed", "blob_url": "https://h/b", "raw_url": "https://h/r", "patch": "@@ -1"}
        for n in range(3)
    ]  # fmt: skip
    body = written(step(1, seen=json.dumps({"files": files})), step(2, seen=PADDING)).body
    assert "3 files listed: docs/0.md (removed), docs/1.md (removed), docs/2.md (removed)" in body
    assert "8620de57" not in body
    assert "https://h" not in body


def test_of_a_value_that_changed_only_the_last_is_kept() -> None:
    old, new = (
        "ec7bf932432cc5c37524966a16df02b170dde3a0",
        "c107bd0868c77214ccea50ae01a1432b59c7271f",
    )
    shown = [
        json.dumps({"path": "_data/menu.yml", "name": "menu.yml", "sha": sha, "size": 8})
        for sha in (old, new)
    ]
    sent = '{"path": "_data/menu.yml", "branch": "main"}'
    span = [step(1, sent, shown[0], name="read"), step(2, sent, shown[1], name="write")]
    body = written(*span, step(3, seen=PADDING)).body
    assert new in body
    assert old not in body


def test_the_schema_of_a_tool_is_its_parameters() -> None:
    schema = {"page_id": {"type": "string", "required": True, "description": "Which page."}}
    seen = json.dumps({"name": "get_page", "path_params": schema, "query_params": {}})
    body = written(step(1, seen=seen), step(2, seen=PADDING)).body
    assert "path_params: page_id" in body
    assert "required" not in body


def test_a_part_of_a_list_says_that_something_is_missing() -> None:
    items = "\n".join(f"- entry {n} of the menu leads to /page/{n}/" for n in range(200))
    span = [step(1, seen=f"Menu:\n{items}\n")]
    record = written(*span)
    assert "\n    ...\n" in record.body
    assert not inventions(record, span, Situation())


def test_the_rest_of_a_long_enumeration_does_not_look_like_all_of_it() -> None:
    spans = ", ".join(str(n) for n in range(2, 240, 3))
    body = written(step(1, seen=f"Spans with matches: {spans}\n{PADDING}")).body
    for line in body.split("\n"):
        if "239" in line:
            assert "Spans with matches" in line or "... " in line


@pytest.mark.parametrize(
    "data",
    [
        [{"id": 1, "color": "red"}, {"id": 2, "description": None}],
        {"a": {"type": ["string", "null"], "description": "x"}},
        {"p": {"id": "x", "type": "number", "number": None}},
        {"r": [{"plain_text": None}, {"plain_text": "b"}], "s": [[], {}], "name": ["n"]},
        [{"type": {"name": "t"}, "title": {"title": [{"plain_text": "T"}]}}, {}],
    ],
)
def test_data_of_other_shapes_is_read_too(data: object) -> None:
    assert written(step(1, seen=json.dumps(data)), step(2, seen=PADDING)).facts


# --- noise and length ---


def test_dumps_progress_frames_and_bare_marks_are_gone_before_anything_is_ranked() -> None:
    seen = [
        "00000010  39 39 37 20 30 20 6f 62  6a 0d 3c 3c 2f 4c 69 6e  |997 0 obj|",
        "Generating split: 100%|████| 11300/11300 [00:00<00:00, 234 examples/s]",
        "Traceback (most recent call last):", '  File "/srv/a.py", line 3, in <module>',
        "    run()", "KeyError: 'role'",
        "**Span 2, Global Line 142, In-Span Line 38:**", '- option "Under $10"',
        "- generic [ref=e214]:",
    ]  # fmt: skip
    assert telling(seen) == ["KeyError: 'role'", 'Span 2: - option "Under $10"']


def test_neighbours_that_differ_in_one_argument_share_a_head() -> None:
    span = [
        step(n, json.dumps({"owner": "acme-corporation", "repo": "handbook", "ref": f"a{n}f"}),
             f"commit {n}\n{PADDING}", name="get_commit")
        for n in range(7, 11)
    ]  # fmt: skip
    head, *lines = heads(written(*span))
    assert head == "7-10. each get_commit owner: acme-corporation; repo: handbook"
    assert [line.partition(" -> ")[0] for line in lines] == [
        f"{n}. ref: a{n}f" for n in range(7, 11)
    ]


def test_a_record_takes_three_tenths_of_a_short_span_at_most() -> None:
    rows = [{"id": f"r-{n}", "city": f"City{n}", "price": 10 + n} for n in range(300)]
    span = [step(1, seen=json.dumps(rows))]
    source = len(span[0].text)
    assert len(written(*span).body) < source * 0.3


def test_a_call_with_another_argument_is_not_the_same_call() -> None:
    failing = "Error: column missing"
    record = written(
        command(1, "query --table orders --limit 5 --format csv", failing),
        command(2, "query --table clients --limit 5 --format csv", "12 rows"),
        command(3, "ls", PADDING),
    )
    assert "went through" not in record.body


def test_a_failure_that_a_version_of_the_call_overcame_is_not_open() -> None:
    words = "query --table orders --limit 5 --format csv --sort day --group week --quiet"
    record = written(
        command(1, words, "Error: column missing"),
        command(2, words.replace("csv", "tsv"), "12 rows"),
        command(3, "ls", PADDING),
    )
    assert not record.unresolved


def test_an_error_that_was_delivered_well_is_not_ok() -> None:
    seen = json.dumps(
        {"content": [{"type": "text", "text": "Error: no function x"}], "isError": False}
    )
    record = written(step(1, seen=seen), step(2, seen=PADDING))
    assert "said: Error: no function x" in record.facts[0]


def test_a_link_that_nothing_tells_of_is_left_out() -> None:
    links = "\n".join(f"https://example.org/{n}/9f86d081884c7d65" for n in range(30))
    assert "https://" not in written(step(1, seen=links), step(2, seen=PADDING)).body


def test_a_title_ends_where_its_block_ends() -> None:
    seen = (
        "Previous response had warnings:\nextra text was found\n\nconfig.toml was changed\n"
        + PADDING
    )
    body = written(step(1, seen=seen), step(2, seen=PADDING)).body
    assert not any("warnings" in line and "config.toml" in line for line in body.split("\n"))
    assert "warnings: config.toml" not in body


def test_whether_a_line_is_an_order_is_known_in_linear_time() -> None:
    begun = thread_time()
    assert not orders("-" * 200_000)
    assert not orders("1. " * 70_000)
    assert orders(f"{'- ' * 200}2. **Send it**: Ensure that the mail is sent")
    # Milliseconds; when the marks before a verb could be read in many ways, minutes.
    assert thread_time() - begun < 5


@pytest.mark.parametrize(
    "line",
    [
        "00000010: 7f45 4c46 0201 0100 0000 0000 0000 0000",
        " 45%|####      | 9/20 [00:03<00:04, 2.51it/s]",
        "Downloading ━━━━━━━━ 12 kB",
        "Reading package lists...",
        "Building dependency tree...",
        "Reading state information...",
        'File "/usr/lib/python3/site.py", line 12, in main',
        "- Page URL: https://shop.example/",
        "Page Title: Shop",
        "Current url: https://shop.example/",
        "[TabInfo(page_id=1)]",
        "* Current step: 4",
        "* Available tabs:",
        "[Start of page]",
        "[File: /srv/a.py (120 lines total)]",
        "End of matches for name in a.py",
        "- generic [ref=e12]:",
        "\ufffd\ufffd\ufffd PNG \ufffd",
        "Call log:",
    ],
)
def test_each_kind_of_noise_is_known_where_it_stands_alone(line: str) -> None:
    """What a pattern needs is looked for first: none may be forgotten there."""
    assert telling(["the total is 12", line, "the rest is 9"]) == [
        "the total is 12",
        "the rest is 9",
    ]
