"""What a person does with the prepared folder, command by command."""

from __future__ import annotations

from statecomp_bench.workbuddy.jobs import ARMS, KEY, LEDGER, JobPlan, serving
from statecomp_bench.workbuddy.tasks import DOMAINS, EVAL40

_TEXT = """\
# WorkBuddyBench, {tasks}: a baseline arm and a StateComp arm

Both arms run the same agent CLI (`{harness}`) on the same tasks, with the same model
(`{model}`).  They differ in one address: the framework's own proxy sends the StateComp arm's
requests to `statecomp serve` instead of to the model.  Run one job after the other, and nothing
else through these proxies meanwhile.

## Once, in a clone of the framework (github.com/Tencent/workbuddy-bench; Docker, uv, Python 3.12)

    uv sync
    ./scripts/dataset/fetch-dataset.sh all
    cp -r THIS_FOLDER/configs .
    cat THIS_FOLDER/env.example >> .env       # then fill in {key}
    scripts/harness/build-harness-mounts.sh --harness {harness}

The Web tasks are judged by a model as well, which `configs/bench/wb-bench-web-v1.0.yaml` names: the
Web jobs do not start without its file in `configs/models` (`kimi-k2.7-think.yaml`) and its key.

## Baseline

{baseline}

## StateComp: in terminals of their own, from this folder

{serving}

then, in the framework:

{statecomp}

`--dry-run` behind a job shows what it would do, without Docker and without a model.

## Tables

    statecomp-bench workbuddy collect PATH_TO_FRAMEWORK/results --store {ledger}

## What is known and what is inferred

- Read from the framework's source: every file and field above, the folder of results, and that
  `record_full_io` leaves the usage of each model call beside its trial.
- Inferred, because the paper does not say: the agent CLI and its version, {attempts},
  the agent's own compaction at {window:,} tokens in both arms (the benchmark's default), and that
  the agent's requests, not the judge's, are what it counts.
- `statecomp serve` runs with its defaults.  The paper decides before each request, at threshold
  0.60, without regard to prompt caching: add `--recipe paper --commit now`.
- {summaries}
- With ten tasks a domain and one attempt, differences of a few points of reward are noise.
"""
_EXTRACTED = "The extractive summariser asks no model, so there are no summary tokens to count."
_ASKED = (
    "The first proxy only observes: it counts what the summariser asks.  Both write to one\n"
    "  ledger, and what was observed there is the summary column.  The second takes the\n"
    "  summariser's key from OPENAI_API_KEY or ANTHROPIC_API_KEY."
)


def readme(plan: JobPlan) -> str:
    jobs = {
        arm: "\n".join(
            f"    uv run ./scripts/run.sh --job {plan.job(arm, domain)}" for domain in DOMAINS
        )
        for arm in ARMS
    }
    return _TEXT.format(
        tasks="the fixed 40 tasks" if plan.tasks == EVAL40 else "all 260 tasks",
        harness=plan.harness,
        model=plan.model,
        key=KEY,
        ledger=LEDGER,
        baseline=jobs["baseline"],
        statecomp=jobs["statecomp"],
        serving="\n".join(f"    {command}" for command in serving(plan)),
        attempts="one attempt a task" if plan.attempts == 1 else f"{plan.attempts} attempts a task",
        window=plan.window,
        summaries=_ASKED if plan.asks else _EXTRACTED,
    )
