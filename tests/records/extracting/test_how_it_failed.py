"""A program is told by where it failed, and why; by what it is; and by what it changed."""

from __future__ import annotations

import json

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.records.extracting.reading.faults import fault_in
from statecomp.records.extracting.reading.programs import described
from statecomp.records.verify import verify
from tests.growth import growth
from tests.records.extracting.test_plain_to_read import heads
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step

TRACE = "Traceback (most recent call last):"
SCRIPT = 'File "/srv/.tmp/5f1c0a9e-77aa-4e0e-b1d2-0c9f8e7d6a5b.py", line'
LIBRARY = '  File "/opt/lib/python3.12/site-packages/grain/core.py", line 90, in sift\n    raise x'


def ran(number: int, code: str, seen: str) -> Interaction:
    return step(number, json.dumps({"code": code}), seen, name="python")


def told(*span: Interaction) -> list[str]:
    """How each step ended, with room enough."""
    lines = heads(written(*span, step(99, seen=PADDING, name="pad")))
    ends = (line.partition(" -> ")[2] for line in lines[: len(span)])
    return [
        end.removesuffix(":").removesuffix("; its output").removesuffix("; from its output")
        for end in ends
    ]


# --- where it failed, and why ---


def test_a_traceback_is_told_by_the_last_line_of_its_own_and_the_error() -> None:
    seen = (
        f"{TRACE}\n  {SCRIPT} 30, in <module>\n    main()\n"
        f"  {SCRIPT} 12, in main\n    sift(rows['weight'])\n{LIBRARY}\nKeyError: 'weight'"
    )
    (line,) = told(ran(1, "main()", seen))
    assert line == "failed at line 12, `sift(rows['weight'])`: KeyError: 'weight'"


def test_a_file_of_the_agent_is_named() -> None:
    seen = f'{TRACE}\n  File "/srv/mill.py", line 3, in <module>\n    grind(7)\nValueError: no rye'
    assert told(step(1, '{"command": "python mill.py"}', seen)) == [
        "failed at line 3 of mill.py, `grind(7)`: ValueError: no rye"
    ]


@pytest.mark.parametrize(
    "link",
    [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ],
)
def test_of_exceptions_in_a_chain_the_first_is_told_first(link: str) -> None:
    seen = (
        f"{TRACE}\n  {SCRIPT} 4, in <module>\n    load()\nFileNotFoundError: no grain.csv\n\n"
        f"{link}\n\n{TRACE}\n  {SCRIPT} 6, in <module>\n    report(rows)\n"
        "NameError: name 'rows' is not defined"
    )
    (line,) = told(ran(1, "load()", seen))
    assert line == (
        "failed at line 4, `load()`: FileNotFoundError: no grain.csv; "
        "then at line 6, `report(rows)`: NameError: name 'rows' is not defined"
    )


def test_what_a_program_printed_is_told_beside_its_failure() -> None:
    trace = f"{TRACE}\n  {SCRIPT} 9, in <module>\n    mill.stop()\nAttributeError: stop"
    (before,) = told(ran(1, "x", f"rows: 12\nsocket is missing\n{trace}"))
    (behind,) = told(ran(1, "x", f"{trace}\n\nsocket is missing\n"))
    assert before.endswith("AttributeError: stop; it printed: rows: 12; socket is missing")
    assert behind.endswith("AttributeError: stop; it printed: socket is missing")


def test_what_repeats_the_error_was_not_printed_besides() -> None:
    trace = f"{TRACE}\n  {SCRIPT} 9, in <module>\n    mill.stop()\nImportError: no module grain"
    (line,) = told(ran(1, "x", f"Error importing: no module grain\n{trace}"))
    assert line.endswith("`mill.stop()`: ImportError: no module grain")


def test_a_line_that_only_has_a_number_is_looked_up_in_what_was_sent() -> None:
    code = "import grain\nfor n in range(9):\n    grain.mill(1 << n)\nprint('done')"
    seen = f'{TRACE}\n  File "<stdin>", line 3, in <module>\nOverflowError: too much'
    assert told(ran(1, code, seen)) == [
        "failed at line 3, `grain.mill(1 << n)`: OverflowError: too much"
    ]
    # Whether the empty line went with it nobody knows.
    assert told(ran(1, f"\n{code}", seen)) == ["failed at line 3: OverflowError: too much"]
    quoted = step(1, json.dumps({"command": f"cd /srv && python3 -c '\n{code}\n'"}), seen)
    assert "`for n in range(9):`" in told(quoted)[0]


