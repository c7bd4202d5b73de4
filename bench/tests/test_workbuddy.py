"""WorkBuddyBench: results written to its documented layout, read by the paper's accounting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.config.methods import method_of
from statecomp.errors import BadInput
from statecomp.ledger.audit import Request, Session, Totals
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.ledger.own import WholeAccount
from statecomp.options import Options, Settings
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.turns import Turn
from statecomp.tokens.usage import Usage
from statecomp.wire.chats import open_chat
from statecomp_bench.workbuddy.arms import ArmOutcome, ArmResults, read_arm
from statecomp_bench.workbuddy.comparison import ArmComparison, ArmRow, Arms, compare
from statecomp_bench.workbuddy.jobs import ARMS, JobPlan, serving, written
from statecomp_bench.workbuddy.readme import readme
from statecomp_bench.workbuddy.summaries import read_account
from statecomp_bench.workbuddy.tables import markdown
from statecomp_bench.workbuddy.tasks import DOMAINS, eval40, eval40_domains, whole_name
from statecomp_bench.workbuddy.trials import Trial, read_trial
from statecomp_bench.workbuddy.usage import Tokens, tokens_of
from tests.proxy.serving import proxied

START_S = 1_800_000_000.0
STAMP = "2026-07-30__10-00-00"
CODE = eval40()["Code"]


def at(seconds: float) -> str:
    return datetime.fromtimestamp(START_S + seconds, UTC).isoformat()


def call(input_tokens: int, output_tokens: int, **more: Any) -> dict[str, Any]:
    """A line of `agent/requests.jsonl`, as the framework's proxy writes it."""
    usage = {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "prompt_tokens_details": {"cached_tokens": input_tokens // 2},
        "completion_tokens_details": {"reasoning_tokens": output_tokens // 2},
    }
    response = {"status": 200, "streamed": True, "usage": usage}
    return {"seq": 1, "route": "m", "response": response, "error": None, **more}


def write_trial(
    results: Path,
    job: str,
    task: str,
    *,
    score: Mapping[str, Any] | None,
    calls: Iterable[Mapping[str, Any]] = (),
    begins: float = 0,
    ends: float = 100,
    number: int = 1,
    **result: Any,
) -> Path:
    """One trial of Harbor's layout; its folder's name is cut as Harbor cuts it."""
    folder = results / job / STAMP / f"{task[:32]}__aBc{number:04d}"
    for inner in ("agent", "verifier"):
        (folder / inner).mkdir(parents=True)
    times = {"started_at": at(begins), "finished_at": at(ends)}
    told = {"task_name": task, "trial_name": folder.name, **times, "exception_info": None, **result}
    (folder / "result.json").write_text(json.dumps(told))
    (folder.parent / "job.log").write_text("")
    (folder.parent / "result.json").write_text("{}")
    if score is not None:
        (folder / "verifier" / "score.json").write_text(json.dumps(score))
    lines = [json.dumps(one) for one in calls]
    if lines:
        (folder / "agent" / "requests.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def write_eval40(results: Path, arm: str, reward: float, input_tokens: int) -> None:
    """A whole arm, domain after domain, 100 seconds each."""
    for place, domain in enumerate(DOMAINS):
        for task in eval40()[domain.name]:
            write_trial(
                results,
                f"m-{arm}-eval40-{domain.subset}",
                task,
                score={"reward": reward},
                calls=[call(input_tokens, 10)],
                begins=place * 1000,
                ends=place * 1000 + 100,
            )


def read(results: Path, arm: str) -> tuple[ArmResults, list[str]]:
    problems: list[str] = []
    return read_arm(results, f"*-{arm}-*", lambda p: problems.append(str(p))), problems


def rows(comparison: ArmComparison) -> dict[str, ArmRow]:
    return {row.domain: row for row in comparison.rows}


def ledger_with(*requests: tuple[str, float, int, int]) -> Ledger:
    """Requests as (mode, seconds after the start, input, output), each a session of its own."""
    ledger = open_ledger(":memory:")
    for number, (mode, seconds, billed, output) in enumerate(requests):
        name, when_s = f"s{number}", START_S + seconds
        session = Session(
            *(name, "t", "c", "title", "openai-chat", "m", when_s, when_s), totals=Totals()
        )
        ledger.record(
            session,
            Request(
                *(name, 1, when_s, "openai-chat", "m", mode, 2 * billed, billed),
                usage=Usage(billed, billed // 2, 0, output),
                status=200,
            ),
        )
    return ledger


def test_eval40_is_ten_tasks_of_each_domain_and_harbors_cut_loses_none() -> None:
    assert {name: len(ids) for name, ids in eval40().items()} == dict.fromkeys(
        (domain.name for domain in DOMAINS), 10
    )
    assert sum(domain.tasks for domain in DOMAINS) == 260
    assert all(whole_name(task[:32]) == task for task in eval40_domains())


def test_a_complete_comparison_is_the_papers_two_tables(tmp_path: Path) -> None:
    write_eval40(tmp_path, "baseline", 0.5, 990)
    write_eval40(tmp_path, "statecomp", 0.75, 390)
    (before, _), (after, problems) = read(tmp_path, "baseline"), read(tmp_path, "statecomp")
    ledger = ledger_with(
        ("compress", 50, 390, 10), ("observe", 50, 900, 100), ("observe", 700, 5, 5)
    )
    account = read_account(WholeAccount(ledger), after.trials)
    (comparison,) = compare(Arms(before, after, account.shares))
    found = rows(comparison)
    assert problems == []
    assert comparison.name == "Eval40"
    assert found["Total"].baseline.reward == 0.5
    assert found["Total"].difference == 0.25
    assert found["Code"].spent.baseline == 10 * 1000  # cached and reasoning not added again
    assert found["Code"].spent.agent == 10 * 400
    assert found["Code"].spent.summary == 1000  # shared among the ten that were under way
    assert found["Web"].spent.summary == 0
    assert found["Code"].spent.reduction == pytest.approx(0.5)
    assert found["Total"].spent.combined == 17_000
    assert account.outside == 1
    assert account.direct_saving == 0.5
    shown = markdown([comparison], ["a note"])
    assert "| Code | 10 of 10 | 10,000 | 4,000 | 1,000 | 5,000 | 50.00% |" in shown
    assert "| Total | 40 | 0.5000 | 0.7500 | +0.2500 | 0 / 0 | 0 / 0 |" in shown


def test_failed_and_missing_tasks_stay_in_the_fixed_set(tmp_path: Path) -> None:
    job = "m-baseline-eval40-code"
    write_trial(tmp_path, job, CODE[0], score={"overall": 1.0}, calls=[call(10, 0)])
    write_trial(
        tmp_path, job, CODE[1], score=None, exception_info={"exception_type": "AgentTimeoutError"}
    )
    write_trial(tmp_path, job, CODE[2], score={"reward": 0.9, "test_status": "build_error"})
    arm, _ = read(tmp_path, "baseline")
    assert {outcome.trials[0].failed for outcome in arm.outcomes.values()} == {
        *("", "AgentTimeoutError", "build error")
    }
    (comparison,) = compare(Arms(arm, ArmResults()))
    code = rows(comparison)["Code"]
    assert (code.baseline.reward, code.baseline.failed, code.baseline.missing) == (0.1, 2, 7)
    assert code.statecomp.reward is None
    assert code.difference is None
    assert (code.spent.measured, code.spent.baseline, code.spent.agent) == (1, 10, None)


def test_a_missing_run_never_looks_like_a_saving(tmp_path: Path) -> None:
    for task in CODE[:2]:
        write_trial(tmp_path, "m-baseline-eval40-code", task, score=None, calls=[call(100, 0)])
    write_trial(tmp_path, "m-statecomp-eval40-code", CODE[0], score=None, calls=[call(100, 0)])
    (before, _), (after, _) = read(tmp_path, "baseline"), read(tmp_path, "statecomp")
    (comparison,) = compare(Arms(before, after))
    assert rows(comparison)["Code"].spent.reduction == 0
    assert rows(comparison)["Code"].spent.summary is None


def test_other_tasks_make_the_full_set_and_are_told_by_their_dataset(tmp_path: Path) -> None:
    write_trial(tmp_path, "m-baseline-full260-sec", "some-other-task", score={"reward": 1})
    folder = write_trial(tmp_path, "x-baseline-y", "a-page", score={"reward": 1})
    config = {"datasets": [{"path": "datasets/wb-bench-web-v1.0/tasks"}]}
    (folder.parent / "config.json").write_text(json.dumps(config))
    write_trial(tmp_path, "x-baseline-z", "of-no-domain", score={"reward": 1})
    arm, problems = read(tmp_path, "baseline")
    (comparison,) = compare(Arms(arm, ArmResults()))
    assert comparison.name == "Full260"
    found = rows(comparison)
    assert found["Security"].baseline.reward == pytest.approx(1 / 60)
    assert found["Web"].baseline.missing == 69
    assert len([p for p in problems if "of no known domain" in p]) == 1


def test_attempts_are_averaged_within_a_task_and_a_linked_trial_counts_once(tmp_path: Path) -> None:
    job = "m-baseline-eval40-code"
    for number, reward in enumerate((0.0, 1.0)):
        write_trial(
            tmp_path,
            job,
            CODE[0],
            score={"reward": reward},
            calls=[call(100 * (number + 1), 0)],
            number=number,
        )
    again = tmp_path / job / "2026-07-31__10-00-00"
    again.mkdir()
    (again / f"{CODE[0][:32]}__aBc0000").symlink_to(
        tmp_path / job / STAMP / f"{CODE[0][:32]}__aBc0000"
    )
    arm, _ = read(tmp_path, "baseline")
    outcome = arm.outcomes[CODE[0]]
    assert (len(outcome.trials), outcome.reward, outcome.tokens) == (2, 0.5, 150)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("result.json", b"{", "result.json: is damaged: it holds no JSON object"),
        ("verifier/score.json", b"[]", "score.json: is damaged: it holds no JSON object"),
        ("verifier/score.json", b'{"reward": 7}', "score.json: holds no reward between 0 and 1"),
        ("verifier/score.json", b"\xff\xfe", "score.json: is damaged: it holds no JSON object"),
        ("agent/requests.jsonl", b'{"torn\n', "requests.jsonl, line 1: is no JSON object"),
        ("agent/requests.jsonl", b'{"response": {"status": 200}}\n', "has 1 answers without usage"),
    ],
)
def test_a_damaged_file_is_one_sentence_and_the_rest_goes_on(
    tmp_path: Path, file: str, content: bytes, sentence: str
) -> None:
    job = "m-baseline-eval40-code"
    bad = write_trial(tmp_path, job, CODE[0], score={"reward": 1}, calls=[call(5, 5)])
    write_trial(tmp_path, job, CODE[1], score={"reward": 1}, calls=[call(5, 5)])
    (bad / file).write_bytes(content)
    arm, problems = read(tmp_path, "baseline")
    assert sum(sentence in problem for problem in problems) == 1
    assert arm.outcomes.keys() == set(CODE[:2])
    assert arm.outcomes[CODE[1]].tokens == 10


def test_an_empty_trial_is_a_failed_one(tmp_path: Path) -> None:
    folder = tmp_path / "m-baseline-eval40-code" / STAMP / f"{CODE[1][:32]}__x"
    folder.mkdir(parents=True)
    arm, problems = read(tmp_path, "baseline")
    (trial,) = arm.outcomes[CODE[1]].trials
    assert (trial.failed, trial.tokens) == ("no score", None)
    assert problems == [f"{folder}: has no readable result.json"]


def test_the_reward_is_looked_for_in_every_place_it_may_stand(tmp_path: Path) -> None:
    job = "m-baseline-eval40-sec"
    folder = write_trial(tmp_path, job, "a", score=None)
    (folder / "verifier" / "reward.json").write_text('{"reward": 0.25}')
    said = {"rewards": {"reward": 0.5}}
    other = write_trial(tmp_path, job, "b", score=None, verifier_result=said)
    counted = write_trial(tmp_path, job, "c", score={"tests_passed": 3, "tests_total": 4})
    found = [read_trial(one, lambda p: None).reward for one in (folder, other, counted)]
    assert found == [0.25, 0.5, 0.75]


def test_without_a_log_the_agents_own_count_is_used_and_said(tmp_path: Path) -> None:
    told = {"n_input_tokens": 100, "n_cache_tokens": 60, "n_output_tokens": 5}
    said: list[str] = []
    found: dict[tuple[str, int], Tokens | None] = {}
    for name, cached in (("claude-code", 60), ("cbc-agent", 60), ("cbc-agent", 600)):
        folder = write_trial(
            tmp_path,
            f"m-baseline-{len(found)}-code",
            CODE[0],
            score={"reward": 1},
            agent_info={"name": name},
            agent_result={**told, "n_cache_tokens": cached},
        )
        found[name, cached] = read_trial(folder, lambda p: said.append(str(p))).tokens
    totals = {key: tokens and tokens.total for key, tokens in found.items()}
    assert totals == {
        ("claude-code", 60): 165,  # Anthropic reports cached input apart
        ("cbc-agent", 60): 105,
        ("cbc-agent", 600): 705,  # a part cannot be larger than the whole
    }
    assert all("those the agent reported" in one for one in said)


def test_a_judges_calls_and_failed_calls_are_no_tokens_of_the_agent(tmp_path: Path) -> None:
    refused = {"response": {"status": 500}, "error": "no", "route": "m"}
    calls = [call(10, 1), call(1000, 1000, route="judge"), refused, call(20, 2)]
    folder = write_trial(tmp_path, "m-baseline-eval40-web", "t", score={"reward": 1}, calls=calls)
    said: list[str] = []
    assert read_trial(folder, lambda p: said.append(str(p))).tokens == Tokens(30, 3, 15)
    assert said == []


@given(
    fresh=st.integers(0, 10**6),
    read_again=st.integers(0, 10**6),
    stored=st.integers(0, 10**6),
    output=st.integers(1, 10**6),
)
def test_both_providers_ways_of_counting_give_the_same_tokens(
    fresh: int, read_again: int, stored: int, output: int
) -> None:
    anthropic = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read_again,
        "cache_creation_input_tokens": stored,
        "output_tokens": output,
    }
    openai = {
        "prompt_tokens": fresh + read_again + stored,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": read_again + stored},
    }
    assert tokens_of(anthropic) == tokens_of(openai)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 1000)), max_size=8),
)
def test_shares_of_summary_calls_add_up_to_what_was_billed(
    windows: list[tuple[int, int]], calls: list[tuple[int, int]]
) -> None:
    trials = [
        Trial("t", f"f{n}", started_s=START_S + begins, finished_s=START_S + begins + long)
        for n, (begins, long) in enumerate(windows)
    ]
    ledger = ledger_with(*(("observe", when, billed, 1) for when, billed in calls))
    account = read_account(WholeAccount(ledger), trials)
    assert sum(account.shares.values()) == pytest.approx(account.summary.total)
    assert account.summary_requests + account.outside == len(calls)


