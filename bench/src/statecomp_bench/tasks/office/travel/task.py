"""Travel claims audited: claim, city, tier, rate, waiver; a chain of lookups for each of them."""

from __future__ import annotations

from decimal import Decimal
from random import Random

from statecomp_bench.plan import Fact, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.office.each import facts_about, programs, reads, rules_about, rules_of
from statecomp_bench.tasks.office.papers import column, comma, holds, put
from statecomp_bench.tasks.office.travel.data import TIERS, Audit, Claim, story, surroundings

ENTRY = """
    # audit of NAME
    import csv, os
    from datetime import date
    from decimal import Decimal as D
    os.makedirs('out', exist_ok=True)
    caps = {'T1': '{cap_t1}', 'T2': '{cap_t2}', 'T3': '{cap_t3}', 'T4': '{cap_t4}'}
    daily = {'T1': '{meal_t1}', 'T2': '{meal_t2}', 'T3': '{meal_t3}', 'T4': '{meal_t4}'}
    tier, nights, waiver = '{tier_NAME}', int('{nights_NAME}'), '{waiver_NAME}'
    hotel = D('{hotel_NAME}')
    if not ({waived}):
        hotel = min(hotel, D(caps[tier]) * nights)
    meals = D(daily[tier]) * (nights + 1) - int('{breakfasts_NAME}') * D('{breakfast}')
    refund = hotel + meals + int('{km_NAME}') * D('{mileage}')
    outcome = 'paid' if refund >= D('{claimed_NAME}') else 'cut'
    waited = date.fromisoformat('{filed_NAME}') - date.fromisoformat('{returned_NAME}')
    if {late}:
        refund, outcome = D(0), 'refused'
    row = ['{named_NAME}', '{trip_NAME}', f'{refund:.2f}'{comma}, outcome,
           waiver if waiver.startswith('W-') else '']
    fresh = not os.path.exists('out/audit.csv')
    with open('out/audit.csv', 'a') as f:
        out = csv.writer(f, delimiter=';', lineterminator='\\n')
        if fresh:
            out.writerow(['staff', 'trip', 'refund', 'outcome', 'waiver'])
        out.writerow(row)
    print('audited', row)
"""
NOTICE = """
    # notice for NAME
    import csv, os
    os.makedirs('out/notices', exist_ok=True)
    rows = list(csv.DictReader(open('out/audit.csv'), delimiter=';'))
    mine = [r for r in rows if r['trip'] == '{trip_NAME}'][0]
    text = f"To {named_NAME}\\nTrip {mine['trip']} to {city_NAME}: {mine['outcome']}, "
    text += f"{mine['refund']} EUR\\n"
    open('out/notices/{trip_NAME}.txt', 'w').write(text + 'Batch {batch}\\n')
    print(text)
"""
SUMMARY = """
    # totals of the batch
    import csv, json
    from collections import Counter
    rows = list(csv.DictReader(open('out/audit.csv'), delimiter=';'))
    total = sum(float(r['refund'].replace(',', '.')) for r in rows)
    made = {'batch': '{batch}', 'total': f'{total:.2f}'{comma}}
    made.update(Counter(r['outcome'] for r in rows))
    json.dump(made, open('out/summary.json', 'w'))
    print(made)
"""
RULES = rules_of(
    "policy",
    (
        "waived",
        "a waiver refunds the hotel in full",
        "the hotel is refunded in full",
        "waiver.startswith('W-')",
        "False",
    ),
    ("breakfast", "4.80 come off for each breakfast", r"4\.80 euros are taken off", "4.80", "0"),
    ("mileage", "a kilometre is 0.27", r"refunded with 0\.27 euros", "0.27", "0.30"),
    (
        "late",
        "claims after more than 45 days are refused",
        "more than 45 days after the return",
        "waited.days > 45",
        "False",
    ),
    ("comma", "amounts carry a decimal comma", "carry a decimal comma", ".replace('.', ',')", ""),
)


def facts_of(claim: Claim) -> list[Fact]:
    who, low = claim.first, claim.first.lower()
    trip = rf"{claim.trip} \|[^|]*\| (W-\d+|no waiver)"
    return [
        *facts_about(
            who,
            f"claim_{low}",
            ("trip", "trip number of NAME", r"trip (TR-\d+)\s+Traveller: NAME"),
            ("city", "destination of NAME", r"Destination of NAME: (.+)"),
            ("hotel", "hotel bill of NAME", r"Hotel bill of NAME: ([\d.]+)"),
            ("nights", "number of nights of NAME", r"Nights away by NAME: (\d+)"),
            ("breakfasts", "number of breakfasts of NAME", r"Breakfasts included for NAME: (\d+)"),
            ("km", "kilometres of NAME", r"Private car of NAME, km: (\d+)"),
            ("returned", "day of return of NAME", r"Return of NAME: (\S+)"),
            ("filed", "filing day of NAME", r"Filed by NAME on: (\S+)"),
            ("claimed", "sum claimed of NAME", r"Total claimed by NAME: ([\d.]+)"),
        ),
        *facts_about(who, f"rate_{low}", ("tier", "tier for NAME", rf"{claim.city},(T\d)")),
        *facts_about(who, f"approval_{low}", ("waiver", "waiver of NAME", trip)),
        *facts_about(who, "staff", ("staff", "staff number of NAME", rf"NAME {claim.last},(S\d+)")),
    ]


