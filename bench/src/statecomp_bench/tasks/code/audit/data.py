"""Services with lock files, and advisories on some of what they require; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from statecomp_bench.tasks.invented import NOUNS, hexadecimal, joined, nouns, people

DUE = {"critical": 3, "high": 20, "medium": 45, "low": 120}


@dataclass(frozen=True)
class Advisory:
    package: str
    number: str
    fixed: str
    severity: str

    @property
    def key(self) -> str:
        return self.package.replace("-", "_")


@dataclass(frozen=True)
class Need:
    """A package with an advisory, as one service requires it."""

    service: str
    advisory: Advisory
    version: str
    developers: bool
    waived: date | None

    def found(self, today: date) -> bool:
        waived = self.waived is not None and self.waived >= today
        silent = waived or (self.developers and self.advisory.severity != "critical")
        return not silent and numbers(self.version) < numbers(self.advisory.fixed)

    def finding(self, today: date) -> dict[str, object]:
        return {
            "package": self.advisory.package,
            "version": self.version,
            "fixed": self.advisory.fixed,
            "advisory": self.advisory.number,
            "due": str(today + timedelta(days=DUE[self.advisory.severity])),
        }


def numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


@dataclass(frozen=True)
class Estate:
    today: date
    services: tuple[str, ...]
    advisories: tuple[Advisory, ...]
    needs: tuple[Need, ...]

    def of(self, service: str) -> list[Need]:
        return [need for need in self.needs if need.service == service]

    def findings(self, service: str) -> list[dict[str, object]]:
        hits = (need.finding(self.today) for need in self.of(service) if need.found(self.today))
        return sorted(hits, key=lambda finding: str(finding["package"]))


def estate(rng: Random, level: int) -> Estate:
    today = date(2031, 10, 1) + timedelta(days=rng.randrange(60))
    severities = ["critical", "high", "high", "medium", "low", "medium", "high", "low"]
    advisories = tuple(
        Advisory(
            f"{noun}-{rng.choice(('codec', 'store', 'http', 'auth', 'queue'))}",
            f"ADV-{rng.choice('XYZ')}{rng.randrange(1000, 9999)}",
            f"{rng.randrange(1, 6)}.{rng.randrange(10, 15)}.{rng.randrange(0, 20)}",
            severity,
        )
        for noun, severity in zip(nouns(rng, 6 + level), severities, strict=False)
    )
    services = tuple(f"{noun}-api" for noun in sorted(nouns(rng, 8 + 2 * level)))
    waived = dict(enumerate(rng.sample((-40, -3, 12, 90), 4)))
    needs = []
    for place, service in enumerate(services):
        for number, advisory in enumerate(rng.sample(advisories, 4)):
            major, minor, _ = numbers(advisory.fixed)
            lower = minor - rng.randrange(1, 6) if rng.random() < 0.7 else minor + 1
            days = waived.get(place) if number == 0 else None
            needs.append(
                Need(
                    service,
                    advisory,
                    f"{major}.{lower}.{rng.randrange(0, 30)}",
                    number != 0 and rng.random() < 0.3,
                    None if days is None else today + timedelta(days=days),
                )
            )
    return Estate(today, services, advisories, tuple(needs))


def lock(rng: Random, made: Estate, service: str) -> str:
    lines = [
        f"{service} requires {n.advisory.package}=={n.version} ({'dev' if n.developers else 'run'})"
        for n in made.of(service)
    ]
    for noun in NOUNS * 2:
        version = f"{rng.randrange(0, 9)}.{rng.randrange(0, 14)}.{rng.randrange(0, 30)}"
        kind = rng.choice(("tools", "base", "view", "sync", "maps"))
        lines.append(f"{service} requires {noun}-{kind}=={version} ({rng.choice(('run', 'dev'))})")
    lines = [f"{line} sha256 {hexadecimal(rng, 24)}" for line in lines]
    rng.shuffle(lines)
    return f"# Written by the build; do not edit.\n{joined(lines)}"


def notice(rng: Random, advisory: Advisory) -> str:
    history = "".join(
        f"- {version}.{rng.randrange(9)}: {who} looked at the {noun} path and found it "
        f"{rng.choice(('clean', 'untested', 'slow', 'in need of an owner'))}.\n"
        for version, (who, noun) in enumerate(zip(people(rng, 18), nouns(rng, 18), strict=True))
    )
    return (
        f"# Advisory {advisory.number}\n\nInput of a stranger is trusted for longer than it should "
        f"be. There is no workaround; upgrade.\n\n- Number for {advisory.package}: "
        f"{advisory.number}\n- Severity for {advisory.package}: {advisory.severity}\n"
        f"- Fixed in {advisory.package} {advisory.fixed}\n\n## What was looked at\n\n{history}"
    )
