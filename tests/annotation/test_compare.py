"""Two readings of the same runs: counts that add up, kappa, and the steps they differ on."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from statecomp.annotation.compare import (
    AGES,
    OLDEST,
    Confusion,
    compare,
    second_readings,
)
from statecomp.annotation.labels import Label, Labels, read_labels, read_readings
from statecomp.annotation.stats import last_checkpoints
from statecomp.cli.labels import labels as command
from statecomp.errors import BadInput
from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.kinds import failed, kind_of
from statecomp.testing.words import chat_of
from tests.shared_data import LABELS, RUNS, needs_shared_data

LAST = 14
AGE_NAMES = [name for _, name in AGES] + [OLDEST]


def labels_of(boundaries: list[int | None], annotator: str = "") -> Labels:
    numbered = enumerate(boundaries, start=1)
    return {"r": {i: Label("r", i, t, annotator=annotator) for i, t in numbered}}


boundaries = st.tuples(*(st.none() | st.integers(i + 1, LAST + 2) for i in range(1, LAST + 1))).map(
    list
)


@given(boundaries, boundaries)
def test_every_pair_agrees_is_unsafe_or_is_late(
    first: list[int | None], second: list[int | None]
) -> None:
    found = compare(labels_of(first), labels_of(second), {"r": LAST})
    cell = found.all
    assert cell.both_ready + cell.both_keep + cell.unsafe + cell.late == cell.pairs
    assert cell.pairs == LAST * (LAST - 1) // 2
    assert found.exact + found.earlier + found.later == found.interactions == LAST
    assert found.exact <= found.within_one <= LAST
    assert sum(group.pairs for group in found.by["age"].values()) == cell.pairs
    assert sum(group.unsafe for group in found.by["age"].values()) == cell.unsafe
    assert list(found.by["age"]) == AGE_NAMES
    assert found.settled.pairs == cell.pairs - found.by["age"]["1"].pairs


@given(boundaries, boundaries)
def test_kappa_is_symmetric_and_what_is_unsafe_one_way_is_late_the_other(
    first: list[int | None], second: list[int | None]
) -> None:
    there = compare(labels_of(first), labels_of(second), {"r": LAST})
    back = compare(labels_of(second), labels_of(first), {"r": LAST})
    assert there.all.kappa == pytest.approx(back.all.kappa)
    assert (there.all.unsafe, there.earlier) == (back.all.late, back.later)


@given(boundaries)
def test_labels_agree_with_themselves(same: list[int | None]) -> None:
    found = compare(labels_of(same), labels_of(same), {"r": LAST})
    assert (found.all.agreement, found.all.kappa) == (1.0, 1.0)
    assert (found.exact_share, found.within_one_share) == (1.0, 1.0)


def test_kappa_of_independent_labels_is_near_zero() -> None:
    """Only one pair per run: neighbouring checkpoints of an interaction are never independent."""
    dice = Random(7)

    def rolled() -> Labels:
        sides = (2, None)
        return {str(n): {1: Label(str(n), 1, dice.choice(sides))} for n in range(4000)}

    found = compare(rolled(), rolled(), {str(n): 2 for n in range(4000)})
    assert found.all.kappa == pytest.approx(0.0, abs=0.05)


def test_kappa_is_cohens() -> None:
    # The example of Cohen's kappa everybody has seen: 20 and 15 agree, 5 and 10 do not.
    cell = Confusion(both_ready=20, both_keep=15, unsafe=5, late=10)
    assert cell.agreement == pytest.approx(0.7)
    assert cell.kappa == pytest.approx(0.4)
    assert cell.unsafe_share == pytest.approx(5 / 25)
    assert cell.late_share == pytest.approx(10 / 30)
    assert (Confusion().kappa, Confusion().unsafe_share) == (None, None)


def test_too_early_is_unsafe_and_too_late_is_late() -> None:
    early, reference = labels_of([2, 3, None, None, None]), labels_of([4, 3, None, None, None])
    found = compare(early, reference, {"r": 5})
    assert (found.all.unsafe, found.all.late) == (2, 0)
    assert (found.earlier, found.later, found.exact) == (1, 0, 4)
    late = compare(reference, early, {"r": 5})
    assert (late.all.unsafe, late.all.late) == (0, 2)


def test_a_boundary_past_the_end_is_no_boundary() -> None:
    found = compare(labels_of([5, None, None]), labels_of([None, None, None]), {"r": 3})
    assert found.exact == 3
    assert found.all.agreement == 1.0


def test_what_only_one_side_labels_is_counted_and_not_compared() -> None:
    first = {**labels_of([2, 3, None]), "x": {1: Label("x", 1, 2)}}
    found = compare(first, labels_of([2, 3]), {"r": 3, "x": 2})
    assert (found.runs, found.interactions) == (1, 2)
    assert (found.only_first, found.only_reference) == (2, 0)


def test_labels_with_nothing_in_common_are_refused() -> None:
    with pytest.raises(BadInput, match="no run in common"):
        compare({"x": {1: Label("x", 1, 2)}}, labels_of([2]), {"x": 1, "r": 1})
    with pytest.raises(BadInput, match="no interaction in common"):
        compare({"r": {2: Label("r", 2, 3)}}, labels_of([2]), {"r": 2})


def test_groups_are_told_apart_and_unknown_places_are_said() -> None:
    facets = {"kind": {("r", 1): "read", ("r", 2): "edit"}}
    found = compare(
        labels_of([2, 3, 4, None], "x"), labels_of([2, 4, 4, None], "y"), {"r": 4}, facets
    )
    assert {name: cell.pairs for name, cell in found.by["kind"].items()} == {
        "edit": 2, "read": 3, "unknown": 1,
    }  # fmt: skip
    assert found.by["kind"]["edit"].unsafe == 1
    assert list(found.by["annotators"]) == ["x / y"]


def test_a_second_reading_is_by_somebody_else() -> None:
    readings = [
        Label("r", 1, t, annotator=who) for t, who in ((2, "a"), (3, "a"), (4, "b"), (5, "c"))
    ]
    assert second_readings(readings)["r"][1].boundary == 4
    assert second_readings(readings[:2]) == {}


def step(name: str = "", arguments: str = "{}", said: str = "", seen: str = "") -> Interaction:
    calls = (Call("c", name, arguments),) if name else ()
    return Interaction(
        "i", 1, (), 0, said=said, calls=calls, observations=(Observation("c", seen),)
    )


@pytest.mark.parametrize(
    ("kind", "name", "arguments"),
    [
        ("read", "github-get_file_contents", {}),
        ("read", "Read", {}),
        ("read", "str_replace_editor", {"command": "view"}),
        ("read", "bash", {"command": "cd src && cat a.py | grep x"}),
        ("read", "run_command", {"command": "sed -n 1,9p a.py"}),
        ("read", "execute_action", {"server_name": "s", "action_name": "list_labels"}),
        ("search", "web_search", {"query": "how to delete"}),
        ("search", "API-post-search", {}),
        ("search", "bash", {"cmd": "sudo find / -name x"}),
        ("search", "execute_sql", {"sql": "-- count\nSELECT count(*) FROM t"}),
        ("edit", "createfile", {}),
        ("edit", "create_or_update_file", {}),
        ("edit", "bash_command", {"keystrokes": "cat > a.py << EOF\nprint()\nEOF\n"}),
        ("edit", "bash", {"command": "sed -i s/a/b/ a.py"}),
        ("edit", "execute_sql", {"sql": "UPDATE t SET x = 1"}),
        ("run", "bash", {"command": "./configure 2>/dev/null"}),
        ("run", "local-python-execute", {"code": "open('x')"}),
        ("other", "click", {"mark_id": 3}),
        ("other", "playwright_with_chunk-browser_click", {}),
    ],
)
def test_kinds_are_read_off_tool_names_and_commands(
    kind: str, name: str, arguments: dict[str, object]
) -> None:
    assert kind_of(step(name, json.dumps(arguments))) == kind


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("search", 'Let us look.\n```\nfind_file "*.py"\n```'),
        ("edit", "```\nedit 1:2\nx = 1\nend_of_edit\n```"),
        ("run", "first\n```\nls\n```\nthen\n```bash\npython a.py\n```"),
        ("other", '```json\n{"load_skill": "x"}\n```'),
        ("other", "```\nsubmit\n```"),
        ("other", "I am done."),
    ],
)
def test_kinds_of_actions_in_text_are_those_of_the_last_fenced_block(kind: str, said: str) -> None:
    assert kind_of(step(said=said)) == kind


def test_of_several_calls_the_strongest_counts_and_odd_arguments_do_no_harm() -> None:
    calls = (
        Call("1", "read_file", "{}"),
        Call("2", "write_file", "not json"),
        Call("3", "bash", "[1]"),
    )
    assert kind_of(Interaction("i", 1, (), 0, calls=calls)) == "edit"
    assert kind_of(step("run", "[" * 100_000)) == "run"


@pytest.mark.parametrize(
    ("seen", "error"),
    [
        ("Traceback (most recent call last):\n  File", True),
        ("line\nValueError: no", True),
        ('{"returncode": 2}', True),
        ('{"isError": true}', True),
        ("bash: rg: command not found", True),
        ('{"isError": false, "error": null}', False),
        ("exit code: 0", False),
        ("no errors were found", False),
    ],
)
def test_failures_are_told_by_how_observations_start_or_end(seen: str, error: bool) -> None:
    assert failed(step("bash", seen=seen)) is error


@pytest.mark.parametrize("blank", ["", " ", "  "])
@pytest.mark.parametrize("none", ["null", "[]", "{}", "false", '""', "0"])
@pytest.mark.parametrize("seen", ['{"error":?, "rows": 3}', '{"rows": 3,\n"error":?}', "error:?"])
def test_an_error_that_is_none_is_no_failure(seen: str, none: str, blank: str) -> None:
    assert not failed(step("bash", seen=seen.replace("?", blank + none)))
    assert failed(step("bash", seen=seen.replace("?", f'{blank}"no rye"')))


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["compare", *map(str, arguments)])


def _write(path: Path, *lines: tuple[object, ...]) -> None:
    records = (dict(zip(("id", "i", "boundary", "annotator"), line, strict=True)) for line in lines)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Mine, the reference (with a second reading), and the runs."""
    mine, reference, runs = (tmp_path / name for name in ("mine.jsonl", "ref.jsonl", "runs.jsonl"))
    _write(mine, ("one", 1, 2, "m"), ("one", 2, 4, "m"))
    again = ("one", 1, 4, "b")
    _write(reference, ("one", 1, 3, "a"), ("one", 2, 4, "a"), ("one", 3, None, "a"), again)
    run = {"id": "one", "domain": "Web", "style": "tool-calls", "messages": chat_of("prkrr")}
    runs.write_text(json.dumps(run) + "\n")
    return mine, reference, runs


