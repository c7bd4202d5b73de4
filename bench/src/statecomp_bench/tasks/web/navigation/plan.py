"""How an agent would go about it: read all sources, then the minutes, then write page by page."""

from __future__ import annotations

from collections.abc import Iterator

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.tasks.shared import rules_of
from statecomp_bench.tasks.web.navigation.data import MINUTES, Page, Tree

CRUMB = """
    # crumbs of NAME
    import os
    os.makedirs('site/crumbs', exist_ok=True)
    pages = sorted([
ROWS    ])
    place = next(n for n, page in enumerate(pages) if page[1] == 'NAME')
    before, after = pages[place - 1:place], pages[place + 1:place + 2]
    lines = ['<{crumbs}>', '<li><a href="/SECTION">{section_SECTION}</a></li>']
    lines.append('<li{current}>{title_NAME}</li>')
    lines.append('</{crumbs}>')
    for rel, near in (('prev', before), ('next', after)):
        lines += [f'<a rel="{rel}" href="/{page[1]}">{page[2]}</a>' for page in near]
    open('site/crumbs/NAME.html', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
NAV = """
    # navigation of SECTION
    import os
    os.makedirs('site/nav', exist_ok=True)
    pages = sorted([
ROWS    ])
    lines = ['<h2>{section_SECTION}</h2>', '<ul>']
    for weight, name, label, status in pages:
        if {listed}:
            lines.append(f'<li><a href="/{name}">{label}</a></li>')
    open('site/nav/SECTION.html', 'w').write('\\n'.join([*lines, '</ul>']) + '\\n')
    print('\\n'.join(lines))
"""
SITEMAP = """
    # sitemap
    lines = ['<?xml version="1.0"?>', '<urlset>']
    for name, changed, status in [
ROWS    ]:
        if {listed}:
            place = f'https://{host}/{name}{extension}'
            lines.append(f'<url><loc>{place}</loc><lastmod>{changed{days}}</lastmod></url>')
    open('site/sitemap.xml', 'w').write('\\n'.join([*lines, '</urlset>']) + '\\n')
    print('\\n'.join(lines))
"""


def facts_of(page: Page) -> list[Fact]:
    name = page.name
    line = rf"content/{name}\.md:\d+:"
    seen = f"page_{name}"
    found = [
        Fact(
            f"title_{name}",
            f"title of {name}",
            rf"{line}title: (The \w+ guide to \w+, part \d+)",
            seen,
        ),
        Fact(f"label_{name}", f"short label of {name}", rf"{line}label: (\w+ {name})", seen),
        Fact(f"weight_{name}", f"first weight of {name}", rf"{line}weight: (\d+)", seen),
        Fact(f"status_{name}", f"status of {name}", rf"{line}status: (\w+)", seen),
        Fact(f"changed_{name}", f"last change of {name}", rf"{line}changed: ([\dT:-]+Z)", seen),
    ]
    moved = Fact(
        f"moved_{name}",
        f"new weight of {name}",
        rf"Agreed: {name} gets the weight (\d+)",
        "minutes",
    )
    return [*found, moved] if page.moved else found


def order_rule(page: Page) -> Norm:
    """What was agreed overrides the front matter, as long as somebody remembers it."""
    name = page.name
    text = rf"Agreed: {name} gets the weight \d+"
    then, before = f"{{moved_{name}}}", f"{{weight_{name}}}"
    return Norm(f"order_{name}", f"{name} has another weight now", text, then, before, "minutes")


RULES = rules_of(
    "guide",
    ("crumbs", "crumbs are an ordered list", "items of an ordered list", "ol", "ul"),
    (
        "current",
        "the last crumb is marked as current",
        "The last crumb is no link",
        ' aria-current="page"',
        "",
    ),
    ("listed", "drafts are not advertised", "but are not advertised", "status != 'draft'", "name"),
    ("days", "the sitemap has days only", "The sitemap has days only", "[:10]", ""),
    (
        "extension",
        "addresses have no file extension",
        "addresses without a file extension",
        "",
        ".html",
    ),
    ("host", "the host is the new one", r"moves to \S+\.example", "{domain}", "www.example"),
)


def plan_of(tree: Tree) -> Plan:
    weight = {
        p.name: f"{{order_{p.name}}}" if p.moved else f"{{weight_{p.name}}}" for p in tree.pages
    }

    def rows(section: str, *, status: bool) -> str:
        return "".join(
            f"    ('{weight[p.name]}'.zfill(9), '{p.name}', '{{label_{p.name}}}'"
            + (f", '{{status_{p.name}}}'),\n" if status else "),\n")
            for p in tree.pages
            if p.section == section
        )

    def crumb(page: Page) -> Step:
        code = CRUMB.replace("ROWS", rows(page.section, status=False))
        code = code.replace("SECTION", page.section).replace("NAME", page.name)
        return python(
            f"crumb_{page.name}", code, f"write the breadcrumb of {page.name}", leaves=True
        )

    def menu(section: str) -> Step:
        code = NAV.replace("ROWS", rows(section, status=True)).replace("SECTION", section)
        return python(f"nav_{section}", code, f"write the menu of {section}", leaves=True)

    names = [page.name for page in tree.pages]
    every = "".join(f"    ('{n}', '{{changed_{n}}}', '{{status_{n}}}'),\n" for n in names)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/wayfinding.md", "read the guide to navigation"),
        *(
            shell(
                f"page_{n}",
                f"grep -Hn '' content/{n}.md | head -n 60",
                f"read the source of {n}",
                group="p",
            )
            for n in names
        ),
        read("minutes", MINUTES, "read the minutes of the reorganisation"),
        shell("old", f"python3 tools/menu.py {' '.join(names[:5])}", "try the old menu script"),
        *(crumb(page) for page in tree.pages),
        *(menu(section) for section in tree.sections),
        python(
            "sitemap",
            SITEMAP.replace("ROWS", every),
            "write the map for search engines",
            leaves=True,
        ),
        shell(
            "proof", "cat site/nav/* site/sitemap.xml site/crumbs/*", "read all that was written"
        ),
    ]
    rules = (*RULES, *(order_rule(page) for page in tree.pages if page.moved))
    return Plan(tuple(all_facts(tree)), rules, tuple(steps), "The navigation is in site/.")


def all_facts(tree: Tree) -> Iterator[Fact]:
    for page in tree.pages:
        yield from facts_of(page)
    for section in tree.sections:
        yield Fact(
            f"section_{section}",
            f"name of section {section}",
            rf"Section {section} is called (\w+ and \w+ matters \w+)",
            "minutes",
        )
    yield Fact("domain", "new host", r"moves to (\S+\.example)", "minutes")
