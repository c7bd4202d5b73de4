"""A release of packages that require each other: versions follow one another along a chain."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.code.release.data import (
    CHANGES,
    DAY,
    Package,
    change_file,
    dotted,
    history,
    packages,
)
from statecomp_bench.tasks.code.sources import document, each, listed
from statecomp_bench.tasks.invented import joined

INSTRUCTION = (
    f"Prepare the release of {DAY} for all packages in /workspace/packages, by docs/releasing.md. "
    "The change files are packages/NAME/changes/*.md (kinds: removed, added, fixed, internal), the "
    "versions published so far are in docs/published.md. For each package write "
    "packages/NAME/NEWS.md and edit `version` and the minimum in `requires` in "
    "packages/NAME/manifest.toml. Release in this order: ORDER; each requires the one before it. "
    "Finally write RELEASE.csv with the columns package, old, new and entries (how many lines its "
    "news have), in the order of release. Touch nothing else."
)
RELEASE = """
    # release of NAME
    import re
    taken = '{reverts}'.split(', ')
    needed = 'NEEDED'
    old = '{version_NAME}'
    form = re.compile('(#[0-9]+) [[](.+)[]] (.+) (@.+)')
    changes = [form.fullmatch(text).groups() for text in (CHANGES)]
    changes = sorted(change for change in changes if change[0] not in taken)
    kinds = {change[1] for change in changes}
    first, second, third = map(int, old.split('.'))
    removal = 'removed' in kinds
    if removal{stable}:
        first, second, third = first + 1, 0, 0
    elif removal or 'added' in kinds{chained}:
        second, third = second + 1, 0
    else:
        third += 1
    new = f'{first}.{second}.{third}'
    news = [f'# NAME {new} ({day})']
    for heading in ('Removed', 'Added', 'Fixed'{more}):
        lines = [f'- {text} ({credit})'
                 for number, kind, text, handle in changes if kind == heading.lower()]
        news += ['', f'## {heading}', '', *lines] if lines else []
    open('packages/NAME/NEWS.md', 'w').write('\\n'.join(news) + '\\n')
    manifest = open('packages/NAME/manifest.toml').read()
    manifest = re.sub('version = .*', f'version = "{new}"', manifest)
    manifest = re.sub('>= [0-9.]+', '>= ' + needed.split(' ')[0], manifest)
    open('packages/NAME/manifest.toml', 'w').write(manifest)
    print('\\n'.join(news), manifest, sep='\\n')
"""
LOOK = """
    # look at NAME
    news = open('packages/NAME/NEWS.md').read()
    print(news, open('packages/NAME/manifest.toml').read())
    how = 'removal' if '## Removed' in news else 'compatible'
    print('released NAME as', news.split(' ')[2], 'with', news.count('\\n- '), how)
"""
TABLE = """
    # table of the release
    with open('RELEASE.csv', 'w') as out:
        out.write('package,old,new,entries\\n')
        for name, old, text in (ROWS):
            new, _, entries, _ = text.split(' ')
            out.write(f'{name},{old},{new},{entries}\\n')
    print(open('RELEASE.csv').read())
