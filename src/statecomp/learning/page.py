"""One HTML page: the shipped router and one's own, side by side.  It loads and runs nothing.

Every text in it is ours or a number; names of clients are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from statecomp.learning.compare import RouterComparison, Side
from statecomp.learning.learn import Learned

MEASURED: Mapping[str, tuple[str, str]] = {
    "auroc": ("ranking (AUROC)", "1 puts all that may go before all that must stay; 0.5 is chance"),
    "keep_pr_auc": ("finding what must stay (PR-AUC)", "higher is better"),
    "coverage_at_98": ("may go while 2 % of it is wrong", "higher is better"),
    "ece": ("scores off by (ECE)", "lower is better"),
    "log_loss": ("surprise (log loss)", "lower is better"),
}
REPLAYED: Mapping[str, tuple[str, str]] = {
    "premature": ("replaced too early", "of what the labels still keep; lower is better"),
    "saved": ("tokens saved", "in replay, where the requests are as recorded"),
    "dollars_saved": ("dollars saved", "at list prices, under prompt caching"),
    "broken": (
        "steps that miss a name",
        "used by the recorded step, seen, and not in what is sent",
    ),
}
SIZE, EDGE = 220, 28


def page_of(learned: Learned) -> str:
    shape = files("statecomp.learning").joinpath("page.html").read_text("utf-8")
    comparison = learned.comparison
    parts = {
        "verdict": _verdict(comparison),
        "sample": _sample(learned),
        "measures": _table(comparison, MEASURED, "measures", percent=False),
        "replay": _table(comparison, REPLAYED, "replayed", percent=True),
        "curves": "".join(map(_curve, (comparison.shipped, comparison.yours))),
        "habits": _habits([habit.as_json() for habit in learned.habits]),
    }
    for name, text in parts.items():
        shape = shape.replace("{{" + name + "}}", text)
    return shape


def _verdict(comparison: RouterComparison) -> str:
    ranking = comparison.ranking
    gap = (
        f"AUROC {ranking.value:+.3f} (95 % of all draws of the sessions: {ranking.low:+.3f} to "
        f"{ranking.high:+.3f})"
        if ranking
        else "no difference could be measured"
    )
    if comparison.better:
        return f'<p class="good"><b>Better on sessions it had not seen:</b> {escape(gap)}.</p>'
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in comparison.against)
    said = f"<b>Not better, so nothing is switched:</b> {escape(gap)}."
    return f'<p class="bad">{said}</p><ul>{reasons}</ul>'


def _sample(learned: Learned) -> str:
    lessons = learned.lessons
    text = (
        f"{learned.sessions} sessions, {learned.held_out} of them, the newest, kept apart and "
        f"judged on: {learned.comparison.pairs:,} pairs of a step and a later moment. "
        f"Labels were set by {lessons.read_by}; what was seen after a replacement changed "
        f"{lessons.corrected:,} of them, and contradicted itself {lessons.at_odds:,} times."
    )
    return f"<p>{escape(text)}</p>"


def _table(
    comparison: RouterComparison, names: Mapping[str, tuple[str, str]], of: str, *, percent: bool
) -> str:
    sides = (getattr(comparison.shipped, of), getattr(comparison.yours, of))
    rows = "".join(
        f"<tr><th>{escape(title)}<small>{escape(note)}</small></th>"
        + "".join(f"<td>{_number(side.get(key), percent=percent)}</td>" for side in sides)
        + "</tr>"
        for key, (title, note) in names.items()
    )
    return f"<table><tr><th></th><th>shipped</th><th>yours</th></tr>{rows}</table>"


def _number(value: float | None, *, percent: bool) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if percent else f"{value:.3f}"


def _curve(side: Side) -> str:
    """What was said against what came true; a circle's area is how often it was said."""
    inner = SIZE - 2 * EDGE
    most = max((b["count"] for b in side.reliability), default=1) or 1
    dots = "".join(
        f'<circle cx="{EDGE + inner * b["score"]:.1f}" '
        f'cy="{SIZE - EDGE - inner * b["ready"]:.1f}" '
        f'r="{2 + 7 * (b["count"] / most) ** 0.5:.1f}"><title>said {b["score"]:.2f}, was '
        f"{b['ready']:.2f}, {b['count']:,} pairs</title></circle>"
        for b in side.reliability
        if b["count"]
    )
    top, bottom = EDGE, SIZE - EDGE
    return (
        f'<figure><svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="reliability of the '
        f'{escape(side.name)} router"><rect x="{top}" y="{top}" width="{inner}" height="{inner}"/>'
        f'<line x1="{top}" y1="{bottom}" x2="{bottom}" y2="{top}"/>{dots}'
        f'<text x="{SIZE // 2}" y="{SIZE - 8}">said</text>'
        f'<text x="12" y="{SIZE // 2}" transform="rotate(-90 12 {SIZE // 2})">was READY</text>'
        "</svg>"
        f"<figcaption>{escape(side.name)}</figcaption></figure>"
    )


def _habits(habits: Sequence[Mapping[str, Any]]) -> str:
    head = "<tr><th>client</th><th>sessions</th><th>requests, median</th><th>still to come at 10"
    head += "</th><th>replaced</th><th>came back for</th><th>read again</th></tr>"
    rows = "".join(
        f"<tr><th>{escape(str(h['client']))}</th><td>{h['sessions']:,}</td>"
        f"<td>{h['median_requests']:g}</td><td>{h['still_to_come']['10']:g}</td>"
        f"<td>{h['replaced']:,}</td><td>{h['returns']:,}</td><td>{h['reread']:.0%}</td></tr>"
        for h in habits
    )
    return f"<table>{head}{rows}</table>"
