"""Letters from a customer database and logs of calls: many alike, each with its own exceptions."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell, write
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.office.each import (
    facts_about,
    programs,
    queries,
    reads,
    rules_about,
    rules_of,
)
from statecomp_bench.tasks.office.mailing.data import (
    BASE,
    TEAM,
    TIERS,
    Campaign,
    Customer,
    story,
    surroundings,
)
from statecomp_bench.tasks.office.papers import column, holds

LOOKUP = """-- customer NAME
select 'number of NAME is ' || number || '; first name of NAME is ' || first ||
  '; title of NAME is ' || title || '; tier of NAME is ' || tier || '; manager of NAME is ' ||
  manager || '; Address of NAME is ' || address || ';' as customer
from contacts where last = 'NAME'
union all select ordered || ' ' || goods || ' ' || euros
from orders join contacts using (number) where last = 'NAME'"""
LETTER = """
    # letter to NAME
    import os
    from datetime import date
    os.makedirs('out/letters', exist_ok=True)
    action = 'sent'
    if {complaining_NAME}:
        action = 'later'
    if {unwanted_NAME}:
        action = 'none'
    tier, number = '{tier_NAME}', '{number_NAME}'
    percent = {'gold': {discount_gold}, 'silver': {discount_silver}, 'plain': {discount_plain}}
    discount = percent[tier]
    phone = {'Agnes': '{phone_agnes}', 'Boris': '{phone_boris}', 'Celia': '{phone_celia}',
             'Doran': '{phone_doran}'}['{manager_NAME}']{blanks}
    until = date.fromisoformat('{until}')
    hello = 'Dear {title_NAME} NAME,'
    if {warm}:
        hello = 'Dear {name_NAME},'
    text = f'''{address_NAME}
    {hello}
    we offer you {discount} percent off until {{long}}.
    Questions? Call {manager_NAME}, {phone}.
    {signer}
    {code}
    '''
    if action == 'sent':
        text = '\\n'.join(line.strip() for line in text.splitlines())
        open('out/letters/' + {file_NAME} + '.txt', 'w').write(text)
    with open('out/actions.csv', 'a') as f:
        f.write(number + ',' + action + '\\n')
    print(action)
"""
TALLY = """
    # tally of actions
    import os
    from collections import Counter
    counts = Counter(line.strip().split(',')[1] for line in open('out/actions.csv'))
    print('letters in all:', counts['sent'], 'held back in all:', counts['later'] + counts['none'])
    print(*sorted(os.listdir('out/letters')))
