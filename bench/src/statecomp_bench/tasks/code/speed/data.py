"""Components with their costs by batch size, and logs of their nights; all invented."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import median

from statecomp_bench.tasks.invented import joined, nouns, people

SIZES = (16, 32, 64, 128)
ITEMS, NIGHTS = 4096, 70


@dataclass(frozen=True)
class Component:
    name: str
    load: dict[str, int]
    ceiling: int
    kind: str
    batch: int
    nights: tuple[int, ...]

    def cost(self, size: int) -> int:
        spill = max(0, size - self.load["knee"]) ** 2 * self.load["spill"]
        return ITEMS // size * self.load["setup"] + ITEMS * self.load["item"] + spill

    def peak(self, size: int) -> int:
        return self.load["rest"] + size * self.load["each"]

    @property
    def baseline(self) -> int:
        return int(median(self.nights[-7:]))

    @property
    def chosen(self) -> int:
        usable = self.ceiling * (0.8 if self.kind == "interactive" else 1)
        best = min((s for s in SIZES if self.peak(s) <= usable), key=self.cost)
        return best if self.cost(best) <= self.baseline * 0.95 else self.batch

    @property
    def row(self) -> tuple[str, ...]:
        cost = self.cost(self.chosen)
        gain = f"{(self.baseline - cost) / self.baseline * 100:.1f}"
        changed = "no" if self.chosen == self.batch else "yes"
        return self.name, str(self.chosen), str(self.baseline), str(cost), gain, changed

    @property
    def report(self) -> dict[str, object]:
        size = self.chosen
        changed = size != self.batch
        return {
            "batch": size,
            "baseline": self.baseline,
            "cost": self.cost(size),
            "changed": changed,
        }


def component(rng: Random, name: str, kind: str) -> Component:
    load = {
        "items": ITEMS,
        "most": 200,
        "setup": rng.randrange(150, 900),
        "item": rng.randrange(4, 15),
        "knee": rng.choice((24, 48, 80)),
        "spill": rng.randrange(2, 12),
        "rest": rng.randrange(50, 300),
        "each": rng.randrange(3, 9),
    }
    plain = Component(name, load, 0, kind, rng.choice(SIZES), ())
    # Room for some of the sizes only; who forgets the share of people takes one too many.
    room = plain.peak(rng.choice(SIZES[1:])) + rng.randrange(5, 40)
    ceiling = int(room / 0.8) if kind == "interactive" else room
    usual = plain.cost(plain.batch)
    nights = [int(usual * rng.uniform(0.97, 1.03)) for _ in range(NIGHTS)]
    nights[-1] = int(usual * rng.uniform(1.15, 1.4))
    return Component(name, load, ceiling, kind, plain.batch, tuple(nights))


def components(rng: Random, level: int) -> list[Component]:
    names = sorted(nouns(rng, 5 + level))
    return [component(rng, n, ("batch", "interactive")[k % 2]) for k, n in enumerate(names)]


def nightly(rng: Random, made: Component) -> str:
    return joined(
        [
            f"night {night:3d} {made.name} on node-{rng.randrange(4, 30):02d} batch {made.batch} "
            f"cost {cost} watched by {people(rng, 1)[0]}"
            for night, cost in enumerate(made.nights, 1)
        ]
    )


def settings(made: Component, line: str) -> str:
    return f'# Settings of {made.name}\n{line}\nretries = 3\nspool = "{made.name}"\n'
