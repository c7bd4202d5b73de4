"""How an agent would go about it: host by host, then the network, then the reports."""

from __future__ import annotations

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.tasks.security.intrusion.data import Hop, Story

LOGINS = """
    # who came to HOST
    lines = open('logs/HOST/auth.log').read().splitlines()
    for n, line in enumerate(lines):
        if 'Accepted password' in line:
            print('\\n'.join(lines[max(0, n - {lines} // 2):n + {lines} // 6]))
"""
KINDS = (
    "cat logs/HOST/auth.log | cut -d' ' -f3- | sed 's/sshd.[0-9]*.: //; s/port.*//' | sort "
    "| uniq -c | sort -rn | head -n {lines}"
)
AGENT = (
    "cd logs/HOST && grep -C 4 '\"signed\": false' events.jsonl | cut -c1-260; "
    "tail -n 12 events.jsonl"
)
NAMES = """
    # unusual names
    from collections import Counter
    rows = [line.split() for line in open('logs/dns.log')]
    counts = Counter((r[2], r[4], r[6]) for r in rows)
    for (client, name, address), n in counts.most_common({lines}):
        print(f'{n} queries for {name} -> {address} by {client}')
"""
FLOWS = """
    # bytes to {resolved}
    import csv
    rows = list(csv.DictReader(open('logs/netflow.csv')))
    hits = [r for r in rows if r['target'] == '{resolved}']
    print('sent to that address:', sum(int(r['bytes']) for r in hits))
    for r in rows[:{lines}]:
        print(r['time'], r['source'], r['target'], r['bytes'])
"""
REPORT = """
    # report on HOST
    import json, os
    from datetime import datetime, timedelta
    os.makedirs('findings', exist_ok=True)
    at = datetime.fromisoformat('{time_N}'){to_utc}
    report = {
        'case': '{case}',
        'host': 'HOST',
        'account': '{account_N}',
        'source': '{source_N}'DEFANG,
        'time': at.strftime('%Y-%m-%dT%H:%M:%SZ'),
        'file': '{path_N}',
        'sha256': '{digest_N}'{shorten},
        'severity': {rating}.get('{tier_N}', 'unknown'),
        'contact': '{contact}',
    }
    json.dump(report, open('findings/HOST.json', 'w'), indent=1)
    print(json.dumps(report, indent=1))
"""
TIMELINE = """
    # timeline
    import csv
    from datetime import datetime, timedelta
    rows = [ROWS]
    with open('findings/timeline.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('time', 'host', 'account'))
        for at, host, account in rows:
            at = datetime.fromisoformat(at){to_utc}
            out.writerow((at.strftime('%Y-%m-%dT%H:%M:%SZ'), host, account))
    print(open('findings/timeline.csv').read())
"""
SUMMARY = """
    # summary
    import json
    summary = {
        'case': '{case}',
        'entry': '{source_0}'{defang},
        'hosts': HOPS,
        'domain': '{domain}'{defang},
        'address': '{resolved}'{defang},
        'bytes': int('{sent}'),
        'last_account': '{account_LAST}',
        'contact': '{contact}',
    }
    json.dump(summary, open('findings/summary.json', 'w'), indent=1)
    print(json.dumps(summary))
"""


def hop_facts(number: int, hop: Hop) -> list[Fact]:
    host = hop.host
    login, seen = f"login_{number}", f"events_{number}"
    before = rf"{host} sshd\[\d+\]: Accepted password for"
    dropped = rf'"host": "{host}".*"action": "write", "path": '
    digest = rf'{dropped}"[^"]+", "sha256": "(\w+)"'
    return [
        Fact(f"account_{number}", f"account used on {host}", rf"{before} (\S+) from", login),
        Fact(
            f"source_{number}", f"origin of the login on {host}", rf"{before} \S+ from (\S+)", login
        ),
        Fact(f"time_{number}", f"login time on {host}", rf"(\d{{4}}-\S+) {before}", login),
        Fact(f"path_{number}", f"file dropped on {host}", rf'{dropped}"([^"]+)"', seen),
        Fact(f"digest_{number}", f"digest of the file on {host}", digest, seen),
        Fact(f"tier_{number}", f"tier of {host}", rf"\b{host},[\d.]+,(\d),", "hosts"),
    ]