@given(
    st.dictionaries(
        st.sampled_from(sorted(eval40_domains())), st.tuples(st.floats(0, 1), st.booleans())
    )
)
def test_the_total_is_the_task_weighted_mean_of_the_domains(
    given_rewards: dict[str, tuple[float, bool]],
) -> None:
    outcomes = {
        task: ArmOutcome(
            task,
            eval40_domains()[task],
            (Trial(task, task, reward, tokens=Tokens(7, 3) if known else None),),
        )
        for task, (reward, known) in given_rewards.items()
    }
    for comparison in compare(Arms(ArmResults(outcomes), ArmResults(outcomes), {})):
        *domains, total = comparison.rows
        mean = sum((row.baseline.reward or 0) * row.tasks for row in domains) / total.tasks
        assert total.baseline.reward == pytest.approx(mean)
        for name in ("measured", "baseline", "agent", "summary", "combined"):
            parts = [getattr(row.spent, name) for row in domains]
            assert sum(parts) == getattr(total.spent, name)


def test_a_summarisers_calls_through_an_observing_proxy_stand_in_the_ledger() -> None:
    model = ScriptedUpstream([Turn(said="Nothing much happened.")])
    with proxied(model, mode="observe") as proxy:
        chat = open_chat(f"openai:m@{proxy.url}/v1", environ={"OPENAI_API_KEY": proxy.key})
        billed = chat.ask("Summarise.", "What happened?", max_tokens=50).usage
        (request,) = proxy.requests
        trial = Trial("t", "f", started_s=request.when_s - 1, finished_s=request.when_s + 1)
        account = read_account(WholeAccount(proxy.ledger), [trial])
    assert request.mode == "observe"
    assert billed.input_tokens > 0
    assert account.summary.total == billed.input_tokens + billed.output_tokens
    assert account.shares == {"f": account.summary.total}
    assert account.agent_requests == 0


