"""How an agent would go about it: specifications first, lengths and messages by form."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import inspect, python, read, shell, sql
from statecomp_bench.tasks.shared import rules_of
from statecomp_bench.tasks.web.forms.data import Field

CATALOGUE = """
    # messages of FORM
    rows = open('texts/catalogue.tsv').read().splitlines()
    wanted = {WANTED}
    for field, code in wanted.items():
        for place, row in enumerate(rows):
            if row.startswith(code + '\\t'):
                print(f'message of FORM.{field} is', row.split('\\t')[1])
                print('\\n'.join(rows[max(0, place - {lines} // 9):place + {lines} // 9]))
"""
WRITE = """
    # attributes of FORM
    import re
    path = 'forms/FORM.html'
    text = open(path).read()
    for name, needed, length, pattern, message in [
ROWS    ]:
        extra = f' maxlength="{int(length){reserve}}"' if length.isdigit() else ''
        if needed == 'mandatory':
            extra += ' required{aria}'
        if {patterned}:
            extra += f' pattern="{pattern}"'
        extra += f' {saying}="{message}"'
        tag = f'<input name="{name}"{extra}>'
        text = re.sub(f'<input name="{name}"[^>]*>', lambda _: tag, text)
    open(path, 'w').write(text)
    print(text)
"""
ROW = "    ('FIELD', '{need_KEY}', '{length_KEY}', r'{pattern_KEY}', '{message_KEY}'),\n"
SCRIPT = """
    # map of all limits
    import json, os
    os.makedirs('js', exist_ok=True)
    limits = {}
    for form, field, length in [
ROWS    ]:
        limits[{key}] = int(length){reserve} if length.isdigit() else None
    open('js/limits.js', 'w').write(f'{constant}{json.dumps(limits, indent=1)};\\n')
    print(open('js/limits.js').read())
"""


def facts_of(field: Field) -> list[Fact]:
    form, name, key = field.form, field.name, field.key
    spec = rf"{form}\.{name} is (?:mandatory|optional), message M\d+"
    return [
        Fact(
            f"need_{key}",
            f"need for {form} {name}",
            rf"{form}\.{name} is (mandatory|optional), message",
            f"spec_{form}",
        ),
        Fact(
            f"code_{key}",
            f"message code for {form} {name}",
            spec.replace(r"M\d+", r"(M\d+)"),
            f"spec_{form}",
        ),
        Fact(
            f"length_{key}",
            f"column length of {form} {name}",
            rf"\| {form}_{name} \| (\d+)",
            f"columns_{form}",
        ),
        Fact(
            f"pattern_{key}",
            f"pattern of {form} {name}",
            rf"\b{form}/{name} = (\[\w-\w\]\{{\d\}}\[\d-\d\]\{{\d\}})",
            "patterns",
        ),
        Fact(
            f"message_{key}",
            f"wording for {form} {name}",
            rf"message of {form}\.{name} is (Please give the \w+ of your \w+ \w+)",
            f"texts_{form}",
        ),
    ]


RULES = rules_of(
    "guide",
    ("reserve", "maxlength is the column minus four", "checksum of four characters", " - 4", ""),
    (
        "aria",
        "required fields say so twice",
        "and also `aria-required",
        ' aria-required="true"',
        "",
    ),
    (
        "saying",
        "messages stand in data-message",
        "in the attribute `data-message`",
        "data-message",
        "title",
    ),
    (
        "patterned",
        "optional fields get no pattern",
        "optional in the specification never get",
        "needed == 'mandatory'",
        "pattern",
    ),
    (
        "key",
        "keys of the map are camelCase",
        "written in camelCase",
        "form + field.title()",
        "f'{form}_{field}'",
    ),
    (
        "constant",
        "the map is an exported constant",
        "The map is a constant",
        "export const LIMITS = ",
        "window.LIMITS = ",
    ),
)


def columns(form: str) -> str:
    return (
        f"-- columns of {form}\nselect t.place, c.name, c.length, c.note from columns c "
        f"join tables t using (place) where t.form = '{form}' order by c.name"
    )


def plan_of(keys: dict[str, list[str]], facts: list[Fact]) -> Plan:
    """`keys` are the fields of each form."""

    def write(form: str) -> Step:
        rows = "".join(ROW.replace("FIELD", n).replace("KEY", f"{form}_{n}") for n in keys[form])
        code = WRITE.replace("ROWS", rows).replace("FORM", form)
        return python(f"write_{form}", code, f"put the attributes into {form}", leaves=True)

    def texts(form: str) -> Step:
        wanted = ", ".join(f"'{n}': '{{code_{form}_{n}}}'" for n in keys[form])
        code = CATALOGUE.replace("WANTED", wanted).replace("FORM", form)
        return python(f"texts_{form}", code, f"look up the messages for {form}")

    every = [(form, name) for form, names in keys.items() for name in names]
    rows = "".join(f"    ('{f}', '{n}', '{{length_{f}_{n}}}'),\n" for f, n in every)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/forms.md", "read the guide to forms", group="a"),
        read("patterns", "docs/patterns.txt", "read the list of patterns", group="a"),
        *(read(f"spec_{f}", f"specs/{f}.md", f"read what {f} asks for", group="s") for f in keys),
        shell("red", "python3 tools/lint.py", "lint the untouched forms"),
        *(inspect(f"see_{f}", f"forms/{f}.html", "forms", f"see the fields of {f}") for f in keys),
        *(
            sql(
                f"columns_{f}", "data/schema.db", columns(f), f"ask how long the columns of {f} are"
            )
            for f in keys
        ),
        *(texts(f) for f in keys),
        *(
            shell(f"page_{f}", f"cat forms/{f}.html | head -n {{lines}}", f"see the page of {f}")
            for f in keys
        ),
        *(write(f) for f in keys),
        python("script", SCRIPT.replace("ROWS", rows), "write the map for scripts", leaves=True),
        shell("green", "python3 tools/lint.py | tail -n {lines}", "lint the finished forms"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The forms have their rules.")