def hop_steps(number: int, host: str) -> list[Step]:
    return [
        shell(
            f"kinds_{number}", KINDS.replace("HOST", host), f"count the kinds of lines on {host}"
        ),
        python(
            f"login_{number}", LOGINS.replace("HOST", host), f"look for password logins on {host}"
        ),
        shell(
            f"events_{number}", AGENT.replace("HOST", host), f"check the endpoint agent on {host}"
        ),
    ]


def report(number: int, host: str) -> Step:
    code = REPORT.replace("HOST", host).replace("_N}", f"_{number}}}")
    # Only the first origin is an external address.
    code = code.replace("DEFANG", "{defang}" if number == 0 else "")
    title = f"write the report on {host}"
    return python(f"report_{number}", code, title, group="reports", leaves=True)


RULES = (
    Norm(
        "to_utc",
        "times in reports are UTC",
        "Times in reports are UTC",
        " - timedelta(hours=2)",
        "",
        "runbook",
    ),
    Norm(
        "defang",
        "external addresses and domains are defanged",
        r"every dot becomes \[\.\]",
        ".replace('.', '[.]')",
        "",
        "runbook",
    ),
    Norm(
        "shorten",
        "digests are shortened to sixteen digits",
        "shortened to the first sixteen",
        "[:16]",
        "",
        "runbook",
    ),
    Norm(
        "rating",
        "tier 1 is rated critical, tier 2 high, tier 3 moderate",
        "tier 1 is rated critical, tier 2 is rated high",
        "{'1': 'critical', '2': 'high', '3': 'moderate'}",
        "{'1': 'high', '2': 'medium', '3': 'low'}",
        "runbook",
    ),
)


def plan_of(told: Story) -> Plan:
    hosts = [hop.host for hop in told.hops]
    facts = [fact for n, hop in enumerate(told.hops) for fact in hop_facts(n, hop)]
    facts += [
        Fact("case", "case number", r"\bcase (INC-\d+)"),
        Fact("contact", "report contact", r"Report contact: (\S+)", "shift"),
        Fact("domain", "domain data went to", r"\d+ queries for (\S+-sync\.example)", "dns"),
        Fact("resolved", "address behind that domain", r"-sync\.example -> ([\d.]+)", "dns"),
        Fact("sent", "bytes sent out", r"sent to that address: (\d+)", "flows"),
    ]
    rows = "".join(f"('{{time_{n}}}', '{h}', '{{account_{n}}}'), " for n, h in enumerate(hosts))
    summary = SUMMARY.replace("HOPS", str(len(hosts))).replace("LAST", str(len(hosts) - 1))
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("runbook", "docs/runbook.md", "read the runbook", group="documents"),
        read("shift", "docs/shift.md", "look up who is on shift", group="documents"),
        read("hosts", "inventory/hosts.csv", "read the host inventory", group="documents"),
        *(step for n, host in enumerate(hosts) for step in hop_steps(n, host)),
        python("dns", NAMES, "rank the names that were looked up"),
        shell(
            "lookups",
            "grep -F '{domain}' logs/dns.log; head -n {lines} logs/dns.log",
            "see who asked for that name",
        ),
        python("flows", FLOWS, "add up what was sent out"),
        *(report(n, host) for n, host in enumerate(hosts)),
        python("timeline", TIMELINE.replace("ROWS", rows), "write the timeline", leaves=True),
        python("summary", summary, "write the summary of the case", leaves=True),
        shell("proof", "ls findings; cat findings/*", "read everything once more"),
    ]
    return Plan(tuple(facts), RULES, tuple(steps), "The reports are in findings/.")
