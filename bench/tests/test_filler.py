"""Filler has the shape of what was measured, and none of its text."""

from __future__ import annotations

from random import Random
from statistics import median

import pytest

from statecomp_bench.tasks.filler.output import OUTPUTS, mixed, output
from statecomp_bench.tasks.filler.shape import MARKS, shapes


@pytest.mark.parametrize("kind", OUTPUTS)
def test_one_seed_gives_one_text(kind: str) -> None:
    assert output(Random(7), kind) == output(Random(7), kind)
    assert output(Random(7), kind) != output(Random(8), kind)
    assert output(Random(7), kind).endswith("\n")


@pytest.mark.parametrize("kind", ["notes", "log", "listing", "html"])
def test_lines_are_about_as_long_as_those_of_real_outputs(kind: str) -> None:
    text = OUTPUTS[kind](Random(1), 2000)
    lengths = sorted(len(line) for line in text.splitlines() if line)
    # A quarter and three quarters of the real ones, with some room.
    low, high = shapes()[kind].chars[1], shapes()[kind].chars[3]
    assert 0.5 * low <= median(lengths) <= 1.5 * high


def test_lengths_are_drawn_between_the_measured_marks() -> None:
    shape, rng = shapes()["notes"], Random(3)
    drawn = sorted(shape.length(rng) for _ in range(4000))
    assert shape.chars[0] <= drawn[0] <= drawn[-1] <= shape.chars[-1]
    middle = drawn[int(len(drawn) * (0.5 - MARKS[0]) / (MARKS[-1] - MARKS[0]))]
    assert abs(middle - shape.chars[2]) <= 3


def test_pieces_are_mixed_until_there_is_enough() -> None:
    text = mixed(Random(2), 3000, ("mail", "log"))
    assert 3000 <= len(text) < 3400
    assert "Subject: Re:" in text
