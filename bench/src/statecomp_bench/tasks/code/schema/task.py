"""Tables carried over by migration scripts; the cause of one early error matters for them all."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell, sql
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.code.schema.data import Table, database, page, tables
from statecomp_bench.tasks.code.sources import document, each, verdict
from statecomp_bench.tasks.invented import joined, people

INSTRUCTION = (
    "/workspace/archive.db holds old tables, each described in docs/tables/TABLE.md. Write a "
    "migration script for each of them, migrations/NUMBER_TABLE.sql, as docs/schema.md says, and "
    "run it on archive.db, so that the new tables and the rows of schema_log(number, name, ticket) "
    "are in it. If SQLite refuses a script, see docs/troubleshooting.md. At the end write "
    "totals.json: for each old table's name an object with rows (how many the new table has), "
    "cents (the sum of its amounts) and script (the path of the script)."
)
ISO = "substr(day, 7) || '-' || substr(day, 4, 2) || '-' || substr(day, 1, 2)"
SCRIPT = """
    # script for NAME
    import sqlite3
    number = f"{int('{free}') + PLACE:04d}"
    script = f'''DROP TABLE IF EXISTS NAME_v2;
    CREATE TABLE NAME_v2 (
        code TEXT PRIMARY KEY, {column_NAME} INTEGER NOT NULL, day TEXT NOT NULL
    );
    INSERT KIND INTO NAME_v2
        SELECT {codes} AS code_, CAST(amount AS INTEGER) * {worth_NAME} AS cents_, {days} AS day_
        FROM NAME WHERE ISO >= '{from_NAME}' ORDER;
    DELETE FROM schema_log WHERE name = 'NAME_v2';
    INSERT INTO schema_log VALUES ({int(number)}, 'NAME_v2', '{ticket_NAME}');
    '''
    open(f'migrations/{number}_NAME.sql', 'w').write(script)
    archive = sqlite3.connect('archive.db')
    archive.executescript(script)
    print(script)
    for row in archive.execute('SELECT * FROM NAME_v2 ORDER BY code LIMIT {lines}'):
        print(*row)
