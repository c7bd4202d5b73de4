"""The `statecomp-bench` command; it ends with the exit codes of `statecomp`."""

from __future__ import annotations

import click

from statecomp.cli.terminal import run
from statecomp_bench import __version__
from statecomp_bench.cli.ablate import ablate
from statecomp_bench.cli.desk import desk_command
from statecomp_bench.cli.handoff import handoff_group
from statecomp_bench.cli.next import next_group
from statecomp_bench.cli.run import list_tasks, run_bench
from statecomp_bench.cli.session import session_command
from statecomp_bench.cli.suite import suite_command
from statecomp_bench.cli.tables import COMMANDS
from statecomp_bench.cli.workbuddy import workbuddy


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="statecomp-bench")
def app() -> None:
    """Tasks with real tools and checkers, run closed loop under any strategy.

    What a strategy removes changes what the agent does next, so this shows what replay cannot:
    steps taken twice, rules forgotten, values used wrongly.
    """


OWN = (
    *(run_bench, suite_command, list_tasks, session_command),
    *(desk_command, handoff_group, next_group),
)
for command in (*OWN, *COMMANDS, workbuddy, ablate):
    app.add_command(command)


def main() -> None:
    run(app)