def test_the_line_is_of_the_program_in_a_message_of_data_and_of_no_other() -> None:
    program = "python3 - <<'END'\nimport grain\ngrain.mill(7)\nEND\n"
    seen = f'{TRACE}\n  File "<stdin>", line 2, in <module>\nOverflowError: too much'
    acts = [{"keystrokes": program, "duration": 1.0}]
    for sent, line in ((acts, ", `grain.mill(7)`"), ([*acts, {"keystrokes": "ls\n"}], "")):
        said = f"```json\n{json.dumps({'plan': 'mill', 'commands': sent}, indent=1)}\n```"
        ran = Interaction("i1", 1, (), 0, said=said, observations=(Observation("", seen),))
        assert told(ran) == [f"failed at line 2{line}: OverflowError: too much"]


def test_the_line_is_of_the_call_that_failed() -> None:
    seen = f'{TRACE}\n  File "<stdin>", line 1, in <module>\nValueError: no rye'
    calls = [Call(f"c{n}", "python", json.dumps({"code": f"mill({n})"})) for n in (1, 2)]
    seen_of = (Observation("c1", "12 sacks"), Observation("c2", seen))
    ran = Interaction("i1", 1, (), 0, calls=tuple(calls), observations=seen_of)
    line = written(ran, step(2, seen=PADDING)).facts[0]
    assert "-> failed at line 1, `mill(2)`: ValueError: no rye" in line


def test_an_exception_that_ended_what_was_sent_is_a_failure_and_one_it_told_of_is_none() -> None:
    seen = f'{TRACE}\n  File "<stdin>", line 1, in <module>\nValueError: no rye\n\nmilled: 4\n'
    assert told(ran(1, "mill()\nprint(4)", seen)) == [
        "failed at line 1, `mill()`: ValueError: no rye; it printed: milled: 4"
    ]
    (line,) = told(ran(1, "try:\n    mill()\nexcept ValueError:\n    traceback.print_exc()", seen))
    assert "failed" not in line


def test_who_broke_a_program_off_is_no_cause() -> None:
    seen = f'^C{TRACE}\n  File "/srv/a.py", line 9, in <module>\n    recv()\nKeyboardInterrupt\n'
    (line,) = told(step(1, '{"command": "nmap mill"}', f"{seen}bash: nmap: command not found"))
    assert "recv" not in line


def test_the_line_that_marks_point_into_is_told_with_the_error() -> None:
    seen = (
        'Error: column "rye" does not exist\nLINE 3:   SELECT rye\n                 ^\nHINT: none'
    )
    (line,) = told(step(1, '{"sql": "..."}', seen, is_error=True))
    assert line == 'failed: Error: column "rye" does not exist; at `LINE 3: SELECT rye`'


