"""How an agent would go about it: three lookups for each address, then the map and the links."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell, sql
from statecomp_bench.tasks.shared import named, rules_of

MOVED = "grep -n -C 9 '^/old/NAME.php' moves/2019.tsv | cut -c1-150 | head -n {lines}"
NODE = (
    "-- node behind NAME\nselect id, name, kind, successor, note from nodes "
    "where id between {node_NAME} - 18 and {node_NAME} + 18"
)
ADDRESS = (
    "-- address for NAME\nselect a.node, n.name, a.path, a.editor, a.note from addresses a "
    "join nodes n on n.id = a.node where a.node between {next_NAME} - 18 and {next_NAME} + 18"
)
LINE = """
    # line for NAME
    import os
    os.makedirs('site', exist_ok=True)
    kind, path, status = '{kind_NAME}', '{path_NAME}'{slash}, '{permanent}'
    if kind == 'campaign':
        status = '{temporary}'
    if kind == 'archive':
        path = {archive} + path
    if kind == 'withdrawn':
        path, status = {gone}
    with open('site/_redirects', 'a') as f:
        f.write(f'/old/NAME.php {path} {status}{ticketed}\\n')
    print(open('site/_redirects').read())
"""
LINK = """
    # link to NAME
    path = 'pages/NAME.html'
    text = open(path).read()
    if '{kind_NAME}' in ('article', 'campaign'):
        text = text.replace('href="/old/NAME.php"', 'href="{path_NAME}{end}"')
        open(path, 'w').write(text)
    print(text)
"""


def facts_of(name: str) -> list[Fact]:
    return [
        Fact(f"node_{name}", f"node of {name}", rf"/old/{name}\.php\tnode (\d+)", f"moved_{name}"),
        Fact(f"kind_{name}", f"kind of {name}", rf"\d+ \| {name} \| (\w+) \| \d+", f"node_{name}"),
        Fact(
            f"next_{name}",
            f"successor of {name}",
            rf"\d+ \| {name} \| \w+ \| (\d+)",
            f"node_{name}",
        ),
        Fact(
            f"path_{name}",
            f"final path of {name}",
            rf"\| {name}-new \| (/\w+/\w+-\w+)",
            f"address_{name}",
        ),
    ]


RULES = rules_of(
    "guide",
    ("slash", "addresses end with a slash", "of our own site end with a slash", " + '/'", ""),
    ("end", "links end with a slash too", "database stores them without", "/", ""),
    (
        "permanent",
        "permanent redirects have status 308",
        "permanent redirect has status 308",
        "308",
        "301",
    ),
    (
        "temporary",
        "campaigns get status 307",
        "they get the temporary status 307",
        "307",
        "{permanent}",
    ),
    (
        "gone",
        "what was withdrawn is answered with 410",
        "What was withdrawn is not redirected",
        "'-', '410'",
        "path, status",
    ),
    (
        "archive",
        "archive pages live on the archive host",
        "Pages of kind archive live on",
        "'https://archive.{host}'",
        "''",
    ),
    ("ticketed", "lines carry the ticket", "number sign, stands the ticket", "  # {ticket}", ""),
)


def plan_of(names: list[str]) -> Plan:
    facts = [fact for name in names for fact in facts_of(name)]
    facts += [
        Fact("ticket", "ticket of the clean-up", r"Ticket of this crawl: (CLEAN-\d+)", "crawl"),
        Fact("host", "host of the site", r"the site (\S+\.example)"),
    ]
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("guide", "docs/redirects.md", "read how redirects are written", group="a"),
        read("crawl", "crawl/report.txt", "read the crawler's report", group="a"),
        shell(
            "red", "python3 tools/verify.py | head -n {lines}", "verify the links before any change"
        ),
        *(
            shell(f"moved_{n}", named(MOVED, n), f"find {n} in the list of moves", group="m")
            for n in names
        ),
        *(
            sql(f"node_{n}", "data/cms.db", named(NODE, n), f"look up the node of {n}")
            for n in names
        ),
        *(
            sql(f"address_{n}", "data/cms.db", named(ADDRESS, n), f"look up the address for {n}")
            for n in names
        ),
        *(
            python(f"line_{n}", named(LINE, n), f"enter the redirect of {n}", leaves=True)
            for n in names
        ),
        *(
            python(f"link_{n}", named(LINK, n), f"put the link to {n} right", leaves=True)
            for n in names
        ),
        shell("green", "python3 tools/verify.py | tail -n {lines}", "verify the links again"),
        read("proof", "site/_redirects", "read the finished map"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The map is in site/_redirects.")
