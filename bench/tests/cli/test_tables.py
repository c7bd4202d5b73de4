"""`statecomp-bench table`, `figures` and `matched`, on a bench that was really run."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.tests.running import needs_sandbox
from statecomp.errors import BadInput
from statecomp_bench.cli.app import app
from statecomp_bench.cli.sheet import BEST, SECOND, TableCell, TableDocument, ranked, written
from statecomp_bench.results import append_result, read_results

PNG = b"\x89PNG"


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One task under three strategies, one of them under a second acting model as well."""
    needs_sandbox()
    made = tmp_path_factory.mktemp("bench")
    common = ("run", "--tasks", "office-invoices", "--jobs", "1", "-o", made, "--strategy", "none")
    ours = ("--strategy", "statecomp:scorer=age:after=3")
    run(*common, *ours, "--strategy", "lre", "--max-steps", "45")
    run(*common, *ours, "--model", "scripted:hasty", "--max-steps", "45")
    return made


def test_the_table_says_what_ran_what_changed_and_that_it_is_a_simulation(folder: Path) -> None:
    shown = run("table", folder, "--model", "scripted")
    runs = {r.strategy: r for r in read_results(folder) if r.model == "scripted"}
    base, lre = runs["none"], runs["lre"]
    row = next(line for line in shown.splitlines() if line.startswith("| LRE |"))
    assert f"{100 * lre.reward:.2f}" in row
    assert f"{lre.total / 1000:,.1f}" in row
    assert f"↓{abs(lre.total / base.total - 1):.1%}" in row
    assert f"{lre.dollars:.3f}" in row
    assert "Simulation (scripted): the acting model is a script" in shown
    local = next(line for line in shown.splitlines() if "No model was asked here" in line)
    assert "StateComp" in local
    assert "list prices: " in shown
    assert re.search(r"\*\*\d[\d.]+\*\*", shown), "no best value is marked"
    assert "Why the tokens changed" in shown
    assert "Across acting models" not in shown
    assert "Published" not in shown


def test_two_models_are_compared_each_with_its_own_baseline(folder: Path) -> None:
    shown = run("table", folder)
    across = shown.partition("## Across acting models")[2]
    assert across.count("| No compression |") == 2
    assert "LRE" not in across.partition("\n- ")[0]
    assert "Simulation (scripted, scripted:hasty)" in across


def test_failed_runs_are_counted_with_their_reason_and_cannot_break_the_page(
    folder: Path, tmp_path: Path
) -> None:
    for result in read_results(folder):
        if result.model == "scripted":
            append_result(tmp_path, result)
    bad = next(r for r in read_results(tmp_path) if r.strategy == "lre")
    reason = "the model raised: <script>alert(1)</script>\n| & 100 % $x_1$"
    append_result(tmp_path, replace(bad, reward=0.0, failed=True, reason=reason))
    markdown, page, latex = (
        run("table", tmp_path, "--format", form) for form in ("markdown", "html", "latex")
    )
    row = next(line for line in markdown.splitlines() if line.startswith("| LRE |"))
    assert row.endswith("| 1 |")
    assert "Failed, scored 0, 1 runs: the model raised" in markdown
    assert "<script>" not in markdown + page
    assert r"\& 100 \% \$x\_1\$" in latex