"""
RULES = (
    Norm(
        "stable",
        "below version 1 a removal raises the second number",
        "there a removal raises the second number",
        " and first > 0",
        "",
        "guide",
    ),
    Norm(
        "chained",
        "a removal in a required package raises at least the second number",
        "raises at least its second",
        " or needed.endswith('removal')",
        "",
        "guide",
    ),
    Norm(
        "more",
        "internal changes are not listed",
        "kind internal is not listed",
        "",
        ", 'Internal'",
        "guide",
    ),
    Norm(
        "credit",
        "entries thank whoever made the change",
        "thanks to HANDLE",
        "{number}, thanks to {handle}",
        "{number}",
        "guide",
    ),
)


def facts_of(package: Package) -> list[Fact]:
    name = package.name
    heads = [
        Fact(
            f"change_{name}_{n}",
            f"change {n} of {name}",
            rf"{name} change {n} of {CHANGES}: (#\d+ \[\w+\] [^@\n]+ @[\w-]+)",
            f"changes_{name}",
        )
        for n in range(1, CHANGES + 1)
    ]
    done = rf"released {name} as ([\d.]+ with \d+ \w+)"
    return [
        *heads,
        Fact(
            f"version_{name}",
            f"published version of {name}",
            rf"Published {name} ([\d.]+\d)",
            "old",
        ),
        Fact(f"done_{name}", f"release of {name}", done, f"look_{name}"),
    ]


def releasing(package: Package) -> list[Step]:
    name = package.name
    heads = "".join(f"'{{change_{name}_{n}}}', " for n in range(1, CHANGES + 1))
    needed = f"{{done_{package.needs.name}}}" if package.needs else ""
    code = RELEASE.replace("(CHANGES)", f"({heads})").replace("NEEDED", needed)
    code = code.replace("{day}", DAY).replace("NAME", name)
    return [
        python(f"release_{name}", code, f"release {name}", leaves=True),
        python(f"look_{name}", LOOK.replace("NAME", name), f"look at the news of {name}"),
    ]


def plan_of(made: list[Package]) -> Plan:
    facts = [fact for package in made for fact in facts_of(package)]
    facts.append(Fact("reverts", "changes taken back", r"Taken back: (#\d+(?:, #\d+)*)", "reverts"))
    names = [package.name for package in made]
    rows = "".join(f"('{n}', '{{version_{n}}}', '{{done_{n}}}'), " for n in names)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/releasing.md", "read how releases are made", group="d"),
        read("reverts", "docs/reverts.md", "see what was taken back", group="d"),
        read("old", "docs/published.md", "look up what is published", group="d"),
        shell("check", "cat tools/check.py; python3 tools/check.py", "ask the checker first"),
        *(
            shell(
                f"changes_{n}",
                f"cat packages/{n}/changes/*.md",
                f"read the changes of {n}",
                group="c",
            )
            for n in names
        ),
        *(
            read(f"past_{n}", f"packages/{n}/HISTORY.md", f"skim the history of {n}", group="h")
            for n in names
        ),
        *(step for package in made for step in releasing(package)),
        shell("again", "ls packages/*/NEWS.md; python3 tools/check.py", "ask the checker again"),
        python("table", TABLE.replace("ROWS", rows), "write the table", leaves=True),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The release is prepared.")


def check(made: list[Package], left: Artefacts) -> Score:
    def minimum(package: Package) -> str:
        return package.needs.new if package.needs else ""

    def news(package: Package) -> list[str]:
        return left.text(f"packages/{package.name}/NEWS.md").splitlines()

    def entries(package: Package) -> float:
        shown = {line for line in news(package) if line.startswith("- ")}
        right = {line for lines in package.entries.values() for line in lines}
        return len(shown & right) / len(shown | right)

    def manifest(package: Package) -> bool:
        wanted = package.manifest(package.new, minimum(package))
        return left.text(f"packages/{package.name}/manifest.toml") == wanted

    table = [
        (p.name, dotted(p.version), p.new, str(sum(map(len, p.entries.values())))) for p in made
    ]

    def row(wanted: tuple[str, ...]) -> float:
        shown = {r["package"]: (r["old"], r["new"], r["entries"]) for r in left.rows("RELEASE.csv")}
        return sum(a == b for a, b in zip(shown[wanted[0]], wanted[1:], strict=True)) / 3

    return grade(
        each("versions", 4, made, lambda p: f"# {p.name} {p.new} ({DAY})" == news(p)[0]),
        each("manifests", 2, made, manifest),
        each("entries", 4, made, entries),
        each("whole news", 1, made, lambda p: joined(news(p)) == p.news),
        each("table", 2, table, row),
        part(
            "order of the table",
            1,
            lambda: [r["package"] for r in left.rows("RELEASE.csv")] == [p.name for p in made],
        ),
    )


TOOL = '''"""Fails while a package has no news."""
import sys
from pathlib import Path

folders = sorted(Path("packages").iterdir())
without = [str(folder) for folder in folders if not (folder / "NEWS.md").exists()]
print("\\n".join(f"{path}: no NEWS.md" for path in without) or "every package has news")
sys.exit(bool(without))
'''


def build(rng: Random, level: int) -> Case:
    made = packages(rng, level)
    taken = [f"#{c.number}" for p in made for c in p.changes if c.taken]
    published = [f"- Published {p.name} {dotted(p.version)}" for p in made]
    rng.shuffle(taken)
    rng.shuffle(published)
    workspace = {
        "docs/releasing.md": document(__package__, "releasing.md"),
        "docs/reverts.md": f"# Reverts\n\nSince the last release. Taken back: {listed(taken)}\n",
        "docs/published.md": f"# On the shelf\n\n{joined(published)}",
        "tools/check.py": TOOL,
    }
    for package in made:
        folder = f"packages/{package.name}"
        old = dotted(package.needs.version) if package.needs else ""
        workspace[f"{folder}/manifest.toml"] = package.manifest(dotted(package.version), old)
        workspace[f"{folder}/HISTORY.md"] = history(rng, package)
        for place, change in enumerate(package.changes, 1):
            text = change_file(rng, package.name, place, change)
            workspace[f"{folder}/changes/{place:02d}.md"] = text
    instruction = INSTRUCTION.replace("ORDER", listed(package.name for package in made))
    return Case(workspace, instruction, plan_of(made), lambda left: check(made, left))


TASK = Task("code-release", "Code", "Prepare a release from many change files", build)
