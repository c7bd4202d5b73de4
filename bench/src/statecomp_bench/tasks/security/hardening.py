"""sshd and firewall settings against a baseline, with exceptions of which some have lapsed.

The shape: a rule with exceptions.  Baseline values read once are needed at every host, and each
host's row in the register decides much later whether a deviation is corrected or left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from random import Random
from statistics import mean

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import inside, joined, people
from statecomp_bench.tasks.security.estate import hosts, revisions, swap, table

TODAY = date(2025, 5, 12)
RANGES = {  # what a baseline may ask for; deviations are always far above
    "MaxAuthTries": (3, 5),
    "LoginGraceTime": (20, 45),
    "ClientAliveInterval": (120, 280),
    "ClientAliveCountMax": (1, 3),
    "MaxSessions": (4, 8),
    "RekeyLimit": (256, 512),
    "MaxStartups": (10, 20),
}
OTHERS = ("UseDNS", "PrintMotd", "Compression", "AllowAgentForwarding", "X11Forwarding", "UsePAM")
BASELINE = """# Baseline for remote access, edition 7

It binds every host that accepts ssh. An audit compares, corrects and reports; it does not discuss.

## Values
{values}

## Deviations
- A deviation with an exception in force is left as it is and reported with the exception's number.
- An exception whose last day is past does not count: the deviation is corrected like any other.
- A corrected line ends with a remark that names the change: the value, one space, # and the number.
- Ports that are open to any address are closed unless docs/services.csv names them for that host.

## Ratings
- A host with two corrected settings or more is rated red, one is amber, none is green.
- In all reports host names are written in capitals.
"""
AUDIT = """
    # audit HOST
    want = {BASE}
    found = []
    for number, line in enumerate(open('etc/HOST/sshd_config'), 1):
        words = line.split()
        if number <= {lines} or words and words[0] in want:
            print(f'{number:4d} {line.rstrip()}')
        if words and words[0] in want and words[1] != want[words[0]]:
            found.append(words[0])
    for place, setting in enumerate(sorted(found), 1):
        print(f'HOST deviation {place}: {setting}')
"""
CORRECT = """
    # correct HOST
    import json, os
    want = {BASE}
    register = [row.split(',') for row in ('{first_N}', '{second_N}')]
    force = {row[2]: row[0] for row in register{in_force}}
    fixed, text = [], []
    for line in open('etc/HOST/sshd_config'):
        words = line.split()
        name = words[0] if words else ''
        if name in ('{dev1_N}', '{dev2_N}', '{dev3_N}') and name not in force:
            line = f'{name} {want[name]}'{remark} + '\\n'
            fixed.append(name)
        text.append(line)
    os.makedirs('audit', exist_ok=True)
    os.makedirs('corrected/HOST', exist_ok=True)
    open('corrected/HOST/sshd_config', 'w').write(''.join(text))
    report = {'host': 'HOST'{capitals}, 'corrected': sorted(fixed), 'excepted': force,
              'close': int('{port_N}'), 'rating': {rating}[min(len(fixed), 2)]}
    json.dump(report, open('audit/HOST.json', 'w'), indent=1)
    print(json.dumps(report))
