"""The closed loop with a router that reads a language model, as `recipe=paper` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.tests.running import run_case, scripted, small_case
from statecomp.config import Settings, strategy_factory
from statecomp.history.trajectory import Trajectory
from statecomp.router.bundle import save
from statecomp.router.pipeline import Material, TrainingPlan, Workplace, train
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.features.small_model import needs_model, tiny
from tests.vectors.made_up import labels_of, runs_of

pytest.importorskip("sklearn", reason="training needs statecomp[learn]")
RUNS = runs_of(8, steps=4)


@needs_model
def test_an_agent_finishes_its_task_while_a_model_scores_its_history(tmp_path: Path) -> None:
    model = tiny("qwen2.5-7b", tmp_path / "model")
    plan = TrainingPlan(
        "capped-recent4", "hybrid", encoder=model, loss="weighted-bce", checkpoints=2
    )
    made = train(Material(RUNS, labels_of(RUNS)), plan, Workplace(vectors=tmp_path / "vectors"))
    save(tmp_path / "router", made.bundle)
    words = f"recipe=paper,scorer=router:{tmp_path / 'router'},device=cpu,encode_s=60"
    gates = "threshold=0.0001,longer_than=1,min_source_tokens=50"
    strategy = strategy_factory(f"statecomp:{words},{gates}", Settings())(
        Trajectory("", ()), OpenAIChat()
    )
    case = small_case()
    run, score = run_case(case, scripted(case), strategy)
    assert score.reward == 1.0
    assert run.ended == ""
    assert sum(request.commits for request in run.requests) > 0
