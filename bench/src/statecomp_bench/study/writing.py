"""A table as Markdown for people, LaTeX for papers, plain columns for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from statecomp_bench.study.rows import COLUMNS, Spread, StudyRow, StudyTable, gap_column

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


@dataclass(frozen=True)
class Glance:
    """One table as one column: the AUROC of its rows, and how far they are from the row `against`.

    `suffix` is what their names end in there, such as " + evidence"; `against` ends in it too where
    there is such a row.
    """

    title: str
    table: StudyTable
    against: str
    suffix: str = ""

    def cell(self, name: str) -> str:
        rows = {row.name: row for row in self.table.rows}
        row = rows.get(f"{name}{self.suffix}")
        if row is None:
            return ""
        gap = row.notes.get(gap_column(self.against), "")
        bold = "**" if gap.startswith("**") else ""
        value = gap.strip("*").partition(" ")[0]
        beside = f" ({bold}{value}{bold})" if value else ""
        return f"{row.pooled['auroc']:.3f}{beside}"


def at_a_glance(names: Sequence[str], columns: Sequence[Glance]) -> str:
    """Several tables of the same rows side by side, as Markdown."""
    lines = [
        f"|  | {' | '.join(column.title for column in columns)} |",
        f"|{'---|' * (len(columns) + 1)}",
        *(f"| {name} | {' | '.join(column.cell(name) for column in columns)} |" for name in names),
    ]
    return "\n".join(lines) + "\n"


def shortened(table: StudyTable, said: Collection[str], left_out: Collection[str]) -> StudyTable:
    """Without the sentences that are said elsewhere, and without these columns."""
    caption = table.caption
    for sentence in said:
        caption = caption.replace(sentence, "")
    rows = (
        replace(row, notes={name: text for name, text in row.notes.items() if name not in left_out})
        for row in table.rows
    )
    return replace(table, caption=" ".join(caption.split()), rows=tuple(rows))


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