"""
PORTS = (
    "cat etc/HOST/nftables.conf; grep ^HOST docs/services.csv; "
    "grep -H accept etc/HOST/nftables.conf | grep -v saddr | "
    "grep -vwE $(grep ^HOST docs/services.csv | cut -d, -f2 | paste -sd'|') "
    "| sed 's/$/ # not listed/'"
)
CLOSE = (
    "test -d etc/HOST && mkdir -p corrected/HOST && "
    "grep -v 'dport {port_N} accept' etc/HOST/nftables.conf > corrected/HOST/nftables.conf; "
    "diff etc/HOST/nftables.conf corrected/HOST/nftables.conf"
)
SUMMARY = """
    # summary
    import csv, glob, json
    rows = sorted((r['host'], r['rating'], len(r['corrected']), len(r['excepted'])) for r in
                  (json.load(open(p)) for p in glob.glob('audit/*.json')))
    with open('audit/summary.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('host', 'rating', 'corrected', 'excepted', 'change'))
        out.writerows((*row, '{change}') for row in rows)
    print(open('audit/summary.csv').read())
"""


@dataclass(frozen=True)
class Host:
    name: str
    settings: dict[str, int]  # as configured
    lapsed: str
    excepted: str
    bare: str
    port: int
    exceptions: tuple[tuple[str, str, str], ...]  # number, setting, last day

    @property
    def fixed(self) -> list[str]:
        return sorted((self.lapsed, self.bare))


def host_of(rng: Random, name: str, base: dict[str, int], number: int) -> Host:
    lapsed, excepted, bare = rng.sample(sorted(base), 3)
    settings = {k: v * rng.randrange(3, 9) if k in (lapsed, excepted, bare) else v
                for k, v in base.items()}  # fmt: skip
    past = TODAY - timedelta(days=rng.randrange(3, 200))
    ahead = TODAY + timedelta(days=rng.randrange(3, 200))
    register = ((f"EX-{number}", lapsed, f"{past}"), (f"EX-{number + 1}", excepted, f"{ahead}"))
    return Host(name, settings, lapsed, excepted, bare, rng.randrange(8100, 9900), register)


def sshd(rng: Random, host: Host) -> str:
    lines = [f"# sshd_config of {host.name}, managed by hand", "Port 22", "Protocol 2"]
    lines += [f"{name} {value}" for name, value in host.settings.items()]
    lines += [f"{name} {rng.choice(('yes', 'no'))}" for name in OTHERS]
    for person in people(rng, 48):
        user = person.split()[1].lower()
        lines += [f"# key of {person}, checked {rng.randrange(2019, 2025)}",
                  f"#AllowUsers {user}@{inside(rng)}"]  # fmt: skip
    rng.shuffle(lines)
    return joined(lines)


def firewall(rng: Random, host: Host, allowed: list[int]) -> str:
    rules = [f"    ip saddr {inside(rng)} tcp dport {rng.randrange(20, 7000)} accept"
             for _ in range(76)]  # fmt: skip
    rules += [f"    tcp dport {port} accept" for port in (*allowed, host.port)]
    rng.shuffle(rules)
    head = ["table inet filter {", "  chain input {", "    type filter hook input priority 0;"]
    return joined([*head, *rules, "    drop", "  }", "}"])


def plan_of(all_hosts: list[Host], base: dict[str, int]) -> Plan:
    facts = [Fact("change", "change number", r"under change (CHG-\d+)")]
    facts += [Fact(f"base_{s.lower()}", f"baseline of {s}", rf"- {s} is (\d+)", "baseline")
              for s in base]  # fmt: skip
    want = ", ".join(f"'{s}': '{{base_{s.lower()}}}'" for s in base)
    audits: list[Step] = []
    work: list[Step] = []
    for n, host in enumerate(all_hosts):
        name = host.name
        for place, word in enumerate(("first", "second", "third"), 1):
            facts.append(Fact(f"dev{place}_{n:02d}", f"{word} deviation of {name}",
                              rf"{name} deviation {place}: (\w+)", f"audit_{n:02d}"))  # fmt: skip
        for word, (_, setting, _) in zip(("first", "second"), host.exceptions, strict=True):
            facts.append(Fact(f"{word}_{n:02d}", f"{word} exception of {name}",
                              rf"(EX-\d+,{name},{setting},\d+,[\d-]+)", "register"))  # fmt: skip
        opened = rf"{name}/nftables\.conf:.*[^d] tcp dport (\d+) accept # not listed"
        facts.append(Fact(f"port_{n:02d}", f"stray port of {name}", opened, f"ports_{n:02d}"))
        fill = partial(swap, HOST=name, BASE=want, _N=f"_{n:02d}")
        audits += [python(f"audit_{n:02d}", fill(AUDIT), f"compare {name} with the baseline"),
                   shell(f"ports_{n:02d}", fill(PORTS),
                         f"look for stray ports on {name}")]  # fmt: skip
        work += [python(f"correct_{n:02d}", fill(CORRECT), f"correct what deviates on {name}",
                        leaves=True),
                 shell(f"close_{n:02d}", fill(CLOSE),
                       f"close the stray port of {name}", leaves=True)]  # fmt: skip
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        read("baseline", "docs/baseline.md", "read the baseline", group="docs"),
        read("register", "docs/exceptions.csv", "read the register of exceptions", group="docs"),
        *audits,
        *work,
        python("summary", SUMMARY, "sum up the audit", leaves=True),
        shell("proof", "head -n 40 audit/*", "read all reports again"),
    ]
    rules = (
        Norm("in_force", "lapsed exceptions do not count", "whose last day is past does not count",
             f" if row[4] >= '{TODAY}'", "", "baseline"),
        Norm("remark", "corrected lines name the change", "with a remark that names the change",
             " + ' # {change}'", "", "baseline"),
        Norm("rating", "hosts are rated red, amber or green", "two corrected settings or more is",
             "('green', 'amber', 'red')", "('low', 'medium', 'high')", "baseline"),
        Norm("capitals", "host names in reports are capitals", "names are written in capitals",
             ".upper()", "", "baseline"),
    )  # fmt: skip
    return Plan(tuple(facts), rules, tuple(steps), "The audit is in audit/.")


def check(all_hosts: list[Host], base: dict[str, int], change: str, left: Artefacts) -> Score:
    def report(host: Host) -> float:
        in_force = {host.excepted: host.exceptions[1][0]}
        wanted = {"host": host.name.upper(), "corrected": host.fixed, "excepted": in_force,
                  "close": host.port, "rating": "red"}  # fmt: skip
        return share(left.json(f"audit/{host.name}.json"), wanted)

    def lines(host: Host) -> dict[str, str]:
        text = left.text(f"corrected/{host.name}/sshd_config")
        return dict(line.split(" ", 1) for line in text.splitlines())

    def settings(host: Host) -> float:
        """Of the lines to correct; with a line touched that is right it is worth nothing."""
        found = {name: value.split(" #")[0] for name, value in lines(host).items()}
        others = {k: str(v) for k, v in host.settings.items() if k not in host.fixed}
        wanted = {name: str(base[name]) for name in host.fixed}
        return share(found, wanted) if share(found, others) == 1 else 0

    def remarks(host: Host) -> float:
        return share(lines(host), {name: f"{base[name]} # {change}" for name in host.fixed})

    def ports(host: Host) -> bool:
        text = left.text(f"corrected/{host.name}/nftables.conf")
        return f" tcp dport {host.port} accept" not in text and len(text.splitlines()) == 84

    rows = sorted([h.name.upper(), "red", "2", "1", change] for h in all_hosts)
    return grade(
        *(part(f"report on {h.name}", 1, partial(report, h)) for h in all_hosts),
        part("settings", 4, lambda: mean(map(settings, all_hosts))),
        part("remarks", 2, lambda: mean(map(remarks, all_hosts))),
        part("ports", 2, lambda: mean(map(ports, all_hosts))),
        part("summary", 2, lambda: [[*r.values()] for r in left.rows("audit/summary.csv")] == rows),
    )


def build(rng: Random, level: int) -> Case:
    base = {name: rng.randint(*bounds) for name, bounds in RANGES.items()}
    names = hosts(rng, 22)
    all_hosts = [host_of(rng, name, base, 100 + 2 * n + rng.randrange(1000) * 100)
                 for n, name in enumerate(names[: 6 + level])]  # fmt: skip
    change = f"CHG-{rng.randrange(20000, 90000)}"
    register = [(number, h.name, s, h.settings[s], end)
                for h in all_hosts for number, s, end in h.exceptions]  # fmt: skip
    for number in range(60):
        name, setting = rng.choice(names[6 + level :]), rng.choice(sorted(base))
        end = TODAY + timedelta(days=rng.randrange(-300, 300))
        register.append((f"EX-{9000 + number}", name, setting, rng.randrange(50, 900), f"{end}"))
    rng.shuffle(register)
    values = joined([f"- {name} is {value}" for name, value in base.items()])
    made = {
        "docs/baseline.md": BASELINE.replace("{values}\n", values) + revisions(rng, 12),
        "docs/exceptions.csv": table(("number", "host", "setting", "value", "until"), register),
    }
    services = []
    for host in all_hosts:
        allowed = rng.sample(range(1024, 7900), 2)
        services += [(host.name, port, rng.choice(("web", "mail", "sync"))) for port in allowed]
        made[f"etc/{host.name}/sshd_config"] = sshd(rng, host)
        made[f"etc/{host.name}/nftables.conf"] = firewall(rng, host, allowed)
    made["docs/services.csv"] = table(("host", "port", "service"), services)
    told = (
        f"Today is {TODAY}. Audit and correct the remote access of these hosts under change "
        f"{change}: {', '.join(h.name for h in all_hosts)}. Compare etc/HOST/sshd_config with "
        f"docs/baseline.md ({', '.join(base)}) "
        "and obey docs/exceptions.csv; write the corrected files to "
        "corrected/HOST/sshd_config, all other lines unchanged, and leave etc/ alone. In "
        "corrected/HOST/nftables.conf the one rule is missing that opens a port to any address "
        "without being listed in docs/services.csv. For each host write audit/HOST.json "
        "with host, corrected (sorted names of settings), excepted (setting to number of the "
        "exception in force), close (the port) and rating; then audit/summary.csv with host, "
        "rating, corrected, excepted (both counts) and change, sorted by host. The baseline "
        "document says how corrected lines, names and ratings look."
    )
    plan = plan_of(all_hosts, base)
    return Case(made, told, plan, lambda left: check(all_hosts, base, change, left))


TASK = Task("security-hardening", "Security", "Audit ssh and firewall against a baseline", build)
