"""Offers on live pages: they are held as first shown, and every further visit shows another one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.outside import HTTP, Scene
from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import http, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.output import html
from statecomp_bench.tasks.invented import nouns, person
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

SITE = "https://offers.example"
GUIDE = """# Offer pages

- Prices are shown with our service fee of 7 percent on top, rounded to cents, with a point.
- The reference of the offer stands in the attribute data-ref of the price.
- A page names the host by first name only.
- Offers for a region under review get the paragraph <p class="hint">On request</p>.
- The overview lists offers from the cheapest to the dearest.

"""
PAGE = """
    # page of NAME
    import os
    from decimal import ROUND_HALF_UP, Decimal
    os.makedirs('site', exist_ok=True)
    text = '{offer_NAME}'
    price = Decimal(text) if text.replace('.', '', 1).isdigit() else Decimal(0)
    price = (price{fee}).quantize(Decimal('0.01'), ROUND_HALF_UP)
    lines = [
        '<h1>NAME</h1>',
        f'<b class="price"{attribute}>{price}</b>',
        '<i>' + '{host_NAME}'{first} + '</i>',
    ]
    if '{state_NAME}' == 'review':
        {hint}
    open('site/NAME.html', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
OVERVIEW = """
    # overview of offers
    from decimal import Decimal
    def number(text):
        return Decimal(text) if text.replace('.', '', 1).isdigit() else Decimal(0)
    rows = [ROWS]
    {cheapest}
    lines = [f'<li>{name}</li>' for _, name in rows]
    open('site/index.html', 'w').write('\\n'.join(['<ol>', *lines, '</ol>']) + '\\n')
    print(lines)
"""
RULES = rules_of(
    "guide",
    ("fee", "a fee of 7 percent goes on top", "service fee of 7 percent", " * Decimal('1.07')", ""),
    ("first", "hosts are named by first name", "by first name only", ".split()[0]", ""),
    ("hint", "regions under review get a hint", "region under review get the paragraph",
     "lines.append('<p class=\"hint\">On request</p>')", "pass"),
    ("cheapest", "the cheapest offer stands first", "from the cheapest to the dearest",
     "rows.sort()", "rows.reverse()"),
)  # fmt: skip


@dataclass(frozen=True)
class Offer:
    name: str
    price: Decimal
    reference: str
    host: str
    state: str

    @property
    def shown(self) -> str:
        return f"{self.price * Decimal('1.07'):.2f}"


def offers_of(rng: Random, level: int) -> list[Offer]:
    # Prices whose fee ends in a whole cent: how halves are rounded is not the question.
    cents = rng.sample(range(30, 900), 6 + 2 * level)
    return [
        Offer(name, Decimal(price), f"R{rng.randrange(10_000, 99_999)}", person(rng),
              rng.choice(("review", "free", "free")))
        for name, price in zip(nouns(rng, len(cents)), cents, strict=True)
    ]  # fmt: skip


def files_of(rng: Random, offers: list[Offer]) -> dict[str, str]:
    made = {"docs/offers.md": GUIDE + paper(rng, 1800)}
    for o in offers:
        made[f"hosts/{o.name}.txt"] = paper(rng, 3300, f"Host of {o.name}: {o.host}")
        made[f"regions/{o.name}.html"] = paper(
            rng, 3300, f"<p>State of {o.name}: {o.state}</p>", kinds=("html",)
        )
    return made


def scene(rng: Random, o: Offer) -> Scene:
    def page(price: object, reference: str) -> str:
        told = f"<p>Offer for {o.name}: {price} EUR, reference {reference}.</p>"
        return f"200 ok\n{html(rng, 6)}{told}\n{html(rng, 5)}"

    later = (o.price + rng.randrange(3, 40) for _ in range(3))
    changed = (page(price, f"R{rng.randrange(10_000, 99_999)}") for price in later)
    return Scene(HTTP, rf"GET {SITE}/{o.name}\b", (page(o.price, o.reference), *changed))


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "host", ("host", "host of NAME", r"Host of NAME: (\w+ \w+)")),
        *facts_for(names, "region", ("state", "state of NAME", r"State of NAME: (\w+)")),
        *facts_for(names, "visit", ("offer", "offer for NAME", r"Offer for NAME: ([\d.]+) EUR"),
                   ("reference", "reference of NAME",
                    r"Offer for NAME: [\d.]+ EUR, reference (R\d+)")),
    ]  # fmt: skip
    attributes = rules_of("guide", *(
        (f"attribute_{n}", f"the price of {n} carries its reference", "in the attribute data-ref",
         f' data-ref="{{reference_{n}}}"', "") for n in names))  # fmt: skip
    rows = ", ".join(f"(number('{{offer_{n}}}'), '{n}')" for n in names)
    page = PAGE.replace("{attribute}", "{attribute_NAME}")
    steps = [
        Step("list", "list_files", {}, "see what the folder has"),
        read("guide", "docs/offers.md", "read how offers are shown"),
        *(http(f"visit_{n}", "GET", f"{SITE}/{n}", f"open the live page of {n}", once=True)
          for n in names),
        shell("wrong", "ls site/drafts", "look for drafts of the pages"),
        *(read(f"host_{n}", f"hosts/{n}.txt", f"read about the host of {n}", group="h")
          for n in names),
        *(read(f"region_{n}", f"regions/{n}.html", f"read the region page of {n}", group="r")
          for n in names),
        *(python(f"page_{n}", named(page, n), f"write the page for {n}", leaves=True)
          for n in names),
        python("overview", OVERVIEW.replace("ROWS", rows), "write the overview", leaves=True),
        shell("proof", "cat site/index.html", "read the overview again"),
    ]  # fmt: skip
    return Plan(tuple(facts), (*RULES, *attributes), tuple(steps), "The offers are online.")


