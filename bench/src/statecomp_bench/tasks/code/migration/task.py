"""An application moved to the next version of a client library, by a guide in many chapters.

Each module is a lookup in something read long before: old call, new call, new keyword, ticket.
"""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.code.migration.data import (
    CHAPTERS,
    KINDS,
    Module,
    calls,
    chapter,
    modules,
    source,
)
from statecomp_bench.tasks.code.sources import document, each, listed, verdict
from statecomp_bench.tasks.invented import joined, people

INSTRUCTION = (
    "The modules in /workspace/app use version 2 of our client library. Move them to version 3 as "
    "docs/migrating/00-overview.md and the chapters beside it say: each module makes two calls, "
    "NAME_reply and NAME_trail, whose names, keywords and times change. Modules named in "
    "docs/frozen.md stay untouched. Then write docs/MIGRATED.md with one line for each moved "
    "module, sorted by name: `- NAME: NEW1, NEW2 (TICKET)` with the new calls, reply before trail; "
    "tickets stand in docs/tickets.csv, and "
    "docs/inventory.txt has every call as it was before anybody moved. Change nothing else."
)
MOVE = """
    # move NAME
    import sys
    path, ticket = 'app/NAME.py', '{ticket_NAME}'
    if 'NAME' in '{frozen}'.split(', '):
        print('NAME is frozen and stays')
        sys.exit()
    text = open(path).read()
    for old, new, keyword, wait in (
        ('{old_NAME_reply}', '{new_NAME_reply}', '{key_NAME_reply}', int('{wait_NAME_reply}')),
        ('{old_NAME_trail}', '{new_NAME_trail}', '{key_NAME_trail}', int('{wait_NAME_trail}')),
    ):
        before, after = f'client.{old}(code, wait={wait})', f'client.{new}(code, {keyword}='
        text = text.replace(before, after + str(wait{scale}) + ')')
    text = text.replace('import v2 as client', 'import v3 as client')
    text = text if text.startswith('# ') else {header}text
    open(path, 'w').write(text)
    print(text)
"""
REPORT = """
    # the report
    frozen, lines = '{frozen}'.split(', '), []
    for name, reply, trail, ticket in (ROWS):
        if name not in frozen:
            lines.append(f'- {name}: {reply}, {trail} ({ticket})')
    open('docs/MIGRATED.md', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
HIDDEN = """
import sys, types
from importlib import import_module
class Client:
    def __init__(self, version):
        self.version = version
    def __getattr__(self, name):
        return lambda *args, **kwargs: [self.version, name, list(args), kwargs]
sys.modules['client'] = types.SimpleNamespace(v2=Client('v2'), v3=Client('v3'))
for name in DATA:
    try:
        found[name] = import_module(f'app.{name}').status('c1')
    except Exception as error:
        found[name] = str(error)
"""
TESTS = """import unittest
from pathlib import Path

FROZEN = Path("docs/frozen.md").read_text()


class Imports(unittest.TestCase):
    def test_modules_use_the_new_client(self):
        for path in sorted(Path("app").glob("*.py")):
            with self.subTest(path.name):
                if path.stem not in FROZEN:
                    self.assertIn("from client import v3 as client", path.read_text())
