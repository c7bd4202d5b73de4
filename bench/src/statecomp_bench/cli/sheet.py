"""A table of text, and the ways to write it down: Markdown, LaTeX, a page of HTML."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

BEST, SECOND = 1, 2


@dataclass(frozen=True, slots=True)
class TableCell:
    """A number as a reader sees it.  `good` says whether the change is one to the better."""

    text: str
    change: str = ""  # such as "↑3.10"
    good: bool | None = None
    rank: int = 0  # BEST, SECOND or neither


@dataclass(frozen=True, slots=True)
class TableDocument:
    """One table: what it shows, its rows, and what must be known to read it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    notes: tuple[str, ...] = ()
    ours: frozenset[int] = frozenset()  # rows to be seen first
    heads: int = 1  # leading columns of words


def ranked(
    values: Sequence[float | None], cells: Sequence[TableCell], *, lowest: bool = False
) -> list[TableCell]:
    """The best and the second best marked, as they are shown: what looks equal ranks equal."""
    sign = 1 if lowest else -1
    shown = {
        cell.text: value for value, cell in zip(values, cells, strict=True) if value is not None
    }
    order = sorted(shown, key=lambda text: sign * shown[text])
    if len(order) < 2:  # nothing to choose between
        return list(cells)
    places = dict(zip(order, (BEST, SECOND), strict=False))
    return [replace(cell, rank=places.get(cell.text, 0)) for cell in cells]


def written(sheets: Sequence[TableDocument], form: str) -> str:
    return FORMS[form](sheets)


def as_markdown(sheets: Sequence[TableDocument]) -> str:
    return "\n".join(_markdown(sheet) for sheet in sheets)


def _markdown(sheet: TableDocument) -> str:
    lines = [f"## {sheet.title}", ""]
    lines.append("| " + " | ".join(sheet.columns) + " |")
    rules = [":--" if place < sheet.heads else "--:" for place in range(len(sheet.columns))]
    lines.append("| " + " | ".join(rules) + " |")
    for place, row in enumerate(sheet.rows):
        cells = [_markdown_cell(cell) for cell in row]
        if place in sheet.ours:
            cells[sheet.heads - 1] = f"**{cells[sheet.heads - 1]}**"
        lines.append("| " + " | ".join(cells) + " |")
    # Reasons of failed runs are other people's words.
    lines += ["", *(f"- {note.replace('<', '&lt;')}" for note in sheet.notes), ""]
    return "\n".join(lines)


def _markdown_cell(cell: TableCell) -> str:
    text = cell.text.replace("|", "\\|").replace("<", "&lt;")
    text = {BEST: f"**{text}**", SECOND: f"<u>{text}</u>"}.get(cell.rank, text)
    return f"{text} {cell.change}".strip()


LATEX_MARKS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "−": r"$-$",
        "×": r"$\times$",
        **{mark: "\\" + mark for mark in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def as_latex(sheets: Sequence[TableDocument]) -> str:
    return "% needs \\usepackage{booktabs,xcolor,graphicx}\n" + "\n".join(map(_latex, sheets))


def _latex(sheet: TableDocument) -> str:
    spec = "l" * sheet.heads + "|" + "r" * (len(sheet.columns) - sheet.heads)
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        rf"\caption{{\textbf{{{_tex(sheet.title)}.}} {_tex(' '.join(sheet.notes))}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        " & ".join(rf"\textbf{{{_tex(name)}}}" for name in sheet.columns) + r" \\",
        r"\midrule",
    ]
    for place, row in enumerate(sheet.rows):
        cells = [_latex_cell(cell) for cell in row]
        if place in sheet.ours:
            cells[sheet.heads - 1] = rf"\textbf{{{cells[sheet.heads - 1]}}}"
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table*}", ""])


def _latex_cell(cell: TableCell) -> str:
    text = _tex(cell.text)
    text = {BEST: rf"\textbf{{{text}}}", SECOND: rf"\underline{{{text}}}"}.get(cell.rank, text)
    if not cell.change:
        return text
    colour = {True: "teal", False: "red", None: "gray"}[cell.good]
    return rf"{text}\,{{\scriptsize\textcolor{{{colour}}}{{{_tex(cell.change)}}}}}"


def _tex(text: str) -> str:
    return text.translate(LATEX_MARKS)


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --page: #f6f7f9; --surface: #fff; --ink: #1b2027;
  --muted: #56606d; --line: #dde2e8; --good: #16794c; --bad: #b3261e; --ours: #eaf2fa; }}
@media (prefers-color-scheme: dark) {{ :root {{ --page: #101317; --surface: #181c22;
  --ink: #e7eaee; --muted: #a0aab6; --line: #2d343d; --good: #5ecb97; --bad: #ff8a80;
  --ours: #1a2a3a; }} }}
body {{ margin: 0 auto; padding: 24px; max-width: 1400px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }}
.scroll {{ overflow-x: auto; background: var(--surface); border: 1px solid var(--line);
  border-radius: 10px; }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px; }}
caption {{ text-align: left; font-size: 18px; font-weight: 600; padding: 12px; }}
th, td {{ padding: 6px 9px; text-align: right; white-space: nowrap;
  border-top: 1px solid var(--line); }}
.word {{ text-align: left; }} tbody th {{ font-weight: 400; }}
.ours {{ background: var(--ours); }} .ours th {{ font-weight: 600; }}
small {{ color: var(--muted); }} .good {{ color: var(--good); }} .bad {{ color: var(--bad); }}
ul {{ color: var(--muted); font-size: 13px; max-width: 100ch; margin: 12px 0 36px; }}
</style>
</head>
<body>
<main>
{body}</main>
</body>
</html>
"""


def as_html(sheets: Sequence[TableDocument]) -> str:
    title = html.escape(sheets[0].title if sheets else "Bench")
    return PAGE.format(title=title, body="".join(map(_html, sheets)))


def _html(sheet: TableDocument) -> str:
    word = ' class="word"'
    heads = "".join(
        f'<th scope="col"{word if place < sheet.heads else ""}>{html.escape(name)}</th>'
        for place, name in enumerate(sheet.columns)
    )
    lines = [
        f'<div class="scroll" tabindex="0"><table>\n<caption>{html.escape(sheet.title)}</caption>',
        f"<thead><tr>{heads}</tr></thead>\n<tbody>",
    ]
    for place, row in enumerate(sheet.rows):
        cells = "".join(
            f'<th scope="row"{word}>{_html_cell(cell)}</th>'
            if column < sheet.heads
            else f"<td>{_html_cell(cell)}</td>"
            for column, cell in enumerate(row)
        )
        ours = ' class="ours"' if place in sheet.ours else ""
        lines.append(f"<tr{ours}>{cells}</tr>")
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in sheet.notes)
    lines.append(f"</tbody></table></div>\n<ul>{notes}</ul>\n")
    return "\n".join(lines)


def _html_cell(cell: TableCell) -> str:
    text = html.escape(cell.text)
    text = {BEST: f"<b>{text}</b>", SECOND: f"<u>{text}</u>"}.get(cell.rank, text)
    if not cell.change:
        return text
    kind = {True: ' class="good"', False: ' class="bad"', None: ""}[cell.good]
    return f"{text} <small{kind}>{html.escape(cell.change)}</small>"


FORMS: Mapping[str, Callable[[Sequence[TableDocument]], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
}
