"""How an agent would go about it: read all mails, write blocks, put editions together."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.tasks.shared import named, rules_of
from statecomp_bench.tasks.web.newsletter.data import EDITIONS, SLOTS, Issue

BLOCK = """
    # block on NAME
    import os, textwrap
    os.makedirs('mail/blocks', exist_ok=True)
    headline, teaser = '{headline_NAME}', '{teaser_NAME}'
    teaser = {cut}
    link = '{link_NAME}{utm}'
    text = f'''{open}
    <h2{dressed}>{headline}</h2>
    <p>{teaser}</p>
    <p><a href="{link}">Read on</a></p>
    {close}
    '''
    lines = [line.strip() for line in text.splitlines()]
    open('mail/blocks/NAME.html', 'w').write('\\n'.join(lines) + '\\n')
    print(text)
"""
EDITION = """
    # the NAME edition
    import os
    parts = ['<h1>{subject_NAME}</h1>']
    for name in [SLOTS]:
        path = f'mail/blocks/{name}.html'
        if os.path.exists(path):
            parts.append(open(path).read().strip().replace('CAMPAIGN', '{code_NAME}'))
    parts += [
        {sponsored}
        '<p><a href="https://{host}/unsubscribe">Unsubscribe</a></p>',
    ]
    open('mail/NAME.html', 'w').write('\\n'.join(parts) + '\\n')
    print('\\n'.join(parts))
"""
PLAIN = """
    # text version for NAME
    headlines = {HEADLINES}
    lines = ['{subject_NAME}', '']
    for name in [SLOTS]:
        lines.append('* ' + headlines.get(name, name){capitals})
    open('mail/NAME.txt', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""


def facts_of(issue: Issue) -> list[Fact]:
    facts = [
        Fact(
            "sponsor",
            "wording of the sponsor",
            r"Sponsor wording: (This mail is paid for by \S+ mutual, register no\. \d+)",
            "late",
        ),
        Fact("host", "host of the newsletter", r"newsletter of (\S+\.example)"),
    ]
    for s in issue.stories:
        for kind in ("headline", "teaser", "link"):
            label, text = f"final {kind} on {s.name}", rf'Final {kind} on {s.name}: "([^"\n]+)"'
            facts.append(Fact(f"{kind}_{s.name}", label, text, f"mails_{s.name}"))
    for e in EDITIONS:
        seen, slot = f"plan_{e}", issue.late[e][0]
        facts.append(
            Fact(
                f"subject_{e}",
                f"subject of {e}",
                rf"The {e} subject is (Your \w+ of \w+ and \w+ \w+)",
                seen,
            )
        )
        facts.append(
            Fact(f"code_{e}", f"campaign of {e}", rf"The {e} campaign code is (\w+)", seen)
        )
        facts += (
            Fact(f"{e}_{n}", f"planned for {e} slot {n}", rf"{e} slot {n} goes to (\w+)", seen)
            for n in SLOTS
        )
        text = rf"late change, {e} slot {slot} is given to (\w+)"
        facts.append(Fact(f"late_{e}", f"late choice for {e} slot {slot}", text, "late"))
    return facts


RULES = rules_of(
    "guide",
    (
        "open",
        "blocks are tables for presentation",
        "Layout is done with tables",
        '<table role="presentation"><tr><td>',
        "<div>",
    ),
    ("close", "there is no div in a block", "there is no div", "</td></tr></table>", "</div>"),
    (
        "dressed",
        "styles are attributes",
        "Styles are attributes",
        ' style="font-size:20px"',
        ' class="head"',
    ),
    (
        "cut",
        "teasers are cut at 110 characters",
        "at most 110 characters",
        "textwrap.shorten(teaser, 110, placeholder=' ...')",
        "teaser",
    ),
    ("utm", "links end with the campaign", "ends with `[?]utm=CAMPAIGN`", "?utm=CAMPAIGN", ""),
    (
        "sponsored",
        "the sponsor stands in every edition",
        "stands in every edition, word for word",
        "'<p>{sponsor}</p>',",
        "",
    ),
    (
        "capitals",
        "the text version has headlines in capitals",
        "headlines in capitals",
        ".upper()",
        "",
    ),
)


def late_rule(edition: str, slot: int) -> Norm:
    text = rf"late change, {edition} slot {slot} is given to \w+"
    label = f"slot {slot} of {edition} was given away"
    return Norm(
        f"now_{edition}", label, text, f"{{late_{edition}}}", f"{{{edition}_{slot}}}", "late"
    )


def plan_of(issue: Issue) -> Plan:
    names = [story.name for story in issue.stories]
    headlines = ", ".join(f"'{n}': '{{headline_{n}}}'" for n in names)

    def slots(edition: str) -> str:
        changed = issue.late[edition][0]
        filled = (f"{{now_{edition}}}" if n == changed else f"{{{edition}_{n}}}" for n in SLOTS)
        return ", ".join(f"'{slot}'" for slot in filled)

    def edition(template: str, name: str) -> str:
        return named(template.replace("SLOTS", slots(name)).replace("HEADLINES", headlines), name)

    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/mails.md", "read how mails are built"),
        *(
            read(f"plan_{e}", f"plans/{e}.md", f"read the plan for the {e}", group="p")
            for e in EDITIONS
        ),
        *(read(f"mails_{n}", f"inbox/{n}.txt", f"read the mails on {n}", group="m") for n in names),
        shell("red", "python3 tools/weigh.py", "weigh what is there already"),
        read("late", "inbox/zz-late.txt", "read the late mail"),
        *(
            python(f"block_{n}", named(BLOCK, n), f"write the block on {n}", leaves=True)
            for n in names
        ),
        shell("weigh", "python3 tools/weigh.py | head -n {lines}", "weigh the blocks"),
        *(
            python(
                f"edition_{e}", edition(EDITION, e), f"put the {e} edition together", leaves=True
            )
            for e in EDITIONS
        ),
        *(
            python(
                f"plain_{e}", edition(PLAIN, e), f"write the text version of the {e}", leaves=True
            )
            for e in EDITIONS
        ),
        shell(
            "proof",
            "cat mail/*.txt; python3 tools/weigh.py | tail -n {lines}",
            "weigh and read everything",
        ),
    ]
    rules = (*RULES, *(late_rule(e, issue.late[e][0]) for e in EDITIONS))
    return Plan(tuple(facts_of(issue)), rules, tuple(steps), "The editions are in mail/.")