def test_the_arms_differ_in_the_models_address_and_nothing_else() -> None:
    yaml = pytest.importorskip("yaml")
    plan = JobPlan("https://host.example/v1", "DeepSeek: V4 'Flash'", port=9000)
    files = {name: yaml.safe_load(text) for name, text in written(plan).items() if "yaml" in name}
    jobs = {name: body for name, body in files.items() if "/jobs/" in name}
    assert len(jobs) == 2 * len(DOMAINS)
    for domain in DOMAINS:
        before, after = (jobs[f"configs/jobs/{plan.job(arm, domain)}.yaml"] for arm in ARMS)
        assert before["task_selection"] == {"mode": "name", "names": list(eval40()[domain.name])}
        assert before["dataset"] == f"datasets/wb-bench-{domain.subset}-v1.0/tasks"
        assert before["model_connection"] == "local_proxy"
        assert before["record_full_io"] is True
        assert {k for k in before if before[k] != after[k]} == {"model"}
        models = [
            files[f"configs/models/{body['model']}.yaml"]["model"] for body in (before, after)
        ]
        assert {k for k in models[0] if models[0][k] != models[1][k]} == {"backend_url_env"}
        assert models[0]["name"] == "DeepSeek: V4 'Flash'"
    env = dict(
        line.split("=", 1) for line in written(plan)["env.example"].splitlines() if "=" in line
    )
    assert env["WORKBUDDY_BASELINE_BASE_URL"] == "https://host.example/v1"
    assert env["WORKBUDDY_STATECOMP_BASE_URL"] == "http://127.0.0.1:9000/v1"
    assert env["WORKBUDDY_API_KEY"] == ""
    assert not any(
        "task_selection" in text for text in written(replace(plan, tasks="full260")).values()
    )


