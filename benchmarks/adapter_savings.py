"""What an adapter saves with its defaults: a coding session of a LangChain agent, twice.

    python benchmarks/adapter_savings.py --steps 44

The session and the dollars are those of `real_clients.py`; there is no proxy in between.  It is a
simulation: no language model is run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clients.launching import Errand, Launch, framework
from benchmarks.clients.running import Outcome, Wish, run

CLIENT = "langchain"
NEEDED = ("numpy", "safetensors")
"""What the shipped router needs; lent to the framework's environment from this one."""


def lent(folder: Path) -> str:
    """A path with statecomp and what it needs, and nothing else of this environment."""
    for name in NEEDED:
        found = find_spec(name)
        place = Path(str(found.origin if found else "")).parent
        for one in (place, place.with_name(f"{name}.libs")):
            if one.exists():
                (folder / one.name).symlink_to(one)
    ours = find_spec("statecomp")
    return f"{Path(str(ours.origin if ours else '')).parents[1]}:{folder}"


def adapted(steps: int) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        path = lent(Path(folder))

        def launch(errand: Errand) -> Launch:
            made = framework(CLIENT, "langchain_agent.py", "adapted")(errand)
            return replace(made, env={**made.env, "PYTHONPATH": path})

        return run(Wish(CLIENT, steps), launcher=launch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=52)
    steps = parser.parse_args().steps
    plain, shorter = run(Wish(CLIENT, steps)), adapted(steps)
    tokens = shorter.tokens / plain.tokens - 1
    dollars = shorter.dollars() / plain.dollars() - 1
    print(f"{len(plain.requests)} and {len(shorter.requests)} requests, {plain.tokens:,} tokens")
    print(f"tokens {tokens:+.1%}, dollars {dollars:+.1%}; both ended: {plain.ended, shorter.ended}")
    print(f"refused {len(shorter.provider.refusals)}")
    print((shorter.errors.strip().splitlines() or ["nothing was said"])[-1])


if __name__ == "__main__":
    main()
