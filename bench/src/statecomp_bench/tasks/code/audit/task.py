"""Lock files of many services against advisories: small values from everywhere meet at the end."""

from __future__ import annotations

from random import Random

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.code.audit.data import DUE, Estate, estate, lock, notice
from statecomp_bench.tasks.code.sources import document, each
from statecomp_bench.tasks.invented import joined

INSTRUCTION = (
    "Audit the dependencies of all services in /workspace/services as of TODAY. advisories/*.md "
    "each name a package, the version it is fixed in and a severity (low, medium, high or "
    "critical); services/NAME/lock.txt says what a service requires. docs/audit.md says what a "
    "finding is; waivers are in docs/waivers.md. For each service write audit/NAME.json with "
    "service and findings, a list of objects with package, version, fixed, advisory and due (a "
    "date). Then write audit/summary.json with total (number of findings), affected (sorted names "
    "of services that have any), by_severity (severity to number, only those above zero) and "
    "next_due (the earliest due date), and audit/constraints.txt with one line PACKAGE>=FIXED for "
    "each package with a finding, sorted."
)
AUDIT = """
    # audit of NAME
    import json, os
    from datetime import date, timedelta
    os.makedirs('audit', exist_ok=True)
    day = date.fromisoformat('{today}')
    allowed, _, until = '{waiver_KEY}'.partition(' until ')
    findings = []
    for package, required, fixed, advisory, severity in (ROWS):
        version, mark = required.split(' ')
        if package == allowed{expiry}:
            continue
        if {below}{developers}:
            due = day + timedelta(days={days}[severity])
            findings.append({'package': package, 'version': version, 'fixed': fixed,
                             'advisory': advisory, 'due': str(due)})
    findings.sort(key=lambda finding: finding['package'])
    report = {'service': 'NAME', 'findings': findings}
    json.dump(report, open('audit/NAME.json', 'w'), indent=1)
    print(json.dumps(report, indent=1))
"""
COLLECT = """
    # all findings
    import json
    from glob import glob
    for path in sorted(glob('audit/*-api.json')):
        report = json.load(open(path))
        short = [f"{finding['package']} {finding['due']}" for finding in report['findings']]
        print(f"found in {report['service']}:", ', '.join(short) or 'none')
"""
SUMMARY = """
    # summary
    import json
    from collections import Counter
    known = {KNOWN}
    found = {FOUND}
    entries = [(name, *entry.split(' ')) for name, text in found.items() if text != 'none'
               for entry in text.split(', ')]
    summary = {
        'total': len(entries),
        'affected': sorted({entry[0] for entry in entries}),
        'by_severity': Counter(known[entry[1]][1] for entry in entries),
        'next_due': min((entry[2] for entry in entries), default=''),
    }
    json.dump(summary, open('audit/summary.json', 'w'), indent=1)
    with open('audit/constraints.txt', 'w') as out:
        for package in sorted({entry[1] for entry in entries}):
            out.write(f'{package}>={known[package][0]}\\n')
    print(json.dumps(summary), open('audit/constraints.txt').read())
"""
RULES = (
    Norm(
        "below",
        "versions are compared number by number",
        "compared number by number",
        "[*map(int, version.split('.'))] < [*map(int, fixed.split('.'))]",
        "version < fixed",
        "policy",
    ),
    Norm(
        "developers",
        "dev packages count only if critical",
        "finding only if\\s+the severity is critical",
        " and (mark != '(dev)' or severity == 'critical')",
        "",
        "policy",
    ),
    Norm(
        "expiry",
        "expired waivers silence nothing",
        "has expired silences nothing",
        " and until >= '{today}'",
        "",
        "policy",
    ),
    Norm(
        "days",
        "findings are due after 3, 20, 45 or 120 days",
        "critical finding is due 3 days after",
        str(DUE),
        "{'critical': 7, 'high': 30, 'medium': 60, 'low': 90}",
        "policy",
    ),
)


def facts_of(made: Estate) -> list[Fact]:
    facts = [
        Fact("today", "day of the audit", r"as of (\d{4}-\d\d-\d\d)"),
    ]
    for advisory in made.advisories:
        name, key, source = advisory.package, advisory.key, f"notice_{advisory.key}"
        facts += [
            Fact(
                f"fixed_{key}", f"fixed version of {name}", rf"Fixed in {name} ([\d.]+\d)", source
            ),
            Fact(f"number_{key}", f"advisory on {name}", rf"Number for {name}: (ADV-\w+)", source),
            Fact(f"severity_{key}", f"severity for {name}", rf"Severity for {name}: (\w+)", source),
        ]
    for need in made.needs:
        service, name = need.service, need.advisory.package
        facts.append(
            Fact(
                f"lock_{_key(service)}_{need.advisory.key}",
                f"{name} in {service}",
                rf"{service} requires {name}==([\d.]+ \(\w+\))",
                f"lock_{_key(service)}",
            )
        )
    for service in made.services:
        key, one = _key(service), r"[\w-]+ [\d-]{10}"
        found = rf"found in {service}: (none|{one}(?:, {one})*)"
        waiver = rf"{service} may keep (none|[\w-]+ until [\d-]{{10}})"
        facts += [
            Fact(f"found_{key}", f"findings of {service}", found, "collect"),
            Fact(f"waiver_{key}", f"waiver of {service}", waiver, "waivers"),
        ]
    return facts


