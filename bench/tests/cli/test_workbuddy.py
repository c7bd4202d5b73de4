"""`statecomp-bench workbuddy`: what is written, printed and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.tests.test_workbuddy import CODE, START_S, call, write_eval40, write_trial
from statecomp.config.places import open_store
from statecomp.errors import BadInput
from statecomp.ledger.audit import Request, Session, Totals
from statecomp.tokens.usage import Usage
from statecomp_bench.cli.app import app


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, ["workbuddy", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_a_folder_is_prepared_with_a_readme_that_names_every_job(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "er"
    shown = run(
        "prepare", "--tasks", "full260", "--upstream", "https://host.example/v1", "-o", folder
    )
    assert "12 files written" in shown.output
    text = (folder / "README.md").read_text()
    for job in (folder / "configs" / "jobs").iterdir():
        assert f"--job {job.stem}\n" in text
    assert "statecomp serve --port 8484" in text
    assert "Inferred" in text


def test_results_and_ledger_become_tables(tmp_path: Path) -> None:
    results = tmp_path / "results"
    write_eval40(results, "baseline", 0.5, 990)
    write_eval40(results, "statecomp", 0.5, 490)
    store = str(tmp_path / "ledger.sqlite")
    ledger = open_store(store, {})
    when_s = START_S + 10
    session = Session("s", "t", "c", "x", "openai-chat", "m", when_s, when_s, totals=Totals())
    ledger.record(
        session,
        Request(
            *("s", 1, when_s, "openai-chat", "m", "observe", 100, 100),
            usage=Usage(90, 0, 0, 10),
            status=200,
        ),
    )
    ledger.close()
    shown = run("collect", results, "--store", store).stdout
    assert "| Total | 40 of 40 | 40,000 | 20,000 | 100 | 20,100 | 49.75% |" in shown
    assert "1 summary calls, shared equally" in shown
    told = json.loads(run("collect", results, "--store", store, "--json").stdout)
    assert [one["set"] for one in told["sets"]] == ["Eval40"]
    assert told["sets"][0]["rows"][-1]["spent"]["combined"] == 20_100
    assert told["ledger"]["summary"]["input"] == 90
    assert told["problems"] == []


def test_damaged_results_are_said_and_the_rest_is_printed(tmp_path: Path) -> None:
    job = "m-baseline-eval40-code"
    write_trial(tmp_path, job, CODE[0], score={"reward": 1}, calls=[call(1, 1)])
    bad = write_trial(tmp_path, job, CODE[1], score={"reward": 1}, calls=[call(1, 1)])
    (bad / "verifier" / "score.json").write_text("{")
    result = run("collect", tmp_path)
    assert "score.json: is damaged" in result.stderr
    assert "| Code | 10 | 0.1000 | - | - | 1 / - | 8 / - |" in result.stdout
    assert "Nothing of the StateComp arm was found." in result.stdout


def test_jobs_of_other_names_can_be_named(tmp_path: Path) -> None:
    for job in ("plain", "ours"):
        write_trial(tmp_path, job, CODE[0], score={"reward": 1}, calls=[call(1, 1)])
    shown = run("collect", tmp_path, "--baseline", "plain", "--statecomp", "ours").stdout
    assert "| Code | 1 of 10 | 2 | 2 | - | 2 | 0.00% |" in shown
    assert "Without --store summary tokens are not known" in shown


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [((), "holds no trial of a job like"), (("--store", "no.sqlite"), "no.sqlite: is not there")],
)
def test_what_is_not_there_is_one_sentence(
    arguments: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    if arguments:
        write_trial(tmp_path, "m-statecomp-eval40-code", CODE[0], score={"reward": 1})
    with pytest.raises(BadInput, match=problem):
        run("collect", tmp_path, *arguments)
