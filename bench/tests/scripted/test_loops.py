"""Lines alike are one loop, and the loop is the lines again."""

from __future__ import annotations

import contextlib
import io

from statecomp_bench.scripted.loops import looped, unrolled

NAMES = ("ada", "dora", "hugo", "olga", "paul", "rosa", "vera")
LINES = [f"print('cat slips/{n}.txt', 'Night hours of {n.title()}', 17 * 4)\n" for n in NAMES]


def printed(code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(f"import re\n{code}", {})  # noqa: S102
    return out.getvalue()


def test_lines_that_differ_in_names_are_one_loop_over_the_names() -> None:
    code = looped(LINES)
    assert code.count("Night hours") == 1
    assert len(code) < len("".join(LINES))
    assert printed(code) == printed("".join(LINES))
    assert unrolled(code).endswith("".join(LINES))


def test_what_a_loop_would_not_shorten_or_could_not_tell_apart_stays() -> None:
    for lines in (LINES[:2], ["print(1)\n", "print('two')\n"]):
        assert looped(lines) == "".join(lines)
    marked = [line.replace("cat", "mail @b") for line in LINES]
    assert printed(looped(marked)) == printed("".join(marked))


def test_blocks_of_several_lines_keep_their_order_inside() -> None:
    names = [f"n{n}" for n in range(9)]
    blocks = [f"{n} = 'the value of {n}'\nprint('{n} was found:', {n}, 'here')\n" for n in names]
    code = looped(blocks)
    assert code.count("was found") == 1
    assert printed(code) == printed("".join(blocks))