def test_the_page_is_well_formed_and_self_contained(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.html"
    run("table", folder, "--format", "html", "--published", "-o", target)
    page = target.read_text("utf-8")
    open_tags: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in ("meta",):
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Checker().feed(page)
    assert open_tags == []
    assert "http://" not in page
    assert "https://" not in page


def test_latex_has_as_many_cells_as_columns_in_every_row(folder: Path) -> None:
    shown = run("table", folder, "--format", "latex", "--published")
    tables = re.findall(r"\\begin\{tabular\}\{([lr|]+)\}(.*?)\\end\{tabular\}", shown, re.DOTALL)
    assert len(tables) == shown.count(r"\begin{table*}") == 8
    for spec, body in tables:
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        wide = len(spec.replace("|", ""))
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {wide}
    assert not set(shown) - set(map(chr, range(128))), "marks plain LaTeX cannot print"


def test_published_numbers_stand_apart_and_say_so(folder: Path) -> None:
    shown = run("table", folder, "--model", "scripted", "--published")
    ours, _, paper = shown.partition("## The paper's Eval40 beside this bench")
    assert "71.54" not in ours
    assert "| StateComp | 71.54 ↑4.00 | 43.76 ↓42.0% |" in paper
    assert "| ACM | 33.70 ↓33.84 | 94.56 ↑25.2% | - | - |" in paper
    tables = paper.count("\n## ") + 1
    assert paper.count("not comparable with ours in absolute terms") == tables == 3


def test_matched_budgets_can_be_run_and_stand_beside_the_published_setting(
    folder: Path, tmp_path: Path
) -> None:
    specs = run("matched", folder, "--model", "scripted").split()
    (lre,) = [spec for spec in specs if spec.startswith("lre:")]
    common = ("--tasks", "office-invoices", "--jobs", "1", "--max-steps", "45")
    run("run", *common, "--strategy", lre, "-o", tmp_path)
    shown = run("table", folder, "--model", "scripted", "--matched", tmp_path)
    regimes = shown.partition("## Two regimes")[2]
    (row,) = [line for line in regimes.splitlines() if line.startswith("| LRE |")]
    assert lre.partition(":")[2] in row
    (matched,) = read_results(tmp_path)
    assert f"{matched.input / matched.steps / 1000:,.1f}" in row


def test_figures_are_drawn_for_each_model(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run("figures", folder, "-o", tmp_path)
    stems = {"reward_tokens", "tokens_per_step", "dynamics"}
    names = {
        f"{s}-{m}.{e}"
        for s in stems
        for m in ("scripted", "scripted_hasty")
        for e in ("svg", "png")
    }
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (tmp_path / "dynamics-scripted.png").read_bytes().startswith(PNG)


def test_the_grid_of_any_recorded_run_can_be_drawn(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (file,) = (folder / "trajectories").glob("*lre.scripted.s0*")
    chosen = ("--model", "scripted", "--run", file, "--strategy", "lre")
    first, second = tmp_path / "a", tmp_path / "b"
    run("figures", folder, "-o", first, *chosen)
    run("figures", folder, "-o", second, *chosen)
    assert len(list(first.iterdir())) == 6
    same = [(first / n).read_bytes() == (second / n).read_bytes() for n in ("dynamics.svg",)]
    assert same == [True], "the same run draws other bytes"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("table", "nowhere"), "holds no results"),
        (("table", "{folder}", "--baseline", "magic"), "was not run"),
        (("table", "{folder}", "--model", "gpt"), "is not in these results"),
        (("matched", "{folder}", "--to", "sam"), "was not run"),
        (("figures", "{folder}", "-o", "{new}", "--task", "web-x"), "no run of that task"),
        (("figures", "{folder}", "-o", "{new}", "--strategy", "sam"), "was not run on"),
        (
            ("figures", "{folder}", "-o", "{new}", "--run", "{folder}/results.jsonl"),
            "no `standing`",
        ),
    ],
)
def test_wrong_words_are_refused(
    arguments: tuple[str, ...], problem: str, folder: Path, tmp_path: Path
) -> None:
    words = [word.format(folder=folder, new=tmp_path) for word in arguments]
    with pytest.raises(BadInput, match=problem):
        CliRunner().invoke(app, [*words], catch_exceptions=False)


def test_what_looks_equal_ranks_equal() -> None:
    values = (1.001, 0.999, 2.0, 3.0, None)
    cells = [TableCell(f"{v:.1f}" if v is not None else "-") for v in values]
    assert [c.rank for c in ranked(values, cells, lowest=True)] == [BEST, BEST, SECOND, 0, 0]
    assert [c.rank for c in ranked(values, cells)] == [0, 0, SECOND, BEST, 0]
    assert [c.rank for c in ranked((1.0, 1.0), cells[:2])] == [0, 0]


def test_marks_of_the_best_are_the_papers_in_every_format() -> None:
    row = (
        TableCell("a|b"),
        TableCell("1.0", "↑0.5", good=True, rank=BEST),
        TableCell("2", rank=SECOND),
    )
    sheet = TableDocument("T", ("m", "x", "y"), (row,), ("say 5 %",), frozenset({0}))
    assert "| **a\\|b** | **1.0** ↑0.5 | <u>2</u> |" in written([sheet], "markdown")
    assert r"\textbf{1.0}\,{\scriptsize\textcolor{teal}{$\uparrow$0.5}}" in written(
        [sheet], "latex"
    )
    assert '<b>1.0</b> <small class="good">↑0.5</small>' in written([sheet], "html")
