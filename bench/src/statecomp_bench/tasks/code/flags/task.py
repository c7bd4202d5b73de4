"""Stale feature flags removed by a policy with exceptions, some of which letters have overtaken."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.code.flags.data import (
    TEAMS,
    TODAY,
    Flag,
    flags,
    letters,
    module,
    registry,
)
from statecomp_bench.tasks.code.sources import document, each, listed

INSTRUCTION = (
    f"Today is {TODAY}. Clean up the feature flags of /workspace/app: every module there asks for "
    "one flag. Decide for each by docs/flags.md, the registry (flags/TEAM.md; a flag is on, off or "
    "partial), flags/exceptions.md and the letters in mail/letters.txt, and remove from the "
    "modules those flags that must go. Then write flags/report.csv with the columns flag, "
    "outcome and ticket, sorted by flag, for every flag that app asks for; the outcome is kept, "
    "removed-on (first branch stays) or removed-off (else branch stays). Touch nothing else."
)
CLEAN = r"""
    # clean NAME
    import re
    from datetime import date
    flag, ticket = 'FLAG', '{ticket_NAME}'
    state, since = '{state_NAME}', '{since_NAME}'
    fixes = dict(fix.split(' since ') for fix in '{fixes}'.split(', '))
    since = fixes.get(flag, since)
    held = set('{held}'.split(', ')) - set('{released}'.split(', '))
    days = (date.fromisoformat('{today}') - date.fromisoformat(since)).days
    goes = flag not in held and state in ('on', 'off') and days >= {ages}[state]
    path = 'app/NAME.py'
    text = open(path).read()
    block = re.compile(r'    if enabled\("FLAG"\):\n((?: {8}.*\n)+)    else:\n((?: {8}.*\n)+)')
    found = block.search(text)
    if goes and found:
        stays = re.sub('(?m)^    ', '', found[1 if state == 'on' else 2])
        text = text[:found.start()] + {trace}stays + text[found.end():]
        text = text.replace('from app.flagging import enabled\n\n\n', '')
        open(path, 'w').write(text)
    print(text[-1200:])
    print('FLAG goes' if goes else 'FLAG stays')
"""
OUTCOMES = """
    # outcomes
    for module, flag in (FLAGS):
        text = open(f'app/{module}.py').read()
        branch = 'on' if 'swift' in text else 'off'
        print(f'outcome for {flag}:', 'kept' if 'enabled(' in text else f'removed-{branch}')
"""
REPORT = """
    # the report
    rows = sorted([ROWS])
    with open('flags/report.csv', 'w') as out:
        out.write('flag,outcome,ticket\\n')
        out.writelines(','.join(row) + '\\n' for row in rows)
    print(open('flags/report.csv').read())