def _key(service: str) -> str:
    return service.replace("-", "_")


def audit(made: Estate, service: str) -> Step:
    rows = "".join(
        f"('{need.advisory.package}', '{{lock_{_key(service)}_{k}}}', '{{fixed_{k}}}', "
        f"'{{number_{k}}}', '{{severity_{k}}}'), "
        for need in made.of(service)
        for k in (need.advisory.key,)
    )
    code = AUDIT.replace("NAME", service).replace("ROWS", rows).replace("KEY", _key(service))
    return python(f"audit_{_key(service)}", code, f"audit {service}", leaves=True)


def plan_of(made: Estate) -> Plan:
    known = "".join(
        f"'{a.package}': ('{{fixed_{a.key}}}', '{{severity_{a.key}}}'), " for a in made.advisories
    )
    found = "".join(f"'{s}': '{{found_{_key(s)}}}', " for s in made.services)
    steps = [
        shell("list", "ls . docs advisories services", "see what there is"),
        read("policy", "docs/audit.md", "read how audits are made", group="d"),
        read("waivers", "docs/waivers.md", "read the waivers", group="d"),
        *(
            read(
                f"notice_{a.key}",
                f"advisories/{a.package}.md",
                f"read about {a.package}",
                group="n",
            )
            for a in made.advisories
        ),
        shell(
            "grep",
            "grep -rhoF -f advisories/names.txt services | sort | uniq -c | head -n {lines}",
            "try to count them with grep",
        ),
        *(
            read(f"lock_{_key(s)}", f"services/{s}/lock.txt", f"read the lock of {s}", group="l")
            for s in made.services
        ),
        *(audit(made, service) for service in made.services),
        python("collect", COLLECT, "go over all findings"),
        python(
            "summary",
            SUMMARY.replace("{KNOWN}", f"{{{known}}}").replace("{FOUND}", f"{{{found}}}"),
            "sum everything up",
            leaves=True,
        ),
        shell("proof", "cat audit/summary.json audit/constraints.txt", "look over the summary"),
    ]
    return Plan(tuple(facts_of(made)), RULES, tuple(steps), "The audit is written.")


def check(made: Estate, left: Artefacts) -> Score:
    every = [need for need in made.needs if need.found(made.today)]
    severities = [need.advisory.severity for need in every]
    wanted = {
        "total": len(every),
        "affected": sorted({need.service for need in every}),
        "by_severity": {severity: severities.count(severity) for severity in set(severities)},
        "next_due": min(str(need.finding(made.today)["due"]) for need in every),
    }
    pins = sorted({f"{need.advisory.package}>={need.advisory.fixed}" for need in every})

    def findings(service: str) -> list[dict[str, object]]:
        report = left.json(f"audit/{service}.json")
        assert report["service"] == service
        return list(report["findings"])

    def named(service: str) -> float:
        """Shared by both among named by either; the order counts too."""
        shown = [str(f["package"]) for f in findings(service)]
        right = [str(f["package"]) for f in made.findings(service)]
        if shown == right or shown != sorted(shown):
            return shown == right
        return len({*shown} & {*right}) / len({*shown} | {*right})

    def dated(service: str) -> float:
        shown = {f["package"]: f for f in findings(service)}
        right = made.findings(service)
        shares = [share(shown.get(wanted["package"], {}), wanted) for wanted in right]
        return sum(shares) / len(shares) if shares else not shown

    return grade(
        each("findings", 4, made.services, named),
        each("details", 4, made.services, dated),
        part("summary", 3, lambda: share(left.json("audit/summary.json"), wanted)),
        part("constraints", 2, lambda: left.text("audit/constraints.txt").split() == pins),
    )


def build(rng: Random, level: int) -> Case:
    made = estate(rng, level)
    waived = {
        need.service: f"{need.advisory.package} until {need.waived}"
        for need in made.needs
        if need.waived
    }
    waivers = joined([f"- {s} may keep {waived.get(s, 'none')}" for s in made.services])
    workspace = {
        "docs/audit.md": document(__package__, "audit.md"),
        "docs/waivers.md": f"# Waivers\n\nGranted by the board, one by one.\n\n{waivers}",
        "advisories/names.txt": joined([a.package for a in made.advisories]),
    }
    workspace |= {f"advisories/{a.package}.md": notice(rng, a) for a in made.advisories}
    workspace |= {f"services/{s}/lock.txt": lock(rng, made, s) for s in made.services}
    instruction = INSTRUCTION.replace("TODAY", str(made.today))
    return Case(workspace, instruction, plan_of(made), lambda left: check(made, left))


TASK = Task("code-audit", "Code", "Audit the dependencies of many services", build)
