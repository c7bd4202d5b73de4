"""Typed parsers for old line formats: all is read first, and all is written at the end."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.code.parsers.data import Format, formats, page, record
from statecomp_bench.tasks.code.sources import document, each, functions, verdict
from statecomp_bench.tasks.invented import joined

FIELD = r"\w+ (?:str|Decimal|date)\b"
MODULE = """
    # parser for NAME
    mark_of = '{mark_NAME}'
    fields = [entry.split(' ') for entry in '{fields_NAME}'.split(', ')]
    made = {'str': 'text', 'Decimal': 'number', 'date': 'day'}
    declared = ''.join(f'    {name}: {kind} | None\\n' for name, kind in fields)
    values = ', '.join(f'{made[kind]}(parts[{n}])' for n, (name, kind) in enumerate(fields))
    open('parsers/NAME.py', 'w').write(f'''from dataclasses import dataclass
    from datetime import date, datetime
    from decimal import Decimal

    from parsers.errors import MalformedRecord


    @dataclass{frozen}
    class TITLE:
    {declared}

    def text(part):
        return None if part == {missing} else part


    def number(part):
        return None if part == {missing} else {decimal}


    def day(part):
        return None if part == {missing} else datetime.strptime(part, '{days_NAME}').date()


    def parse(line: str) -> TITLE:
        mark, *parts = [part.strip() for part in line.rstrip('\\\\n').split('{sign_NAME}')]
        try:
            if mark != '{mark_of}' or len(parts) != {len(fields)}:
                raise ValueError('not such a record')
            return TITLE({values})
        except (ValueError, ArithmeticError) as error:
            raise {refused} from error
    ''')
    print(open('parsers/NAME.py').read())
"""
REGISTRY = """
    # registry
    entries = sorted([ENTRIES])
    lines = [f'from parsers import {name}' for _, name in entries]
    lines += ['', 'PARSERS = {', *(f"    '{mark}': {name}.parse," for mark, name in entries), '}']
    open('parsers/__init__.py', 'w').write('\\n'.join(lines) + '\\n')
    print('\\n'.join(lines))
"""
TRIAL = '''"""Reads the samples with the parsers there are."""
from importlib import import_module
from pathlib import Path

for path in sorted(Path("samples").glob("*.txt")):
    try:
        parse = import_module(f"parsers.{path.stem}").parse
    except ImportError as error:
        print(f"{path}: {error}")
        continue
    for line in path.read_text().splitlines()[:6]:
        try:
            print(f"{path}: {parse(line)}")
        except Exception as error:
            print(f"{path}: {type(error).__name__}: {error}")
'''
HIDDEN = """
import dataclasses, sys, types
from importlib import import_module
alone = sys.modules['parsers'] = types.ModuleType('parsers')  # one broken parser is only one
alone.__path__ = ['parsers']
def shown(value):
    return value if value is None else f'{type(value).__name__} {value}'
for name, (good, bad) in DATA.items():
    seen = found[name] = {'good': [], 'bad': [], 'frozen': False, 'fields': []}
    try:
        module = import_module(f'parsers.{name}')
        kind = getattr(module, name.title())
        seen['frozen'] = kind.__dataclass_params__.frozen
        seen['fields'] = [field.name for field in dataclasses.fields(kind)]
        for line in good:
            try:
                value = module.parse(line)
                seen['good'].append([shown(getattr(value, key)) for key in seen['fields']])
            except Exception as error:
                seen['good'].append(str(error))
        for line in bad:
            try:
                seen['bad'].append(str(module.parse(line)))
            except Exception as error:
                known = type(error).__name__ == 'MalformedRecord'
                seen['bad'].append(str(error).split(':')[0] + ':' if known else repr(error))
    except Exception as error:
        seen['error'] = repr(error)
for name in [name for name in sys.modules if name.startswith('parsers')]:
    del sys.modules[name]
try:
    table = import_module('parsers').PARSERS
    found['registry'] = {mark: parse.__module__ for mark, parse in table.items()}
except Exception as error:
    found['registry'] = repr(error)
