"""Batch sizes tuned by many alike experiments, compared in the end with baselines from long ago."""

from __future__ import annotations

import json
from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.code.sources import document, each, listed
from statecomp_bench.tasks.code.speed.data import SIZES, Component, components, nightly, settings
from statecomp_bench.tasks.invented import joined, nouns, people

INSTRUCTION = (
    "The nightly jobs have become slow. For every component in /workspace/tuning choose the size "
    "of its batch among 16, 32, 64 and 128, as docs/tuning.md says: baselines come from "
    "bench/nightly/COMPONENT.log, ceilings from bench/ceilings.csv, costs from measure(component, "
    "batch) in tools/measure.py. Change the line `batch = ...` in tuning/COMPONENT.toml where it "
    "must be changed, and for each component write reports/COMPONENT.json with batch, baseline, "
    "cost (numbers) and changed (true or false). Then write reports/tuning.csv, sorted by "
    "component, with the columns "
    "component, batch, baseline, cost, gain and changed (yes or no); cost and gain are those of "
    "the batch that the component ends with, and a gain may be negative. Touch nothing else."
)
MEASURE = '''"""One simulated night of a component."""
import json


def measure(component, batch, shown=40):
    """Print the rounds of the night, then what it cost and the most memory it used."""
    with open(f"data/{component}.json") as file:
        load = json.load(file)
    if batch > load["most"]:
        raise MemoryError(f"{component} cannot hold {batch} items at once")
    rounds = load["items"] // batch
    for number in range(min(rounds, shown)):
        held = load["rest"] + (number * 7919 + batch * load["each"]) % (batch * load["each"])
        print(f"round {number:4d} of {rounds}: {batch} items, {held} MB held")
    spill = max(0, batch - load["knee"]) ** 2 * load["spill"]
    cost = rounds * load["setup"] + load["items"] * load["item"] + spill
    peak = load["rest"] + batch * load["each"]
    print(f"{component} with batch {batch}: cost {cost} at {peak} MB")
'''
BASELINE = """
    # baseline of NAME
    from statistics import median
    lines = open('bench/nightly/NAME.log').read().splitlines()
    costs = [int(line.split('cost ')[1].split()[0]) for line in lines if 'cost ' in line]
    print('\\n'.join(lines[-{lines}:]))
    print('baseline of NAME:', int(median(costs[-{nights}:])))
"""
TRIAL = """
    # NAME at SIZE
    from tools.measure import measure
    measure('NAME', SIZE, {lines} // 2)
"""
TUNE = """
    # tune NAME
    import json, os, re
    os.makedirs('reports', exist_ok=True)
    kept, base = int('{batch_NAME}'), int('{base_NAME}')
    ceiling, kind = '{ceiling_NAME}'.split(',')
    measured = {RESULTS}
    results = {size: [*map(int, text.split(' at '))] for size, text in measured.items()}
    fits = [size for size, (_, peak) in results.items() if peak <= int(ceiling){usable}]
    best = min(fits, key=lambda size: results[size][0])
    cost = results[best][0]
    changed = best != kept{worth}
    if changed:
        text = open('tuning/NAME.toml').read()
        text = re.sub('batch = .*', f'batch = {best}'{remark}, text)
        open('tuning/NAME.toml', 'w').write(text)
    size = best if changed else kept
    report = {'batch': size, 'baseline': base, 'cost': results[size][0], 'changed': changed}
    json.dump(report, open('reports/NAME.json', 'w'))
    print(report, open('tuning/NAME.toml').read())
"""
ENDS = """
    # all decisions
    import json
    from glob import glob
    for path in sorted(glob('reports/*.json')):
        size, base, cost, changed = json.load(open(path)).values()
        print(f'decided for {path[8:-5]}:', size, base, cost, 'yes' if changed else 'no')
"""
REPORT = """
    # report
    with open('reports/tuning.csv', 'w') as out:
        out.write('component,batch,baseline,cost,gain,changed\\n')
        for name, text in (ROWS):
            size, base, cost, changed = text.split()
            gain = (int(base) - int(cost)) / int(base) * 100
            out.write(f'{name},{size},{base},{cost},{gain:.1f},{changed}\\n')
    print(open('reports/tuning.csv').read())
"""
RULES = (
    Norm(
        "nights",
        "a baseline is the median of seven nights",
        "median of the last seven nights",
        "7",
        "1",
        "guide",
    ),
    Norm(
        "usable",
        "interactive components use 80 percent of their ceiling",
        "only 80 percent of",
        " * (0.8 if kind == 'interactive' else 1)",
        "",
        "guide",
    ),
    Norm(
        "worth",
        "a size changes only for 5 percent or more",
        "at least 5 percent below the baseline",
        " and cost <= base * 0.95",
        "",
        "guide",
    ),
    Norm(
        "remark",
        "a changed line tells cost and baseline",
        r"comment `# cost COST, was BASELINE`",
        " + f'  # cost {cost}, was {base}'",
        "",
        "guide",
    ),
)


