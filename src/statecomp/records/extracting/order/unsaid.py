"""What the lines of the steps say already, which nothing below them has to say again."""

from __future__ import annotations

from collections.abc import Sequence

from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.steps import KnownStep, Outline
from statecomp.records.extracting.units import Place, Unit

CERTAIN = 16
"""Characters of a value without blanks that is the same wherever it stands."""
SAID = 1.5
"""How many times longer than why it failed an answer may be that says nothing else."""


def unsaid(
    chances: Sequence[float], units: Sequence[Unit], told: Outline, steps: Sequence[KnownStep]
) -> list[float]:
    """The chances of what the lines of the steps do not say already."""
    shown = {
        place: f"{line}; {steps[place].ending.told()} " for place, line in told.lines if place >= 0
    }
    answered = {place: 0 for place, step in enumerate(steps) if step.ending.cause}
    for unit in units if answered else ():
        if unit.place is Place.OBSERVED and unit.step in answered:
            answered[unit.step] += len(unit.text)
    return [
        0.0
        if said_by(shown.get(unit.step, ""), unit)
        or (
            unit.step in answered and _why(unit, steps[unit.step].ending.cause, answered[unit.step])
        )
        else chance
        for unit, chance in zip(units, chances, strict=True)
    ]


def _why(unit: Unit, cause: str, answered: int) -> bool:
    """Whether it is why its step failed, or beside that in an answer that says nothing else."""
    text = unit.text.partition(": ")[2] if unit.form is Form.FIELD else unit.text
    said = (len(text) >= CERTAIN and text in cause) or answered <= len(cause) * SAID
    return unit.place is Place.OBSERVED and said


def said_by(line: str, unit: Unit) -> bool:
    """Whether a step's own line says it already: its result, or the value of an argument."""
    text = unit.text
    key, _, value = text.partition(": ")
    if unit.place is Place.CALL:
        line += line.replace("; ", " ")  # commands stand apart in it
    if unit.form is Form.FIELD and value and f'"{key}": "{value}"' in line:
        return True
    if unit.place is Place.CALL and unit.form is Form.FIELD:
        text = value
    elif unit.form is Form.FIELD and len(value) >= CERTAIN and " " not in value and value in line:
        return True  # what was asked for by its id or its path is told by the call
    return text in line and (
        any(f" {text}{end}" in line for end in (" ", ", ", "; ", "\n"))
        or f'"{text}"' in line
        or f": {text}}}" in line
    )