"""
RULES = (
    Norm(
        "frozen",
        "dataclasses are frozen",
        r"declared with `@dataclass\(frozen=True\)`",
        "(frozen=True)",
        "",
        "style",
    ),
    Norm(
        "decimal",
        "numbers are Decimal",
        "`Decimal` for numbers",
        "Decimal(part)",
        "float(part)",
        "style",
    ),
    Norm(
        "refused",
        "every error is a MalformedRecord that begins with the mark",
        "Its text begins with the record",
        "MalformedRecord('{mark_of}: ' + str(error))",
        "ValueError(line)",
        "style",
    ),
)


def facts_of(form: Format) -> list[Fact]:
    name, source = form.name, f"page_{form.name}"
    return [
        Fact(f"mark_{name}", f"mark of {name}", rf"Record mark of {name}: (\w+)", source),
        Fact(f"sign_{name}", f"separator of {name}", rf"of {name} are parted by (\S)", source),
        Fact(
            f"gap_{name}",
            f"missing sign of {name}",
            rf"Missing in {name} is written ([^\s;,]+)",
            source,
        ),
        Fact(
            f"days_{name}",
            f"days of {name}",
            rf"Days of {name} are written (%\w\S?%\w\S?%\w)",
            source,
        ),
        Fact(
            f"fields_{name}",
            f"fields of {name}",
            rf"Fields of {name}, in order: ({FIELD}(?:, {FIELD})*)",
            source,
        ),
    ]


def writing(name: str) -> Step:
    code = (
        MODULE.replace("{missing}", "'{gap_NAME}'")
        .replace("TITLE", name.title())
        .replace("NAME", name)
    )
    return python(f"write_{name}", code, f"write the parser for {name}", leaves=True)


def plan_of(made: list[Format]) -> Plan:
    names = [form.name for form in made]
    facts = [fact for form in made for fact in facts_of(form)]
    entries = "".join(f"('{{mark_{n}}}', '{n}'), " for n in names)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("style", "docs/parsing.md", "read the style of parsers"),
        *(read(f"page_{n}", f"docs/formats/{n}.md", f"read about {n}", group="p") for n in names),
        shell("trial", "cat trial.py; python3 trial.py 2>&1", "try the samples before anything"),
        *(read(f"old_{n}", f"legacy/{n}.py", f"read the reader of {n}", group="o") for n in names),
        *(
            shell(
                f"sample_{n}", f"head -n {{lines}} samples/{n}.txt", f"see lines of {n}", group="s"
            )
            for n in names
        ),
        *map(writing, names),
        python("registry", REGISTRY.replace("ENTRIES", entries), "fill the registry", leaves=True),
        shell("again", "python3 trial.py 2>&1 | head -n {lines}", "try the samples again"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The parsers are written.")


INSTRUCTION = (
    "The readers in /workspace/legacy return lists of strings. Write a typed parser for every "
    "format in docs/formats: parsers/NAME.py with a dataclass (its name is that of the format with "
    "a capital letter) and parse(line), in the style of docs/parsing.md, and fill "
    "parsers/__init__.py with the dictionary PARSERS from record marks to parse functions. Types "
    "in the pages of formats are str, Decimal and date; formats of days are those of strptime. "
    "python3 trial.py reads the samples."
)


def check(
    made: list[Format], tests: dict[str, list[tuple[str, list[str | None]]]], left: Artefacts
) -> Score:
    broken = {
        form.name: [
            form.sign.join((form.mark, "1")),
            form.sign.join((form.mark, *("oops" for _ in form.fields))),
        ]
        for form in made
    }
    data = {name: ([line for line, _ in lines], broken[name]) for name, lines in tests.items()}
    found = verdict(left, HIDDEN, data)

    def seen(form: Format, key: str) -> object:
        of = found.get(form.name)
        return of.get(key) if isinstance(of, dict) else None

    def values(form: Format) -> float:
        shown, lines = seen(form, "good"), tests[form.name]
        pairs = zip(shown, lines, strict=True) if isinstance(shown, list) and shown else ()
        return float(sum(got == wanted for got, (_, wanted) in pairs) / len(lines))

    return grade(
        each("values", 5, made, values),
        each("fields", 2, made, lambda f: seen(f, "fields") == [name for name, _ in f.fields]),
        each("frozen", 1, made, lambda f: seen(f, "frozen") is True),
        each("errors", 2, made, lambda f: seen(f, "bad") == [f"{f.mark}:"] * 2),
        part(
            "registry",
            2,
            lambda: found["registry"] == {f.mark: f"parsers.{f.name}" for f in made},
        ),
    )


def build(rng: Random, level: int) -> Case:
    made = formats(rng, level)
    tests = {form.name: [record(rng, form) for _ in range(12)] for form in made}
    workspace = {
        "docs/parsing.md": document(__package__, "parsing.md"),
        "trial.py": TRIAL,
        "parsers/__init__.py": "",
        "parsers/errors.py": "class MalformedRecord(ValueError):\n    pass\n",
        "legacy/__init__.py": "",
    }
    for form in made:
        workspace[f"docs/formats/{form.name}.md"] = page(rng, form)
        workspace[f"samples/{form.name}.txt"] = joined([record(rng, form)[0] for _ in range(150)])
        workspace[f"legacy/{form.name}.py"] = (
            f'"""Reader of {form.name}; returns strings."""\n\n\n{functions(rng, 10)}\n\n'
            "def split(line, sign):\n    return line.strip().split(sign)\n"
        )
    return Case(workspace, INSTRUCTION, plan_of(made), lambda left: check(made, tests, left))


TASK = Task("code-parsers", "Code", "Write typed parsers for old line formats", build)
