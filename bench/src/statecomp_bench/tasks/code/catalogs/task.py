"""Texts of many desks moved into catalogues: short items, all alike and easily mixed up."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.code.catalogs.data import AREAS, NOTES, Desk, House, house, module, sheet
from statecomp_bench.tasks.code.sources import document, each, listed, verdict
from statecomp_bench.tasks.invented import joined, people

TEXT = r"[^%\n]+%s[^%\n]+%s"
INSTRUCTION = (
    "The modules in /workspace/app/AREA show English texts with say(...), three notes each. Move "
    "them into catalogues as docs/i18n.md says: replace each say call by a t call with its key, "
    "and write locales/en/AREA.json and locales/de/AREA.json for every area (counter, depot, "
    "fleet and office). German texts are in translations/NAME.txt, short codes of areas in "
    "docs/areas.csv, names of products in docs/products.md. tools/lint.py finds say calls that are "
    "left. Change nothing else."
)
REPLACE = """
    # texts of NAME
    path, area = 'app/AREA/NAME.py', '{code_AREA}'
    text = open(path).read()
    for number, note in enumerate(('{en_NAME_1}', '{en_NAME_2}', '{en_NAME_3}'), 1):
        chosen = {key}
        text = text.replace(f'say("{note}"', f't("{chosen}"')
    text = text.replace('from app.show import say', 'from app.i18n import t')
    open(path, 'w').write(text)
    print(text[-900:])
"""
CATALOG = """
    # LANGUAGE texts of AREA
    import json, os
    os.makedirs('locales/LANGUAGE', exist_ok=True)
    area, products, texts = '{code_AREA}', '{products}'.split(', '), {}
    def numbered(text):
        head, middle, tail = text.split('%s')
        return head + '{0}' + middle + '{1}' + tail
    for name, number, en, de in (ROWS):
        chosen = CHOICE
        texts[{key}] = {places}
    with open('locales/LANGUAGE/AREA.json', 'w') as out:
        json.dump(texts, out, indent=1, ensure_ascii=False)
    print(open('locales/LANGUAGE/AREA.json').read())
"""
LINT = '''"""Finds texts that are still in the code."""
import sys
from pathlib import Path

left = [
    f"{path}:{number}: {line.strip()}"
    for path in sorted(Path("app").glob("*/*.py"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if "say(" in line
]
print("\\n".join(left))
print(f"{len(left)} texts in the code")
sys.exit(bool(left))
'''
HIDDEN = """
import sys, types
from importlib import import_module
sys.modules['app.i18n'] = types.SimpleNamespace(t=lambda key, *values: [key, *values])
sys.modules['app.show'] = types.SimpleNamespace(say=lambda text, *values: ['say'])
for name, area in DATA.items():
    try:
        found[name] = import_module(f'app.{area}.{name}').notes('c7', 'd9')
    except Exception as error:
        found[name] = repr(error)