def plan_of(audit: Audit) -> Plan:
    names = [claim.first for claim in audit.claims]
    facts = [fact for claim in audit.claims for fact in facts_of(claim)]
    for tier in TIERS:
        cap, meal = rf"\| {tier} \| ([\d.]+) \|", rf"\| {tier} \| [\d.]+ \| ([\d.]+) \|"
        facts.append(Fact(f"cap_{tier.lower()}", f"hotel cap in {tier}", cap, "policy"))
        facts.append(Fact(f"meal_{tier.lower()}", f"meal rate in {tier}", meal, "policy"))
    facts.append(Fact("batch", "batch of the audit", r"batch (TA-\d+)"))
    named = rules_about(
        names,
        "named",
        "reports name NAME by staff number",
        "named by staff number, never by name",
        "{staff_NAME}",
        "NAME",
        "policy",
    )
    steps = [
        Step("list", "list_files", {}, "look around"),
        read("policy", "travel/policy.md", "study the travel policy", group="a"),
        read("staff", "travel/staff.csv", "open the staff list", group="a"),
        read("old", "travel/handbook_2019.md", "leaf through the old handbook", group="a"),
        *reads("claim", "claims", names, "open the claim of", "c"),
        shell("wrong", "python3 travel/audit.py --all", "try the audit program of last year"),
        *(
            shell(
                f"rate_{n.lower()}",
                put(
                    'echo rate of NAME; grep -C {lines} "^{city_NAME}," travel/rates.csv',
                    NAME=n,
                ),
                f"find the tier of the city {n} went to",
            )
            for n in names
        ),
        *(
            shell(
                f"approval_{n.lower()}",
                put('echo NAME: approvals; grep "^NAME: " travel/approvals.txt', NAME=n),
                f"search the approvals of {n}",
            )
            for n in names
        ),
        *programs("entry", ENTRY, names, "audit the trip of"),
        python("summary", SUMMARY, "add up the batch", leaves=True),
        *programs("notice", NOTICE, names, "notify"),
        shell("proof", "cat out/audit.csv out/summary.json", "read the audit again"),
    ]
    return Plan(tuple(facts), (*RULES, *named), tuple(steps), "The audit is in out/.")


def check(audit: Audit, left: Artefacts) -> Score:
    claims = audit.claims

    def rows() -> list[dict[str, str]]:
        return left.rows("out/audit.csv", ";")

    def notice(claim: Claim) -> float:
        words = (f"To {claim.staff}", claim.city, audit.outcome(claim), comma(audit.refund(claim)))
        return holds(left, f"out/notices/{claim.trip}.txt", (*words, audit.batch))

    totals: dict[str, object] = {
        "batch": audit.batch,
        "total": comma(sum((audit.refund(c) for c in claims), Decimal(0))),
        **{
            audit.outcome(c): sum(audit.outcome(d) == audit.outcome(c) for d in claims)
            for c in claims
        },
    }
    return grade(
        column("staff", 2, rows, "trip", {c.trip: c.staff for c in claims}),
        column("refund", 5, rows, "trip", {c.trip: comma(audit.refund(c)) for c in claims}),
        column("outcome", 3, rows, "trip", {c.trip: audit.outcome(c) for c in claims}),
        column("waiver", 2, rows, "trip", {c.trip: c.waiver for c in claims}),
        part("summary", 2, lambda: share(left.json("out/summary.json"), totals)),
        part("notices", 3, lambda: sum(map(notice, claims)) / len(claims)),
    )


def instruction(audit: Audit) -> str:
    names = ", ".join(claim.first for claim in audit.claims)
    return (
        f"Audit the travel claims in claims/ (batch {audit.batch}), in this order: {names}. "
        "Append one line for each to out/audit.csv, which has a header and semicolons: staff, "
        "trip, refund, outcome, waiver (its number, empty if there is none). Then write "
        "out/summary.json with batch, total (of the refunds) and how often each outcome occurs, "
        "and for each traveller a notice out/notices/TRIP.txt whose first line is 'To' and the "
        "traveller, followed by trip, city, outcome, refund and batch. A trip has days for meals "
        "one more than its nights. travel/policy.md says what is refunded and how it is written; "
        "tiers of cities stand in travel/rates.csv, staff numbers in travel/staff.csv, waivers "
        "in travel/approvals.txt."
    )


def build(rng: Random, level: int) -> Case:
    audit = story(rng, level)
    made = surroundings(rng, audit)
    return Case(made, instruction(audit), plan_of(audit), lambda left: check(audit, left))


TASK = Task("office-travel", "Office", "Audit travel claims by a policy with exceptions", build)
