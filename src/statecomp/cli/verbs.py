"""The verbs of `statecomp`, each loaded when it is asked for: `--help` loads none of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import click

from statecomp.cli.lazy import Verb


def _annotate() -> click.Command:
    from statecomp.cli.annotate import annotate_runs

    return annotate_runs


def _completion() -> click.Command:
    from statecomp.cli.completion import completion

    return completion


def _doctor() -> click.Command:
    from statecomp.cli.doctor import doctor

    return doctor


def _evaluate() -> click.Command:
    from statecomp.cli.train import evaluate

    return evaluate


def _exam() -> click.Command:
    from statecomp.cli.exam import exam

    return exam


def _extract() -> click.Command:
    from statecomp.cli.extract import extract

    return extract


def _figures() -> click.Command:
    from statecomp.cli.figures import figures

    return figures


def _forecast() -> click.Command:
    from statecomp.cli.forecast import forecast

    return forecast


def _import() -> click.Command:
    from statecomp.cli.import_runs import import_runs

    return import_runs


def _labels() -> click.Command:
    from statecomp.cli.labels import labels

    return labels


def _learn() -> click.Command:
    from statecomp.cli.learn import learn

    return learn


def _lint() -> click.Command:
    from statecomp.cli.lint import lint

    return lint


def _models() -> click.Command:
    from statecomp.cli.models import models

    return models


def _recipes() -> click.Command:
    from statecomp.cli.recipes import recipes

    return recipes


def _replay() -> click.Command:
    from statecomp.cli.replay import replay

    return replay


def _routers() -> click.Command:
    from statecomp.cli.learn import routers

    return routers


def _score() -> click.Command:
    from statecomp.cli.score import score

    return score


def _serve() -> click.Command:
    from statecomp.cli.serve import serve

    return serve


def _strategies() -> click.Command:
    from statecomp.cli.strategies import strategies

    return strategies


def _train() -> click.Command:
    from statecomp.cli.train import train

    return train


def _of_the_ledger(name: str) -> click.Command:
    from statecomp.cli.ledger import COMMANDS

    return next(command for command in COMMANDS if command.name == name)


SECTIONS: Mapping[str, Mapping[str, Verb]] = {
    "Put it before an agent": {
        "serve": Verb(
            "Serve a proxy that shortens what agents re-send.",
            _serve,
        ),
        "doctor": Verb(
            "Find clients and frameworks, say how each is connected and what became of its "
            "requests.",
            _doctor,
        ),
    },
    "See what it did, and take it back": {
        "sessions": Verb(
            "List the sessions in the ledger, the latest first, with what each of them "
            "saved, or why not.",
            partial(_of_the_ledger, "sessions"),
        ),
        "log": Verb(
            "List the commits of SESSION, the latest first; without it, of the latest sessions.",
            partial(_of_the_ledger, "log"),
        ),
        "show": Verb(
            "Show one COMMIT: scores, the inequality that let it through, its summary, its "
            "regrets.",
            partial(_of_the_ledger, "show"),
        ),
        "diff": Verb(
            "Show what COMMIT replaced, and by what.",
            partial(_of_the_ledger, "diff"),
        ),
        "undo": Verb(
            "Take COMMIT back: from the next request on its steps are raw again, and are not "
            "taken again.",
            partial(_of_the_ledger, "undo"),
        ),
        "export": Verb(
            "Write SESSIONS as runs, ready for `statecomp annotate`; without any, all there are.",
            partial(_of_the_ledger, "export"),
        ),
        "purge": Verb(
            "Delete sessions with all they hold: messages, account and commits.",
            partial(_of_the_ledger, "purge"),
        ),
    },
    "Work on recorded runs": {
        "import": Verb(
            "Convert other tools' recordings to runs, one a line.",
            _import,
        ),
        "replay": Verb(
            "Replay recorded runs under one or more strategies and compare them.",
            _replay,
        ),
        "score": Verb(
            "Print the router's score for every interaction of RUNS at a checkpoint, and "
            "what pushed it.",
            _score,
        ),
        "exam": Verb(
            "Ask what the records of RUNS still answer about the steps they stand for.",
            _exam,
        ),
        "lint": Verb(
            "Check request bodies and recorded runs against the rules of their wire protocol.",
            _lint,
        ),
    },
    "Label them": {
        "annotate": Verb(
            "Label every interaction of RUNS: from which checkpoint on may it be replaced?",
            _annotate,
        ),
        "labels": Verb(
            "Look at label files: how many pairs they hold, and how far two readings agree.",
            _labels,
        ),
        "forecast": Verb(
            "Ask a chat how surely each past step of RUNS may be replaced, knowing the past alone.",
            _forecast,
        ),
        "figures": Verb(
            "Draw figures as SVG and PNG; needs matplotlib (statecomp[figures]).",
            _figures,
        ),
    },
    "Train a router": {
        "learn": Verb(
            "Make a router of your own from the sessions in the ledger.",
            _learn,
        ),
        "routers": Verb(
            "Which router decides: list them, use one, go back.",
            _routers,
        ),
        "train": Verb(
            "Train a router on labelled RUNS and write it as a bundle.",
            _train,
        ),
        "evaluate": Verb(
            "Cross-validate a router on labelled RUNS: five rotations, no task in two parts.",
            _evaluate,
        ),
        "extract": Verb(
            "Read RUNS through a frozen language model and keep the vectors, one file a run.",
            _extract,
        ),
        "models": Verb(
            "List, fetch and find the frozen models that read histories (statecomp[encoder]).",
            _models,
        ),
    },
    "Know what there is": {
        "recipes": Verb(
            "List the recipes: how boldly each replaces, and what that did on recorded runs.",
            _recipes,
        ),
        "strategies": Verb(
            "List the strategies: when each acts, on what, its model calls, its tools, and its "
            "source.",
            _strategies,
        ),
        "completion": Verb(
            "Print the script that makes SHELL complete statecomp commands.",
            _completion,
        ),
    },
}
VERBS = {name: verb for verbs in SECTIONS.values() for name, verb in verbs.items()}
