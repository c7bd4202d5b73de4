"""An inventory of certificates from text dumps, with renewals and keys that serve twice.

The shape: a long read, then a late write.  Nothing is written before the last dump was read; each
table needs values of many hosts, and one finding only shows when two hosts far apart are compared.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from statistics import mean

from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.steps import python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part, share
from statecomp_bench.tasks.invented import hexadecimal, joined, people
from statecomp_bench.tasks.security.estate import hosts, revisions, swap, table

DAY = "%b %d %H:%M:%S %Y GMT"
ZONES = ("edge", "office", "plant")
COLUMNS = ("serial", "issuer", "ends", "bits", "state")
OLD = "plant"  # its machines cannot do better for now
POLICY = """# Certificates: what the inventory says and how

## Form
- Serial numbers are written in capitals and without colons.
- Days are written as year-month-day; the time of day is left out.

## Judgement
- A key of less than 3072 bits is weak.
- In the zone {old}, keys of 2048 bits are tolerated until the machines are replaced.
- A certificate whose serial number stands in ca/revoked.txt is revoked, whatever else is true.
- A renewal is due as many days before the end as docs/zones.csv says for the zone.
"""
DUMP = "cat certs/HOST.pem.txt | sed 's/^/HOST| /'"
PEM = """
    # a dump as PEM
    import glob, ssl
    print(ssl.PEM_cert_to_DER_cert(open(sorted(glob.glob('certs/*'))[0]).read()).hex())
"""
INVENTORY = """
    # inventory of ZONE
    import csv, os
    from datetime import datetime
    os.makedirs('inventory', exist_ok=True)
    zone, rows = 'ZONE', [ROWS]
    revoked = open('ca/revoked.txt').read()
    with open('inventory/ZONE.csv', 'w') as f:
        out = csv.writer(f, lineterminator='\\n')
        out.writerow(('host', 'serial', 'issuer', 'ends', 'bits', 'state'))
        for host, serial, issuer, ends, bits in rows:
            when = datetime.strptime(' '.join(ends.split()), '%b %d %H:%M:%S %Y GMT')
            state = 'good'
            if int(bits) < 3072{tolerated}:
                state = 'weak'
            if serial in revoked{revoked_wins}:
                state = 'revoked'
            out.writerow((host, serial{serial_form}, issuer, {iso}, bits, state))
    print(open('inventory/ZONE.csv').read())
"""
RENEWALS = """
    # renewals of ZONE
    import json
    from datetime import datetime, timedelta
    ends = {ENDS}
    lead = timedelta(days=int('{lead_ZONE}'))
    due = {}
    for host, end in ends.items():
        day = datetime.strptime(' '.join(end.split()), '%b %d %H:%M:%S %Y GMT').date(){early}
        due[host] = str(day)
    json.dump({'contact': '{contact_ZONE}', 'due': due}, open('inventory/renew-ZONE.json', 'w'))
    print(due)
"""
SHARED = """
    # keys that serve twice
    import json
    keys = {KEYS}
    owners = {}
    for host, key in keys.items():
        owners.setdefault(key, []).append(host)
    shared = {key: sorted(names) for key, names in owners.items() if len(names) > 1}
    json.dump(shared, open('inventory/shared-keys.json', 'w'), indent=1)
    print(json.dumps(shared, indent=1))
