"""What is checked of an attack, from outside: what reached the upstream, and what is stored."""

from __future__ import annotations

import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from types import MappingProxyType
from typing import Any

from statecomp.ledger.open import open_ledger
from statecomp.testing.provider.app import ScriptedUpstream
from tests.attack.traffic import SECRETS, named

NAME = "x-attack-request"
LOG = ("commits", "claims", "sent", "held", "refused")


@dataclass
class Watch:
    """Every request that reached the upstream; one that went out twice must be the same bytes."""

    upstream: ScriptedUpstream
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    _went_out: dict[str, str] = field(default_factory=dict)

    def look(self, said: Mapping[str, int] = MappingProxyType({})) -> None:
        """Take what arrived since the last look; nothing that the workers `said` excuses a change.

        It helps to find out why.
        """
        news = {what: times for what in said if (times := said[what] - self.said[what])}
        self.said.update(news)
        while self.upstream.received:
            received = self.upstream.received.popleft()
            if received.refusal:
                self.faults.append(f"invalid: {received.refusal}")
            if not (name := received.headers.get(NAME, "")):
                continue
            self.counts["requests"] += 1
            self.counts["rewritten"] += name != named(received.raw)
            sent = named(received.raw)
            if name in self._went_out:
                self.counts["sent again"] += 1
                if self._went_out[name] != sent:
                    first, now = (
                        "as it came" if one == name else "rewritten"
                        for one in (self._went_out[name], sent)
                    )
                    told = f"went out with other bytes, first {first}, now {now}"
                    self.faults.append(f"changed: {name} {told}; said in this round: {news}")
            self._went_out.setdefault(name, sent)


def stored(url: str) -> Iterator[str]:
    """Every value in a store, unpacked."""
    ledger = open_ledger(url, mask=lambda message, known: message)
    tables = (*LOG, "sessions", "requests", "entries", "regrets", "pages", "page_uses")
    rows = ledger._database.look(
        lambda c: [row for table in tables for row in c.execute(f"SELECT * FROM {table}")]
    )
    for value in (value for row in rows for value in row):
        if isinstance(value, bytes | memoryview):
            yield zlib.decompress(bytes(value)).decode("utf-8", "replace")
        else:
            yield str(value)
    ledger.close()


def secrets_in(url: str) -> list[str]:
    whole = "\n".join(stored(url))
    return [secret for secret in SECRETS if secret in whole or json.dumps(secret)[1:-1] in whole]


def resident_mb(pid: int) -> float:
    """Of a process and those that it started."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        tasks = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return 0.0
    found = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    mine = int(found[0].split()[1]) / 1024 if found else 0.0
    return mine + sum(resident_mb(int(child)) for task in tasks for child in task.split())


def processor_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def p99_ms(seconds: Sequence[float]) -> float:
    return round(quantiles(seconds, n=100)[98] * 1000, 1) if len(seconds) > 1 else 0.0


def page(title: str, ran: dict[str, Any], faults: Sequence[str]) -> str:
    """One page of results."""
    rows = "".join(f"| {name} | {value} |\n" for name, value in ran.items())
    found = "".join(f"- {fault}\n" for fault in faults) or "Nothing was found.\n"
    return f"# {title}\n\n| | |\n|---|---|\n{rows}\n{found}"
