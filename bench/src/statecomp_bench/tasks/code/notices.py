"""Long texts in sources, edited word for word: what was read early must stand exactly."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import edit, read, shell, write
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.code.sources import functions
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import nouns, person
from statecomp_bench.tasks.shared import each, facts_for, paper, rules_of

GUIDE = """# Notices

- A changed notice keeps its own words; the clause of its region is put behind them, after a blank.
- The mark of a changed notice is the letter x.
- The list of changes names the module, a colon, a blank, and the contact, one a line.
- Contacts are written with a circumflex in front: ^Name.

"""
TEST = """import ast, pathlib, sys
missing = []
for path in sorted(pathlib.Path('app').glob('*.py')):
    tree = ast.parse(path.read_text())
    names = {t.id: n.value.value for n in tree.body if isinstance(n, ast.Assign)
             for t in n.targets if isinstance(t, ast.Name) and isinstance(n.value, ast.Constant)}
    done = names.get('MARK') == 'x'
    print('test_notice', path.stem, '...', 'ok' if done else 'FAIL')
    missing += [] if done else [path.stem]
raise SystemExit(f'{len(missing)} notices are as they were' if missing else 0)
"""


@dataclass(frozen=True)
class Module:
    name: str
    notice: str
    region: str
    contact: str
    source: str

    def changed(self, clauses: dict[str, str]) -> str:
        new = f'NOTICE = "{self.notice} {clauses[self.region]}"'
        text = self.source.replace(f'NOTICE = "{self.notice}"', new)
        return text.replace('MARK = "o"', 'MARK = "x"')


def modules_of(rng: Random, level: int) -> list[Module]:
    made = []
    for name in nouns(rng, 7 + 2 * level):
        notice = f"{sentence(rng)}  {sentence(rng)} ({name})".replace('"', "'")
        head = f'"""{name.title()} of the house."""\n\nMARK = "o"\nNOTICE = "{notice}"\n\n\n'
        region = rng.choice(("east", "west", "coast"))
        made.append(Module(name, notice, region, person(rng), head + functions(rng, 5)))
    return made


def files_of(rng: Random, modules: list[Module], clauses: dict[str, str]) -> dict[str, str]:
    made = {"docs/notices.md": GUIDE + paper(rng, 1500), "tests/check.py": TEST}
    for name, clause in clauses.items():
        made[f"clauses/{name}.md"] = paper(rng, 2500, f'Clause for {name}: "{clause}"')
    for m in modules:
        made[f"app/{m.name}.py"] = m.source
        made[f"regions/{m.name}.txt"] = paper(
            rng, 3000, f"Region of {m.name}: {m.region}", f"Contact for {m.name}: {m.contact}"
        )
    return made


def plan_of(modules: list[Module], regions: list[str]) -> Plan:
    names = [m.name for m in modules]
    facts = [
        *(Fact(f"clause_{r}", f"clause for {r}", rf'Clause for {r}: "([^"\n]+)"', f"clause_{r}")
          for r in regions),
        *facts_for(names, "module",
                   ("notice", "notice of NAME", r'NOTICE = "([^"\n]+ \(NAME\))"')),
        *facts_for(names, "region", ("contact", "contact for NAME", r"Contact for NAME: (\w+ \w+)"),
                   ("region", "region of NAME", r"Region of NAME: (\w+)")),
    ]  # fmt: skip
    # Which clause belongs to a module is known from the request; its words are not.
    rules = [
        *rules_of("guide", ("mark", "the mark is the letter x", "is the letter x", "x", "done")),
        *rules_of("guide", ("hat", "contacts carry a circumflex", "with a circumflex", "^", "")),
        *rules_of("guide", *(
            (f"kept_{m.name}", f"old words of {m.name} stay in front",
             "keeps its own words", f"{{notice_{m.name}}} {{clause_{m.region}}}",
             f"{{clause_{m.region}}}") for m in modules)),
    ]  # fmt: skip
    listed = "".join(f"{n}: {{hat}}{{contact_{n}}}\n" for n in names)
    steps = [
        Step("list", "list_files", {}, "see the sources"),
        read("guide", "docs/notices.md", "read the guide on notices"),
        *(read(f"module_{n}", f"app/{n}.py", f"read the module {n}") for n in names),
        shell("before", "python3 tests/check.py", "run the check before changing anything"),
        *(read(f"clause_{r}", f"clauses/{r}.md", f"read the clause for {r}") for r in regions),
        *(read(f"region_{n}", f"regions/{n}.txt", f"read who is asked about {n}") for n in names),
        *(edit(f"edit_{m.name}", f"app/{m.name}.py", f'MARK = "o"\nNOTICE = "{{notice_{m.name}}}"',
               f'MARK = "{{mark}}"\nNOTICE = "{{kept_{m.name}}}"', f"change the notice of {m.name}")
          for m in modules),
        shell("after", ": after; python3 tests/check.py", "run the check on the changes"),
        write("changes", "CHANGES.txt", listed, "write the list of changes"),
        shell("proof", "cat CHANGES.txt", "read the list again"),
    ]  # fmt: skip
    return Plan(tuple(facts), tuple(rules), tuple(steps), "The notices are changed.")


def check(modules: list[Module], clauses: dict[str, str], left: Artefacts) -> Score:
    def marked(m: Module) -> bool:
        return '\nMARK = "x"\n' in left.text(f"app/{m.name}.py")

    def touched(m: Module) -> bool:
        """Everything but mark and notice stands as it stood, and something was changed."""
        text = left.text(f"app/{m.name}.py")
        return text != m.source and text.split("\n\n\n")[1:] == m.source.split("\n\n\n")[1:]

    return grade(
        each("notices", 6, modules,
             lambda m: left.text(f"app/{m.name}.py") == m.changed(clauses)),
        each("marks", 2, modules, marked),
        each("nothing else is touched", 1, modules, touched),
        part("changes", 3, lambda: left.text("CHANGES.txt").splitlines() == [
            f"{m.name}: ^{m.contact}" for m in modules]),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    modules = modules_of(rng, level)
    regions = sorted({m.region for m in modules})
    clauses = {r: sentence(rng).replace('"', "'").rstrip(".?") for r in regions}
    own = ", ".join(f"{m.name} ({m.region})" for m in modules)
    told = (
        f"Change the notices of the modules {own}, each with its region. The string NOTICE of "
        "app/MODULE.py gets the clause of its region (clauses/REGION.md), and MARK says that it "
        "was changed; nothing else in a module changes, not a blank. Then write CHANGES.txt with "
        "the contact (regions/MODULE.txt) of each module, in the order above. docs/notices.md "
        "says how. tests/check.py shows which are done."
    )
    return Case(dict(files_of(rng, modules, clauses)), told, plan_of(modules, regions),
                lambda left: check(modules, clauses, left))  # fmt: skip


TASK = Task("code-notices", "Code", "Edit long texts that must stand word for word", build)
