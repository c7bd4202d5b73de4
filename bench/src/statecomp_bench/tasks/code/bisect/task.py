"""Broken tests traced to their commits by halving ranges of builds: chains that grow side by side.

Each probe needs the range that the probe before it left, with probes for other tests in between.
"""

from __future__ import annotations

from datetime import timedelta
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, share
from statecomp_bench.tasks.code.bisect.data import PROBES, START, Break, Story, diff, log, story
from statecomp_bench.tasks.code.sources import document, each, functions, listed, verdict
from statecomp_bench.tasks.invented import joined

PROBE = """
    # probe N for NAME
    good, bad = map(int, 'RANGE'.split('..'))
    middle = (good + bad) // 2
    log = open(f'ci/logs/{middle}.log').read().splitlines()
    failed = any(
        line.startswith('FAILED') and '::test_NAME ' in line{counts} for line in log
    )
    print('\\n'.join(log[:8] + log[-{lines} // 2:]))
    good, bad = (good, middle) if failed else (middle, bad)
    print(f'probe N for test_NAME leaves {good}..{bad}')
"""
CULPRIT = """
    # culprit of NAME
    bad = '{range_NAME_LAST}'.split('..')[1]
    rows = open('ci/builds.csv').read().splitlines()
    place = next(n for n, row in enumerate(rows) if row.startswith(bad + ','))
    print('\\n'.join(rows[max(0, place - {lines} // 4):place + {lines} // 8]))
    build, commit, author, at = rows[place].split(',')
    print(f'test_NAME broke in build {build} with commit {commit} of {author}')
"""
RESTORE = """
    # restore NAME
    commit, text = '{commit_NAME}', open('engine/NAME.py').read()
    text = text.replace('{now_NAME}\\n', '{was_NAME}'{mark} + '\\n')
    open('engine/NAME.py', 'w').write(text)
    print(text[-900:])
"""
REPORT = """
    # report on NAME
    import json, os
    os.makedirs('reports', exist_ok=True)
    handle, presence, deputy = '{desk_NAME}'.split(',')
    report = {
        'test': 'test_NAME',
        'build': int('{build_NAME}'),
        'commit': '{commit_NAME}',
        'was': '{was_NAME}'.split(' = ')[1],
        'tell': {person},
    }
    json.dump(report, open('reports/NAME.json', 'w'), indent=1)
    print(json.dumps(report, indent=1))
"""
HIDDEN = """
from importlib import import_module
for name in DATA:
    try:
        found[name] = str(getattr(import_module(f'engine.{name}'), f'{name.upper()}_LIMIT'))
    except Exception as error:
        found[name] = type(error).__name__
"""


def facts_of(found: Break) -> list[Fact]:
    name = found.name
    broke = rf"test_{name} broke in build "
    ranges = [
        Fact(
            f"range_{name}_{n}",
            f"range after probe {n} for {name}",
            rf"probe {n} for test_{name} leaves (\d+\.\.\d+)",
            f"probe_{name}_{n}",
        )
        for n in range(1, PROBES + 1)
    ]
    return [
        *ranges,
        Fact(f"build_{name}", f"build that broke {name}", rf"{broke}(\d+)", f"culprit_{name}"),
        Fact(
            f"commit_{name}",
            f"commit that broke {name}",
            rf"{broke}\d+ with commit (\w+)",
            f"culprit_{name}",
        ),
        Fact(f"was_{name}", f"old line of {name}", rf"-({found.line}\d+)", f"diff_{name}"),
        Fact(f"now_{name}", f"new line of {name}", rf"\+({found.line}\d+)", f"diff_{name}"),
        Fact(
            f"desk_{name}",
            f"desk of the author behind {name}",
            rf"{found.author},(@[\w-]+,\w+,@[\w-]+)",
            "people",
        ),
    ]


RULES = (
    Norm(
        "counts",
        "only an AssertionError counts as a failure",
        "counts only if its cause is an AssertionError",
        " and 'AssertionError' in line",
        "",
        "guide",
    ),
    Norm(
        "mark",
        "a restored line names the commit that broke it",
        r"comment `# restored, broken by COMMIT`",
        " + '  # restored, broken by ' + commit[:8]",
        "",
        "guide",
    ),
    Norm(
        "person",
        "the deputy is told when the author is away",
        r"If the author is away, it names the",
        "deputy if presence == 'away' else handle",
        "handle",
        "guide",
    ),
)


def probe(name: str, number: int) -> Step:
    before = f"{{range_{name}_{number - 1}}}" if number > 1 else "{first}..{last}"
    code = PROBE.replace("NAME", name).replace("probe N", f"probe {number}")
    title = f"halve the range of {name} for the {number}. time"
    return python(f"probe_{name}_{number}", code.replace("RANGE", before), title)


