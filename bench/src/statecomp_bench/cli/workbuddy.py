"""`statecomp-bench workbuddy`: jobs for WorkBuddyBench, and the paper's tables from its results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from statecomp.cli.files import write_text
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.ledger_open import opened
from statecomp.cli.terminal import warn
from statecomp.errors import BadInput
from statecomp_bench.workbuddy.arms import read_arm
from statecomp_bench.workbuddy.comparison import TOTAL, ArmComparison, Arms, compare
from statecomp_bench.workbuddy.jobs import ARMS, JobPlan, written
from statecomp_bench.workbuddy.readme import readme
from statecomp_bench.workbuddy.summaries import ArmAccount, read_account
from statecomp_bench.workbuddy.tables import as_json, markdown
from statecomp_bench.workbuddy.tasks import EVAL40, FULL260

JOBS = {arm: f"*-{arm}-*" for arm in ARMS}


@click.group(cls=PlainGroup)
def workbuddy() -> None:
    """WorkBuddyBench, with and without StateComp before the model.

    Its framework needs Docker and tasks from a dataset hub; these commands write its jobs and read
    its results.
    """


@workbuddy.command("prepare")
@click.option(
    "--tasks",
    type=click.Choice([FULL260, EVAL40]),
    default=EVAL40,
    show_default=True,
    help="All tasks, or the forty of the paper.",
)
@click.option("--model", default="deepseek-v4-flash", show_default=True, help="Its backend's name.")
@click.option("--upstream", required=True, metavar="URL", help="Where the model is served.")
@click.option(
    "--protocol",
    type=click.Choice(["openai", "anthropic"]),
    default="openai",
    show_default=True,
    help="What the model's server speaks.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65534),
    default=8484,
    show_default=True,
    help="Where statecomp serve will listen.",
)
@click.option("--harness", default=JobPlan.harness, show_default=True, help="The agent CLI.")
@click.option("--attempts", type=click.IntRange(1), default=1, show_default=True, help="Per task.")
@click.option(
    "--records",
    default="extract",
    show_default=True,
    metavar="SPEC",
    help="Who writes records, as for `statecomp serve`.",
)
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder to write to.",
)
def prepare(
    tasks: str,
    model: str,
    upstream: str,
    protocol: str,
    port: int,
    harness: str,
    attempts: int,
    records: str,
    folder: Path,
) -> None:
    """Write the framework's model and job files for both arms, and a README with the commands.

    \b
    Examples:
      statecomp-bench workbuddy prepare --upstream https://host/v1 -o workbuddy/
      statecomp-bench workbuddy prepare --tasks full260 --upstream https://host/v1 \\
        --records chat:openai:deepseek-v4-flash -o workbuddy/
    """
    plan = JobPlan(
        upstream, model, tasks, port, harness, protocol, attempts=attempts, records=records
    )
    texts = {**written(plan), "README.md": readme(plan)}
    for name, text in texts.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot be made: {error.strerror}", file=str(path.parent)) from error
        write_text(path, text)
    click.echo(f"{len(texts)} files written to {folder}; go on with {folder / 'README.md'}")


@workbuddy.command("collect")
@click.argument("results", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--store", default="", metavar="URL", help="The ledger of the StateComp arm.")
@click.option(
    "--baseline",
    default=JOBS["baseline"],
    show_default=True,
    metavar="GLOB",
    help="Job folders of the arm without StateComp.",
)
@click.option(
    "--statecomp",
    default=JOBS["statecomp"],
    show_default=True,
    metavar="GLOB",
    help="Job folders of the arm with it.",
)
@click.option("--json", "as_object", is_flag=True, help="One JSON object instead of tables.")
def collect(results: Path, store: str, baseline: str, statecomp: str, as_object: bool) -> None:
    """Print the Full260 and Eval40 tables from the framework's folder of RESULTS.

    Tokens are the agent's input and output plus those of summary calls; cached and reasoning tokens
    are part of these.  A task that failed or is missing has reward 0.  The arms are told apart by
    the names of their job folders.

    \b
    Examples:
      statecomp-bench workbuddy collect results/ --store ledger.sqlite > tables.md
      statecomp-bench workbuddy collect results/ --baseline 'plain-*' --statecomp 'sc-*' --json
    """
    problems: list[str] = []

    def report(problem: BadInput) -> None:
        problems.append(str(problem))
        warn(str(problem))

    before, after = (read_arm(results, jobs, report) for jobs in (baseline, statecomp))
    if not before.outcomes and not after.outcomes:
        raise BadInput(
            f"holds no trial of a job like {baseline} or {statecomp}; name others with --baseline"
            " and --statecomp",
            file=str(results),
        )
    account = None
    if store:
        with opened(store) as ledger:
            account = read_account(ledger, after.trials)
    arms = Arms(before, after, account.shares if account else None)
    comparisons = list(compare(arms))
    notes = list(_notes(arms, comparisons, account))
    if as_object:
        click.echo(json.dumps(as_json(comparisons, notes, problems, account), indent=2))
    else:
        click.echo(markdown(comparisons, notes), nl=False)


def _notes(
    arms: Arms, comparisons: list[ArmComparison], account: ArmAccount | None
) -> Iterator[str]:
    """What a reader of the tables must know."""
    yield (
        "Tokens are the agent's input and output plus those of summary calls; cached and reasoning"
        " tokens are part of these.  Columns Failed and Missing: baseline / StateComp."
    )
    for name, arm in (("baseline", arms.baseline), ("StateComp", arms.statecomp)):
        if not arm.outcomes:
            yield f"Nothing of the {name} arm was found."
            continue
        attempts = {len(outcome.trials) for outcome in arm.outcomes.values()}
        if attempts != {1}:
            low, high = min(attempts), max(attempts)
            yield f"The {name} arm has {low} to {high} attempts a task; means are over attempts."
    for comparison in comparisons:
        total = next(row for row in comparison.rows if row.domain == TOTAL)
        measured = total.spent.measured
        if measured < total.tasks:
            yield (
                f"{comparison.name}: tokens are those of {measured} of {total.tasks} tasks, the"
                " ones measured in every arm that was run."
            )
    if arms.statecomp.outcomes:
        yield from _ledger_notes(arms, account)


def _ledger_notes(arms: Arms, account: ArmAccount | None) -> Iterator[str]:
    if account is None:
        yield "Without --store summary tokens are not known; combined is the agent's part alone."
        return
    billed = sum(trial.tokens.total for trial in arms.statecomp.trials if trial.tokens)
    yield (
        f"The ledger: {account.agent_requests:,} agent requests, {account.agent.total:,} tokens"
        f" (the results: {billed:,}); {account.commits:,} commits, {account.regrets:,} regrets;"
        f" direct saving {100 * account.direct_saving:.1f}% of what the same requests held raw."
    )
    if account.summary_requests:
        yield (
            f"{account.summary_requests:,} summary calls, shared equally among the trials under way"
            " when they were made: exact for a domain whose job ran alone, approximate for a task."
        )
    else:
        yield "No summary call is in the ledger; the extractive summariser makes none."
    if account.summary_requests and not account.agent_requests:
        yield "The ledger holds observed requests only: StateComp did not compress in this arm."
    if account.outside:
        yield f"{account.outside:,} requests were made while no trial ran, and are not counted."
