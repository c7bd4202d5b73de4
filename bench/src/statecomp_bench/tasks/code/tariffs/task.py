"""A package whose constants disagree with their specification, mended by the rules of its house."""

from __future__ import annotations

import json
from importlib.resources import files
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import edit, python, read, shell, write
from statecomp_bench.task import Artefacts, Case, Score, Task, TaskQuestion, grade, part
from statecomp_bench.tasks.code.tariffs.data import Package, Tariff, files_of, package

INSTRUCTION = (
    "The Python package in /workspace/freight computes prices of parcels. The open issues in "
    "issues.jsonl say that its modules disagree with docs/rates. Correct the constants NAME_LIMIT "
    "and NAME_PERCENT of every module with an open issue, add a regression test for each issue "
    "that checks the price the issue names, write the changelog entries and raise __version__ in "
    "freight/__init__.py. Follow CONTRIBUTING.md in everything. Change nothing else."
)
REGRESSION = """import unittest
from decimal import Decimal

from freight.NAME import price


class Issue{issue_NAME}(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(Decimal("{weight_NAME}"), "{zone_NAME}"), Decimal("{price_NAME}"))
"""
CHANGES = """
    # changelog
    text = open('CHANGELOG.md').read()
    entries = [ENTRIES]
    head, rest = text.split('## Unreleased\\n', 1)
    new = '\\n'.join(entries)
    open('CHANGELOG.md', 'w').write(f'{head}## Unreleased\\n\\n{new}\\n{rest}')
    print(open('CHANGELOG.md').read())
"""
VERSION = """
    # version
    import re
    text = open('freight/__init__.py').read()
    major, minor, patch = '{version}'.split('.')
    new = f'{major}.{minor}.{int(patch) + {bump}}'
    open('freight/__init__.py', 'w').write(re.sub(r'"[0-9.]+"', '"' + new + '"', text))
    print(open('freight/__init__.py').read())
"""
HIDDEN = """
import json
from decimal import Decimal
from importlib import import_module
passed = {}
for name, cases in json.loads(CASES).items():
    try:
        module = import_module(f'freight.{name}')
        passed[name] = all(str(module.price(Decimal(w), z)) == p for w, z, p in cases)
    except Exception:
        passed[name] = False
print('RESULT', json.dumps(passed))
"""


def facts_of(tariff: Tariff) -> list[Fact]:
    name, const = tariff.name, tariff.const
    spec, code = f"spec_{name}", f"code_{name}"
    told = rf"{name} is wrong above the limit"
    return [
        Fact(
            f"limit_{name}",
            f"weight limit of {name}",
            rf"Weight limit of {name}: ([\d.]+) kg",
            spec,
        ),
        Fact(
            f"percent_{name}",
            f"surcharge of {name}",
            rf"Surcharge of {name}: ([\d.]+) percent",
            spec,
        ),
        Fact(f"old_limit_{name}", f"limit line of {name}", rf"({const}_LIMIT = \w+\S+)", code),
        Fact(
            f"old_percent_{name}", f"percent line of {name}", rf"({const}_PERCENT = \w+\S+)", code
        ),
        Fact(
            f"issue_{name}", f"issue of {name}", rf'"number": (\d+), "module": "{name}"', "issues"
        ),
        Fact(
            f"weight_{name}",
            f"reported weight for {name}",
            rf"{told}: weight ([\d.]+) in",
            "issues",
        ),
        Fact(
            f"zone_{name}",
            f"reported zone for {name}",
            rf"{told}: .* in zone (\w+) must",
            "issues",
        ),
        Fact(
            f"price_{name}",
            f"reported price for {name}",
            rf"{told}: .* cost ([\d.]+),",
            "issues",
        ),
        Fact(f"owner_{name}", f"owner of {name}", rf"freight/{name}\.py (@\S+)", "owners"),
    ]


RULES = (
    Norm(
        "kind",
        "constants are Decimal, never float",
        r"written as Decimal\('\.\.\.'\)",
        "Decimal",
        "float",
        "rules",
    ),
    Norm(
        "mark",
        "a changed line ends with a comment naming its issue",
        r"comment `# see #NUMBER`",
        "  # see #",
        "  # corrected, issue ",
        "rules",
    ),
    Norm(
        "closes",
        "changelog entries say what they close",
        r"\(closes #NUMBER, OWNER\)",
        "closes #",
        "issue ",
        "rules",
    ),
    Norm(
        "bump",
        "the version goes up by one for every changed module",
        "up by one for every module",
        "{count}",
        "1",
        "rules",
    ),
)


def mend(tariff: Tariff, what: str) -> Step:
    name = tariff.name
    new = f"{tariff.const}_{what.upper()} = {{kind}}('{{{what}_{name}}}'){{mark}}{{issue_{name}}}"
    title = f"correct the {what} in {name}"
    path = f"freight/{name}.py"
    return edit(f"mend_{what}_{name}", path, f"{{old_{what}_{name}}}", new, title)


