"""The `statecomp` command and its exit codes: 0 fine, 1 findings, 2 bad input."""

from __future__ import annotations

import click

from statecomp import __version__
from statecomp.cli.lazy import LazyGroup
from statecomp.cli.terminal import run
from statecomp.cli.verbs import VERBS


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="statecomp")
def app() -> None:
    """Shorten what long-running agents re-send, without breaking what they do next.

    A past interaction is replaced by a verified summary once it is safe to replace, given what the
    agent is doing now.

    \b
    Start here:
      statecomp replay samples/*.jsonl --strategy window:keep=10 --strategy statecomp
      statecomp import ~/.claude/projects -o runs.jsonl
      statecomp annotate runs.jsonl -o labels.jsonl

    Every command explains itself:  statecomp COMMAND --help
    """


def main() -> None:
    run(app)
