"""`statecomp import`: files and folders in, one file out; what could not be read is said."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from statecomp.cli.import_runs import import_runs
from statecomp.errors import BadInput
from statecomp.traces.importer import Importer
from statecomp.traces.jsonl import read_runs
from tests.shared_data import RUNS, needs_shared_data
from tests.traces.test_claude_code import SESSION, line, result, said, text
from tests.traces.test_codex import META, TURN
from tests.traces.test_openhands import APP, SDK
from tests.traces.test_requests import TASK, chat
from tests.traces.test_swe_agents import EXIT, OPENING, TOOL_RUN, mini

KEY = "sk-" + "ant-api03-aB3dE6gH9jK2mN5pQ8rS1tU4"
OWN = {"id": "own", "style": "tool-calls", "domain": "Web", "messages": [TASK]}


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def run_import(*arguments: str | Path) -> Result:
    return CliRunner().invoke(import_runs, [str(a) for a in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Every format, each under a name that lies."""
    root = tmp_path / "in"
    (root / "deep" / "events").mkdir(parents=True)
    (root / "a.traj").write_text(lines(*SESSION))
    (root / "b.json").write_text(lines(META, *TURN))
    (root / "c.jsonl").write_text(json.dumps(TOOL_RUN, indent=2))
    answer = {"role": "assistant", "content": "ok"}
    (root / "rollout-2026.jsonl").write_text(json.dumps(mini([*OPENING, answer, EXIT])))
    (root / "session.txt").write_text(json.dumps(APP))
    (root / "claude.gz").write_bytes(gzip.compress(lines(chat(TASK)).encode()))
    (root / "requests.jsonl").write_text(lines(OWN))
    (root / "notes.md").write_text("# not a recording")
    for place, event in enumerate(SDK):
        (root / "deep" / "events" / f"event-{place:05}-abcdef01.json").write_text(json.dumps(event))
    (root / "deep" / "base_state.json").write_text(
        json.dumps({"id": "conv", "agent": {"llm": {"model": "m"}}})
    )
    return root


def test_every_format_is_told_by_content_and_the_result_can_be_read(
    folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "runs.jsonl"
    done = run_import(folder, "-o", output, "--domain", "Code")
    assert done.exit_code == 0, done.output
    found = {run.id: run for run in read_runs(output) if not isinstance(run, BadInput)}
    assert len(found) == len(output.read_text().splitlines()) == 8
    formats = "1 claude-code, 1 codex, 1 mini-swe-agent, 2 openhands, 1 requests, 1 statecomp"
    assert f"8 runs written to {output}: {formats}, 1 swe-agent" in done.output
    assert "passed over in the folders, because they are no JSON: 1" in done.output
    assert "kept under recorded.events" in done.output
    assert sorted({run.domain for run in found.values()}) == ["Code", "Web"]
    first = json.loads(output.read_text().splitlines()[0])
    layout = ["id", "domain", "source_repo", "license", "scaffold", "model", "task", "group"]
    assert list(first)[:11] == [*layout, "outcome", "style", "protocol"]


def test_importing_twice_and_importing_the_import_change_no_byte(
    folder: Path, tmp_path: Path
) -> None:
    names = [tmp_path / f"{n}.jsonl" for n in range(3)]
    run_import(folder, "-o", names[0])
    run_import(folder, folder, "-o", names[1])
    run_import(names[0], "-o", names[2])
    assert names[0].read_bytes() == names[1].read_bytes() == names[2].read_bytes()


def test_a_resumed_copy_is_told_from_the_same_session(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines(*SESSION))
    (tmp_path / "b.jsonl").write_text(lines(*SESSION))
    more = said("a9", "a4", text("And more."), "msg9")
    (tmp_path / "c.jsonl").write_text(lines(*SESSION, more))
    importer = Importer()
    ids = [r["id"] for some in importer.records(importer.sources([tmp_path])) for r in some]
    assert ids[0] == "claude-code-s1"
    assert len(set(ids)) == len(ids) == 2
    assert importer.tally.repeated == 1


def test_secrets_are_masked_in_text_arguments_results_and_reasoning(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": f"The key is {KEY}", "signature": "s"}
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"echo {KEY}"}}
    records = [
        line("user", "u1", None, f"My key: {KEY}"),
        said("a1", "u1", thought, "m1"),
        said("a2", "a1", use, "m1"),
        line("user", "r1", "a2", [result("t1", KEY)], toolUseResult={"stdout": KEY}),
    ]
    source, output = tmp_path / "s.jsonl", tmp_path / "runs.jsonl"
    source.write_text(lines(*records))
    done = run_import(source, "-o", output)
    assert KEY not in output.read_text() + done.output
    assert "6 secrets masked: 6 anthropic" in done.output
    kept = run_import(source, "-o", output, "--keep-secrets")
    assert output.read_text().count(KEY) == 6
    assert "secrets were kept" in kept.output


