"""The `statecomp` command and its exit codes: 0 fine, 1 findings, 2 bad input."""

from __future__ import annotations

import click

from statecomp import __version__
from statecomp.cli.lazy import LazyGroup
from statecomp.cli.terminal import run
from statecomp.cli.verbs import SECTIONS


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="statecomp")
def app() -> None:
    """Shorten what long-running agents re-send, without breaking what they do next.

    A past interaction is replaced by a verified summary once it is safe to replace, given what the
    agent is doing now.

    \b
    Start here:
      statecomp serve                                      # a proxy before your agent
      statecomp replay samples/*.jsonl --strategy statecomp  # what recorded runs would have saved
      statecomp import ~/.claude/projects -o runs.jsonl    # recordings of your own

    Every command explains itself, with examples:  statecomp COMMAND --help
    """


def main() -> None:
    run(app)
