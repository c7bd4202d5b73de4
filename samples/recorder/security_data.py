"""The security workspace: logs of one host with an intrusion in them, all invented.

Addresses are of the ranges kept for documentation and the quarantined file is harmless text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

START = datetime(2024, 5, 14)
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64) Firefox/125.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_4) Safari/605.1",
    "Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/124.0",
)
ODD_AGENT = "sync-client/2.19 (build 8841)"
PAGES = (
    "/",
    "/catalog",
    "/catalog?page=2",
    "/cart",
    "/login",
    "/static/site.css",
    "/static/app.js",
)
PROBES = ("/.env", "/admin/", "/backup.zip", "/phpinfo.php", "/uploads/", "/server-status")
USERS = ("root", "admin", "deploy", "report", "svc-backup", "svc-index", "mlindner", "tkovac")


@dataclass(frozen=True)
class Truth:
    """What happened, as the generator knows it."""

    account: str
    guesser: str
    second: str
    cron: str
    file: str
    host: str
    resolved: str
    key: str
    content: str
    internal: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    at: datetime
    text: str


def fingerprint(rng: random.Random) -> str:
    return f"SHA256:{base64.b64encode(rng.randbytes(24)).decode()}"


def truth() -> Truth:
    rng = random.Random(8841)
    name = f"cache_{rng.randrange(16**6):06x}.dat"
    config = {
        "host": "telemetry-cdn.example",
        "port": 8443,
        "interval": 900,
        "campaign": f"k{rng.randrange(10_000):04d}",
        "paths": ["/srv/shop/config", "/srv/shop/export"],
        "note": "synthetic sample, does nothing",
    }
    mask = 0x5A
    packed = base64.b64encode(bytes(b ^ mask for b in json.dumps(config).encode())).decode()
    lines = "\n".join(packed[i : i + 64] for i in range(0, len(packed), 64))
    return Truth(
        account="svc-backup",
        guesser=f"198.51.100.{rng.randrange(20, 240)}",
        second=f"192.0.2.{rng.randrange(20, 240)}",
        cron="php-session-gc",
        file=name,
        host=str(config["host"]),
        resolved=f"203.0.113.{rng.randrange(20, 240)}",
        key=fingerprint(rng),
        content=f"GIF89a;cachev2;k={mask:02x}\n{lines}\n--end--\n",
        internal=("10.20.4.17", "10.20.4.31"),
    )


def moment(day: int, hour: int, minute: int, second: int = 0) -> datetime:
    return START + timedelta(days=day, hours=hour, minutes=minute, seconds=second)


def auth_noise(rng: random.Random) -> list[Entry]:
    entries = []
    for _ in range(190):
        at = START + timedelta(seconds=rng.randrange(3 * 86_400))
        pid, port = rng.randrange(2_000, 32_000), rng.randrange(30_000, 65_000)
        user = rng.choice(USERS)
        kind = rng.randrange(4)
        scanner = f"203.0.113.{rng.randrange(1, 19)}"
        inside = f"10.20.1.{rng.randrange(10, 60)}"
        text = (
            f"sshd[{pid}]: Failed password for invalid user {user}x from {scanner} port {port} ssh2"
        )
        if kind == 0:
            text = f"sshd[{pid}]: Accepted publickey for {user} from {inside} port {port} ssh2"
        elif kind == 1:
            text = f"CRON[{pid}]: pam_unix(cron:session): session opened for user report"
        entries.append(Entry(at, text))
    return entries


def auth_attack(known: Truth, rng: random.Random) -> list[Entry]:
    entries = []
    for number in range(46):
        at = moment(1, 2, 11) + timedelta(seconds=17 * number)
        port = rng.randrange(30_000, 65_000)
        line = f"Failed password for {known.account} from {known.guesser} port {port} ssh2"
        if number % 15 == 14:
            line = f"message repeated 3 times: [ {line}]"
        entries.append(Entry(at, f"sshd[{9_100 + number}]: {line}"))
    user, source = known.account, known.guesser
    sudo = f"sudo:   {user} : TTY=pts/1 ; PWD=/tmp ; USER=root ; COMMAND="
    entries += [
        Entry(
            moment(1, 2, 25, 40),
            f"sshd[9161]: Accepted password for {user} from {source} port 40112 ssh2",
        ),
        Entry(moment(1, 2, 27, 3), f"{sudo}/usr/bin/tee /etc/cron.d/{known.cron}"),
        Entry(moment(1, 2, 28, 30), f"{sudo}/usr/bin/tee -a /home/{user}/.ssh/authorized_keys"),
        Entry(moment(1, 2, 31, 12), f"sshd[9161]: session closed for user {user}"),
        Entry(
            moment(2, 4, 2, 55),
            f"sshd[11873]: Accepted publickey for {user} from {known.second} port 51990 ssh2: "
            f"ED25519 {known.key}",
        ),
        Entry(moment(2, 4, 9, 21), f"{sudo}/usr/bin/tar czf /tmp/.x.tgz /srv/shop/export"),
    ]
    return entries


def request(source: str, at: datetime, line: str, status: int, size: int, agent: str) -> Entry:
    stamp = at.strftime("%d/%b/%Y:%H:%M:%S +0000")
    return Entry(at, f'{source} - - [{stamp}] "{line} HTTP/1.1" {status} {size} "-" "{agent}"')


def web(known: Truth, rng: random.Random) -> list[Entry]:
    entries = []
    for _ in range(420):
        at = START + timedelta(seconds=rng.randrange(3 * 86_400))
        source = f"203.0.113.{rng.randrange(1, 250)}"
        status, size = rng.choice((200, 200, 200, 304, 404)), rng.randrange(180, 42_000)
        page, agent = rng.choice(PAGES), rng.choice(AGENTS)
        entries.append(request(source, at, f"GET {page}", status, size, agent))
    for number, probe in enumerate(PROBES * 3):
        at = moment(1, 1, 40) + timedelta(seconds=9 * number)
        status = 200 if probe == "/uploads/" else 404
        entries.append(request(known.guesser, at, f"GET {probe}", status, 312, ODD_AGENT))
    upload = request(
        known.guesser, moment(1, 2, 30, 2), "POST /uploads/import.php", 200, 57, ODD_AGENT
    )
    entries.append(upload)
    for number in range(14):
        at = moment(1, 3, 0) + timedelta(minutes=97 * number)
        line = f"GET /uploads/{known.file}"
        entries.append(request(known.second, at, line, 200, len(known.content), ODD_AGENT))
    return entries


def network(known: Truth, rng: random.Random) -> tuple[list[Entry], list[Entry]]:
    """Name lookups and flows; only some of them concern the intrusion."""
    names, flows = [], []
    for number in range(130):
        at = START + timedelta(seconds=rng.randrange(3 * 86_400))
        source, target = f"10.20.4.{rng.randrange(11, 40)}", f"203.0.113.{rng.randrange(1, 19)}"
        names.append(Entry(at, f"query {source} mirror{number % 7}.example A {target}"))
        flows.append(Entry(at, f"{source},{target},443,{rng.randrange(900, 90_000)}"))
    for number in range(22):
        at = moment(1, 3, 0) + timedelta(minutes=61 * number)
        source = known.internal[number % 5 == 4]
        names.append(Entry(at, f"query {source} {known.host} A {known.resolved}"))
        size = rng.randrange(200_000, 4_000_000)
        flows.append(Entry(at, f"{source},{known.resolved},8443,{size}"))
    return names, flows


def joined(entries: list[Entry], prefix: str = "", stamp: str = "") -> str:
    ordered = sorted(entries, key=lambda entry: (entry.at, entry.text))
    return "".join(f"{e.at.strftime(stamp)}{prefix}{e.text}\n" for e in ordered)


def inventory(known: Truth, rng: random.Random) -> dict[str, str]:
    keys = "".join(f"{user},{fingerprint(rng)},CHG-{rng.randrange(2000, 4000)}\n" for user in USERS)
    roles = ("app", "db", "cache", "build", "report")
    hosts = "".join(
        f"10.20.4.{n},{roles[(n - 17) % 5]}-{n - 10:02d},{rng.choice(USERS)}\n"
        for n in range(11, 40)
    )
    own = next(line for line in keys.splitlines() if line.startswith(known.account))
    return {
        "inventory/keys.csv": f"account,fingerprint,change\n{keys}",
        "inventory/hosts.csv": f"address,name,owner\n{hosts}",
        f"etc/authorized_keys/{known.account}": (
            f"ED25519 {own.split(',')[1]} backup@vault-02\nED25519 {known.key} ops@localhost\n"
        ),
        "etc/sudoers.d/services": (
            "report ALL=(root) NOPASSWD: /usr/sbin/postqueue\n"
            f"{known.account} ALL=(ALL) NOPASSWD: ALL\n"
        ),
        f"etc/cron.d/{known.cron}": (
            f"*/15 * * * * root /usr/bin/php /srv/shop/public/uploads/{known.file}\n"
        ),
        f"quarantine/{known.file}": known.content,
    }


def flow_total(known: Truth) -> int:
    """Bytes that went to the resolved address."""
    _, flows = network(known, random.Random(52))
    return sum(int(e.text.split(",")[3]) for e in flows if f",{known.resolved}," in e.text)


def digest(known: Truth) -> str:
    return hashlib.sha256(known.content.encode()).hexdigest()


def generate(root: Path) -> None:
    known = truth()
    rng = random.Random(51)
    names, flows = network(known, random.Random(52))
    files = inventory(known, rng)
    auth = auth_noise(rng) + auth_attack(known, rng)
    files["logs/auth.log"] = joined(auth, " app-07 ", "%Y-%m-%dT%H:%M:%SZ")
    files["logs/access.log"] = joined(web(known, rng))
    files["logs/dns.log"] = joined(names, " ", "%Y-%m-%dT%H:%M:%SZ")
    files["logs/netflow.csv"] = "time,source,target,port,bytes\n" + joined(
        flows, ",", "%Y-%m-%dT%H:%M:%SZ"
    )
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
