"""How an agent would go about it: look at every page, then the archive, then repair."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import inspect, python, read, shell
from statecomp_bench.tasks.shared import named, rules_of

CAPTION = """
    # caption for the NAME page
    rows = open('archive/captions.tsv').read().splitlines()
    for place, row in enumerate(rows):
        if row.startswith('{image_NAME}\\t'):
            print('archived for NAME:', row.split('\\t')[1])
            print('\\n'.join(rows[max(0, place - {lines} // 4):place + {lines} // 4]))
"""
REPAIR = """
    # repair of NAME
    path = 'pages/NAME.html'
    text = open(path).read()
    linked = '/offers/NAME.html"><img class="lead"' in text
    caption = '{alt_NAME}' if linked else '{caption_NAME}'
    changes = [
        ('<html>', '<html lang="{lang}">'),
        ('<img class="lead" src="/media/{image_NAME}">',
         f'<img class="lead" src="/media/{image_NAME}" alt="{caption}{stop}">'),
        ('<img class="rule" src="/media/{ornament_NAME}">',
         '<img class="rule" src="/media/{ornament_NAME}" {ornament}>'),
        ('<input name="ask" id="{field_NAME}">', '{label_NAME}'),
        ('<h4 class="sub">', '<h{level} class="sub">'),
        ('</h4><!-- sub -->', '</h{level}>'),
        ('>click here<', '>{paper_NAME}{format}<'),
    ]
    for old, new in changes:
        if text.count(old) != 1:
            print(f'{path}: {old} found {text.count(old)} times, left alone')
        else:
            text = text.replace(old, new)
    open(path, 'w').write(text)
    print(text[:1500])
"""
REPORT = """
    # report on the audit
    import json, os
    os.makedirs('out', exist_ok=True)
    report = {'auditor': '{auditor}', 'reference': '{reference}', 'fields': {FIELDS}}
    json.dump(report, open('out/report.json', 'w'), indent=1)
    print(json.dumps(report))
"""


def facts_of(name: str) -> list[Fact]:
    return [
        Fact(
            f"image_{name}",
            f"lead picture of {name}",
            rf"lead in {name}: (IMG_\d+\.jpg)",
            f"look_{name}",
        ),
        Fact(
            f"ornament_{name}",
            f"ornament of {name}",
            rf"rule in {name}: (orn-\w+\.svg)",
            f"look_{name}",
        ),
        Fact(
            f"field_{name}",
            f"id of the ask field of {name}",
            rf"ask in {name}: (f-\w+)",
            f"look_{name}",
        ),
        Fact(
            f"caption_{name}",
            f"caption for {name}",
            rf"archived for {name}: (A \w+ and a \w+ in front of the \w+)",
            f"caption_{name}",
        ),
        Fact(f"words_{name}", f"label wanted on {name}", rf"\b{name},ask,(Your [\w ]+),", "labels"),
        Fact(
            f"paper_{name}",
            f"document behind {name}",
            rf"/files/{name}\.pdf,(\w+ handbook \d+),",
            "files",
        ),
        Fact(
            f"target_{name}",
            f"title behind the picture of {name}",
            rf"/offers/{name}\.html,((?:Offers|All) [\w ]+),",
            "titles",
        ),
    ]


def own_rules(name: str) -> tuple[Norm, ...]:
    """Those whose wording names the page's own values."""
    field = f'id="{{field_{name}}}"'
    label = (
        f"label_{name}",
        f"the field on {name} gets a visible label",
        "visible label element directly before",
        f'<label for="{{field_{name}}}">{{words_{name}}}</label><input name="ask" {field}>',
        f'<input name="ask" {field} aria-label="{{words_{name}}}">',
    )
    linked = (
        f"alt_{name}",
        f"the linked picture on {name} is named by its target",
        "stands inside a link is named by where",
        f"{{target_{name}}}",
        f"{{caption_{name}}}",
    )
    return rules_of("guide", label, linked)


RULES = rules_of(
    "guide",
    ("lang", "the language is Irish English", 'carries `lang="en-IE"`', "en-IE", "en"),
    ("stop", "text alternatives end with a full stop", "it ends with a full stop", ".", ""),
    (
        "ornament",
        "ornaments are empty presentations",
        "An ornament has an empty text alternative",
        'alt="" role="presentation"',
        'alt="ornament"',
    ),
    ("level", "sub headings are of level two", "is of the second level", "2", "3"),
    ("format", "links to downloads end with the format", r"and then `\(PDF\)`", " (PDF)", ""),
)
LOOK = """
    # elements of NAME
    import re
    lines = open('pages/NAME.html').read().splitlines()
    for number, line in enumerate(lines, 1):
        for kind, value in re.findall(r'<img class="(\\w+)" src="/media/([^"]+)"', line):
            print(f'{kind} in NAME: {value} (line {number})')
        for value in re.findall(r'name="ask" id="([^"]+)"', line):
            print(f'ask in NAME: {value} (line {number})')
        if number % 2:
            print(number, line[:100])
"""


def plan_of(names: list[str]) -> Plan:
    facts = [fact for name in names for fact in facts_of(name)]
    facts += [
        Fact("auditor", "auditor of the site", r"Auditor: (\w+ \w+)", "guide"),
        Fact("reference", "reference of the audit", r"reference (WA-\d+)"),
    ]
    fields = ", ".join(f"'{name}': '{{field_{name}}}'" for name in names)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/accessibility.md", "read the guide", group="a"),
        read("labels", "docs/labels.csv", "read the wanted labels", group="a"),
        read("titles", "docs/titles.csv", "read the titles of linked pages", group="a"),
        read("files", "docs/downloads.csv", "read the list of downloads", group="a"),
        shell("red", "python3 tools/audit.py | head -n {lines}", "run the audit before any change"),
        *(
            shell(f"tree_{n}", f"cat pages/{n}.html | grep -n '<h'", f"see the headings of {n}")
            for n in names[:2]
        ),
        *(
            python(f"look_{n}", named(LOOK, n), f"find what is wrong on {n}", group="l")
            for n in names
        ),
        *(
            inspect(f"links_{n}", f"pages/{n}.html", "links", f"follow the links of {n}")
            for n in names
        ),
        *(python(f"caption_{n}", named(CAPTION, n), f"look up the caption for {n}") for n in names),
        *(
            python(f"repair_{n}", named(REPAIR, n), f"repair the {n} page", leaves=True)
            for n in names
        ),
        shell(
            "green", "cat pages/*.html | grep -n 'alt=' | head -n {lines}", "see all alternatives"
        ),
        python("report", REPORT.replace("FIELDS", fields), "write the audit report", leaves=True),
        shell("proof", "grep -n '<form' pages/*.html", "look at the repaired forms"),
    ]
    rules = (*RULES, *(rule for name in names for rule in own_rules(name)))
    return Plan(tuple(facts), rules, tuple(steps), "The pages are repaired.")