"""
RULES = (
    Norm(
        "key",
        "keys are made of area code, module and number",
        "the short code of the area from",
        "f'{area}.{name}.{number}'",
        "f'{name}.{number}'",
        "guide",
    ),
    Norm(
        "places",
        "places for values are numbered in catalogues",
        r"Catalogues number them",
        "numbered(chosen)",
        "chosen",
        "guide",
    ),
    Norm(
        "abroad",
        "texts with a product stay English",
        "contains the name of a product",
        "en if any(product in en for product in products) else de",
        "de",
        "guide",
    ),
)


def facts_of(desk: Desk) -> list[Fact]:
    name = desk.name
    shown = [
        Fact(
            f"en_{name}_{n}",
            f"English note {n} of {name}",
            rf"{name}(?:_note_{n} = say\(\"| note {n} English: )({TEXT})",
            f"sheet_{name}",
        )
        for n in NOTES
    ]
    agreed = [
        Fact(
            f"de_{name}_{n}",
            f"German note {n} of {name}",
            rf"{name} note {n} agreed: ({TEXT})",
            f"sheet_{name}",
        )
        for n in NOTES
    ]
    return shown + agreed


def replacing(desk: Desk) -> Step:
    code = REPLACE.replace("path, area", f"name = '{desk.name}'\n    path, area")
    code = code.replace("NAME", desk.name).replace("AREA", desk.area)
    return python(f"replace_{desk.name}", code, f"take texts out of {desk.name}", leaves=True)


def catalog(made: House, area: str, language: str) -> Step:
    rows = "".join(
        f"('{d.name}', {n}, '{{en_{d.name}_{n}}}', '{{de_{d.name}_{n}}}'), "
        for d in made.desks
        for n in NOTES
        if d.area == area
    )
    code = CATALOG.replace("ROWS", rows).replace("CHOICE", "en" if language == "en" else "{abroad}")
    code = code.replace("LANGUAGE", language).replace("AREA", area)
    title = f"write the {language} catalogue of {area}"
    return python(f"catalog_{language}_{area}", code, title, leaves=True, group=f"c{language}")


def plan_of(made: House) -> Plan:
    facts = [fact for desk in made.desks for fact in facts_of(desk)]
    facts += [Fact(f"code_{a}", f"code of {a}", rf"\b{a},(\w+),", "areas") for a in AREAS]
    facts.append(Fact("products", "names of products", r"Products: (\w+(?:, \w+)*)", "products"))
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/i18n.md", "read how texts are kept", group="d"),
        read("areas", "docs/areas.csv", "look up the areas", group="d"),
        read("products", "docs/products.md", "read which products there are", group="d"),
        shell("lint", "python3 tools/lint.py | head -n {lines}", "let the linter complain"),
        *(
            read(
                f"module_{d.name}",
                f"app/{d.area}/{d.name}.py",
                f"read the desk {d.name}",
                group="m",
            )
            for d in made.desks
        ),
        *(
            read(
                f"sheet_{d.name}",
                f"translations/{d.name}.txt",
                f"read the sheet of {d.name}",
                group="s",
            )
            for d in made.desks
        ),
        *map(replacing, made.desks),
        shell("again", "grep -n ' t(' app/*/*.py; python3 tools/lint.py", "ask the linter again"),
        *(catalog(made, area, language) for language in ("en", "de") for area in AREAS),
        shell("proof", "head -n 20 locales/*/*.json", "look over the catalogues"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The texts are in the catalogues.")


def check(made: House, left: Artefacts) -> Score:
    found = verdict(left, HIDDEN, {desk.name: desk.area for desk in made.desks})

    def short(key: str) -> str:
        """A key without its area: whether the whole key is right is a question of its own."""
        return ".".join(key.split(".")[-2:])

    def called(desk: Desk) -> list[list[str]]:
        shown = found.get(desk.name)
        return [list(map(str, call)) for call in shown] if isinstance(shown, list) else []

    def calls(desk: Desk) -> float:
        wanted = [[short(desk.key(number)), "c7", "d9"] for number in NOTES]
        shown = [[short(key), *values] for key, *values in called(desk)]
        return sum(a == b for a, b in zip(shown, wanted, strict=True)) / len(NOTES)

    def texts(area: str, language: str) -> float:
        shown = left.json(f"locales/{language}/{area}.json")
        wanted = {short(key): text for key, text in made.catalog(area, language).items()}
        return share({short(key): text for key, text in shown.items()}, wanted)

    def keys(area: str) -> float:
        """In the modules of an area and in both of its catalogues."""
        wanted = set(made.catalog(area, "en"))
        used = {call[0] for desk in made.desks if desk.area == area for call in called(desk)}
        held = [set(left.json(f"locales/{language}/{area}.json")) for language in ("en", "de")]
        return sum(keys == wanted for keys in (used, *held)) / 3

    def clean() -> bool:
        return all("say" not in left.text(f"app/{d.area}/{d.name}.py") for d in made.desks)

    return grade(
        each("calls", 4, made.desks, calls),
        each("English catalogues", 3, AREAS, lambda area: texts(area, "en")),
        each("German catalogues", 4, AREAS, lambda area: texts(area, "de")),
        each("keys", 3, AREAS, keys),
        part("nothing left", 1, clean),
    )


def build(rng: Random, level: int) -> Case:
    made = house(rng, level)
    workspace = {
        "docs/i18n.md": document(__package__, "i18n.md"),
        "docs/areas.csv": "area,code,head\n"
        + joined([f"{area},{code},{people(rng, 1)[0]}" for area, code in made.codes.items()]),
        "docs/products.md": f"# Products\n\nSold abroad, too. Products: {listed(made.products)}\n",
        "tools/lint.py": LINT,
        "app/__init__.py": "",
        "app/show.py": "def say(text, *values):\n    return text % values\n",
        "app/i18n.py": "def t(key, *values):\n    raise LookupError(key)\n",
    }
    for desk in made.desks:
        workspace[f"app/{desk.area}/{desk.name}.py"] = module(rng, desk)
        workspace[f"translations/{desk.name}.txt"] = sheet(rng, desk)
    return Case(workspace, INSTRUCTION, plan_of(made), lambda left: check(made, left))


TASK = Task("code-catalogs", "Code", "Move texts into catalogues of two languages", build)