def test_prepared_jobs_are_read_back_as_their_arms(tmp_path: Path) -> None:
    plan = JobPlan("https://host.example", "a-statecomp-like.model")
    for arm in ARMS:
        write_trial(tmp_path, plan.job(arm, DOMAINS[2]), "new-task", score={"reward": 1})
    arm_results, _ = read(tmp_path, "baseline")
    assert arm_results.outcomes["new-task"].domain == "Security"


def test_a_chat_summariser_is_counted_by_a_proxy_of_its_own() -> None:
    plan = JobPlan("https://host.example/v1", "m", records="chat:openai:small", port=9000)
    observing, compressing = serving(plan)
    assert "--mode observe --port 9001" in observing
    spec = compressing.partition("--records ")[2].split()[0]
    assert spec == "chat:openai:small@http://127.0.0.1:9001/v1"
    settings = Settings(environ={"OPENAI_API_KEY": "k"})
    method, _ = method_of(Options("serve", f"records={spec}"), settings)
    assert method.records is not None
    assert method.records.model_for("m") == "small"
    assert observing in readme(plan)
    assert len(list(serving(replace(plan, records="extract")))) == 1


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"upstream": ""}, "upstream: must name"),
        ({"upstream": "ftp://x"}, "upstream: looks like"),
        ({"model": "//"}, "model: has no letter"),
        ({"harness": "codebuddy"}, "harness: is written"),
        ({"records": "chat:openai:m; rm"}, "records: is extract or"),
    ],
)
def test_what_cannot_be_prepared_is_refused(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        JobPlan(**{"upstream": "https://host.example", "model": "m", **wrong})
