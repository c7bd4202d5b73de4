"""Lines that differ in figures alone: the ends of their run are shown, and how many are between."""

from __future__ import annotations

import pytest

from statecomp.records.extracting.units import units_of
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step


def retried(first: int, stop: int, host: str = "db-north") -> list[str]:
    """Lines of a log, a second and an attempt apart."""
    return [
        f"10:{n // 60:02}:{n % 60:02} WARN retrying connection to {host} attempt {n}"
        for n in range(first, stop)
    ]


def below(*lines: str, later: str = "") -> list[str]:
    """What a record shows of a step that answered these lines; `later` is said after it."""
    after = step(2, said=later, seen="\n".join(f"leaf {word}" for word in PADDING.split()))
    told = written(step(1, '{"command": "tail app.log"}', "\n".join(lines)), after).facts[0]
    return [line.strip() for line in told.split("\n")[1:]]


def test_of_lines_that_differ_in_figures_the_ends_are_kept_and_the_others_counted() -> None:
    log = retried(0, 300)
    assert below(*log, "", "Nothing else was written.")[:3] == [
        log[0],
        "(298 more like it)",
        log[-1],
    ]


def test_of_equal_lines_one_is_kept_with_the_number_of_the_others() -> None:
    warned = ["warning: unused variable x in lib.rs"] * 200
    assert below(*warned, "linked the app")[:2] == [warned[0], "(199 more like it)"]


def test_a_failure_amid_lines_that_are_alike_parts_them() -> None:
    log, failure = retried(0, 60), "10:00:31 ERROR disk quota of db-north is used up"
    assert below(*log[:31], failure, *log[32:]) == [
        *(log[0], "(29 more like it)", log[30], failure),
        *(log[32], "(26 more like it)", log[59]),
    ]


def test_a_line_that_the_agent_goes_on_from_stays_among_its_like() -> None:
    sent = [f"stored the upload of user ann as file rep_{n}.pdf at once" for n in range(40)]
    told = below(*sent, later="I open rep_17.pdf next.")
    assert told[:5] == [sent[0], "(16 more like it)", sent[17], "(21 more like it)", sent[39]]


def test_below_a_title_they_are_counted_without_dots() -> None:
    log = retried(0, 30)
    told = below("== app.log ==", *log, "", "== end.log ==", "All went well in the end.")
    assert "(28 more like it)" in told
    assert "..." not in told


@pytest.mark.parametrize(
    "lines",
    [
        [line for host in "abcdef" for line in retried(0, 1, host)],  # another host each
        [f"- item {n} of the shopping list" for n in range(9)],
        [f"img_{n}.png" for n in range(9)],
        [f"40{n}a: 48 89 e5 mov rbp, rsp{n}" for n in range(9)],
        [f"| {n} | open and shut case |" for n in range(9)],
        [f"    total_{n} = compute_all(values, {n})" for n in range(9)],
        [f"-rw-r--r-- 1 root root 28{n} Mar 9 09:40 part{n}.txt" for n in range(9)],
        retried(0, 3),
    ],
)
def test_lines_that_each_say_something_of_their_own_are_no_run(lines: list[str]) -> None:
    assert not any(unit.alike for unit in units_of([step(1, seen="\n".join(lines))]))
