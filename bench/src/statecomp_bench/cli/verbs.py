"""The verbs of `statecomp-bench`, each loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping

import click

from statecomp.cli.lazy import Verb


def _ablate() -> click.Command:
    from statecomp_bench.cli.ablate import ablate

    return ablate


def _desk() -> click.Command:
    from statecomp_bench.cli.desk import desk_command

    return desk_command


def _figures() -> click.Command:
    from statecomp_bench.cli.tables import figures_command

    return figures_command


def _handoff() -> click.Command:
    from statecomp_bench.cli.handoff import handoff_group

    return handoff_group


def _matched() -> click.Command:
    from statecomp_bench.cli.tables import matched_command

    return matched_command


def _next() -> click.Command:
    from statecomp_bench.cli.next import next_group

    return next_group


def _run() -> click.Command:
    from statecomp_bench.cli.run import run_bench

    return run_bench


def _session() -> click.Command:
    from statecomp_bench.cli.session import session_command

    return session_command


def _suite() -> click.Command:
    from statecomp_bench.cli.suite import suite_command

    return suite_command


def _table() -> click.Command:
    from statecomp_bench.cli.tables import table_command

    return table_command


def _tasks() -> click.Command:
    from statecomp_bench.cli.run import list_tasks

    return list_tasks


def _workbuddy() -> click.Command:
    from statecomp_bench.cli.workbuddy import workbuddy

    return workbuddy


VERBS: Mapping[str, Verb] = {
    "ablate": Verb(
        "Compare representations, layers and routers on folds that share no task.",
        _ablate,
    ),
    "desk": Verb(
        "Serve a model whose answers are written by whoever answers the questions in FOLDER.",
        _desk,
    ),
    "figures": Verb(
        "Draw a bench as SVG and PNG; needs matplotlib (statecomp[figures]).",
        _figures,
    ),
    "handoff": Verb(
        "Hand tasks over half done: who finishes them sees only what a strategy shows.",
        _handoff,
    ),
    "matched": Verb(
        "Print a spec for each method with a budget, matched to StateComp's mean visible tokens.",
        _matched,
    ),
    "next": Verb(
        "Ask what readers would do next, at moments when something old is needed.",
        _next,
    ),
    "run": Verb(
        "Run tasks under strategies and record every run in a folder.",
        _run,
    ),
    "session": Verb(
        "Hold a day's work in one conversation: a person comes back with the next request.",
        _session,
    ),
    "suite": Verb(
        "Run the eight methods that are compared over every task or session, and print the table.",
        _suite,
    ),
    "table": Verb(
        "Write the tables of a bench, from the folders `statecomp-bench run` wrote.",
        _table,
    ),
    "tasks": Verb(
        "List the tasks, with the length of their plans, and the sessions.",
        _tasks,
    ),
    "workbuddy": Verb(
        "WorkBuddyBench, with and without StateComp before the model.",
        _workbuddy,
    ),
}