def test_a_truncated_last_line_costs_that_line(tmp_path: Path) -> None:
    source, output = tmp_path / "s.jsonl", tmp_path / "runs.jsonl"
    source.write_text(lines(*SESSION) + '{"type": "assistant", "mess')
    done = run_import(source, "-o", output)
    assert done.exit_code == 0
    assert f"could not be read, 1 times: is not valid JSON ({source}, line 10)" in done.output
    strict = run_import(source, "-o", output, "--strict")
    assert strict.exit_code == 1
    assert output.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b'{"a": 1}\n', "is in no format we know; say which with --format"),
        (b"\x28\xb5\x2f\xfd....", "is compressed with zstd; unpack it first"),
        (b"hello", "is not valid JSON"),
        (b"\x1f\x8bxx", "is a damaged gzip file"),
    ],
)
def test_nothing_readable_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    source = tmp_path / "x.jsonl"
    source.write_bytes(content)
    done = run_import(source, "-o", tmp_path / "out.jsonl")
    assert isinstance(done.exception, BadInput)
    assert sentence in str(done.exception)
    assert str(source) in str(done.exception)
    assert list(tmp_path.iterdir()) == [source]


def test_missing_files_bad_outputs_and_inputs_as_outputs_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "s.jsonl"
    source.write_text(lines(*SESSION))
    for arguments, sentence in (
        ((tmp_path / "no.jsonl", "-o", tmp_path / "o"), "does not exist"),
        ((source, "-o", tmp_path / "no" / "o"), "cannot be written"),
        ((source, "-o", source), "is one of the inputs"),
        ((tmp_path, "-o", source), "is one of the inputs"),
    ):
        done = run_import(*arguments)
        assert sentence in str(done.exception)
    assert source.read_text() == lines(*SESSION)


def test_a_format_that_is_named_is_used(tmp_path: Path) -> None:
    source = tmp_path / "s.jsonl"
    source.write_text(
        lines({"model": "m", "messages": [TASK, {"role": "assistant"}], "style": "x"})
    )
    assert "style" in str(run_import(source, "-o", tmp_path / "o").exception)
    done = run_import(source, "-o", tmp_path / "o", "--format", "requests")
    assert "1 run written" in done.output


def test_runs_that_no_wire_can_read_are_refused_and_the_others_written(tmp_path: Path) -> None:
    source, output = tmp_path / "s.jsonl", tmp_path / "o.jsonl"
    orphan = {**OWN, "id": "bad", "messages": [{"role": "tool", "content": ""}]}
    source.write_text(lines(OWN, orphan))
    done = run_import(source, "-o", output)
    assert len(output.read_text().splitlines()) == 1
    assert "is a tool result that answers no call before it" in done.output


@needs_shared_data
def test_recorded_runs_pass_through(tmp_path: Path) -> None:
    some, output = tmp_path / "some.jsonl.gz", tmp_path / "runs.jsonl"
    with gzip.open(RUNS) as all_of_them:
        some.write_bytes(gzip.compress(b"".join(islice(all_of_them, 0, None, 10)), 1))
    done = run_import(some, "-o", output)
    assert "30 runs written" in done.output
    assert "could not be read" not in done.output
