"""A day of logs with an intrusion in them, all invented."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from statecomp_bench.tasks.invented import (
    hexadecimal,
    inside,
    joined,
    moments,
    nouns,
    outside,
    people,
)

START = datetime(2025, 3, 4, 0, 0)
LOCAL = timedelta(hours=2)  # logs are written in local time
STAMP = "%Y-%m-%dT%H:%M:%S"


@dataclass(frozen=True)
class Hop:
    """One compromised host: who came in, when, from where, and what was left there."""

    host: str
    address: str
    account: str
    source: str
    at: datetime
    path: str
    digest: str
    tier: int


@dataclass(frozen=True)
class Story:
    case: str
    hops: tuple[Hop, ...]
    domain: str
    resolved: str
    sent: int
    contact: str


def story(rng: Random, level: int) -> Story:
    hosts = [f"{noun}-{rng.randrange(10, 99)}" for noun in nouns(rng, 6 + level)]
    sources = [outside(rng)]
    hops = []
    at = START + timedelta(hours=3, minutes=rng.randrange(50))
    accounts = [f"svc-{noun}" for noun in nouns(rng, len(hosts))]
    for host, account in zip(hosts, accounts, strict=True):
        address = inside(rng)
        path = f"/var/tmp/.{hexadecimal(rng, 6)}/{rng.choice(('kworker', 'udevd', 'crond'))}.bin"
        tier = rng.choice((1, 2, 3))
        hops.append(Hop(host, address, account, sources[-1], at, path, hexadecimal(rng, 64), tier))
        sources.append(address)
        at += timedelta(minutes=rng.randrange(25, 70), seconds=rng.randrange(60))
    return Story(
        case=f"INC-{rng.randrange(2000, 9000)}",
        hops=tuple(hops),
        domain=f"{'-'.join(nouns(rng, 2))}-sync.example",
        resolved=outside(rng),
        sent=rng.randrange(40_000_000, 90_000_000),
        contact=f"soc-{rng.randrange(10, 99)}@northgate.example",
    )


def auth_log(rng: Random, told: Story, hop: Hop) -> str:
    """A day of logins on one host, with the intruder's among them."""
    lines = []
    names = [name.split()[0].lower() for name in people(rng, 12)]
    for at in moments(rng, START, 24, 230):
        pid, port = rng.randrange(1000, 32000), rng.randrange(30000, 65000)
        kind, who, where = rng.random(), rng.choice(names), inside(rng)
        text = f"Accepted publickey for {who} from {where} port {port} ssh2"
        if kind < 0.45:
            text = (
                f"Failed password for invalid user {who}{pid % 7} from {outside(rng)} port {port}"
            )
        elif kind < 0.6:
            text = f"pam_unix(sshd:session): session closed for user {who}"
        lines.append((at, f"sshd[{pid}]: {text}"))
    for number in range(14):
        at = hop.at - timedelta(seconds=9 * (15 - number))
        text = f"Failed password for {hop.account} from {hop.source} port {41000 + number} ssh2"
        lines.append((at, f"sshd[{7000 + number}]: {text}"))
    text = f"Accepted password for {hop.account} from {hop.source} port 41999 ssh2"
    lines.append((hop.at, f"sshd[7015]: {text}"))
    return joined([f"{at.strftime(STAMP)} {hop.host} {text}" for at, text in sorted(lines)])


def events(rng: Random, told: Story, hop: Hop) -> str:
    """What the endpoint agent of one host recorded, one JSON object a line."""
    lines: list[dict[str, object]] = []
    for at in moments(rng, START, 24, 150):
        lines.append(
            {
                "time": at.strftime(STAMP),
                "host": hop.host,
                "user": rng.choice(("root", "www-data", "backup", "monitor", hop.account)),
                "action": rng.choice(("exec", "open", "exec", "connect")),
                "path": f"/usr/{rng.choice(('bin', 'sbin'))}/{rng.choice(nouns(rng, 5))}",
                "sha256": hexadecimal(rng, 64),
                "signed": True,
            }
        )
    at = hop.at + timedelta(minutes=4)
    dropped: dict[str, object] = {"time": at.strftime(STAMP), "host": hop.host, "user": hop.account}
    found = {"action": "write", "path": hop.path, "sha256": hop.digest, "signed": False}
    lines.append({**dropped, **found})
    lines.sort(key=lambda line: str(line["time"]))
    return joined([json.dumps(line) for line in lines])


def network(rng: Random, told: Story) -> tuple[str, str]:
    """Name lookups and flows of the last host's network."""
    last = told.hops[-1]
    asked = [
        f"{at.strftime(STAMP)} client {inside(rng)} query {rng.choice(nouns(rng, 9))}.example "
        f"A {outside(rng)}"
        for at in moments(rng, START, 24, 160)
    ]
    flows = [
        f"{at.strftime(STAMP)},{inside(rng)},{outside(rng)},443,{rng.randrange(900, 90000)}"
        for at in moments(rng, START, 24, 220)
    ]
    parts = [told.sent // 12] * 11
    parts.append(told.sent - sum(parts))
    for number, size in enumerate(parts):
        at = last.at + timedelta(minutes=11 + 13 * number)
        stamp = at.strftime(STAMP)
        asked.append(f"{stamp} client {last.address} query {told.domain} A {told.resolved}")
        flows.append(f"{stamp},{last.address},{told.resolved},8443,{size}")
    header = "time,source,target,port,bytes"
    return joined(sorted(asked)), joined([header, *sorted(flows)])


def inventory(rng: Random, told: Story) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("host", "address", "tier", "owner", "rack", "service"))
    rows = [(hop.host, hop.address, hop.tier) for hop in told.hops]
    rows += [(f"node-{n:03d}", inside(rng), rng.choice((1, 2, 3))) for n in range(90)]
    rng.shuffle(rows)
    owners = people(rng, len(rows))
    for (host, address, tier), owner in zip(rows, owners, strict=True):
        writer.writerow(
            (host, address, tier, owner, f"r{rng.randrange(40)}", rng.choice(nouns(rng, 3)))
        )
    return out.getvalue()


def shift(rng: Random, told: Story) -> str:
    names = people(rng, 24)
    rows = [f"| {n:02d}:00 | {name} | desk {rng.randrange(1, 9)} |" for n, name in enumerate(names)]
    table = joined(["| hour | analyst | place |", "|---|---|---|", *rows])
    return f"# Shift of the day\n\nReport contact: {told.contact}\n\n{table}"
