"""Pages repaired in place by an accessibility guide; pictures inside links are its exception."""

from __future__ import annotations

from random import Random

from statecomp_bench.inside.html_view import Element, elements
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import NOUNS, joined, person
from statecomp_bench.tasks.shared import each, scattered
from statecomp_bench.tasks.web.accessibility.data import AUDIT, Page, markup, pages_of, table
from statecomp_bench.tasks.web.accessibility.plan import plan_of
from statecomp_bench.tasks.web.pages import guide, instruction, prose, text_of


def check(
    pages: list[Page], before: dict[str, str], signed: dict[str, str], left: Artefacts
) -> Score:
    texts = {page.name: text_of(left, f"pages/{page.name}.html") for page in pages}

    def first(page: Page, tag: str, **wanted: str) -> Element:
        found = elements(texts[page.name], tag)
        return next(e for e in found if wanted.items() <= e.attributes.items())

    def lead(page: Page) -> str:
        return first(page, "img", src=f"/media/{page.image}").attributes["alt"]

    def ornament(page: Page) -> bool:
        seen = first(page, "img", src=f"/media/{page.ornament}").attributes
        return seen.get("alt") == "" and seen.get("role") == "presentation"

    def label(page: Page) -> bool:
        return first(page, "label", **{"for": page.field}).text == page.label

    def kept(page: Page) -> bool:
        now, old = texts[page.name], before[page.name]
        boxed = [line for line in old.splitlines() if 'class="box' in line]
        return now != old and [x for x in now.splitlines() if 'class="box' in x] == boxed

    linked = [page for page in pages if page.target]
    plain = [page for page in pages if not page.target]
    fields = {page.name: page.field for page in pages}
    return grade(
        each("captions", 3, plain, lambda p: lead(p).rstrip(".") == p.caption),
        each("linked pictures", 3, linked, lambda p: lead(p).rstrip(".") == p.target),
        each("full stops", 1, pages, lambda p: lead(p).endswith(".")),
        each("ornaments", 1, pages, ornament),
        each("names of fields", 2, pages, lambda p: p.label in texts[p.name]),
        each("label elements", 2, pages, label),
        each("headings", 1, pages, lambda p: len(elements(texts[p.name], "h2")) == 1),
        each("downloads", 2, pages, lambda p: f">{p.paper}" in texts[p.name]),
        each("formats", 1, pages, lambda p: " (PDF)<" in texts[p.name]),
        each("language", 1, pages, lambda p: '<html lang="en-IE">' in texts[p.name]),
        each("rest untouched", 1, pages, kept),
        part("signature", 1, lambda: share(left.json("out/report.json"), signed)),
        part("report", 2, lambda: share(left.json("out/report.json")["fields"], fields)),
    )


def build(rng: Random, level: int) -> Case:
    pages = pages_of(rng, level)
    auditor, reference = person(rng), f"WA-{rng.randrange(1000, 9999)}"
    before = {page.name: markup(rng, page) for page in pages}
    captions = [f"{p.image}\t{p.caption}\t{person(rng)}" for p in pages]
    others = [
        f"IMG_{n}.jpg\tThe {rng.choice(NOUNS)} behind the {rng.choice(NOUNS)}\t{person(rng)}"
        for n in rng.sample(range(1000, 9999), 150)
    ]
    targets = [f"/offers/{p.name}.html,{p.target or f'All about {p.name}'},live" for p in pages]
    made = {
        "docs/accessibility.md": f"{guide(__package__)}Auditor: {auditor}\n\n{prose(rng, 8)}",
        "docs/labels.csv": table(
            rng,
            "page,field,label,ref",
            [f"{p.name},ask,{p.label},live" for p in pages],
            "form{n},mail,Your {noun}",
        ),
        "docs/titles.csv": table(
            rng, "path,title,ref", targets, "/news/{n}.html,News of the {noun}"
        ),
        "docs/downloads.csv": table(
            rng,
            "path,title,ref",
            [f"/files/{p.name}.pdf,{p.paper},live" for p in pages],
            "/files/a{n}.zip,Old {noun} set",
        ),
        "archive/captions.tsv": joined(scattered(rng, others, *captions)),
        "tools/audit.py": AUDIT,
        **{f"pages/{name}.html": text for name, text in before.items()},
    }
    names = ", ".join(page.name for page in pages)
    signed = {"auditor": auditor, "reference": reference}
    told = instruction(__package__, names=names, reference=reference)
    return Case(
        made,
        told,
        plan_of([page.name for page in pages]),
        lambda left: check(pages, before, signed, left),
    )


TASK = Task("web-accessibility", "Web", "Repair many pages by an accessibility guide", build)