@pytest.mark.parametrize(
    "text",
    [
        '  File "a.py", line 3, in x\n',
        f'{TRACE}\n  File "a.py", line 3\nOSError: y\n\nDuring handling of the above exception\n',
        "cat << A\n",
        "python -c '\n",
        "import x\n                              y()\n",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_looks_like_a_failed_program_again_and_again_takes_linear_time(text: str) -> None:
    def read(times: int) -> None:
        fault_in(text * times, text * times)
        described(text * times, runs=True)

    assert growth(read, 500, 5_000, 10, enough=3, nothing_s=0.02) < 3


# --- said once, and beside the step ---


def test_a_cause_stands_beside_its_step_and_under_no_heading() -> None:
    record = written(ran(1, "x", "Error: quota used up"), step(2, seen=PADDING))
    assert heads(record)[0] == '1. python {"code": "x"} -> failed: Error: quota used up'
    assert not record.failures
    assert record.body.count("quota used up") == 1


def test_a_cause_is_the_same_where_only_what_the_call_names_differs() -> None:
    span = [
        step(
            n, json.dumps({"command": f"nc mill {port}"}), f"fatal: mill port {port} refused{tail}"
        )
        for n, port, tail in ((1, 71, ""), (2, 72, ""), (3, 73, " with 502"))
    ]
    first, again, other = told(*span)
    assert again == "failed as at step 1"
    assert first != other != again


def test_nothing_of_a_text_that_was_sent_in_vain_is_quoted() -> None:
    text = "\n".join(f"The mill of valley {n} ground {n}00 tons." for n in range(30))
    sent = json.dumps({"path": "report.md", "content": text})
    for seen in ("Error: disk full", "saved"):
        record = written(step(1, sent, seen, name="write"), step(2, seen=PADDING))
        assert ("from what it sent" in record.body) == (seen == "saved")


# --- what a program is ---

PROGRAM = "\n".join(
    [
        "import csv",
        "import json",
        "",
        "# Read the deliveries",
        "with open('/srv/mill/deliveries.csv') as file:",
        "    rows = list(csv.reader(file))",
        "    # the first is a header",
        "    del rows[0]",
        "",
        "#print(rows)",
        "# Write what each mill got",
        "target = '/srv/mill/by_mill.json'",
        "with open(target, 'w') as file:",
        "    json.dump({row[0]: float(row[3]) for row in rows}, file)",
        'print(f"{len(rows)} deliveries of this year were written to {target}")',
    ]
)


def action(span: Interaction) -> str:
    return heads(written(span, step(99, seen=PADDING, name="pad")))[0].partition(" -> ")[0]


def test_a_long_program_is_told_by_its_length_its_comments_and_its_places() -> None:
    assert action(ran(1, PROGRAM, PADDING)) == (
        '1. python 13 lines, "Read the deliveries; Write what each mill got", '
        "with /srv/mill/by_mill.json, /srv/mill/deliveries.csv"
    )


def test_a_short_program_stands_whole() -> None:
    short = "\n".join(PROGRAM.split("\n")[3:6])
    assert action(ran(1, short, PADDING)) == f"1. python {' '.join(short.split())}"


def test_a_program_without_comments_is_told_by_its_outermost_lines() -> None:
    code = (
        "def mill(rows):\n"
        + "    grind(rows)\n" * 30
        + "def sell(flour):\n    pass\nsell(mill([]))"
    )
    assert action(ran(1, code, PADDING)) == (
        '1. python 34 lines, "def mill(rows); def sell(flour); sell(mill([]))"'
    )


def test_a_program_inside_a_command_leaves_the_command_as_it_is() -> None:
    command = f"cat > /srv/by_mill.py << 'END'\n{PROGRAM}\nEND\npython3 /srv/by_mill.py --all"
    line = action(step(1, json.dumps({"command": command, "timeout": 30}), PADDING))
    assert 'command: cat > /srv/by_mill.py [13 lines, "Read the deliveries; ' in line
    assert "]; python3 /srv/by_mill.py --all" in line


def test_a_long_text_is_told_by_its_beginning_and_no_end_is_glued_to_it() -> None:
    text = "# Report\n" + "Nothing was ground today.\n" * 20 + "All went well."
    line = action(step(1, json.dumps({"path": "report.md", "content": text}), "saved"))
    assert 'content: 22 lines, beginning "# Report Nothing was ground today.' in line
    assert "All went well" not in line


def test_the_ledger_knows_how_long_a_program_is() -> None:
    code = "\n".join(f"grind({n})" for n in range(262))
    span, situation = (ran(1, code, PADDING),), Situation(FactIndex(()))
    record = verify(written(*span), span, situation)
    assert "python 262 lines" in record.body


# --- what a version changed ---


def versions(*codes: str) -> list[str]:
    span = [ran(n, code, f"{n} rows\n{PADDING}") for n, code in enumerate(codes, 1)]
    return [head.partition(" -> ")[0] for head in heads(written(*span))]


def test_a_version_is_told_by_every_line_that_went_and_every_line_that_came() -> None:
    other = PROGRAM.replace("import json\n", "").replace("float(row[3])", "row[3]")
    line = versions(PROGRAM, other)[1]
    assert line == (
        "2. python as at step 1, but without: import json; "
        "json.dump({row[0]: float(row[3]) for row in rows}, file); "
        "with: json.dump({row[0]: row[3] for row in rows}, file)"
    )


def test_a_first_line_that_stayed_is_no_difference() -> None:
    assert versions(PROGRAM, f"import grain\n{PROGRAM}")[1] == (
        "2. python as at step 1, but with: import grain"
    )


def test_a_program_that_was_sent_again_is_the_same() -> None:
    assert versions(PROGRAM, PROGRAM)[1] == "2. python the same as at step 1"


def test_a_version_of_which_most_is_new_is_told_by_what_it_is() -> None:
    other = f"{PROGRAM}\n" + "\n".join(f"print('mill number {n} of the valley')" for n in range(9))
    assert versions(PROGRAM, other)[1].startswith('2. python 22 lines, "Read the deliveries; ')


def test_a_version_is_of_the_nearest_like_step_rather_one_that_went_well() -> None:
    broken = PROGRAM.replace("import json\n", "")
    span = [
        ran(1, PROGRAM, f"12 rows\n{PADDING}"),
        ran(2, broken, f"{PADDING}\nNameError: name 'json' is not defined"),
        ran(3, PROGRAM.replace("row[3]", "row[4]"), f"12 rows\n{PADDING}"),
    ]
    assert " as at step 1, but without: json.dump(" in heads(written(*span))[2]


def test_an_argument_that_a_call_has_no_more_is_told() -> None:
    page = {"path": "mills/" + "upper/" * 24, "query": "rye", "sort": "weight of the grain"}
    less = {key: value for key, value in page.items() if key != "query"}
    span = (step(n, json.dumps(x), PADDING, name="find") for n, x in ((1, page), (2, less)))
    assert heads(written(*span))[1].startswith("2. find as at step 1, but without query: rye")


def test_values_of_two_places_that_are_called_alike_are_both_told() -> None:
    sent = {"owner": {"id": 7}, "mill": {"id": 9}, "note": "grind all of the rye that is here"}
    line = action(step(1, json.dumps(sent), "saved"))
    assert "id: 7, 9" in line
