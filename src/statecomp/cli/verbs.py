"""The verbs of `statecomp`, each loaded when it is asked for: `--help` loads none of them."""

from __future__ import annotations

from collections.abc import Mapping

from statecomp.cli.lazy import Verb

SECTIONS: Mapping[str, Mapping[str, Verb]] = {
    "Put it before an agent": {
        "serve": Verb(
            "Serve a proxy that shortens what agents re-send.",
            "statecomp.cli.serve:serve",
        ),
        "doctor": Verb(
            "Find clients and frameworks, say how each is connected and what became of its "
            "requests.",
            "statecomp.cli.doctor:doctor",
        ),
    },
    "See what it did, and take it back": {
        "sessions": Verb(
            "List the sessions in the ledger, the latest first, with what each of them "
            "saved, or why not.",
            "statecomp.cli.ledger:sessions_command",
        ),
        "log": Verb(
            "List the commits of SESSION, the latest first; without it, of the latest sessions.",
            "statecomp.cli.ledger:log_command",
        ),
        "show": Verb(
            "Show one COMMIT: scores, the inequality that let it through, its summary, its "
            "regrets.",
            "statecomp.cli.ledger:show_command",
        ),
        "diff": Verb(
            "Show what COMMIT replaced, and by what.",
            "statecomp.cli.ledger:diff_command",
        ),
        "undo": Verb(
            "Take COMMIT back: from the next request on its steps are raw again, and are not "
            "taken again.",
            "statecomp.cli.ledger:undo_command",
        ),
        "export": Verb(
            "Write SESSIONS as runs, ready for `statecomp annotate`; without any, all there are.",
            "statecomp.cli.ledger:export_command",
        ),
        "purge": Verb(
            "Delete sessions with all they hold: messages, account and commits.",
            "statecomp.cli.ledger:purge_command",
        ),
    },
    "Work on recorded runs": {
        "import": Verb(
            "Convert other tools' recordings to runs, one a line.",
            "statecomp.cli.import_runs:import_runs",
        ),
        "replay": Verb(
            "Replay recorded runs under one or more strategies and compare them.",
            "statecomp.cli.replay:replay",
        ),
        "score": Verb(
            "Print the router's score for every interaction of RUNS at a checkpoint, and "
            "what pushed it.",
            "statecomp.cli.score:score",
        ),
        "exam": Verb(
            "Ask what the records of RUNS still answer about the steps they stand for.",
            "statecomp.cli.exam:exam",
        ),
        "lint": Verb(
            "Check request bodies and recorded runs against the rules of their wire protocol.",
            "statecomp.cli.lint:lint",
        ),
    },
    "Label them": {
        "annotate": Verb(
            "Label every interaction of RUNS: from which checkpoint on may it be replaced?",
            "statecomp.cli.annotate:annotate_runs",
        ),
        "labels": Verb(
            "Look at label files: how many pairs they hold, and how far two readings agree.",
            "statecomp.cli.labels:labels",
        ),
        "forecast": Verb(
            "Ask a chat how surely each past step of RUNS may be replaced, knowing the past alone.",
            "statecomp.cli.forecast:forecast",
        ),
        "figures": Verb(
            "Draw figures as SVG and PNG; needs matplotlib (statecomp[figures]).",
            "statecomp.cli.figures:figures",
        ),
    },
    "Train a router": {
        "learn": Verb(
            "Make a router of your own from the sessions in the ledger.",
            "statecomp.cli.learn:learn",
        ),
        "routers": Verb(
            "Which router decides: list them, use one, go back.",
            "statecomp.cli.learn:routers",
        ),
        "train": Verb(
            "Train a router on labelled RUNS and write it as a bundle.",
            "statecomp.cli.train:train",
        ),
        "evaluate": Verb(
            "Cross-validate a router on labelled RUNS: five rotations, no task in two parts.",
            "statecomp.cli.train:evaluate",
        ),
        "extract": Verb(
            "Read RUNS through a frozen language model and keep the vectors, one file a run.",
            "statecomp.cli.extract:extract",
        ),
        "models": Verb(
            "List, fetch and find the frozen models that read histories (statecomp[encoder]).",
            "statecomp.cli.models:models",
        ),
    },
    "Know what there is": {
        "recipes": Verb(
            "List the recipes: how boldly each replaces, and what that did on recorded runs.",
            "statecomp.cli.recipes:recipes",
        ),
        "strategies": Verb(
            "List the strategies: when each acts, on what, its model calls, its tools, and its "
            "source.",
            "statecomp.cli.strategies:strategies",
        ),
        "completion": Verb(
            "Print the script that makes SHELL complete statecomp commands.",
            "statecomp.cli.completion:completion",
        ),
    },
}
VERBS = {name: verb for verbs in SECTIONS.values() for name, verb in verbs.items()}
