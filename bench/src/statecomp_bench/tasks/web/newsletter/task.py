"""A newsletter in several editions: blocks written first, then chosen by schedules that changed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from textwrap import shorten

from statecomp_bench.inside.html_view import elements
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.shared import each
from statecomp_bench.tasks.web.newsletter.data import (
    EDITIONS,
    WEIGH,
    Issue,
    Story,
    issue_of,
    schedule,
    thread,
)
from statecomp_bench.tasks.web.newsletter.plan import plan_of
from statecomp_bench.tasks.web.pages import guide, instruction, prose, text_of

LIMIT = 640


def block_parts(issue: Issue, blocks: dict[str, str]) -> Iterator[TaskQuestion]:
    cut = {s.name: shorten(s.teaser, 110, placeholder=" ...") for s in issue.stories}

    def light(s: Story) -> bool:
        text = blocks[s.name]
        shown = [e.text for e in elements(text, "p")]
        return cut[s.name] in shown and len(text.encode()) <= LIMIT

    def laid_out(s: Story) -> bool:
        roles = {e.attributes.get("role") for e in elements(blocks[s.name], "table")}
        return roles == {"presentation"} and "<div" not in blocks[s.name]

    def styled(s: Story) -> bool:
        return "style=" in blocks[s.name] and "class=" not in blocks[s.name]

    yield each("headlines", 3, issue.stories, lambda s: s.headline in blocks[s.name])
    yield each("teasers", 2, issue.stories, lambda s: cut[s.name][:60] in blocks[s.name])
    yield each("cuts and weights", 2, issue.stories, light)
    yield each("tables", 1, issue.stories, laid_out)
    yield each("styles", 1, issue.stories, styled)


def check(issue: Issue, left: Artefacts) -> Score:
    pages = {e: text_of(left, f"mail/{e}.html") for e in EDITIONS}

    def order(edition: str) -> list[str]:
        return [e.text for e in elements(pages[edition], "h2")]

    def headings(edition: str) -> list[str]:
        return [e.text for e in elements(pages[edition], "h1")]

    def links(edition: str) -> list[str]:
        return [e.attributes["href"] for e in elements(pages[edition], "a")]

    def linked(edition: str) -> bool:
        wanted = [f"{s.link}?utm={issue.codes[edition]}" for s in issue.final(edition)]
        return links(edition)[:-1] == wanted

    def ended(edition: str) -> bool:
        before, _, after = pages[edition].partition(issue.sponsor)
        return "<h2" in before and "<h2" not in after and "/unsubscribe" in after

    def plain(edition: str) -> list[str]:
        return left.text(f"mail/{edition}.txt").splitlines()

    def listed(edition: str) -> bool:
        return [x.lower() for x in plain(edition)[2:]] == [
            f"* {s.headline.lower()}" for s in issue.final(edition)
        ]

    return grade(
        *block_parts(
            issue, {s.name: text_of(left, f"mail/blocks/{s.name}.html") for s in issue.stories}
        ),
        each("subjects", 1, EDITIONS, lambda e: headings(e) == [issue.subjects[e]]),
        each(
            "stories in order",
            3,
            EDITIONS,
            lambda e: order(e) == [s.headline for s in issue.final(e)],
        ),
        each("campaigns", 2, EDITIONS, linked),
        each("sponsor and farewell", 2, EDITIONS, ended),
        each("text versions", 2, EDITIONS, listed),
        part("capitals", 1, lambda: all(x == x.upper() for e in EDITIONS for x in plain(e)[2:])),
    )


def build(rng: Random, level: int) -> Case:
    issue = issue_of(rng, level)
    late = [
        f"A late change, {e} slot {n} is given to {name} and stays so.\n"
        for e, (n, name) in issue.late.items()
    ]
    points = [*late, f"Sponsor wording: {issue.sponsor}\n"]
    rng.shuffle(points)
    made = {
        "docs/mails.md": guide(__package__) + prose(rng, 6),
        "inbox/zz-late.txt": "\n".join(f"{point}\n{prose(rng, 2)}" for point in points),
        "tools/weigh.py": WEIGH,
        **{f"plans/{edition}.md": schedule(rng, issue, edition) for edition in EDITIONS},
        **{f"inbox/{story.name}.txt": thread(rng, story) for story in issue.stories},
    }
    names = ", ".join(story.name for story in issue.stories)
    changed = ", ".join(f"{e} slot {n}" for e, (n, _) in issue.late.items())
    told = instruction(__package__, host=issue.host, names=names, changed=changed)
    return Case(made, told, plan_of(issue), lambda left: check(issue, left))


TASK = Task(
    "web-newsletter", "Web", "Build a newsletter in editions within size and markup rules", build
)