"""


def facts_of(module: Module) -> list[Fact]:
    name = module.name
    facts = [
        Fact(f"ticket_{name}", f"ticket of {name}", rf"\b{name},(MIG-\d+)", "tickets"),
    ]
    for kind, use in zip(KINDS, module.uses, strict=True):
        made, what = rf"\b{name}_{kind} = client\.", f"{name}_{kind}"
        entry, told = f"guide_{use.chapter[:2]}", rf"`{use.old}` is now "
        facts += [
            Fact(f"old_{what}", f"call behind {what}", rf"{made}(\w+)\(code, wait", "inventory"),
            Fact(
                f"wait_{what}",
                f"seconds of {what}",
                rf"{made}\w+\(code, wait=(\d+)",
                "inventory",
            ),
            Fact(f"new_{what}", f"new call for {what}", rf"{told}`(\w+)`", entry),
            Fact(f"key_{what}", f"new keyword for {what}", rf"{told}.*? is now `(\w+)`\.", entry),
        ]
    return facts


RULES = (
    Norm(
        "scale",
        "times become milliseconds, but not those of stream_ calls",
        "Times are whole milliseconds in version 3",
        " * (1 if old.startswith('stream_') else 1000)",
        "",
        "overview",
    ),
    Norm(
        "header",
        "the first line names client and ticket",
        r"first line is the comment `# client: v3, TICKET`",
        r"f'# client: v3, {ticket}\n' + ",
        "",
        "overview",
    ),
)


def plan_of(made: list[Module]) -> Plan:
    facts = [fact for module in made for fact in facts_of(module)]
    facts.append(
        Fact("frozen", "frozen modules", r"Frozen until renewal: (\w+(?:, \w+)*)", "frozen")
    )
    names = [module.name for module in made]
    rows = "".join(
        f"('{n}', '{{new_{n}_reply}}', '{{new_{n}_trail}}', '{{ticket_{n}}}'), " for n in names
    )
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("overview", "docs/migrating/00-overview.md", "read the overview of the guide"),
        read("frozen", "docs/frozen.md", "see what is certified", group="plans"),
        read("inventory", "docs/inventory.txt", "read the inventory of calls", group="plans"),
        read("tickets", "docs/tickets.csv", "read the plan of work", group="plans"),
        *(
            read(f"guide_{c[:2]}", f"docs/migrating/{c}.md", f"read chapter {c}", group="guide")
            for c in CHAPTERS
        ),
        shell("red", "python3 -m unittest 2>&1 | head -n {lines}", "see which imports are old"),
        *(read(f"code_{n}", f"app/{n}.py", f"read the module {n}", group="code") for n in names),
        shell("old", "cat client/v2.py | head -n {lines}", "look at the old client"),
        *(
            python(f"move_{n}", MOVE.replace("NAME", n), f"move {n} over", group="m", leaves=True)
            for n in names
        ),
        shell("green", "python3 -m unittest -v 2>&1 | tail -n 30", "run the import tests again"),
        python("report", REPORT.replace("ROWS", rows), "write down what moved", leaves=True),
        shell("proof", "head -n 3 app/*.py; cat docs/MIGRATED.md", "look over the result"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The modules are moved; see docs/MIGRATED.md.")


def check(made: list[Module], old: dict[str, str], left: Artefacts) -> Score:
    found = verdict(left, HIDDEN, [module.name for module in made])
    moved = [module for module in made if not module.frozen]

    def calls_of(module: Module) -> float:
        shown = found.get(module.name)
        wanted = [use.moved for use in module.uses]
        pairs = zip(shown, wanted, strict=True) if isinstance(shown, list) else ()
        return float(sum(one == other for one, other in pairs) / len(wanted))

    def stayed() -> bool:
        same = all(
            left.text(f"app/{m.name}.py") == old[f"app/{m.name}.py"] for m in made if m.frozen
        )
        return same and any(calls_of(module) for module in moved)

    def reported(module: Module) -> bool:
        return module.line in left.text("docs/MIGRATED.md").splitlines()

    return grade(
        each("calls", 6, moved, calls_of),
        each(
            "headers",
            2,
            moved,
            lambda m: left.text(f"app/{m.name}.py").startswith(f"# client: v3, {m.ticket}\n"),
        ),
        part("frozen modules", 2, stayed),
        each("report", 2, moved, reported),
        part(
            "order of the report",
            1,
            lambda: left.text("docs/MIGRATED.md").splitlines() == [m.line for m in moved],
        ),
    )


def build(rng: Random, level: int) -> Case:
    known = calls(rng, 60 + 10 * level)
    made = modules(rng, level, known)
    rest = "".join(
        f"def {use.old}(code, wait=5):\n    return call({use.old!r}, code, wait)\n\n\n"
        for use in known
    )
    frozen = listed(m.name for m in made if m.frozen)
    workspace = {
        "docs/migrating/00-overview.md": document(__package__, "migrating.md"),
        "docs/frozen.md": f"# Certified installation\n\nFrozen until renewal: {frozen}\n",
        "docs/tickets.csv": "module,ticket,reviewer\n"
        + joined([f"{m.name},{m.ticket},{people(rng, 1)[0]}" for m in made]),
        "client/__init__.py": "",
        "client/v2.py": f'"""The old client."""\n\nfrom client.gateway import call\n\n\n{rest}',
        "client/gateway.py": "def call(name, *args):\n    raise ConnectionError(name)\n",
        "app/__init__.py": "",
        "tests/__init__.py": "",
        "tests/test_imports.py": TESTS,
    }
    workspace |= {f"docs/migrating/{name}.md": chapter(rng, known, name) for name in CHAPTERS}
    old = {f"app/{module.name}.py": source(rng, module) for module in made}
    workspace["docs/inventory.txt"] = joined(
        [
            f"{path}:{number}: {line.strip()}"
            for path, text in old.items()
            for number, line in enumerate(text.splitlines(), 1)
            if "client." in line
        ]
    )
    workspace |= old
    return Case(workspace, INSTRUCTION, plan_of(made), lambda left: check(made, old, left))


TASK = Task("code-migration", "Code", "Move an application to a new client library", build)