"""
TOTAL = """
    # total of NAME
    import sqlite3
    rows = sqlite3.connect('archive.db').execute('SELECT * FROM NAME_v2 ORDER BY 1').fetchall()
    for row in rows[:{lines} // 3]:
        print(*row)
    print('total of NAME |', len(rows), '|', sum(row[1] for row in rows))
"""
TOTALS = """
    # totals
    import json
    from glob import glob
    totals = {}
    for name, rows, cents in (ROWS):
        script = glob(f'migrations/*_{name}.sql')[0]
        totals[name] = {'rows': int(rows), 'cents': int(cents), 'script': script}
    json.dump(totals, open('totals.json', 'w'), indent=1)
    print(json.dumps(totals, indent=1))
"""
HIDDEN = """
import sqlite3
archive = sqlite3.connect('archive.db')
for name in DATA:
    try:
        found[name] = {
            'rows': archive.execute(f'SELECT * FROM {name}_v2 ORDER BY code').fetchall(),
            'columns': [row[1] for row in archive.execute(f'PRAGMA table_info({name}_v2)')],
            'log': archive.execute(
                'SELECT number, ticket FROM schema_log WHERE name = ?', (f'{name}_v2',)
            ).fetchall(),
        }
    except sqlite3.Error as error:
        found[name] = {'error': str(error)}
"""
RULES = (
    Norm(
        "codes",
        "codes are trimmed and in capitals",
        "Codes are trimmed and written in capital letters",
        "upper(trim(code))",
        "code",
        "guide",
    ),
    Norm("days", "days are YYYY-MM-DD", "Days are written as YYYY-MM-DD", ISO, "day", "guide"),
    Norm(
        "latest",
        "of rows with one code the latest is right",
        "the one with the latest day is right",
        "BY " + ISO + " DESC",
        "BY rowid",
        "trouble",
    ),
)


def facts_of(table: Table) -> list[Fact]:
    name, source = table.name, f"page_{table.name}"
    total = rf"total of {name} \| "
    return [
        Fact(f"worth_{name}", f"unit of {name}", rf"amount of {name} is worth (\d+) cents", source),
        Fact(f"column_{name}", f"column for {name}", rf"of the amount of {name}: (\w+)", source),
        Fact(
            f"from_{name}",
            f"first day of {name}",
            rf"{name} are carried over from ([\d-]{{10}})",
            source,
        ),
        Fact(f"ticket_{name}", f"ticket of {name}", rf"\| {name} \| (ARC-\d+)", "index"),
        Fact(f"rows_{name}", f"new rows of {name}", rf"{total}(\d+)", f"total_{name}"),
        Fact(f"cents_{name}", f"cents of {name}", rf"{total}\d+ \| (\d+)", f"total_{name}"),
    ]


def script(place: int, name: str, *, first: bool = False) -> Step:
    kind, order = ("", "BY rowid") if first else ("OR IGNORE", "{latest}")
    code = (
        SCRIPT.replace("INSERT KIND", f"INSERT {kind}".strip())
        .replace("ORDER;", f"ORDER {order};")
        .replace("ISO", ISO)
        .replace("NAME", name)
        .replace("PLACE", str(place))
    )
    if first:
        code = code.replace("# script for", "# first script for")
        return python("attempt", code, f"try {name} without further care", leaves=True)
    return python(f"script_{name}", code, f"carry {name} over", leaves=True)


def plan_of(made: list[Table]) -> Plan:
    names = [table.name for table in made]
    facts = [fact for table in made for fact in facts_of(table)]
    facts.append(Fact("free", "next free number", r"Next free number: (\d+)", "index"))
    totals = "".join(f"('{n}', '{{rows_{n}}}', '{{cents_{n}}}'), " for n in names)
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/schema.md", "read the guide to migrations", group="d"),
        read("index", "migrations/INDEX.md", "read the index", group="d"),
        *(read(f"page_{n}", f"docs/tables/{n}.md", f"read about {n}", group="p") for n in names),
        *(
            sql(
                f"rows_{n}",
                "archive.db",
                f"-- rows of {n}\nSELECT * FROM {n} ORDER BY rowid LIMIT {{lines}}",
                f"look at rows of {n}",
                group="r",
            )
            for n in names
        ),
        script(0, names[0], first=True),
        read("trouble", "docs/troubleshooting.md", "look the message up"),
        *(script(place, name) for place, name in enumerate(names)),
        *(python(f"total_{n}", TOTAL.replace("NAME", n), f"add {n} up", group="t") for n in names),
        python("totals", TOTALS.replace("ROWS", totals), "write the totals", leaves=True),
        shell("proof", "cat migrations/*.sql | head -n {lines}", "read the scripts once more"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "All tables are carried over.")


def check(made: list[Table], left: Artefacts) -> Score:
    found = verdict(left, HIDDEN, [table.name for table in made])

    def of(table: Table, key: str) -> object:
        seen = found.get(table.name)
        return seen.get(key) if isinstance(seen, dict) else None

    def right_rows(table: Table) -> float:
        seen = of(table, "rows")
        shown = {row[0]: row[1:] for row in seen} if isinstance(seen, list) else {}
        wanted = {str(row[0]): row[1:] for row in table.new}
        return share(shown, wanted) if len(shown) == len(wanted) else 0.5 * share(shown, wanted)

    def totals(table: Table) -> float:
        cents = sum(int(str(row[1])) for row in table.new)
        wanted = {"rows": len(table.new), "cents": cents, "script": table.script}
        return share(left.json("totals.json")[table.name], wanted)

    return grade(
        each("rows", 5, made, right_rows),
        each("columns", 2, made, lambda t: of(t, "columns") == ["code", t.column, "day"]),
        each("log", 2, made, lambda t: of(t, "log") == [[t.number, t.ticket]]),
        each("scripts", 1, made, lambda t: f"{t.name}_v2" in left.text(t.script)),
        each("totals", 3, made, totals),
        part("whole", 1, lambda: set(left.json("totals.json")) == {t.name for t in made}),
    )


def build(rng: Random, level: int) -> Case:
    made = tables(rng, level)
    index = [f"| {t.name} | {t.ticket} | {people(rng, 1)[0]} |" for t in made]
    rng.shuffle(index)
    workspace: dict[str, str | bytes] = {
        "archive.db": database(made),
        "docs/schema.md": document(__package__, "schema.md"),
        "docs/troubleshooting.md": document(__package__, "troubleshooting.md"),
        "migrations/INDEX.md": f"# Index\n\nNext free number: {made[0].number:04d}\n\n"
        f"| table | ticket | asked for by |\n|---|---|---|\n{joined(index)}",
    }
    workspace |= {f"docs/tables/{table.name}.md": page(rng, table) for table in made}
    return Case(workspace, INSTRUCTION, plan_of(made), lambda left: check(made, left))


TASK = Task("code-schema", "Code", "Carry old tables over by migration scripts", build)
