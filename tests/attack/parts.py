"""A long attack in parts: each adds a line to a file, and those of one state of the code add up.

python -m tests.attack.parts build/attack.jsonl
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.attack.watch import page

ROOT = Path(__file__).parents[2]
NOT_COMMITTED = "+ what is not committed"


def state_of_the_code() -> str:
    """The commit; what runs must be what it names."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    commit = git("rev-parse", "--short", "HEAD") or "no commit"
    changed = git("status", "--porcelain", "--", "src", "tests")
    return f"{commit} {NOT_COMMITTED}" if changed else commit


def add(file: Path | None, attack: str, seed: int, ran: Mapping[str, Any], faults: Any) -> None:
    if file is None:
        return
    line = {"attack": attack, "code": state_of_the_code(), "seed": seed, "ran": ran}
    with file.open("a") as lines:
        lines.write(json.dumps({**line, "faults": list(faults)}) + "\n")


def added_up(lines: Sequence[Mapping[str, Any]]) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """By attack, store and state of the code; a seed that ran twice counts once, the first time."""
    totals: dict[str, tuple[Counter[str], list[str], list[int]]] = {}
    for line in lines:
        name = " ".join(filter(None, (line["attack"], line["ran"].get("store"), line["code"])))
        counts, faults, seeds = totals.setdefault(name, (Counter(), [], []))
        if line["seed"] in seeds:
            continue
        seeds.append(line["seed"])
        numbers = {k: v for k, v in line["ran"].items() if isinstance(v, int | float)}
        counts.update({k: v for k, v in numbers.items() if k != "workers"})
        faults += line["faults"]
    return {name: ({"parts": len(s), **c}, f) for name, (c, f, s) in totals.items()}


def main() -> int:
    lines = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    found = added_up(lines)
    sys.stdout.write("\n".join(page(name, *one) for name, one in found.items()))
    return 1 if any(faults for _, faults in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