"""
RULES = rules_of(
    "style",
    (
        "warm",
        "gold customers are greeted by first name",
        "tier gold are greeted by first name",
        "tier == 'gold'",
        "False",
    ),
    (
        "long",
        "dates have the name of the month",
        "written with the name of the month",
        "until.day} {until:%B %Y",
        "until",
    ),
    (
        "blanks",
        "telephone numbers have blanks",
        "written with blanks, without a slash",
        ".replace('/', ' ')",
        "",
    ),
)


def own_rules(names: list[str]) -> list[Norm]:
    """Rules whose application to a customer names facts of that customer."""
    rows = (
        (
            "complaining",
            "no advertising to NAME during complaints",
            "gets no advertising until it is settled",
            "'{complaint_NAME}' == 'open'",
            "False",
        ),
        (
            "unwanted",
            "no letter to NAME if unwanted",
            "said that no letters are wanted gets none",
            "'{wanted_NAME}' == 'No'",
            "False",
        ),
        (
            "file",
            "the file for NAME is a number",
            "named by the number of the customer",
            "number",
            "'NAME'",
        ),
    )
    return [rule for row in rows for rule in rules_about(names, *row, "style")]


def facts_of(c: Customer) -> list[Fact]:
    name, low = c.last, c.last.lower()
    seen, heard = f"lookup_{low}", f"calls_{low}"
    return [
        *facts_about(
            name,
            heard,
            ("complaint", "complaint by NAME", r"Status of complaints of NAME: (\w+)"),
            ("wanted", "wish of NAME", r"letters welcome to NAME\? (Yes|No)"),
        ),
        *facts_about(
            name,
            seen,
            ("number", "customer number for NAME", r"number of NAME is (K\d+);"),
            ("name", "given name for NAME", r"first name of NAME is (\w+);"),
            ("title", "form of address for NAME", r"title of NAME is (\w+);"),
            ("tier", "customer tier for NAME", r"tier of NAME is (\w+);"),
            ("manager", "our person for NAME", r"manager of NAME is (\w+);"),
        ),
        *facts_about(
            name,
            heard if c.address != c.old_address else seen,
            ("address", "home of NAME", r"Address of NAME is ([^;]+);"),
        ),
    ]


def plan_of(campaign: Campaign) -> Plan:
    names = [c.last for c in campaign.customers]
    facts = [fact for c in campaign.customers for fact in facts_of(c)]
    facts += (
        Fact(f"discount_{t}", f"discount for {t}", rf"tier {t}: discount of (\d+) percent", "brief")
        for t in TIERS
    )
    facts += (
        Fact(f"phone_{n.lower()}", f"telephone of {n}", rf"{n} \| telephone (\S+)", "team")
        for n in TEAM
    )
    facts += (
        Fact("until", "end of the offer", r"Offers hold until (\S+)\.", "brief"),
        Fact("signer", "who signs", r"Letters are signed by (\w+ \w+)", "team"),
        Fact("code", "campaign code", r"campaign (SP\d+-\w)"),
        Fact("sent", "number of letters", r"letters in all: (\d+)", "tally"),
        Fact("held", "number held back", r"held back in all: (\d+)", "tally"),
    )
    cover = "Campaign {code}\nLetters: {sent}\nHeld back: {held}\nSigned by {signer}\n"
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("style", "campaign/style.md", "read the style guide", group="a"),
        read("brief", "campaign/brief.md", "read the brief", group="a"),
        read("team", "crm/team.txt", "see who is on the team", group="a"),
        *queries("lookup", BASE, LOOKUP, names, "look up the customer"),
        read("last_year", "campaign/brief_last_year.md", "skim the brief of last year"),
        shell("wrong", "python3 crm/merge.py --all", "try the old mail merge"),
        *reads("calls", "crm/calls", names, "read the calls of", "l"),
        *programs("letter", LETTER, names, "decide on the letter to"),
        python("tally", TALLY, "count what was done"),
        write("cover", "out/cover.txt", cover, "write the cover sheet"),
        shell("proof", "cat out/actions.csv out/cover.txt out/letters/*", "read all letters again"),
    ]
    rules = (*RULES, *own_rules(names))
    return Plan(tuple(facts), rules, tuple(steps), "The mailing is ready.")


def check(campaign: Campaign, left: Artefacts) -> Score:
    customers = campaign.customers
    written = [c for c in customers if c.action == "sent"]
    until = f"{campaign.until.day} {campaign.until:%B %Y}"

    def rows() -> list[dict[str, str]]:
        lines = [line.split(",") for line in left.text("out/actions.csv").splitlines()]
        return [{"number": number, "action": action} for number, action in lines]

    def mean(words: dict[str, tuple[str, ...]]) -> float:
        paths = {number: f"out/letters/{number}.txt" for number in words}
        found = {n for n, path in paths.items() if (left.root / path).is_file()}
        return sum(holds(left, paths[n], words[n]) for n in found) / len(words)

    def terms(c: Customer) -> tuple[str, ...]:
        phone = campaign.phones[c.manager].replace("/", " ")
        return f"{campaign.discounts[c.tier]} percent", f"until {until}", f"{c.manager}, {phone}"

    def nothing_else() -> float:
        letters = (left.root / "out/letters").iterdir()
        names = {path.stem for path in letters if path.stat().st_size}
        return (len(names) > 0) / (1 + len(names - {c.number for c in written}))

    def last_lines() -> float:
        last = f"{campaign.signer}\n{campaign.code}"
        texts = (left.root / f"out/letters/{c.number}.txt" for c in written)
        ends = [path.read_text("utf-8").strip().endswith(last) for path in texts if path.is_file()]
        return sum(ends) / len(written)

    count = len(written)
    cover = (
        f"Campaign {campaign.code}",
        f"Letters: {count}",
        f"Held back: {len(customers) - count}",
    )
    return grade(
        column("action", 3, rows, "number", {c.number: c.action for c in customers}),
        part("addresses", 3, lambda: mean({c.number: (c.address,) for c in written})),
        part("greetings", 2, lambda: mean({c.number: (c.greeting,) for c in written})),
        part("terms", 3, lambda: mean({c.number: terms(c) for c in written})),
        part("last lines", 1, last_lines),
        part("nobody else gets a letter", 2, nothing_else),
        part("cover sheet", 2, lambda: holds(left, "out/cover.txt", (*cover, campaign.signer))),
    )


def instruction(campaign: Campaign) -> str:
    names = ", ".join(c.last for c in campaign.customers)
    return (
        f"Prepare the mailing of campaign {campaign.code} for the customers {names}, in this "
        f"order. Master data are in {BASE} (tables contacts and orders), logs of calls in "
        f"crm/calls/, the team ({', '.join(TEAM)}) in crm/team.txt. For each customer append "
        "'NUMBER,ACTION' to out/actions.csv, once. A letter is a file in out/letters/ with these "
        "lines: address; greeting (Dear ..., with a comma); the offer, with 'N percent' and "
        "'until DATE'; 'Call MANAGER, PHONE'; who signs; the code. Then write out/cover.txt with "
        "lines 'Campaign CODE', 'Letters: N', 'Held back: N' and who signs. campaign/style.md "
        "says who gets a letter and how it is written, campaign/brief.md what is offered to the "
        "tiers gold, silver and plain."
    )


def build(rng: Random, level: int) -> Case:
    campaign = story(rng, level)
    made = surroundings(rng, campaign)
    return Case(made, instruction(campaign), plan_of(campaign), lambda left: check(campaign, left))


TASK = Task("office-mailing", "Office", "Write letters from master data and logs of calls", build)