def plan_of(told: Story) -> Plan:
    names = [found.name for found in told.breaks]
    facts = [fact for found in told.breaks for fact in facts_of(found)]
    facts += [
        Fact("first", "last green build", r"Last release, all green: build (\d+)", "status"),
        Fact("last", "newest build", r"Newest: build (\d+)", "status"),
    ]
    steps = [
        shell("list", "ls . docs ci engine; ls ci/logs | tail -n {lines}", "see what there is"),
        read("guide", "docs/ci.md", "read how broken tests are traced", group="d"),
        read("status", "ci/status.md", "see where the builds stand", group="d"),
        read("people", "docs/people.csv", "read who sits where", group="d"),
        shell("builds", "head -n {lines} ci/builds.csv", "look at the list of builds"),
        *(probe(name, number) for number in range(1, PROBES + 1) for name in names),
        *(
            python(
                f"culprit_{n}",
                CULPRIT.replace("NAME", n).replace("LAST", str(PROBES)),
                f"look up the build that broke {n}",
            )
            for n in names
        ),
        *(
            shell(f"diff_{n}", f"cat changes/{{commit_{n}}}.diff", f"read the change that hit {n}")
            for n in names
        ),
        *(read(f"code_{n}", f"engine/{n}.py", f"read the module {n}", group="c") for n in names),
        *(
            python(f"restore_{n}", RESTORE.replace("NAME", n), f"put back {n}", leaves=True)
            for n in names
        ),
        *(
            python(f"report_{n}", REPORT.replace("NAME", n), f"report on {n}", leaves=True)
            for n in names
        ),
        shell("proof", "cat reports/*; grep -n restored engine/*.py", "look over the result"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The broken tests are traced and repaired.")


def instruction(told: Story) -> str:
    return (
        "These tests are red in the newest build: "
        f"{listed(f'test_{b.name}' for b in told.breaks)}. For each, find the first build that "
        "really broke it (ci/status.md says which build was green, ci/logs has a log for every "
        "build, ci/builds.csv the commit of each, changes/COMMIT.diff what it did), restore the "
        "constant NAME_LIMIT in engine/NAME.py to what it was before, and write reports/NAME.json "
        "with test, build (a number), commit, was (the restored number as text) and tell (whom to "
        "tell). NAME is the test without test_. Follow docs/ci.md; touch nothing else."
    )


def check(told: Story, old: dict[str, str], left: Artefacts) -> Score:
    limits = verdict(left, HIDDEN, [found.name for found in told.breaks])

    def restored(found: Break) -> bool:
        path = f"engine/{found.name}.py"
        line = f"{found.line}{found.was}  # restored, broken by {found.commit[:8]}"
        return left.text(path) == old[path].replace(f"{found.line}{found.now}", line)

    def report(found: Break, *keys: str) -> float:
        whole = {
            "test": f"test_{found.name}",
            "build": found.build,
            "commit": found.commit,
            "was": str(found.was),
            "tell": found.tell,
        }
        return share(left.json(f"reports/{found.name}.json"), {key: whole[key] for key in keys})

    return grade(
        each("constants", 4, told.breaks, lambda b: limits.get(b.name) == str(b.was)),
        each("marks", 2, told.breaks, restored),
        each("builds", 3, told.breaks, lambda b: report(b, "test", "build", "commit")),
        each("old values", 1, told.breaks, lambda b: report(b, "was")),
        each("people", 2, told.breaks, lambda b: report(b, "tell")),
    )


def build(rng: Random, level: int) -> Case:
    told = story(rng, level)
    desks = [f"{b.author},{','.join(b.desk)}" for b in told.breaks]
    known = {b.author for b in told.breaks}
    for name in sorted({author for _, _, author in told.rows} - known):
        desks.append(f"{name},@{name.split()[0].lower()}-{rng.randrange(10, 99)},here,@desk-1")
    rng.shuffle(desks)
    rows = [
        f"{build},{commit},{author},{START + timedelta(hours=3 * n):%Y-%m-%d %H:%M}"
        for n, (build, commit, author) in enumerate(told.rows)
    ]
    workspace = {
        "docs/ci.md": document(__package__, "ci.md"),
        "docs/people.csv": "name,handle,presence,deputy\n" + joined(desks),
        "ci/status.md": f"# Builds\n\nLast release, all green: build {told.first}\n"
        f"Newest: build {told.last}\n",
        "ci/builds.csv": "build,commit,author,at\n" + joined(rows),
        "engine/__init__.py": "",
    }
    workspace |= {f"ci/logs/{row[0]}.log": log(rng, told, row[0]) for row in told.rows}
    workspace |= {f"changes/{row[1]}.diff": diff(rng, told, row[1]) for row in told.rows}
    old = {
        f"engine/{b.name}.py": f'"""Rows of {b.name}."""\n\n\n{functions(rng, 9)}\n\n'
        f"{b.line}{b.now}\n"
        for b in told.breaks
    }
    workspace |= old
    return Case(workspace, instruction(told), plan_of(told), lambda left: check(told, old, left))


TASK = Task("code-bisect", "Code", "Trace broken tests to the commits that broke them", build)
