"""Draws docs/figures/session.svg: what each request of the recorded session sends, and would send.

    python docs/generate_picture.py [--measure]

With --measure the session of samples/ is played through the library first, and the tokens of every
request are kept in docs/results/session.json; the picture is always drawn from that file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from xml.sax.saxutils import escape

from statecomp import StateComp
from statecomp.recipes import DEFAULT

DOCS = Path(__file__).resolve().parent
SESSION = DOCS.parent / "samples" / "session.jsonl"
KEPT, PICTURE = DOCS / "results" / "session.json", DOCS / "figures" / "session.svg"

WIDTH, HEIGHT = 860, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 214, 46, 44
INK, FAINT, RAW, SENT, GAP = "#1f2933", "#d5dbe1", "#8a97a3", "#00796b", "#e0f2ef"

Numbers: TypeAlias = Mapping[str, Sequence[int]]
"""Tokens of each request, as it came (`raw`) and as it goes out (`sent`); requests that commit."""
Points: TypeAlias = Sequence[tuple[float, float]]


def measured() -> Numbers:
    """Every request of the session through one engine with its defaults."""
    messages = json.loads(SESSION.read_text("utf-8"))["messages"]
    comp = StateComp()
    raw, sent, commits = [], [], []
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            checkpoint = comp.checkpoint(messages[:place])
            raw.append(checkpoint.raw_tokens)
            sent.append(checkpoint.sent_tokens)
            if checkpoint.commits:
                commits.append(len(raw))
    return {"raw": raw, "sent": sent, "commits": commits}


def drawn(numbers: Numbers) -> str:
    """The picture; the same numbers give the same bytes."""
    raw, sent = numbers["raw"], numbers["sent"]
    top = -(-max(raw) // 20_000) * 20_000
    before, after = _line(raw, top), _line(sent, top)
    area = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*before, *reversed(after)))
    share = 1 - sum(sent) / sum(raw)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="13" fill="{INK}">',
        f"<title>Tokens of each of {len(raw)} requests: the whole history grows to"
        f" {raw[-1]:,}, what StateComp sends stays near half of it</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 24, "Tokens sent with each request of a recorded session", weight=600, size=15),
        *_axes(len(raw), top),
        f'<polygon points="{area}" fill="{GAP}"/>',
        _path(before, RAW),
        _path(after, SENT),
        *(_dot(after[number - 1]) for number in numbers["commits"]),
        *_label(before[-1], RAW, "the whole history", f"{sum(raw) / 1e6:.2f}M tokens in all"),
        *_label(
            after[-1], SENT, f"StateComp, {DEFAULT}", f"{sum(sent) / 1e6:.2f}M, {share:.0%} less"
        ),
        _dot((WIDTH - RIGHT + 14, HEIGHT - BOTTOM - 4)),
        _text(WIDTH - RIGHT + 24, HEIGHT - BOTTOM, "steps replaced by a record", size=12),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(tokens: Sequence[int], top: int) -> Points:
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return [
        (LEFT + wide * place / (len(tokens) - 1), TOP + high * (1 - count / top))
        for place, count in enumerate(tokens)
    ]


def _axes(requests: int, top: int) -> Iterator[str]:
    base, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tokens in range(0, top + 1, 20_000):
        y = TOP + (base - TOP) * (1 - tokens / top)
        yield f'<line x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}"/>'
        yield _text(LEFT - 8, y + 4, f"{tokens // 1000}K" if tokens else "0", anchor="end", size=12)
    for number in (1, *range(20, requests + 1, 20)):
        x = LEFT + (end - LEFT) * (number - 1) / (requests - 1)
        yield _text(x, base + 18, str(number), anchor="middle", size=12)
    yield _text((LEFT + end) / 2, base + 36, "request", anchor="middle", size=12)


def _path(points: Points, colour: str) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.2"/>'


def _dot(place: tuple[float, float]) -> str:
    return f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="3.6" fill="{SENT}"/>'


def _label(end: tuple[float, float], colour: str, name: str, about: str) -> Iterator[str]:
    yield _text(end[0] + 10, end[1] + 2, name, weight=600, colour=colour)
    yield _text(end[0] + 10, end[1] + 19, about, size=12)


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: int = 13,
    weight: int = 400,
    colour: str = INK,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        f' font-weight="{weight}" fill="{colour}">{escape(words)}</text>'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="play the session first")
    if parser.parse_args().measure:
        KEPT.write_text(json.dumps(measured()) + "\n", "utf-8")
    PICTURE.write_text(drawn(json.loads(KEPT.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
