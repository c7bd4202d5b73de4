"""Programs that stand for many calls do what the calls would do."""

from __future__ import annotations

import json

import pytest

from bench.tests.running import run_case, sandbox, scripted, small_case
from statecomp.history.interaction import Call
from statecomp.wire.openai_chat.wire import calls_of
from statecomp_bench.environment import Environment
from statecomp_bench.scripted.hands import Called
from statecomp_bench.scripted.programs import ProgramPart, carry_out, joined, look_up
from statecomp_bench.tasks import task_named


def answered(*calls: Called) -> str:
    """What is shown of them, one behind the other, in a workspace with one file."""
    with sandbox() as box:
        (box.root / "list.txt").write_text("head\nprice of tin: 7\nprice of zinc: 9\nfoot\n")
        environment = Environment(box)
        made = [Call("c", name, json.dumps(arguments)) for name, arguments in calls]
        return "\n".join(environment.call(call) for call in made)


READ: Called = ("read_file", {"path": "list.txt"})


def test_a_look_up_prints_the_lines_that_say_it_and_nothing_else() -> None:
    wanted = {"zinc": r"price of zinc: (\d+)", "pair": r"tin: (\d)\s+price"}
    shown = answered(look_up([ProgramPart(READ, wanted)]))
    assert shown.splitlines() == ["price of zinc: 9", "price of tin: 7", "price of zinc: 9"]


def test_a_look_up_goes_on_with_what_it_has_found() -> None:
    price = ProgramPart(READ, {"zinc": r"price of zinc: (\d+)", "tin": r"price of tin: (\d+)"})
    query = "-- {zinc}\nselect '{zinc}' || ' and ' || {tin}"
    asked: Called = ("sqlite", {"query": query, "database": "list.db"})
    table = ProgramPart(asked, {"both": r"(\d and \d)"}, late=frozenset(("zinc", "tin")))
    shown = answered(look_up([price, table]))
    assert shown.splitlines() == ["price of zinc: 9", "price of tin: 7", "9 and 7"]
    # What it does not find it cannot fill in, and the other parts go on.
    gone = ProgramPart(READ, {"zinc": r"price of gold: (\d+)"})
    alone = ProgramPart(asked, {"both": r"(\d and \d)"}, late=frozenset(("zinc",)))
    last = ProgramPart(READ, {"tin": r"price of tin: (\d+)"})
    assert answered(look_up([gone, alone, last])).split("\n")[-1] == "price of tin: 7"


def test_a_look_up_without_a_value_prints_all_of_it_and_last() -> None:
    parts = [ProgramPart(READ, {}), ProgramPart(READ, {"zinc": r"price of zinc: (\d+)"})]
    assert answered(look_up(parts)).split("\n") == [
        *("price of zinc: 9", "head", "price of tin: 7", "price of zinc: 9", "foot")
    ]


def test_a_program_fills_in_what_an_earlier_part_of_it_found() -> None:
    write: Called = ("write_file", {"path": "out/a.txt", "content": "zinc {zinc}, tin 7\n"})
    edit: Called = ("edit_file", {"path": "out/a.txt", "old": "tin 7", "new": "no 'tin'"})
    parts = [
        ProgramPart(READ, {"zinc": r"price of zinc: (\d+)"}),
        ProgramPart(write, {}, quiet=False),
        ProgramPart(edit, {}, quiet=False),
        ProgramPart(("shell", {"command": "cat out/a.txt"}), {}, quiet=False),
        ProgramPart(("python", {"code": "print({zinc} + 1)"}), {}, quiet=False),
    ]
    assert answered(carry_out(parts)).split("\n") == [
        *("price of zinc: 9", "", "", "zinc 9, no 'tin'", "10")
    ]


def test_python_of_a_program_runs_in_it_and_what_it_raises_ends_its_part_alone() -> None:
    process: Called = ("python", {"code": "import os\nprint(os.getpid())"})
    fault: Called = ("python", {"code": "print({}['gone'])"})
    parts = [ProgramPart(call, {}, quiet=False) for call in (process, fault, process)]
    for program in (carry_out(parts), look_up(parts)):
        first, raised, second = filter(None, answered(program).splitlines())
        assert first == second
        assert raised == "KeyError('gone')"


def test_programs_of_ours_are_joined_and_other_calls_are_not() -> None:
    looks = look_up([ProgramPart(READ, {"tin": r"price of tin: (\d+)"})])
    does = carry_out([ProgramPart(READ, {"zinc": r"price of zinc: (\d+)"})])
    asks: Called = ("ask_user", {"question": "Which?"})
    other, program = joined((looks, asks, does))
    assert other == asks
    assert answered(program).split() == ["price", "of", "tin:", "7", "price", "of", "zinc:", "9"]


@pytest.mark.parametrize("name", ["code-release", "office-travel", "security-alerts"])
def test_who_takes_over_finishes_a_task_in_a_few_programs(name: str) -> None:
    case = task_named(name).case(seed=5, level=1)
    run, score = run_case(case, scripted(case, variant="reader"))
    step_by_step, _ = run_case(case, scripted(case))
    assert score.reward == 1.0
    assert not run.ended
    assert 3 * len(run.requests) < len(step_by_step.requests)


def test_who_checks_looks_at_the_result_in_a_call_of_its_own() -> None:
    case = small_case()
    run, score = run_case(case, scripted(case, variant="reader"))
    calls = [c.name for m in run.messages if m["role"] == "assistant" for c in calls_of(m)]
    assert calls == ["python", "python"]  # what is to be read, and what is to be done
    assert score.reward == 1.0