def check(offers: list[Offer], left: Artefacts) -> Score:
    def price(o: Offer, wanted: str) -> bool:
        found = elements(left.text(f"site/{o.name}.html"), "b")[0]
        shown = found.text if wanted == "text" else str(found.attributes.get("data-ref"))
        return shown == (o.shown if wanted == "text" else o.reference)

    def hinted(o: Offer) -> bool:
        return ("On request" in left.text(f"site/{o.name}.html")) == (o.state == "review")

    def host(o: Offer) -> bool:
        return elements(left.text(f"site/{o.name}.html"), "i")[0].text == o.host.split()[0]

    order = [o.name for o in sorted(offers, key=lambda o: o.price)]
    visits = sum(f"GET {SITE}/" in line for line in left.calls)
    return grade(
        each("prices", 4, offers, lambda o: price(o, "text")),
        each("references", 3, offers, lambda o: price(o, "data-ref")),
        each("hosts", 1, offers, host),
        each("hints", 2, offers, hinted),
        part("overview", 2, lambda: [
            e.text for e in elements(left.text("site/index.html"), "li")] == order),
        part("no page opened twice", 1,
             lambda: bool(left.text("site/index.html")) and len(offers) / max(visits, len(offers))),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    offers = offers_of(rng, level)
    names = [o.name for o in offers]
    told = (
        f"Put the offers {', '.join(names)} online. GET {SITE}/NAME shows an offer: it is held for "
        "us as it is shown the first time, and each visit after that shows another one, so open "
        "each page once. hosts/ names the hosts, regions/ the state of each region (review or "
        'free). Write site/NAME.html with a heading, the price in <b class="price">, the host in '
        "<i>, and a hint where it is due; then site/index.html with a list item for each name. "
        "docs/offers.md says how."
    )
    shown = (("offer", "price"), ("reference", "reference"))
    seen = {f"{key}_{o.name}": str(getattr(o, name)) for o in offers for key, name in shown}
    return Case(
        dict(files_of(rng, offers)), told, plan_of(names), lambda left: check(offers, left),
        scenes=tuple(scene(rng, o) for o in offers), seen=seen,
    )  # fmt: skip


TASK = Task("web-offers", "Web", "Put offers online that are held as first shown", build)
