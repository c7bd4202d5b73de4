"""Next actions: hard moments found, shown blind, answered, judged, counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from statecomp.annotation.labels import Label, Labels, Veto
from statecomp.baselines.none import NoCompression
from statecomp.baselines.window import SlidingWindow
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_runs
from statecomp_bench.nextsteps.answers import NO_JSON, answer_of, verdicts_of
from statecomp_bench.nextsteps.assigning import instructions, judges, readers
from statecomp_bench.nextsteps.folder import NextFolder, put
from statecomp_bench.nextsteps.judging import judging_pages, unjudged
from statecomp_bench.nextsteps.moments import Bounds, moments
from statecomp_bench.nextsteps.prepare import NextStudy, prepared
from statecomp_bench.nextsteps.table import lines, problems

SAMPLES = Path(__file__).parents[3] / "samples"
FACTORIES = {
    "none": lambda run, wire: NoCompression(),
    "window:keep=3": lambda run, wire: SlidingWindow(3),
}
ANYTHING = Bounds(shortest=0)


def sample(name: str) -> Trajectory:
    (run,) = (r for r in read_runs(SAMPLES / f"{name}.jsonl") if isinstance(r, Trajectory))
    return run


def labelled(run: Trajectory, *uses: tuple[int, int, int | None]) -> Labels:
    """Labels from (interaction, the step that uses it, boundary)."""
    return {
        run.id: {
            i: Label(run.id, i, boundary, veto=(Veto(at, f"what {i} showed"),))
            for i, at, boundary in uses
        }
    }


@pytest.fixture
def folder(tmp_path: Path) -> NextFolder:
    run = sample("office")
    (moment,) = moments([run], labelled(run, (2, 9, None)), ANYTHING)
    folder = NextFolder(tmp_path)
    for page in prepared(NextStudy.at(folder), moment, FACTORIES):
        folder.add(page)
    return folder


def test_a_moment_is_hard_where_something_old_is_used_and_still_kept() -> None:
    run = sample("office")
    hard = labelled(run, (2, 9, None), (3, 9, 12))
    (found,) = moments([run], hard, ANYTHING)
    assert (found.number, [number for number, _ in found.uses]) == (9, [2, 3])
    easy = labelled(run, (5, 9, None), (2, 9, 8), (4, 400, None))
    assert moments([run], easy, ANYTHING) == []  # too young; replaceable by then; not there
    assert moments([run], hard, Bounds(longest=10)) == []
    assert moments([run], {}, ANYTHING) == []


def test_one_moment_a_task_and_domains_in_turn() -> None:
    runs = [sample(name) for name in ("code", "office", "web")]
    labels = {k: v for run in runs for k, v in labelled(run, (1, 7, None), (2, 8, None)).items()}
    found = moments([*runs, *runs], labels, ANYTHING)
    assert [m.run.domain for m in found] == ["Code", "Office", "Web"]


def test_a_page_shows_the_view_and_neither_the_strategy_nor_what_came_next(
    folder: NextFolder,
) -> None:
    whole, window = folder.require()
    facts = folder.facts(whole.moment)
    assert whole.moment == window.moment
    assert facts["uses"] == ["step 2: what 2 showed"]
    for page in (whole, window):
        text = folder.page_file(page.name).read_text("utf-8")
        assert "window:keep" not in text
        assert facts["recorded"] not in text
        assert "# Your answer" in text
    assert window.tokens < whole.tokens
    # The same moment asked for again adds nothing.
    run = sample("office")
    (moment,) = moments([run], labelled(run, (2, 9, None)), ANYTHING)
    assert [*prepared(NextStudy.at(folder), moment, FACTORIES)] == []


def test_answers_are_judged_under_letters_and_counted(folder: NextFolder) -> None:
    whole, window = folder.require()
    put(folder.answer_file(whole.name), json.dumps({"action": "write $5", "missing": []}))
    assert judging_pages(folder) == []  # one is still open
    put(folder.answer_file(window.name), '```json\n{"action": "read", "missing": ["port"]}\n```')
    (moment,) = judging_pages(folder)
    text = folder.judging_file(moment).read_text("utf-8")
    assert "write $5" in text
    assert "What the agent did next" in text
    assert judging_pages(folder) == []  # letters stay as they were dealt
    assert unjudged(folder) == [moment]
    letters = {name: letter for letter, name in folder.letters()[moment].items()}
    verdict = {
        letters[whole.name]: {"score": 2, "looks_up": False, "why": "same"},
        letters[window.name]: {"score": 1, "looks_up": True, "why": "looks again"},
    }
    put(folder.verdict_file(moment), json.dumps(verdict))
    assert unjudged(folder) == []
    first, second = lines(folder)
    assert (first.good, first.missing, first.looks_up, first.score) == (1, 0, 0, 2)
    assert (second.less, second.missing, second.looks_up, second.score) == (1, 1, 1, 1)
    assert [*problems(folder)] == []


def test_an_answer_without_form_is_an_action_and_says_so(folder: NextFolder) -> None:
    assert answer_of("I would read it").problem == NO_JSON
    assert answer_of('{"action": {"tool": "x"}, "missing": "port"}').missing == ("port",)
    page = folder.require()[0]
    put(folder.answer_file(page.name), "no json")
    assert [*problems(folder)] == [f"page {page.name}: {NO_JSON}"]


def test_a_verdict_that_is_not_whole_leaves_its_moment_out(folder: NextFolder) -> None:
    for page in folder.require():
        put(folder.answer_file(page.name), '{"action": "x"}')
    (moment,) = judging_pages(folder)
    put(folder.verdict_file(moment), '{"A": {"score": 2}, "B": {"score": 7}}')
    assert lines(folder) == []
    assert [*problems(folder)] == [f"verdict {moment}: no score for B"]
    assert verdicts_of("well", {"A": "x"}) == ({}, NO_JSON)


def test_readers_and_judges_are_told_which_files(folder: NextFolder) -> None:
    made = readers(folder, 10)
    assert [len(a.names) for a in made] == [1, 1]
    told = instructions(folder, made[0].names, folder.page_file, folder.answer_file)
    assert str(folder.answer_file(made[0].names[0])) in told
    assert readers(folder, 10) == []
    assert judges(folder, 10) == []
    for page in folder.require():
        put(folder.answer_file(page.name), '{"action": "x"}')
    judging_pages(folder)
    assert len(judges(folder, 10)) == 1


def test_a_folder_without_a_study_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no moments"):
        NextFolder(tmp_path).require()
