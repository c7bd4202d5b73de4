"""The `statecomp` command and its exit codes: 0 fine, 1 findings, 2 bad input."""

from __future__ import annotations

import click

from statecomp import __version__
from statecomp.cli.annotate import annotate_runs
from statecomp.cli.completion import completion
from statecomp.cli.doctor import doctor
from statecomp.cli.exam import exam
from statecomp.cli.extract import extract
from statecomp.cli.figures import figures
from statecomp.cli.forecast import forecast
from statecomp.cli.import_runs import import_runs
from statecomp.cli.labels import labels
from statecomp.cli.learn import learn, routers
from statecomp.cli.ledger import COMMANDS as LEDGER_COMMANDS
from statecomp.cli.lint import lint
from statecomp.cli.models import models
from statecomp.cli.recipes import recipes
from statecomp.cli.replay import replay
from statecomp.cli.score import score
from statecomp.cli.serve import serve
from statecomp.cli.strategies import strategies
from statecomp.cli.terminal import run
from statecomp.cli.train import evaluate, train


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


app.add_command(serve)
for command in LEDGER_COMMANDS:
    app.add_command(command)
app.add_command(doctor)
app.add_command(replay)
app.add_command(exam)
app.add_command(lint)
app.add_command(import_runs)
app.add_command(annotate_runs)
app.add_command(forecast)
app.add_command(labels)
app.add_command(figures)
app.add_command(extract)
app.add_command(train)
app.add_command(evaluate)
app.add_command(learn)
app.add_command(routers)
app.add_command(score)
app.add_command(models)
app.add_command(recipes)
app.add_command(strategies)
app.add_command(completion)


def main() -> None:
    run(app)
