"""How an agent would go about it: look up tokens, have a draft refused, then move everything."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.tasks.shared import named, rules_of

GREP = "cat css/NAME.css | grep -n -C 11 'NAME-panel' | cut -c1-140 | head -n {lines}"
LOOK = """
    # tokens for NAME
    rows = open('design/legacy.csv').read().splitlines()
    for role, old in (('ground', '{ground_NAME}'), ('edge', '{edge_NAME}')):
        for place, row in enumerate(rows):
            if row.startswith(old + ','):
                name, token, colour, note = row.split(',')
                print(f'NAME {role} token is {token} with {colour}')
                print('\\n'.join(rows[max(0, place - {lines} // 9):place + {lines} // 9]))
"""
DRAFT = """
    # first draft
    import os
    os.makedirs('drafts', exist_ok=True)
    text = '''.NAME-panel {
      background: var({ground_token_NAME});
      border: 1px solid var({edge_token_NAME});
    }
    '''
    open('drafts/NAME.css', 'w').write(text)
    print(text)
"""
MIGRATE = """
    # migrate NAME
    import os
    os.makedirs('next', exist_ok=True)
    gap, owner = '{gap_NAME}', '{owner_NAME}'
    size = f'{gap}px' if not gap.isdigit() or {pixels} else {length}
    lines = [
        {charset}
        {owned_NAME}
        {opened}
        '.{prefix}NAME-panel {',
        '  background: var({ground_token_NAME}{ground_else_NAME});',
        '  border: 1px solid var({edge_token_NAME}{edge_else_NAME});',
        f'  {side}: {size};',
        '}',
        {closed}
    ]
    open('next/NAME.css', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
INDEX = """
    # list of imports
    ranks = {RANKS}
    names = sorted(ranks, key=lambda name: ranks[name].zfill(8))
    open('next/index.css', 'w').write(''.join(f'@import "{name}.css";\\n' for name in names))
    print(open('next/index.css').read())
"""


def facts_of(name: str) -> list[Fact]:
    panel, seen = rf"\.{name}-panel \{{ ", f"old_{name}"
    found = [
        Fact(
            f"ground_{name}",
            f"old ground of {name}",
            rf"{panel}background: var\(--(lg-\d+)\)",
            seen,
        ),
        Fact(
            f"edge_{name}",
            f"old edge of {name}",
            rf"{panel}border: 1px solid var\(--(lg-\d+)\)",
            seen,
        ),
        Fact(f"gap_{name}", f"margin of {name}", rf"{panel}margin-left: (\d+)px", seen),
        Fact(f"owner_{name}", f"owner of {name}", rf"component {name}, team (\w+), rank", "owners"),
        Fact(
            f"rank_{name}", f"rank of {name}", rf"component {name}, team \w+, rank (\d+)", "owners"
        ),
    ]
    for role in ("ground", "edge"):
        text = rf"{name} {role} token is (--ds-\w+-\w+) with"
        found.append(
            Fact(f"{role}_token_{name}", f"new {role} token of {name}", text, f"new_{name}")
        )
        text = rf"{name} {role} token is --ds-\w+-\w+ with (#\w+)"
        found.append(Fact(f"{role}_colour_{name}", f"{role} colour of {name}", text, f"new_{name}"))
    return found


def guide_rules(name: str) -> tuple[tuple[str, str, str, str, str], ...]:
    """Those of the guide whose wording names the component's own values."""
    backed = "used with its colour behind it"
    return (
        (
            f"ground_else_{name}",
            f"the ground of {name} has its colour behind it",
            backed,
            f", {{ground_colour_{name}}}",
            "",
        ),
        (
            f"edge_else_{name}",
            f"the edge of {name} has its colour behind it",
            backed,
            f", {{edge_colour_{name}}}",
            "",
        ),
        (
            f"owned_{name}",
            f"the sheet of {name} names its owner",
            "of a file names the owner",
            f"'/* owner: {{owner_{name}}} */',",
            "",
        ),
    )


RULES = (
    *rules_of(
        "guide",
        (
            "side",
            "directions are logical",
            "what was margin-left is written as",
            "margin-inline-start",
            "margin-left",
        ),
        (
            "length",
            "lengths are in rem",
            "Lengths are written in rem",
            "f'{int(gap) / 16:g}rem'",
            "f'{gap}px'",
        ),
        (
            "pixels",
            "the team Kiosk keeps pixels",
            "Kiosk keep pixels everywhere",
            "owner == 'Kiosk'",
            "False",
        ),
    ),
    *rules_of(
        "refused",
        (
            "charset",
            "files begin with the charset",
            "B31 the first line of a file must",
            "'@charset \"utf-8\";',",
            "",
        ),
        (
            "opened",
            "rules stand in the components layer",
            "B47 rules outside of the components",
            "'@layer components {',",
            "",
        ),
        ("closed", "the layer is closed at the end", "components layer are dropped", "'}',", ""),
        ("prefix", "class selectors begin with ds", "B52 class selectors must begin", "ds-", ""),
    ),
)


def plan_of(names: list[str]) -> Plan:
    first, count = names[0], len(names)
    ranks = ", ".join(f"'{n}': '{{rank_{n}}}'" for n in names)
    old = {n: shell(f"old_{n}", named(GREP, n), f"find the panel of {n}", group="o") for n in names}
    new = {n: python(f"new_{n}", named(LOOK, n), f"look up the tokens for {n}") for n in names}
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/migration.md", "read the guide to tokens", group="a"),
        read("owners", "docs/owners.txt", "read who owns what", group="a"),
        *old.values(),
        *(new[n] for n in names[: count // 2]),
        python("draft", named(DRAFT, first), f"try a draft of {first}", leaves=True),
        shell("refused", f"python3 tools/build.py drafts/{first}.css", "build the draft"),
        *(new[n] for n in names[count // 2 :]),
        shell(
            "uses",
            "cat css/*.css | grep -c -- '--lg-'; head -n {lines} design/legacy.csv",
            "count old variables",
        ),
        *(
            python(f"next_{n}", named(MIGRATE, n), f"move {n} to tokens", leaves=True)
            for n in names
        ),
        python("index", INDEX.replace("RANKS", ranks), "write the list of imports", leaves=True),
        shell(
            "built",
            f"python3 tools/build.py {' '.join(f'next/{n}.css' for n in names)}",
            "build all of it",
        ),
        shell("proof", "cat next/*.css | head -n {lines}", "read the new sheets"),
    ]
    facts = [fact for name in names for fact in facts_of(name)]
    own = rules_of("guide", *(row for name in names for row in guide_rules(name)))
    return Plan(tuple(facts), (*RULES, *own), tuple(steps), "The sheets are in next/.")
