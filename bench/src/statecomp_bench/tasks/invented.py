"""Invented people, machines and times for workspaces; every function draws from the given rng.

Addresses are of the ranges kept for documentation, domains end in .example.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

FIRST = (  # noqa: SIM905
    "Ada Bruno Carla Dario Edda Falk Greta Hugo Ines Jonas Kaja Luis Mira Nils Olga Pavel Rosa "
    "Sven Tilda Ugo Vera Wanda Yann Zora"
).split()
LAST = (  # noqa: SIM905
    "Albrecht Bergmann Castell Dorn Eklund Ferro Grau Hollis Ivers Juhl Keller Lund Moreau Novak "
    "Ostrom Petri Quist Roth Stein Thorn Ulrich Vidal Weiss Zander"
).split()
NOUNS = (  # noqa: SIM905
    "parcel ledger harbour cedar basalt lantern compass meadow orchid falcon granite willow ember "
    "saddle timber copper marble river anchor beacon cobalt drift flint grove hazel iris juniper"
).split()


def person(rng: Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def people(rng: Random, count: int) -> list[str]:
    every = [f"{first} {last}" for first in FIRST for last in LAST]
    return rng.sample(every, count)


def nouns(rng: Random, count: int) -> list[str]:
    return rng.sample(NOUNS, count)


def inside(rng: Random) -> str:
    return f"10.{rng.randrange(16, 32)}.{rng.randrange(256)}.{rng.randrange(2, 250)}"


def outside(rng: Random) -> str:
    return f"{rng.choice(('192.0.2', '198.51.100', '203.0.113'))}.{rng.randrange(2, 250)}"


def hexadecimal(rng: Random, digits: int) -> str:
    return f"{rng.randrange(16**digits):0{digits}x}"


def moments(rng: Random, start: datetime, hours: float, count: int) -> list[datetime]:
    """Times in order, to the second."""
    seconds = sorted(rng.randrange(int(hours * 3600)) for _ in range(count))
    return [start + timedelta(seconds=s) for s in seconds]


def joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
