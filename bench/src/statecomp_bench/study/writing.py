"""A table as Markdown for people, LaTeX for papers, plain columns for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from statecomp_bench.study.rows import COLUMNS, Spread, StudyRow, StudyTable

LATEX = str.maketrans(
    {character: f"\\{character}" for character in "%&_#$"}
    | {"^": r"\^{}", "±": r"$\pm$", "≥": r"$\geq$", "β": r"$\beta$", "γ": r"$\gamma$", "`": ""}
)


ENOUGH = 200
"""Fewer tested pairs of the rarer class than this cannot tell the rows of a table apart."""


def warning(table: StudyTable) -> str:
    """A sentence where the sample is too small to rank rows; else nothing."""
    tested = [(row.pooled["pairs"], row.pooled["ready"]) for row in table.rows]
    rare = min((min(ready, pairs - ready) for pairs, ready in tested), default=0)
    if rare >= ENOUGH:
        return ""
    return (
        f"**Too small to rank rows: the tested pairs hold {rare} of the rarer class. What the "
        "features cost is exact; the quality columns only show that the table can be made.**"
    )


def header(table: StudyTable, columns: Sequence[str]) -> list[str]:
    return ["", *(COLUMNS[key] for key in columns), *noted(table)]


def noted(table: StudyTable) -> list[str]:
    """Further columns, in the order in which rows bring them."""
    return list(dict.fromkeys(name for row in table.rows for name in row.notes))


def cells(table: StudyTable, row: StudyRow, columns: Sequence[str]) -> list[str]:
    numbers = [cell(row.numbers.get(key)) for key in columns]
    return [row.name, *numbers, *(row.notes.get(name, "") for name in noted(table))]


def cell(number: Spread | None) -> str:
    return "n/a" if number is None else f"{number.mean:.3f} ± {number.deviation:.3f}"


def markdown(table: StudyTable, columns: Sequence[str]) -> str:
    head = header(table, columns)
    lines = [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cells(table, row, columns))} |" for row in table.rows),
    ]
    above = [f"{text}\n" for text in (warning(table), table.caption) if text]
    return "\n".join([*above, *lines]) + "\n"


def latex(table: StudyTable, columns: Sequence[str]) -> str:
    head = header(table, columns)
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{\textbf{{{table.title.translate(LATEX)}.}} {table.caption.translate(LATEX)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(name.translate(LATEX) for name in head) + r" \\",
        r"\midrule",
        *(
            " & ".join(text.translate(LATEX) for text in cells(table, row, columns)) + r" \\"
            for row in table.rows
        ),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
