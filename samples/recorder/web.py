"""Web: five shop pages brought to a checklist of accessibility, links and contrast."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from samples.recorder.agent import Scenario, Steps, do, first, inspect, read, shell, write
from samples.recorder.web_check import passes
from samples.recorder.web_data import generate
from samples.recorder.web_fixes import (
    AUDIT,
    escaped,
    fix_alternatives,
    fix_colours,
    fix_forms,
    fix_headings,
    fix_links,
)
from samples.recorder.workspace import Workspace

HERE = Path(__file__).parent
TASK = (
    "The shop pages in /workspace are to be released. Bring them to docs/checklist.md without "
    "changing data/, and write sitemap.xml. Show at the end that nothing of the checklist is left."
)


@dataclass(frozen=True)
class Site:
    """What site.json and the listing say."""

    address: str
    language: str
    name: str
    pages: tuple[str, ...]


def build(workspace: Workspace) -> None:
    workspace.install(HERE / "workspaces" / "web")
    generate(workspace.root)


def check(workspace: Workspace) -> bool:
    return passes(workspace.root)


def policy() -> Steps[str]:
    site = yield from overview()
    team = yield from look(site)
    before = yield from first_audit()
    yield from fix_titles(site)
    yield from fix_alternatives(site.name)
    yield from fix_headings()
    yield from fix_forms()
    yield from fix_links(team)
    ratios = yield from fix_colours()
    return (yield from finish(site, before, ratios))


def overview() -> Steps[Site]:
    listing, _ = yield do(
        "The files, and the checklist that decides.",
        shell("find . -type f | sort"),
        read("docs/checklist.md"),
    )
    about, _ = yield do(
        "The site's own data; names and address will be needed.",
        read("site.json"),
        read("data/products.json"),
    )
    return Site(
        first(r'"address": "([^"]+)"', about),
        first(r'"language": "([^"]+)"', about),
        first(r'"name": "([^"]+)"', about),
        tuple(re.findall(r"^\./(\w+\.html)$", listing, re.MULTILINE)),
    )


def look(site: Site) -> Steps[str]:
    """Returns the id under which the about page really keeps its team."""
    yield do("The start page and the contact page.", read("index.html"), read("contact.html"))
    yield do("The catalog, which is generated and long.", read("catalog.html"))
    yield do("The product page.", read("product.html"))
    yield do("Style and script.", read("css/site.css"), read("js/app.js"))
    (output,) = yield do(
        "Headings of the start page.",
        inspect("index.html", "headings"),
    )
    assert "outline" in output
    yield do(
        "The view is called outline. For all pages at once:",
        *(inspect(page, "outline") for page in site.pages),
    )
    yield do(
        "Links of the pages written by hand, and the forms.",
        inspect("index.html", "links"),
        inspect("about.html", "links"),
        inspect("contact.html", "forms"),
        inspect("index.html", "forms"),
    )
    _, ids = yield do(
        "The start page links to about.html#team. Does that exist?",
        inspect("about.html", "tree"),
        inspect("about.html", "ids"),
    )
    return first(r"h2#([\w-]+)", ids)


def first_audit() -> Steps[int]:
    source = (HERE / "scripts" / "audit.py.tmpl").read_text(encoding="utf-8")
    yield do(
        "By eye I would miss something, so I write the checklist down as a script.",
        write("tools/audit.py", source),
    )
    (output,) = yield do("What does it find?", shell(AUDIT))
    return int(first(r"^(\d+) problems", output))


def fix_titles(site: Site) -> Steps[None]:
    names = {page: page.removesuffix(".html").title() for page in site.pages}
    commands = [
        f'sed -i.bak \'s|^<html>$|<html lang="{site.language}">|; '
        f"s|<title>.*</title>|<title>{name} - {escaped(site.name)}</title>|' {page}"
        for page, name in names.items()
    ]
    yield do(
        f"Language {site.language} from site.json, and a title of its own for each page: two of "
        "them share one, which my script does not even look for.",
        shell(" && ".join(commands) + " && rm *.bak"),
        shell("grep -n -E '<html|<title' *.html"),
    )


def finish(site: Site, before: int, ratios: str) -> Steps[str]:
    entries = "".join(f"  <url><loc>{site.address}{page}</loc></url>\n" for page in site.pages)
    yield do(
        "The sitemap.",
        write(
            "sitemap.xml",
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{entries}</urlset>\n",
        ),
    )
    (output,) = yield do("The whole audit again.", shell(AUDIT))
    yield do(
        "And with my own eyes once more, where the script is blind: names of buttons, titles.",
        *(inspect(page, "outline") for page in site.pages),
        inspect("contact.html", "forms"),
        inspect("index.html", "forms"),
    )
    yield do(
        "The pages that changed most, as they go out.",
        read("index.html"),
        read("contact.html"),
        read("catalog.html"),
        inspect("catalog.html", "images"),
    )
    left = first(r"^(\d+) problems", output)
    yield do("My tool is no part of the site.", shell("rm -r tools && find . -type f | sort"))
    return (
        f"All {len(site.pages)} pages meet the checklist: {before} problems before, {left} now, "
        f"and contrasts are {', '.join(ratios.split())}. sitemap.xml lists the pages under "
        f"{site.address}. The link to a map was dropped because no such page exists."
    )


SCENARIO = Scenario("Web", "front-end", TASK, build, policy, check)
