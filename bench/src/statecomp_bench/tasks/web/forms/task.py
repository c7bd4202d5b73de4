"""Validation rules from a database, a pattern list and a catalogue, put into forms and JS."""

from __future__ import annotations

import json
import re
from random import Random

from statecomp_bench.inside.html_view import elements
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined
from statecomp_bench.tasks.shared import each, scattered
from statecomp_bench.tasks.web.forms.data import FIELDS, LINT, Field, fields_of, schema
from statecomp_bench.tasks.web.forms.plan import facts_of, plan_of
from statecomp_bench.tasks.web.pages import boxes, document, guide, instruction, prose, text_of


def check(fields: list[Field], left: Artefacts) -> Score:
    def seen(field: Field) -> dict[str, str]:
        page = elements(text_of(left, f"forms/{field.form}.html"), "input")
        return next(dict(e.attributes) for e in page if e.attributes["name"] == field.name)

    def limits() -> dict[str, int]:
        text = left.text("js/limits.js")
        return dict(json.loads(text[text.index("{") : text.rindex("}") + 1]))

    def limit(field: Field) -> int | None:
        """Whatever the key's spelling."""
        plain = {re.sub(r"\W|_", "", key).lower(): value for key, value in limits().items()}
        return plain.get(f"{field.form}{field.name}")

    needed = [field for field in fields if field.needed]
    optional = [field for field in fields if not field.needed]
    keys = {f"{field.form}{field.name.title()}" for field in fields}
    return grade(
        each("lengths", 3, fields, lambda f: int(seen(f)["maxlength"]) in (f.length, f.length - 4)),
        each(
            "room for the checksum", 1, fields, lambda f: seen(f)["maxlength"] == str(f.length - 4)
        ),
        each("patterns", 3, needed, lambda f: seen(f)["pattern"] == f.pattern),
        each(
            "no pattern where optional",
            1,
            optional,
            lambda f: f.message in seen(f).values() and "pattern" not in seen(f),
        ),
        each("required", 2, needed, lambda f: "required" in seen(f)),
        each("said twice", 1, needed, lambda f: seen(f)["aria-required"] == "true"),
        each("messages", 3, fields, lambda f: f.message in seen(f).values()),
        each(
            "in data-message",
            1,
            fields,
            lambda f: seen(f)["data-message"] and "title" not in seen(f),
        ),
        each("limits in the map", 2, fields, lambda f: limit(f) in (f.length, f.length - 4)),
        part(
            "form of the map",
            2,
            lambda: (
                (set(limits()) == keys) / 2
                + left.text("js/limits.js").startswith("export const LIMITS = {") / 2
            ),
        ),
        each("all of a field", 2, fields, lambda f: seen(f) == {"name": f.name, **f.wanted}),
    )


def build(rng: Random, level: int) -> Case:
    fields = fields_of(rng, level)
    keys: dict[str, list[str]] = {}
    for field in fields:
        keys.setdefault(field.form, []).append(field.name)
    texts = [f"{f.code}\t{f.message}" for f in fields]
    others = [
        f"M{n}\tPlease check the {rng.choice(NOUNS)} again"
        for n in rng.sample(range(1000, 9999), 200)
    ]
    patterns = [f"{f.form}/{f.name} = {f.pattern}" for f in fields]
    unused = [f"x{hexadecimal(rng, 4)}/{rng.choice(FIELDS)} = [0-9]{{{n}}}" for n in range(2, 40)]
    made: dict[str, str | bytes] = {
        "docs/forms.md": guide(__package__) + prose(rng, 7),
        "docs/patterns.txt": joined(scattered(rng, unused, *patterns)),
        "texts/catalogue.tsv": joined(scattered(rng, others, *texts)),
        "data/schema.db": schema(rng, fields),
        "tools/lint.py": LINT,
    }
    for form, names in keys.items():
        own = [field for field in fields if field.form == form]
        asked = [
            f"- {form}.{f.name} is {'mandatory' if f.needed else 'optional'}, message {f.code}"
            for f in own
        ]
        made[f"specs/{form}.md"] = f"# {form}\n\n{prose(rng, 6)}\n{joined(asked)}\n{prose(rng, 6)}"
        inputs = [f'<p>{n.title()} <input name="{n}"></p>' for n in names]
        made[f"forms/{form}.html"] = document(form, scattered(rng, boxes(rng, 20), *inputs))
    told = instruction(__package__, forms=", ".join(keys), fields=", ".join(FIELDS))
    facts = [fact for field in fields for fact in facts_of(field)]
    return Case(made, told, plan_of(keys, facts), lambda left: check(fields, left))


TASK = Task("web-forms", "Web", "Put validation rules into forms and a script", build)
