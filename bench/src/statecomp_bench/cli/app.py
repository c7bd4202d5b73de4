"""The `statecomp-bench` command; it ends with the exit codes of `statecomp`."""

from __future__ import annotations

import click

from statecomp.cli.lazy import LazyGroup
from statecomp.cli.terminal import run
from statecomp_bench import __version__
from statecomp_bench.cli.verbs import VERBS


@click.group(
    cls=LazyGroup,
    sections={"Commands": VERBS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="statecomp-bench")
def app() -> None:
    """Tasks with real tools and checkers, run closed loop under any strategy.

    What a strategy removes changes what the agent does next, so this shows what replay cannot:
    steps taken twice, rules forgotten, values used wrongly.

    \b
    Start here:
      statecomp-bench tasks
      statecomp-bench run --tasks web-brochure --strategy none --strategy statecomp -o bench-runs/
      statecomp-bench table bench-runs/
    """


def main() -> None:
    run(app)
