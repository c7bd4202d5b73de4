"""One search asks every source once, and sources alike for the same things."""

from __future__ import annotations

from dataclasses import replace

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.scripted.lookups import Lookup, alike, each_once

NAMES = ("cedar", "hazel")
PAGES = [Step(n, "read_file", {"path": f"pages/{n}.md"}, f"read the page {n}") for n in NAMES]
OTHER = Step("book", "read_file", {"path": "book of all.txt"}, "read the book")
FACTS = [
    Fact(f"{kind}_{n}", f"{kind} of {n}", rf"{n} {kind}: (\w+)", n)
    for n in NAMES
    for kind in ("title", "date")
]
PLAN = Plan((*FACTS, Fact("entry", "entry", r"date: (\d+)", "book")), (), (*PAGES, OTHER))
FOUND = [
    Lookup("", PAGES[0], sought=("title_cedar",)),
    Lookup("", PAGES[1], sought=("date_hazel",)),
    Lookup("", OTHER, sought=("entry",)),
]


def test_sources_alike_are_asked_for_what_is_sought_in_any_of_them() -> None:
    assert [one.sought for one in alike(FOUND, PLAN)] == [
        *(("title_cedar", "date_cedar"), ("date_hazel", "title_hazel"), ("entry",))
    ]
    assert alike(FOUND[:1], PLAN) == FOUND[:1]
    whole = replace(FOUND[0], sought=())
    assert alike([whole, FOUND[1]], PLAN) == [whole, FOUND[1]]


def test_a_source_is_asked_once_for_all_that_is_missed_of_it() -> None:
    again = replace(FOUND[0], sought=("date_cedar",))
    (one,) = each_once([FOUND[0], again], 9)
    assert one.sought == ("title_cedar", "date_cedar")
    # Whoever reads it whole for one thing has the other, too.
    assert each_once([FOUND[0], replace(again, sought=())], 9)[0].sought == ()
    assert each_once(FOUND, 2) == FOUND[:2]


def test_what_needs_a_value_that_is_not_found_before_it_is_left_out() -> None:
    needs = replace(FOUND[1], late=("title_cedar",))
    assert each_once([FOUND[0], needs], 9) == [FOUND[0], needs]
    assert each_once([needs, FOUND[0]], 9) == [FOUND[0]]