def facts_of(name: str) -> list[Fact]:
    trials = [
        Fact(
            f"trial_{name}_{size}",
            f"cost of {name} at {size}",
            rf"{name} with batch {size}: cost (\d+ at \d+) MB",
            f"trial_{name}_{size}",
        )
        for size in SIZES
    ]
    return [
        *trials,
        Fact(f"base_{name}", f"baseline of {name}", rf"baseline of {name}: (\d+)", f"base_{name}"),
        Fact(
            f"batch_{name}", f"batch of {name}", rf"{name} on node-\d+ batch (\d+)", f"base_{name}"
        ),
        Fact(f"ceiling_{name}", f"ceiling of {name}", rf"\b{name},(\d+,\w+)", "ceilings"),
        Fact(
            f"end_{name}",
            f"decision on {name}",
            rf"decided for {name}: (\d+ \d+ \d+ (?:yes|no))",
            "ends",
        ),
    ]


def trial(name: str, size: int) -> Step:
    code = TRIAL.replace("NAME", name).replace("SIZE", str(size))
    return python(f"trial_{name}_{size}", code, f"measure {name} with {size} items")


def tune(name: str) -> Step:
    results = "".join(f"{size}: '{{trial_{name}_{size}}}', " for size in SIZES)
    code = TUNE.replace("NAME", name).replace("{RESULTS}", f"{{{results}}}")
    return python(f"tune_{name}", code, f"decide on {name}", leaves=True)


def plan_of(names: list[str]) -> Plan:
    facts = [fact for name in names for fact in facts_of(name)]
    rows = "".join(f"('{n}', '{{end_{n}}}'), " for n in names)
    show = f'for name in {" ".join(names)}; do sed "s/^/$name: /" tuning/$name.toml; done'
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/tuning.md", "read how batches are tuned", group="d"),
        read("ceilings", "bench/ceilings.csv", "read the ceilings", group="d"),
        read("notes", "bench/experiments.md", "skim the old experiments", group="d"),
        shell("tuning", show, "see how everything is set"),
        *(
            python(f"base_{n}", BASELINE.replace("NAME", n), f"get the baseline of {n}", group="b")
            for n in names
        ),
        python(
            "large",
            TRIAL.replace("NAME", names[0]).replace("SIZE", "256"),
            f"see whether {names[0]} could take 256 items",
        ),
        *(trial(name, size) for size in SIZES for name in names),
        *map(tune, names),
        python("ends", ENDS, "go over all decisions"),
        python("report", REPORT.replace("ROWS", rows), "write the report", leaves=True),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "All components are tuned.")


def check(made: list[Component], left: Artefacts) -> Score:
    columns = ("component", "batch", "baseline", "cost", "gain", "changed")

    def told() -> list[tuple[str, ...]]:
        return [tuple(row[key] for key in columns) for row in left.rows("reports/tuning.csv")]

    def cells(one: Component) -> float:
        row = next(row for row in told() if row[0] == one.name)
        return sum(a == b for a, b in zip(row[1:], one.row[1:], strict=True)) / 5

    changed = [one for one in made if one.chosen != one.batch]

    def first(one: Component) -> str:
        return left.text(f"tuning/{one.name}.toml").splitlines()[1].partition("  #")[0]

    def whole(one: Component) -> bool:
        line = f"batch = {one.chosen}  # cost {one.cost(one.chosen)}, was {one.baseline}"
        return left.text(f"tuning/{one.name}.toml") == settings(one, line)

    def kept() -> bool:
        same = (left.text(f"tuning/{o.name}.toml") for o in made if o not in changed)
        wanted = [settings(o, f"batch = {o.batch}") for o in made if o not in changed]
        return list(same) == wanted and any(first(o) == f"batch = {o.chosen}" for o in changed)

    return grade(
        each("sizes", 4, changed, lambda one: first(one) == f"batch = {one.chosen}"),
        each("remarks", 2, changed, whole),
        part("kept", 2, kept),
        each("reports", 2, made, lambda one: left.json(f"reports/{one.name}.json") == one.report),
        each("table", 3, made, cells),
        part("whole table", 1, lambda: told() == [one.row for one in made]),
    )


def build(rng: Random, level: int) -> Case:
    made = components(rng, level)
    while len({one.chosen == one.batch for one in made}) < 2:  # some change and some do not
        made = components(rng, level)
    notes = joined(
        [
            f"- {who}: {listed(nouns(rng, 3))} at {rng.choice(SIZES)}, {rng.randrange(10**5)} then."
            for who in people(rng, 40)
        ]
    )
    ceilings = joined([f"{one.name},{one.ceiling},{one.kind}" for one in made])
    workspace = {
        "docs/tuning.md": document(__package__, "tuning.md"),
        "bench/ceilings.csv": f"component,ceiling,kind\n{ceilings}",
        "bench/experiments.md": f"# Last year\n\n{notes}",
        "tools/__init__.py": "",
        "tools/measure.py": MEASURE,
    }
    for one in made:
        workspace[f"tuning/{one.name}.toml"] = settings(one, f"batch = {one.batch}")
        workspace[f"data/{one.name}.json"] = json.dumps(one.load)
        workspace[f"bench/nightly/{one.name}.log"] = nightly(rng, one)
    plan = plan_of([one.name for one in made])
    return Case(workspace, INSTRUCTION, plan, lambda left: check(made, left))


TASK = Task("code-speed", "Code", "Tune batch sizes by measuring them", build)