"""


@dataclass(frozen=True)
class Certificate:
    host: str
    zone: str
    serial: str
    issuer: str
    ends: datetime
    bits: int
    key: str
    revoked: bool

    @property
    def state(self) -> str:
        weak = self.bits < 3072 and not (self.zone == OLD and self.bits == 2048)
        return "revoked" if self.revoked else "weak" if weak else "good"

    @property
    def row(self) -> tuple[str, ...]:
        serial = self.serial.replace(":", "").upper()
        return serial, self.issuer, f"{self.ends:%Y-%m-%d}", str(self.bits), self.state


def pairs(text: str) -> str:
    return ":".join(text[n : n + 2] for n in range(0, len(text), 2))


def certificates(rng: Random, names: list[str]) -> list[Certificate]:
    found: list[Certificate] = []
    for n, host in enumerate(names):
        ends = datetime(2025, 7, 1, rng.randrange(24), 15) + timedelta(days=rng.randrange(500))
        # Every fourth key is one that was seen long before.
        key = pairs(hexadecimal(rng, 40)) if n % 4 != 3 else found[n // 4].key
        found.append(
            Certificate(host, ZONES[n % 3], pairs(hexadecimal(rng, 16)),
                        f"Northgate Issuing CA {rng.randrange(1, 6)}", ends,
                        rng.choice((1024, 2048, 3072, 4096)), key, rng.random() < 0.25)
        )  # fmt: skip
    rng.shuffle(found)
    return found


def dump(rng: Random, cert: Certificate) -> str:
    def block(digits: int) -> list[str]:
        text = pairs(hexadecimal(rng, digits))
        return [f"                    {text[n : n + 45]}" for n in range(0, len(text), 45)]

    starts = cert.ends - timedelta(days=730)
    names = ", ".join(f"DNS:{cert.host}-{n}.northgate.example" for n in range(rng.randrange(2, 9)))
    return joined([
        "Certificate:", "    Data:", "        Version: 3 (0x2)",
        f"        Serial Number: {cert.serial}",
        "        Signature Algorithm: sha256WithRSAEncryption",
        f"        Issuer: C = XX, O = Northgate, CN = {cert.issuer}",
        "        Validity", f"            Not Before: {starts.strftime(DAY)}",
        f"            Not After : {cert.ends.strftime(DAY)}",
        f"        Subject: C = XX, O = Northgate, OU = {cert.zone}, CN = {cert.host}",
        "        Subject Public Key Info:", "            Public Key Algorithm: rsaEncryption",
        f"                Public-Key: ({cert.bits} bit)", "                Modulus:",
        *block(cert.bits // 6), "                Exponent: 65537 (0x10001)",
        "        X509v3 extensions:", f"            X509v3 Subject Key Identifier: {cert.key}",
        f"            X509v3 Authority Key Identifier: {pairs(hexadecimal(rng, 40))}",
        f"            X509v3 Subject Alternative Name: {names}",
        "    Signature Algorithm: sha256WithRSAEncryption", *block(512),
    ])  # fmt: skip


def facts_of(certs: list[Certificate]) -> list[Fact]:
    facts = []
    for zone in ZONES:
        contact = rf"\b{zone},\d+,([\w-]+@[\w.]+),"
        facts += [
            Fact(f"lead_{zone}", f"lead time of {zone}", rf"\b{zone},(\d+),", "zones"),
            Fact(f"contact_{zone}", f"contact of {zone}", contact, "zones"),
        ]
    for n, cert in enumerate(certs):
        for word, key, pattern in (
            ("serial number", "serial", r"Serial Number: ([0-9a-f:]+)"),
            ("issuer", "issuer", r"Issuer: .*CN = (Northgate Issuing CA \d)"),
            ("last day", "ends", r"Not After : (\w+ +\d+ [\d:]+ \d+ GMT)"),
            ("size of the key", "bits", r"Public-Key: \((\d+) bit"),
            ("identifier of the key", "key", r"X509v3 Subject Key Identifier: ([0-9a-f:]+)"),
        ):
            facts.append(
                Fact(
                    f"{key}_{n:02d}",
                    f"{word} of {cert.host}",
                    rf"{cert.host}\| +{pattern}",
                    f"dump_{n:02d}",
                )
            )
    return facts


RULES = (
    Norm("serial_form", "serial numbers have capitals and no colons", "capitals and without colons",
         ".replace(':', '').upper()", "", "policy"),
    Norm("iso", "days are year-month-day", "Days are written as year-month-day",
         "when.date()", "ends", "policy"),
    Norm("tolerated", "2048 bits are tolerated in the old zone", "bits are tolerated until the",
         f" and not (zone == '{OLD}' and bits == '2048')", "", "policy"),
    Norm("revoked_wins", "revoked certificates are called revoked", "is revoked, whatever else is",
         "", " and False", "policy"),
    Norm("early", "renewals are due before the end", "due as many days before the end", " - lead",
         "", "policy"),
)  # fmt: skip


def plan_of(certs: list[Certificate]) -> Plan:
    dumps = [shell(f"dump_{n:02d}", DUMP.replace("HOST", cert.host),
                   f"read the certificate of {cert.host}", group="dumps")
             for n, cert in enumerate(certs)]  # fmt: skip
    late: list[Step] = []
    for zone in ZONES:
        own = [(n, cert.host) for n, cert in enumerate(certs) if cert.zone == zone]
        rows = ", ".join(f"('{host}', '{{serial_{n:02d}}}', '{{issuer_{n:02d}}}', "
                         f"'{{ends_{n:02d}}}', '{{bits_{n:02d}}}')" for n, host in own)  # fmt: skip
        ends = ", ".join(f"'{host}': '{{ends_{n:02d}}}'" for n, host in own)
        late += [
            python(f"rows_{zone}", swap(INVENTORY, ROWS=rows, ZONE=zone),
                   f"write the inventory of {zone}", leaves=True),
            python(f"renew_{zone}", swap(RENEWALS, ENDS=ends, ZONE=zone),
                   f"plan the renewals of {zone}", leaves=True),
        ]  # fmt: skip
    keys = ", ".join(f"'{cert.host}': '{{key_{n:02d}}}'" for n, cert in enumerate(certs))
    steps = [
        Step("list", "list_files", {}, "see what there is"),
        python("format", PEM, "try to parse a dump as PEM"),
        read("policy", "docs/certificates.md", "read the certificate policy", group="docs"),
        read("zones", "docs/zones.csv", "read the table of zones", group="docs"),
        *dumps,
        read("revoked", "ca/revoked.txt", "look at the revoked numbers"),
        *late,
        python("shared", SHARED.replace("KEYS", keys), "compare the keys of all", leaves=True),
        shell("proof", "head -n 30 inventory/*", "read the tables again"),
    ]  # fmt: skip
    return Plan(tuple(facts_of(certs)), RULES, tuple(steps), "The inventory is in inventory/.")


def check(
    certs: list[Certificate], leads: dict[str, int], contacts: dict[str, str], left: Artefacts
) -> Score:
    def rows(zone: str) -> float:
        wanted = {c.host: c.row for c in certs if c.zone == zone}
        found = {row["host"]: row for row in left.rows(f"inventory/{zone}.csv")}
        return mean(
            found.get(host, {}).get(name) == value
            for host, row in wanted.items()
            for name, value in zip(COLUMNS, row, strict=True)
        )

    def renewals(zone: str) -> float:
        found = left.json(f"inventory/renew-{zone}.json")
        lead = timedelta(days=leads[zone])
        wanted = {c.host: f"{c.ends - lead:%Y-%m-%d}" for c in certs if c.zone == zone}
        right = float(found["contact"] == contacts[zone])
        return (share(found["due"], wanted) + right) / 2

    counts = Counter(c.key for c in certs)
    shared = {key: sorted(c.host for c in certs if c.key == key)
              for key, count in counts.items() if count > 1}  # fmt: skip
    return grade(
        *(part(f"inventory of {zone}", 3, partial(rows, zone)) for zone in ZONES),
        *(part(f"renewals of {zone}", 1.5, partial(renewals, zone)) for zone in ZONES),
        part("shared keys", 3, lambda: share(left.json("inventory/shared-keys.json"), shared)),
    )


def build(rng: Random, level: int) -> Case:
    certs = certificates(rng, hosts(rng, 18 + 3 * level))
    leads = {zone: rng.randrange(20, 120) for zone in ZONES}
    contacts = {zone: f"pki-{rng.randrange(100, 999)}@northgate.example" for zone in ZONES}
    revoked = [c.serial for c in certs if c.revoked] + [
        pairs(hexadecimal(rng, 16)) for _ in range(50)
    ]
    zones = [(zone, leads[zone], contacts[zone], who)
             for zone, who in zip(ZONES, people(rng, 3), strict=True)]  # fmt: skip
    zones += [(f"branch{n:02d}", rng.randrange(20, 120), "-", who)
              for n, who in enumerate(people(rng, 40))]  # fmt: skip
    rng.shuffle(zones)
    made = {
        "docs/certificates.md": POLICY.replace("{old}", OLD) + revisions(rng, 14),
        "docs/zones.csv": table(("zone", "days", "contact", "owner"), zones),
        "ca/revoked.txt": joined(sorted(revoked)),
        **{f"certs/{c.host}.pem.txt": dump(rng, c) for c in certs},
    }
    lists = "; ".join(f"{zone}: {', '.join(c.host for c in certs if c.zone == zone)}"
                      for zone in ZONES)  # fmt: skip
    told = (
        "certs/HOST.pem.txt are text dumps of certificates. The hosts by zone are "
        f"{lists}. For each zone write inventory/ZONE.csv (host, serial, issuer, ends, bits, "
        "state; issuer is the common name, state is good, weak or revoked) and "
        "inventory/renew-ZONE.json with contact (of the zone) and due (host to the day on which "
        "its renewal is due). Then write inventory/shared-keys.json: for every subject key "
        "identifier that serves more than one host, in any zone, the identifier as it stands in "
        "the dump and the sorted hosts. Judgement and form of values: docs/certificates.md; "
        "zones: docs/zones.csv."
    )
    return Case(made, told, plan_of(certs), lambda left: check(certs, leads, contacts, left))


TASK = Task("security-certificates", "Security", "Take stock of certificates and keys", build)