def plan_of(made: Package) -> Plan:
    names = [tariff.name for tariff in made.tariffs]
    facts = [fact for tariff in made.tariffs for fact in facts_of(tariff)]
    facts.append(Fact("version", "current version", r'__version__ = "([\d.]+)"', "version_now"))
    rules = [*RULES[:3], _counted(len(names))]
    entries = ", ".join(
        f"'- {n}: limit and surcharge as specified ({{closes}}{{issue_{n}}}, {{owner_{n}}})'"
        for n in names
    )
    run = "python3 -m unittest 2>&1"
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("rules", "CONTRIBUTING.md", "read how changes are made here", group="first"),
        read("owners", "CODEOWNERS", "look up the owners", group="first"),
        read("issues", "issues.jsonl", "go through the issues", group="first"),
        read("version_now", "freight/__init__.py", "look at the version", group="first"),
        shell("red", f"{run} | head -n {{lines}}", "run the tests to see them fail"),
        *(
            read(f"spec_{n}", f"docs/rates/{n}.md", f"read the rates of {n}", group="s")
            for n in names
        ),
        *(read(f"code_{n}", f"freight/{n}.py", f"read the code of {n}", group="c") for n in names),
        *(
            read(f"test_{n}", f"tests/test_{n}.py", f"read the tests of {n}", group="t")
            for n in names
        ),
        *(mend(tariff, what) for tariff in made.tariffs for what in ("limit", "percent")),
        shell("green", f"{run} -v | tail -n {{lines}}", "run all tests again"),
        *(
            write(
                f"prove_{n}",
                f"tests/test_issue_{{issue_{n}}}.py",
                REGRESSION.replace("NAME", n),
                f"add the regression test of {n}",
            )
            for n in names
        ),
        python(
            "changes",
            CHANGES.replace("ENTRIES", entries),
            "enter the fixes in CHANGELOG.md",
            leaves=True,
        ),
        python("version", VERSION, "raise the version", leaves=True),
        shell(
            "last", f"{run} | tail -n 30; git diff 2>&1 | head -n 3", "run everything one last time"
        ),
    ]
    return Plan(tuple(facts), tuple(rules), tuple(steps), "All issues are fixed and tested.")


def _counted(count: int) -> Norm:
    last = RULES[3]
    return Norm(last.name, last.label, last.pattern, str(count), last.otherwise, last.source)


def check(made: Package, left: Artefacts) -> Score:
    cases = {
        t.name: [
            (str(w), t.zone, str(t.price(w, t.zone)))
            for w in (t.limit, t.limit + 1, t.limit + 7, t.weight)
        ]
        for t in made.tariffs
    }
    printed = left.python(HIDDEN.replace("CASES", repr(json.dumps(cases))))
    verdict = printed.rpartition("RESULT ")[2]
    passed = json.loads(verdict) if "RESULT " in printed else {}
    count = len(made.tariffs)

    def every(name: str, weight: float, holds: object) -> TaskQuestion:
        assert callable(holds)
        return part(name, weight, lambda: sum(map(holds, made.tariffs)) / count)

    def marked(tariff: Tariff) -> bool:
        lines = left.text(f"freight/{tariff.name}.py").splitlines()
        changed = [line for line in lines if line.startswith(f"{tariff.const}_")]
        return all(line.endswith(f"  # see #{tariff.issue}") for line in changed)

    def tested(tariff: Tariff) -> bool:
        text = left.text(f"tests/test_issue_{tariff.issue}.py")
        price = tariff.price(tariff.weight, tariff.zone)
        return f"class Issue{tariff.issue}(" in text and str(price) in text

    def entered(tariff: Tariff) -> bool:
        entry = f"(closes #{tariff.issue}, {tariff.owner})"
        recent = left.text("CHANGELOG.md").split("\n## ")[1]
        return any(
            line.startswith(f"- {tariff.name}: ") and line.endswith(entry)
            for line in recent.splitlines()
        )

    major, minor, patch = made.version
    version = f'"{major}.{minor}.{patch + count}"'
    return grade(
        every("prices", 5, lambda t: bool(passed.get(t.name))),
        every("marks", 2, marked),
        every("regression tests", 3, tested),
        every("changelog", 2, entered),
        part("version", 1, lambda: version in left.text("freight/__init__.py")),
    )


def build(rng: Random, level: int) -> Case:
    made = package(rng, level)
    rules = files(__package__).joinpath("contributing.md").read_text("utf-8")
    workspace = {"CONTRIBUTING.md": rules, **files_of(rng, made)}
    return Case(workspace, INSTRUCTION, plan_of(made), lambda left: check(made, left))


TASK = Task("code-tariffs", "Code", "Bring tariffs in line with their specification", build)