def test_compare_prints_tables_and_writes_the_numbers(
    files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    mine, reference, runs = files
    done = invoke(mine, reference, "--runs", runs, "--json", tmp_path / "n.json")
    assert done.exit_code == 0, done.output
    assert "mine.jsonl against ref.jsonl" in done.stdout
    assert "not compared: 0 interactions in mine.jsonl, 1 in ref.jsonl" in done.stdout
    assert "Web" in done.stdout
    assert max(map(len, done.stdout.split("\nREADY and KEEP")[0].splitlines())) <= 80
    numbers = json.loads((tmp_path / "n.json").read_text())
    assert (numbers["all"]["pairs"], numbers["all"]["unsafe"]) == (5, 1)
    assert numbers["by"]["kind"].keys() == {"read", "other"}


def test_second_readings_are_compared_inside_one_file(files: tuple[Path, Path, Path]) -> None:
    mine, reference, _ = files
    done = invoke(reference, "--readings")
    assert "first readings against second readings" in done.stdout
    assert "one side only" not in done.stdout
    none = invoke(mine, "--readings").exception
    assert str(none) == f"{mine}: holds no second reading by another annotator"


def test_compare_wants_two_files_or_readings(files: tuple[Path, Path, Path]) -> None:
    mine, reference, _ = files
    for arguments in ([mine], [mine, reference, "--readings"]):
        done = invoke(*arguments)
        assert done.exit_code == 2
        assert "name a second label file, or say --readings" in done.stderr


def test_files_without_a_common_run_are_both_named(
    files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "two", "i": 1, "boundary": 2}\n')
    problem = str(invoke(files[0], other).exception)
    assert problem == f"{files[0]} and {other}: the two sets of labels have no run in common"


@needs_shared_data
def test_two_expert_readings_agree_far_beyond_chance() -> None:
    first, again = read_labels(LABELS), second_readings(read_readings(LABELS))
    found = compare(first, again, last_checkpoints(first, readings={}))
    assert (found.runs, found.interactions, found.all.pairs) == (5, 116, 1383)
    assert found.all.kappa == pytest.approx(0.889, abs=5e-4)
    assert found.exact_share == pytest.approx(0.853, abs=5e-4)
    assert found.within_one_share == pytest.approx(0.922, abs=5e-4)
    assert invoke(LABELS, "--readings", "--runs", RUNS).exit_code == 0
