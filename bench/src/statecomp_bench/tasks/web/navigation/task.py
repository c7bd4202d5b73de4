"""Navigation, breadcrumbs and sitemap rebuilt from front matter after a reorganisation.

Every crumb needs values of other pages: of its section, of the pages before and after it."""

from __future__ import annotations

from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.shared import each
from statecomp_bench.tasks.web.navigation.data import MINUTES, OLD, Page, Tree, source_text, tree_of
from statecomp_bench.tasks.web.navigation.plan import plan_of
from statecomp_bench.tasks.web.pages import guide, instruction, prose, text_of


def check(tree: Tree, left: Artefacts) -> Score:
    def crumb(page: Page) -> str:
        return left.text(f"site/crumbs/{page.name}.html")

    def near(page: Page, rel: str) -> list[tuple[str, str]]:
        found = [e for e in elements(crumb(page), "a") if e.attributes.get("rel") == rel]
        return [(e.attributes["href"], e.text) for e in found]

    def neighbour(page: Page, rel: str, step: int) -> bool:
        row = tree.within(page.section)
        place = row.index(page) + step
        wanted = [(f"/{row[place].name}", row[place].label)] if 0 <= place < len(row) else []
        return near(page, rel) == wanted

    def menu(section: str) -> bool:
        shown = [e.text for e in elements(left.text(f"site/nav/{section}.html"), "a")]
        return [x for x in shown if x in published] == [
            p.label for p in tree.within(section) if not p.draft
        ]

    def listed() -> int:
        return sum(left.text(f"site/nav/{s}.html").count("<li>") for s in tree.sections)

    published = {page.label for page in tree.pages if not page.draft}
    live = [page for page in tree.pages if not page.draft]
    days = {page.name: page.changed[:10] for page in live}
    sitemap = text_of(left, "site/sitemap.xml")
    return grade(
        each("titles", 2, tree.pages, lambda p: elements(crumb(p), "li")[-1].text == p.title),
        each(
            "sections",
            2,
            tree.pages,
            lambda p: f'"/{p.section}">{tree.sections[p.section]}<' in crumb(p),
        ),
        each("before", 2, tree.pages, lambda p: neighbour(p, "prev", -1)),
        each("after", 2, tree.pages, lambda p: neighbour(p, "next", 1)),
        each("ordered lists", 1, tree.pages, lambda p: elements(crumb(p), "ol")),
        each("current page", 1, tree.pages, lambda p: 'aria-current="page"' in crumb(p)),
        each("menus", 3, tree.sections, menu),
        part("no drafts", 2, lambda: listed() == len(live) and set(dates(left)) == set(days)),
        part("changes", 2, lambda: share({k: v[:10] for k, v in dates(left).items()}, days)),
        each("days only", 1, live, lambda p: len(dates(left)[p.name]) == 10),
        each("addresses", 1, live, lambda p: f"<loc>https://{tree.host}/{p.name}</loc>" in sitemap),
    )


def dates(left: Artefacts) -> dict[str, str]:
    """What the sitemap says of each page, whatever the form of its address."""
    parts = left.text("site/sitemap.xml").split("<url>")[1:]
    cut = [p.split("<loc>")[1].split("</loc><lastmod>") for p in parts]
    return {place.rsplit("/", 1)[1].removesuffix(".html"): day.split("<")[0] for place, day in cut}


def build(rng: Random, level: int) -> Case:
    tree = tree_of(rng, level)
    agreed = [
        f"Agreed: {p.name} gets the weight {p.moved} and goes to the end.\n"
        for p in tree.pages
        if p.moved
    ]
    called = [f"Section {s} is called {title}.\n" for s, title in tree.sections.items()]
    points = [f"The site moves to {tree.host} in May.\n", *agreed, *called]
    rng.shuffle(points)
    made = {
        "docs/wayfinding.md": guide(__package__) + prose(rng, 5),
        MINUTES: "# Minutes\n\n" + "\n".join(f"{point}\n{prose(rng, 1, 6)}" for point in points),
        "tools/menu.py": OLD,
        **{f"content/{page.name}.md": source_text(rng, page) for page in tree.pages},
    }
    rooms = ". ".join(
        f"{s}: {', '.join(p.name for p in tree.pages if p.section == s)}" for s in tree.sections
    )
    moved = " and ".join(page.name for page in tree.pages if page.moved)
    told = instruction(__package__, rooms=rooms, moved=moved)
    return Case(made, told, plan_of(tree), lambda left: check(tree, left))


TASK = Task("web-navigation", "Web", "Rebuild navigation and sitemap after a reorganisation", build)
