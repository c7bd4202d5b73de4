"""The verbs of `statecomp-bench`, each loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping

from statecomp.cli.lazy import Verb

VERBS: Mapping[str, Verb] = {
    "ablate": Verb(
        "Compare representations, layers and routers on folds that share no task.",
        "statecomp_bench.cli.ablate:ablate",
    ),
    "desk": Verb(
        "Serve a model whose answers are written by whoever answers the questions in FOLDER.",
        "statecomp_bench.cli.desk:desk_command",
    ),
    "figures": Verb(
        "Draw a bench as SVG and PNG; needs matplotlib (statecomp[figures]).",
        "statecomp_bench.cli.tables:figures_command",
    ),
    "handoff": Verb(
        "Hand tasks over half done: who finishes them sees only what a strategy shows.",
        "statecomp_bench.cli.handoff:handoff_group",
    ),
    "matched": Verb(
        "Print a spec for each method with a budget, matched to StateComp's mean visible tokens.",
        "statecomp_bench.cli.tables:matched_command",
    ),
    "next": Verb(
        "Ask what readers would do next, at moments when something old is needed.",
        "statecomp_bench.cli.next:next_group",
    ),
    "run": Verb(
        "Run tasks under strategies and record every run in a folder.",
        "statecomp_bench.cli.run:run_bench",
    ),
    "session": Verb(
        "Hold a day's work in one conversation: a person comes back with the next request.",
        "statecomp_bench.cli.session:session_command",
    ),
    "suite": Verb(
        "Run the eight methods that are compared over every task or session, and print the table.",
        "statecomp_bench.cli.suite:suite_command",
    ),
    "table": Verb(
        "Write the tables of a bench, from the folders `statecomp-bench run` wrote.",
        "statecomp_bench.cli.tables:table_command",
    ),
    "tasks": Verb(
        "List the tasks, with the length of their plans, and the sessions.",
        "statecomp_bench.cli.run:list_tasks",
    ),
    "workbuddy": Verb(
        "WorkBuddyBench, with and without StateComp before the model.",
        "statecomp_bench.cli.workbuddy:workbuddy",
    ),
}