"""
LINT = '''"""Counts flags; too many are an error."""
import re
import sys
from pathlib import Path

found = []
for path in sorted(Path("app").glob("*.py")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.search(r"if enabled\\(", line):
            found.append(f"{path}:{number}: {line.strip()}")
print("\\n".join(found))
print(f"{len(found)} flags are asked for")
sys.exit(len(found) > 4)
'''
RULES = (
    Norm(
        "ages",
        "flags go after 90 days on or 180 days off",
        "on for at least 90 days",
        "{'on': 90, 'off': 180}",
        "{'on': 30, 'off': 30}",
        "policy",
    ),
    Norm(
        "trace",
        "a comment names the flag that was there",
        r"stands the comment `# was NAME, TICKET`",
        r"f'    # was {flag}, {ticket}\n' + ",
        "",
        "policy",
    ),
)


def facts_of(flag: Flag) -> list[Fact]:
    name, source, entry = flag.module, f"registry_{flag.team}", rf"flag {flag.name}: state "
    return [
        Fact(f"state_{name}", f"state of {flag.name}", rf"{entry}(\w+), since", source),
        Fact(f"since_{name}", f"date of {flag.name}", rf"{entry}\w+, since ([\d-]+)", source),
        Fact(f"ticket_{name}", f"ticket of {flag.name}", rf"{entry}.*?ticket (FL-\d+)", source),
        Fact(
            f"outcome_{name}",
            f"outcome of {flag.name}",
            rf"outcome for {flag.name}: (kept|removed-on|removed-off)",
            "outcomes",
        ),
    ]


def plan_of(made: list[Flag]) -> Plan:
    facts = [fact for flag in made for fact in facts_of(flag)]
    fix = r"\w+ since [\d-]{10}"
    facts += [
        Fact("today", "day of the cleaning", r"Today is ([\d-]+\d)"),
        Fact("held", "held flags", r"Held for the auditors: (\w+(?:, \w+)*)", "exceptions"),
        Fact("released", "released flags", r"Released from the hold: (\w+(?:, \w+)*)", "letters"),
        Fact("fixes", "corrected dates", rf"Corrected dates: ({fix}(?:, {fix})*)", "letters"),
    ]
    rows = "".join(
        f"('{f.name}', '{{outcome_{f.module}}}', '{{ticket_{f.module}}}'), " for f in made
    )
    pairs = "".join(f"('{flag.module}', '{flag.name}'), " for flag in made)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("policy", "docs/flags.md", "read the policy", group="d"),
        read("exceptions", "flags/exceptions.md", "read what is held", group="d"),
        shell("lint", "cat tools/lint.py; python3 tools/lint.py", "let the linter complain"),
        *(
            read(f"registry_{team}", f"flags/{team}.md", f"read the flags of {team}", group="r")
            for team in TEAMS
        ),
        read("letters", "mail/letters.txt", "go through the letters"),
        *(
            read(f"code_{f.module}", f"app/{f.module}.py", f"read the desk {f.module}", group="c")
            for f in made
        ),
        *(
            python(
                f"clean_{f.module}",
                CLEAN.replace("NAME", f.module).replace("FLAG", f.name),
                f"decide about {f.module}",
                leaves=True,
            )
            for f in made
        ),
        shell("again", "python3 tools/lint.py | tail -n {lines}", "ask the linter again"),
        python("outcomes", OUTCOMES.replace("FLAGS", pairs), "see what became of each flag"),
        python("report", REPORT.replace("ROWS", rows), "write the outcomes down", leaves=True),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The stale flags are gone.")


def check(made: list[Flag], ends: dict[str, tuple[str, str]], left: Artefacts) -> Score:
    gone = [flag for flag in made if flag.outcome != "kept"]
    rows = sorted((flag.name, flag.outcome, flag.ticket) for flag in made)

    def text(flag: Flag) -> str:
        return left.text(f"app/{flag.module}.py")

    def lines(source: str, *, traces: bool = True) -> list[str]:
        """Without empty lines: how many are left where an import was is a matter of taste."""
        every = (line for line in source.splitlines() if line)
        return [line for line in every if traces or "# was " not in line]

    def same(flag: Flag, *, traces: bool = True) -> bool:
        return lines(text(flag), traces=traces) == lines(ends[flag.module][1], traces=traces)

    def stays() -> bool:
        kept = (flag for flag in made if flag.outcome == "kept")
        whole = all(text(flag) == ends[flag.module][0] for flag in kept)
        return whole and any("enabled(" not in text(flag) for flag in gone)

    def report() -> list[tuple[str, str, str]]:
        return [(r["flag"], r["outcome"], r["ticket"]) for r in left.rows("flags/report.csv")]

    return grade(
        each("removed", 5, gone, lambda f: same(f, traces=False)),
        each("traces", 2, gone, same),
        part("kept", 3, stays),
        each("report", 3, rows, lambda row: row in report()),
        part(
            "order of the report", 1, lambda: [row[0] for row in report()] == [r[0] for r in rows]
        ),
    )


def build(rng: Random, level: int) -> Case:
    made = flags(rng, level)
    ends = {flag.module: module(rng, flag) for flag in made}
    held = listed(flag.name for flag in made if flag.held)
    workspace = {
        "docs/flags.md": document(__package__, "flags.md"),
        "flags/exceptions.md": f"# Exceptions of this year\n\nHeld for the auditors: {held}\n",
        "mail/letters.txt": letters(rng, made),
        "tools/lint.py": LINT,
        "app/__init__.py": "",
        "app/flagging.py": "def enabled(name):\n    raise LookupError(name)\n",
    }
    workspace |= {f"flags/{team}.md": registry(rng, made, team) for team in TEAMS}
    workspace |= {f"app/{name}.py": old for name, (old, _) in ends.items()}
    return Case(workspace, INSTRUCTION, plan_of(made), lambda left: check(made, ends, left))


TASK = Task("code-flags", "Code", "Remove stale feature flags by policy", build)
