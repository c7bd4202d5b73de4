"""The report page: its figures are the tables' figures, and no recorded text can act in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from statecomp.controller.prices import Prices
from statecomp.replays.accounting import Bill
from statecomp.replays.report import (
    choose_detailed,
    island,
    report_data,
    report_html,
    score_code,
    states,
)
from statecomp.replays.run import Replay, ReplayStep, RunReplay, Standing
from statecomp.replays.table import hindsight_share, rows, rows_by_domain
from statecomp.replays.timing import LabelSource, Timing
from statecomp.strategy import Refusal

PRICES = Prices("model-x", date(2025, 1, 2), 3.0, 0.3, 3.75, 15.0, 300)
CSP = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
ATTACK = "document.documentElement.setAttribute('data-owned', 'yes')"
HOSTILE = (
    f'</script><img src=x onerror="{ATTACK}"><script>{ATTACK}</script><!--<script>'
    " \u2028\u2029 &amp; {{data}} {{title}} \x00\x1b[31m\x7f\x9f\ud800 lone \udfff \u202e"
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


def standing(
    kept: Sequence[int] = (),
    edited: Sequence[int] = (),
    summaries: Sequence[tuple[int, int, str]] = (),
    scores: dict[int, float] | None = None,
) -> Standing:
    return Standing(frozenset(kept), frozenset(edited), tuple(summaries), scores or {})


def step(
    checkpoint: int,
    at: Standing,
    *,
    sent: int = 100,
    missing: Sequence[str] = (),
    refusals: Sequence[Refusal] = (),
    commits: int = 0,
    note: str = "",
) -> ReplayStep:
    return ReplayStep(
        checkpoint=checkpoint,
        message=checkpoint,
        bill=Bill(input=sent, cached=sent // 2, output=10, side_input=7, side_calls=1),
        segments=checkpoint,
        first_change=1,
        rewrote=commits > 0,
        standing=at,
        missing=tuple(missing),
        refusals=tuple(refusals),
        commits=commits,
        note=note,
    )


def run(name: str, domain: str = "code", text: str = "a summary") -> RunReplay:
    """Four interactions, three checkpoints, one strategy for each way to shorten."""
    kept = [step(k, standing(range(1, k)), sent=100 * k) for k in (2, 3, 4)]
    replaced = [
        step(2, standing([1], scores={1: 0.25}), refusals=[Refusal(1, 1, f"short {text}")]),
        step(3, standing(summaries=[(1, 2, text)]), commits=1, missing=[f"id-7 {text}"]),
        step(4, standing([3], summaries=[(1, 2, text)], scores={3: 1.0}), note=text),
    ]
    window = [
        step(k, standing([k - 1], edited=[k - 2] if k > 2 else []), sent=90) for k in (2, 3, 4)
    ]
    return RunReplay(
        id=name,
        domain=domain,
        group=f"group of {name}",
        interactions=4,
        raw_bills=tuple(s.bill for s in kept),
        hindsight_tokens=300,
        labels=tuple(f"{n} {text}" for n in range(1, 5)),
        replays=(
            Replay("none", tuple(kept)),
            Replay("window:keep=1", tuple(window)),
            Replay("statecomp:scorer=age", tuple(replaced)),
        ),
    )


def page(results: Sequence[RunReplay], **settings: Any) -> str:
    given = {"title": "Replay", "counter": "estimate", **settings}
    return report_html(report_data(results, PRICES, **given))


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of its JSON island."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][1].get("id") == "data":
            self.data += data


def embedded(text: str) -> Any:
    return json.loads(Elements(text).data)


def test_the_embedded_figures_are_those_of_the_tables() -> None:
    results = [run("a"), run("b", "web")]
    data = embedded(page(results))

    table = rows(results, PRICES)
    assert data["rows"] == json.loads(json.dumps([row.as_json() for row in table]))
    assert data["hindsight"] == hindsight_share(results)
    assert data["raw"]["input"] == table[0].raw.input
    assert data["raw"]["dollars"] == table[0].raw_dollars
    by_domain = rows_by_domain(results, PRICES)
    assert [domain["name"] for domain in data["domains"]] == list(by_domain)
    assert data["domains"][1]["rows"][2]["saved"] == by_domain["web"][2].saved
    listed = [saved for entry in data["runs"] for saved in entry["saved"]]
    assert listed == [round(row.saved, 4) for row in rows([results[0]], PRICES)] * 2


def test_steps_are_written_as_letters_scores_and_text_numbers() -> None:
    detail = embedded(page([run("a")]))["details"]["0"]
    window, replaced = detail["replays"][1:]

    assert window["states"] == ["k", "ek", "dek"]
    assert window["scores"] == []
    assert replaced["states"] == ["k", "ss", "ssk"]
    assert replaced["scores"] == ["6y", "----", "----rs"]  # 250 and 1000 in base 36
    reason, summary = (detail["texts"].index(text) for text in ("short a summary", "a summary"))
    assert replaced["blocks"] == [[], [[1, 2, summary]], None]
    assert replaced["refusals"] == {"0": [[1, 1, reason]]}
    assert replaced["missing"] == {"1": ["id-7 a summary"]}
    assert replaced["commits"] == {"1": 1}
    assert replaced["rewrote"] == [1]
    assert detail["texts"].count("a summary") == 1


def test_what_is_kept_inside_a_summarised_range_counts_as_kept() -> None:
    assert states(step(5, standing([2], [3], [(1, 4, "s")]))) == "skes"


def test_a_score_that_is_no_share_is_no_score() -> None:
    assert score_code(step(4, standing(scores={1: float("nan"), 2: 1.5, 3: 0.0}))) == "----00"


def test_grids_go_to_every_domain_in_turn() -> None:
    results = [run("a"), run("b"), run("c"), run("d", "web")]
    assert choose_detailed(results, 2) == [0, 3]
    assert choose_detailed(results, 3) == [0, 1, 3]
    assert choose_detailed(results, 9) == [0, 1, 2, 3]
    assert choose_detailed(results, 0) == []


def test_runs_without_a_grid_stay_in_the_tables() -> None:
    data = embedded(page([run("a"), run("b")], detailed=1))
    assert list(data["details"]) == ["0"]
    assert [entry["id"] for entry in data["runs"]] == ["a", "b"]
    assert data["rows"][0]["runs"] == 2


def test_the_page_says_when_counts_are_an_estimate() -> None:
    assert embedded(page([run("a")]))["estimate"] is True
    assert embedded(page([run("a")], counter="tiktoken:o200k_base"))["estimate"] is False


def judged(result: RunReplay, timing: Timing) -> RunReplay:
    """The run with labels: what each strategy did to the pairs of its last checkpoint."""
    replays = [
        replace(r, steps=(*r.steps[:-1], replace(r.steps[-1], timing=timing)))
        for r in result.replays
    ]
    return replace(result, replays=tuple(replays), labelled=1)


def test_timing_is_there_with_labels_and_says_where_they_came_from() -> None:
    results = [judged(run("a"), Timing(8, 2, 10, 5, 4, 3)), run("b", "web")]
    data = embedded(page(results, labels=LabelSource("expert.jsonl", ("b0", "b1"))))
    assert data["labels"] == {"file": "expert.jsonl", "annotators": ["b0", "b1"]}
    assert (data["labelled"], data["recorded"]) == (1, 2)
    timing = data["rows"][1]["timing"]
    assert (timing["premature"], timing["ready_taken"], timing["must_keep_in_view"]) == (
        0.25,
        0.5,
        0.75,
    )
    code, web = data["domains"]
    assert (code["rows"][1]["timing"]["keep_pairs"], web["rows"][1]["timing"]) == (8, None)
    assert embedded(page([run("a")]))["labels"] is None


@pytest.mark.parametrize("results", [[], [run("a")]])
def test_hostile_text_adds_no_element_and_can_be_written(results: list[RunReplay]) -> None:
    plain = page(results)
    hostile = page([run(HOSTILE, HOSTILE, HOSTILE) for _ in results], title=HOSTILE)

    hostile.encode("utf-8")
    assert [tag for tag, _ in Elements(hostile).found] == [tag for tag, _ in Elements(plain).found]
    assert hostile.count("</script>") == plain.count("</script>")
    assert embedded(hostile)["title"] == re.sub("[\ud800-\udfff]", "\ufffd", HOSTILE)


def test_the_island_holds_no_character_that_html_or_javascript_reads() -> None:
    assert not set("<>&\u2028\u2029\ud800\x00") & set(island([HOSTILE]))


def test_the_page_loads_nothing() -> None:
    text = page([run("https://example.test/run")])
    elements = Elements(text).found
    assert not [tag for tag, names in elements if {"src", "href", "srcset", "action"} & set(names)]
    assert not re.search(r"url\(\s*['\"]?(?!#)|@import|\bfetch\(|XMLHttpRequest|innerHTML", text)
    policies = [names for _, names in elements if names.get("http-equiv")]
    assert [names["content"] for names in policies] == [CSP]


def test_forty_long_runs_stay_small() -> None:
    steps = tuple(
        step(
            k,
            standing(
                range(k - 4, k),
                summaries=[(n, n + 4, f"{n} " + "word " * 400) for n in range(1, max(1, k - 8), 5)],
                scores=dict.fromkeys(range(1, k), 0.5),
            ),
        )
        for k in range(2, 41)
    )
    long = RunReplay(
        id="long",
        domain="code",
        group="g",
        interactions=40,
        raw_bills=(Bill(input=1),) * 39,
        hindsight_tokens=0,
        labels=("x" * 120,) * 40,
        replays=tuple(Replay(name, steps) for name in "abcd"),
    )
    data = report_data([long] * 40, PRICES, title="", counter="", detailed=40)
    assert len(island(data)) < 6_000_000


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed on this machine")
def test_a_browser_draws_the_grid_and_runs_nothing_from_the_data(tmp_path: Path) -> None:
    text = page([run(HOSTILE, HOSTILE, HOSTILE)], title=HOSTILE)
    dom, elements = opened(text, tmp_path)

    assert 'data-drawn="yes"' in dom
    assert ("rect", "summary") in [(tag, names.get("class")) for tag, names in elements]
    assert any(names.get("data-state") == "k" for _, names in elements)
    assert "Summary of interactions 1–2" in dom
    assert "img" not in [tag for tag, _ in elements]
    assert not any("data-owned" in names for _, names in elements)

    # The same text as markup would have been noticed.
    _, elements = opened(text.replace("<main>", f"<main><script>{ATTACK}</script>"), tmp_path)
    assert any("data-owned" in names for _, names in elements)


@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed on this machine")
def test_a_browser_draws_timing_where_there_are_labels_and_only_there(tmp_path: Path) -> None:
    session = replace(judged(run("a"), Timing(8, 2, 10, 5, 4, 3)), recorded=4)
    results = [session, run("b", "web")]
    dom, _ = opened(page(results, labels=LabelSource(HOSTILE, (HOSTILE,))), tmp_path)
    assert 'data-drawn="yes"' in dom
    assert "Saved against premature" in dom
    assert "25.0\u00a0%" in dom or "25.0 %" in dom
    assert "There are labels for 1 of 5 runs" in dom
    assert "2 sessions" in dom
    assert not re.search('<div id="timing" hidden', dom)
    dom, _ = opened(page([run("a")]), tmp_path)
    assert re.search('<div id="timing" hidden', dom)


def opened(text: str, folder: Path) -> tuple[str, list[tuple[str, dict[str, str | None]]]]:
    """The document a browser makes of a page, as text and as elements."""
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    quiet = ("quic", "gpu", "sync", "background-networking", "component-update")
    command = [
        str(BROWSER),
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        *(f"--disable-{name}" for name in quiet),
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        # The address opens the summarised cell of interaction 1 at the last checkpoint.
        f"{file.as_uri()}#0/2/1/2",
    ]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    dom = done.stdout.decode("utf-8")
    return dom, Elements(dom).found
