"""Strategies whose ways the bench has to know: arguments of their own, steps shown as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from bench.tests.running import run_case, scripted, small_case
from statecomp.baselines.comem import flattened
from statecomp.baselines.swe_pruner import NOTE, SwePruner
from statecomp.config import Settings, strategy_factory
from statecomp.history.interaction import JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat, calls_of
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.habits import Habits
from statecomp_bench.models import Reply
from statecomp_bench.scripted.asking import arguments_offered
from statecomp_bench.scripted.sight import Eye
from statecomp_bench.tasks import task_named

SILENT = Habits(restate=0, quote=0, trust=1, recheck=0, reread=0, parallel=0)


class Noting:
    """A model that remembers what it was offered."""

    def __init__(self, model: ScriptedModel) -> None:
        self._model = model
        self.offered: dict[str, frozenset[str]] = {}

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        self.offered = arguments_offered(tools)
        return self._model.reply(messages, tools)


def focused(messages: Sequence[JsonObject]) -> dict[str, str]:
    """Questions by the path they were asked about."""
    calls = [call for m in messages if m["role"] == "assistant" for call in calls_of(m)]
    given = [json.loads(call.arguments) for call in calls]
    return {str(a["path"]): str(a["focus"]) for a in given if "focus" in a}


def test_a_question_is_offered_with_tools_that_read_and_asked_where_values_are_read() -> None:
    case, strategy = small_case(), SwePruner(OpenAIChat())
    facts = (replace(case.plan.facts[0], label="port"),)  # a word that the file itself has
    case = replace(case, plan=replace(case.plan, facts=facts))
    model = Noting(ScriptedModel(case.plan, SILENT, 0, strategy.policy))
    run, score = run_case(case, model, strategy)
    asking = {name for name, arguments in model.offered.items() if "focus" in arguments}
    assert asking == set(model.offered) - {"write_file", "edit_file"}
    # The guide holds a rule and the other files hold nothing it knows of: they are read whole.
    assert focused(run.messages) == {"etc/app.conf": "What is the port?"}
    assert run.pruned > 0
    assert sum(str(m["content"]).startswith(NOTE) for m in run.messages) == 1
    assert score.reward == 1.0


def test_nobody_asks_a_question_that_no_tool_takes() -> None:
    case = small_case()
    model = ScriptedModel(case.plan, SILENT, 0, SwePruner(OpenAIChat()).policy)
    run, _ = run_case(case, model)
    assert focused(run.messages) == {}


def test_a_step_shown_as_text_is_read_as_the_step_it_was() -> None:
    case = small_case()
    model, wire = scripted(case), OpenAIChat()
    run, _ = run_case(case, model)
    eye = Eye(case.plan)
    history = parse(run.messages[:-1], wire)
    for member in history.interactions:
        whole = eye.look(list(member.messages))
        flat = eye.look([{"role": "user", "content": flattened(member)}])
        assert [turn.said for turn in flat.turns] == [turn.said for turn in whole.turns]
        assert (flat.values, flat.rules, flat.done, flat.aims) == (
            whole.values,
            whole.rules,
            whole.done,
            whole.aims,
        )


def built(spec: str) -> Strategy:
    return strategy_factory(spec, Settings())(Trajectory("", ()), OpenAIChat())


def test_methods_that_keep_little_end_before_the_step_limit() -> None:
    case = task_named("web-forms").case()
    for spec in ("acon:rule=reset", "comem"):
        run, _ = run_case(case, scripted(case), built(spec))
        assert run.ended == "", spec


def test_texts_that_accumulate_do_not_make_every_later_turn_due() -> None:
    case = task_named("web-forms").case()
    run, _ = run_case(case, scripted(case), built("acon:rule=accumulate"))
    assert run.ended == ""
    later = [request.standing.lstrip("s") for request in run.requests[len(run.requests) // 2 :]]
    assert max(map(len, later)) > 2
