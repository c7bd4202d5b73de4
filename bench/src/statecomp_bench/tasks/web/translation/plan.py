"""How an agent would go about it: terms first, the memory page by page, then the German pages."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell, sql
from statecomp_bench.tasks.shared import named, rules_of
from statecomp_bench.tasks.web.translation.data import TAGS, Order

MEMORY = (
    "-- memory for NAME\nselect segment, state, target, reviewer, note from memory "
    "where segment like 'NAME.%' or note like '%{mark_NAME}%' order by segment"
)
PAGE = """
    # German NAME page
    import os, re
    os.makedirs('de', exist_ok=True)
    terms = {TERMS}
    def put(text):
        text = re.sub(r'\\[\\[(\\w+)\\]\\]', lambda m: terms.get(m[1], m[1]), text)
        return text{swiss}
    lines = ['<!doctype html>', '<html lang="{lang}">', '<body>']
    for name, tag, state, target in [
ROWS    ]:
        extra = {review}
        lines.append(f'<{tag} data-key="{name}"{extra}>{put(target)}</{tag}>')
    lines += ['<p class="imprint">{imprint}</p>', '</body>', '</html>']
    open('de/NAME.html', 'w', encoding='utf-8').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""


def facts_of(order: Order) -> list[Fact]:
    facts = [
        Fact("order", "translation order", r"order (TR-\d+)", "notice"),
        *(
            Fact(f"term_{t}", f"glossary word for {t}", rf"\b{t} = (\w+)", "glossary")
            for t in order.glossary
        ),
        *(
            Fact(f"now_{t}", f"amended word for {t}", rf"\b{t} becomes (\w+)", "notice")
            for t in order.amended
        ),
        *(
            Fact(f"mark_{p}", f"job mark of {p}", rf"page {p}, job mark (\w+)", f"page_{p}")
            for p in order.pages
        ),
    ]
    for s in order.segments:
        row, seen = rf"{s.page}\.{s.tag} \| ", f"memory_{s.page}"
        facts.append(Fact(f"state_{s.key}", f"state of {s.page} {s.tag}", rf"{row}(\w+) \|", seen))
        facts.append(
            Fact(
                f"text_{s.key}",
                f"target of {s.page} {s.tag}",
                rf"{row}\w+ \| (Der [^|\n]+ Uhr) \|",
                seen,
            )
        )
    return facts


def amended_rule(term: str) -> Norm:
    return Norm(
        f"word_{term}",
        f"another word is used for {term} now",
        rf"\b{term} becomes \w+",
        f"{{now_{term}}}",
        f"{{term_{term}}}",
        "notice",
    )


RULES = rules_of(
    "guide",
    ("lang", "the language is Swiss German", 'carries `lang="de-CH"`', "de-CH", "de"),
    ("swiss", "no eszett is written", "no eszett in Swiss", ".replace('ß', 'ss')", ""),
    ("before", "terms are wrapped in dfn", "and wrap it in `<dfn>`", "<dfn>", ""),
    ("after", "the wrapping is closed each time", "`<dfn>`, each time", "</dfn>", ""),
    (
        "review",
        "fuzzy segments are marked for review",
        "A segment whose state is fuzzy",
        "' data-review=\"yes\"' if state == 'fuzzy' else ''",
        "''",
    ),
    (
        "imprint",
        "the imprint names the order",
        "names the translation order",
        "{order}",
        "Impressum",
    ),
)


def plan_of(order: Order) -> Plan:
    word = {t: f"{{word_{t}}}" if t in order.amended else f"{{term_{t}}}" for t in order.glossary}
    terms = ", ".join(f"'{t}': '{{before}}{w}{{after}}'" for t, w in word.items())

    def page(name: str) -> Step:
        rows = "".join(
            f"    ('{t}', '{t}', '{{state_NAME_{t}}}', '{{text_NAME_{t}}}'),\n" for t in TAGS
        )
        code = PAGE.replace("ROWS", rows).replace("TERMS", terms)
        return python(
            f"write_{name}",
            code.replace("NAME", name),
            f"write the German {name} page",
            leaves=True,
        )

    names = order.pages
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/translators.md", "read the notes for translators", group="a"),
        read("glossary", "docs/glossary.txt", "read the glossary", group="a"),
        *(
            read(f"page_{n}", f"en/{n}.html", f"read the English {n} page", group="e")
            for n in names
        ),
        shell("red", "python3 tools/compare.py | head -n {lines}", "compare the two languages"),
        read("notice", "docs/notice.md", "read the notice on terms"),
        *(
            sql(
                f"memory_{n}",
                "data/memory.db",
                named(MEMORY, n),
                f"ask the memory for {n}",
                group="m",
            )
            for n in names
        ),
        *(
            shell(
                f"uses_{t}",
                f"cat en/*.html | grep -n '{t}' | head -n {{lines}}",
                f"see where {t} is used",
            )
            for t in order.glossary
        ),
        *(page(n) for n in names),
        shell("green", "cat de/*.html | head -n {lines}", "read the German pages again"),
        shell(
            "done", "python3 tools/compare.py | tail -n {lines}", "compare both languages once more"
        ),
    ]
    rules = (*RULES, *(amended_rule(t) for t in order.amended))
    return Plan(tuple(facts_of(order)), rules, tuple(steps), "The German pages are in de/.")
