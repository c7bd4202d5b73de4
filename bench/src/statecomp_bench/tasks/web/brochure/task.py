"""A small site built from briefs, old pages and an image list, by the rules of a style guide."""

from __future__ import annotations

from importlib.resources import files
from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import inspect, read, shell, write
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.web.brochure.data import (
    LINT,
    Page,
    Site,
    brief,
    manifest,
    old_page,
    site,
    tokens,
)

PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>{headline_NAME}</title>
<link rel="stylesheet" href="style.css">
</head>
<body class="{prefix}page">
<header class="{prefix}head"><a href="index.html">Home</a></header>
<main class="{prefix}main"{inline}>
<h1>{headline_NAME}</h1>
<img class="{prefix}hero" src="../assets/{image_NAME}" ALT{lazy}>
<p class="{prefix}price">{before}{price_NAME}{after}</p>
<p><a class="{prefix}call" href="tel:{phone}">{phone}</a></p>
</main>
</body>
</html>
"""
SIZED = 'alt="{alt_NAME}" width="{width_NAME}" height="{height_NAME}"'
CSS = """:root {
  --primary: {colour};
  --accent: {accent};
  --radius: {radius};
}
.{prefix}page { font-family: sans-serif; color: var(--primary); }
.{prefix}hero { border-radius: var(--radius); }
.{prefix}price { color: var(--accent); }
"""


def facts_of(page: Page) -> list[Fact]:
    name, row = page.name, rf"{page.name}-\w+\.jpg"
    text = f"brief_{name}"
    return [
        Fact(f"headline_{name}", f"headline of {name}", rf"Headline of {name}: (.+)", text),
        Fact(f"price_{name}", f"price of {name}", rf"Price of {name}: ([\d.]+)", text),
        Fact(
            f"image_{name}",
            f"main image of {name}",
            rf'class="hero" src="assets/({row})',
            f"old_{name}",
        ),
        Fact(
            f"alt_{name}", f"text alternative for {name}", rf"\b{row},([^,\n]+),\d+,\d+", "images"
        ),
        Fact(f"width_{name}", f"image width for {name}", rf"\b{row},[^,\n]+,(\d+),\d+", "images"),
        Fact(f"height_{name}", f"image height for {name}", rf"\b{row},[^,\n]+,\d+,(\d+)", "images"),
    ]


def rule(name: str, label: str, pattern: str, then: str, otherwise: str) -> Norm:
    return Norm(name, label, pattern, then, otherwise, "guide")


RULES = (
    rule("lang", "the language is en-GB", 'lang="en-GB"', "en-GB", "en"),
    rule("prefix", "class names begin with ng-", "begins with the prefix `ng-`", "ng-", ""),
    rule(
        "inline",
        "no style attributes in pages",
        "no style attributes",
        "",
        ' style="max-width: 60em"',
    ),
    rule("lazy", "images carry loading lazy", 'carries `loading="lazy"`', ' loading="lazy"', ""),
    rule("before", "the currency code stands in front", "currency code in front", "EUR ", ""),
    rule("after", "no euro sign behind prices", "as in `EUR 12.50`", "", " €"),
)


def page_step(page: Page) -> Step:
    text = PAGE.replace("ALT", SIZED).replace("_NAME}", f"_{page.name}}}")
    title = f"write the new {page.name} page"
    return write(f"page_{page.name}", f"site/{page.name}.html", text, title, group="pages")


def plan_of(made: Site) -> Plan:
    names = [page.name for page in made.pages]
    facts = [fact for page in made.pages for fact in facts_of(page)]
    facts += [
        Fact("colour", "primary colour", r'"primary": "(#\w+)"', "tokens"),
        Fact("accent", "accent colour", r'"accent": "(#\w+)"', "tokens"),
        Fact("radius", "corner radius", r'"radius": "(\w+)"', "tokens"),
        Fact("phone", "telephone number", r'"phone": "([^"]+)"', "tokens"),
        Fact("host", "host of the site", r"at https://(\S+\.example)"),
    ]
    urls = "".join(f"<url><loc>https://{{host}}/{n}.html</loc></url>\n" for n in names)
    sitemap = f'<?xml version="1.0"?>\n<urlset>\n{urls}</urlset>\n'
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "design/styleguide.md", "read the style guide", group="first"),
        read("tokens", "design/tokens.json", "look up the design tokens", group="first"),
        read("images", "assets/manifest.csv", "read the list of images", group="first"),
        shell("red", "python3 tools/lint.py", "run the checks before any work"),
        *(
            read(f"brief_{n}", f"content/{n}.md", f"read the brief for {n}", group="b")
            for n in names
        ),
        *(
            inspect(f"look_{n}", f"legacy/{n}.html", "tree", f"look at the old {n} page")
            for n in names
        ),
        *(
            shell(
                f"old_{n}",
                f"cat legacy/{n}.html | cut -c1-200 | grep -n -C 14 hero",
                f"find the main image in the old {n} page",
            )
            for n in names
        ),
        write("css", "site/style.css", CSS, "write the style sheet"),
        *(page_step(page) for page in made.pages),
        write("sitemap", "site/sitemap.xml", sitemap, "list all pages for search engines"),
        shell("green", "python3 tools/lint.py | tail -n {lines}", "run the checks once more"),
        inspect("proof", f"site/{names[0]}.html", "styles", "look at one finished page"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The site is in site/.")


def check(made: Site, left: Artefacts) -> Score:
    texts = {page.name: _text(left, f"site/{page.name}.html") for page in made.pages}

    def every(name: str, weight: float, holds: object) -> TaskQuestion:
        assert callable(holds)
        return part(
            name,
            weight,
            lambda: sum(bool(holds(p, texts[p.name])) for p in made.pages) / len(texts),
        )

    def classes(page: Page, text: str) -> bool:
        found = [c for e in elements(text) for c in e.attributes.get("class", "").split()]
        return bool(found) and all(c.startswith("ng-") for c in found)

    def image(page: Page, text: str) -> bool:
        shown = elements(text, "img")
        sized = {"width": str(page.width), "height": str(page.height), "alt": page.alt}
        return len(shown) == 1 and sized.items() <= shown[0].attributes.items()

    def source(page: Page, text: str) -> bool:
        return [e.attributes.get("src") for e in elements(text, "img")] == [
            f"../assets/{page.image}"
        ]

    def headline(page: Page, text: str) -> bool:
        return [e.text for e in elements(text, "h1")] == [page.headline]

    css = f"--primary: {made.colour};", f"--accent: {made.accent};", f"--radius: {made.radius};"
    call = f'href="tel:{made.phone}"'
    return grade(
        every("headlines", 3, headline),
        every("images", 2, source),
        every("alternatives and sizes", 2, image),
        every("prices", 3, lambda p, t: f">EUR {p.price}<" in t),
        every("classes", 2, classes),
        every("language", 1, lambda p, t: 'lang="en-GB"' in t),
        every("lazy images", 1, lambda p, t: 'loading="lazy"' in t),
        every("no inline styles", 1, lambda p, t: t and "style=" not in t),
        every("telephone", 1, lambda p, t: call in t),
        part("style sheet", 2, lambda: sum(c in left.text("site/style.css") for c in css) / 3),
        part(
            "sitemap",
            1,
            lambda: all(
                f"<loc>https://{made.host}/{p.name}.html</loc>" in left.text("site/sitemap.xml")
                for p in made.pages
            ),
        ),
    )


def _text(left: Artefacts, name: str) -> str:
    try:
        return left.text(name)
    except (OSError, UnicodeDecodeError):
        return ""


def instruction(made: Site) -> str:
    names = ", ".join(page.name for page in made.pages)
    return (
        f"The old shop in legacy/ is replaced by a new site at https://{made.host} with one page "
        f"for each of these: {names}. Write site/NAME.html for each: the headline of its brief "
        "content/NAME.md as heading and title, one image (the one of class hero in "
        "legacy/NAME.html, referred to as ../assets/FILE, with its text alternative and size from "
        "assets/manifest.csv), the price of the brief in a paragraph of its own, and a telephone "
        "link (the number is in design/tokens.json). Write site/style.css with the properties "
        "--primary, --accent and --radius, and site/sitemap.xml with a loc of the full address "
        "for every page. design/styleguide.md is binding; python3 tools/lint.py checks the outline."
    )


def build(rng: Random, level: int) -> Case:
    made = site(rng, level)
    workspace = {
        "design/styleguide.md": files(__package__).joinpath("styleguide.md").read_text("utf-8"),
        "design/tokens.json": tokens(rng, made),
        "assets/manifest.csv": manifest(rng, made),
        "tools/lint.py": LINT,
    }
    for page in made.pages:
        workspace[f"content/{page.name}.md"] = brief(rng, page)
        workspace[f"legacy/{page.name}.html"] = old_page(rng, page)
    return Case(workspace, instruction(made), plan_of(made), lambda left: check(made, left))


TASK = Task("web-brochure", "Web", "Build a small site from briefs and a style guide", build)
