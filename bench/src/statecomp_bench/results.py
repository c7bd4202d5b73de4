"""What a bench run leaves behind: one `Result` a run, one JSON object a line, append-only.

A results folder holds

    results.jsonl                      one `Result` a line; later lines win over earlier ones
    trajectories/KEY.jsonl.gz          the raw messages of each run, readable by `statecomp replay`

Tokens follow appendix F.1: `input` and `output` are the agent's, `side_*` those of auxiliary calls,
`total` their sum; `cached` is part of `input` and never added again.  `raw_input` is what the very
same requests would have cost uncompressed: 1 - input / raw_input is the direct saving, and
raw_input against the `input` of the run without compression is the change of path.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from statecomp.errors import BadInput

RESULTS = "results.jsonl"
TRAJECTORIES = "trajectories"

Key: TypeAlias = tuple[str, str, int, str, int]


@dataclass(frozen=True)
class Result:
    """One run of one task under one strategy.

    `failed` runs have reward 0 and say why in `reason`; a run that was ended by the step limit is
    scored as it stands, with that reason.  Lists have one entry a request, in order.
    """

    task: str
    domain: str
    strategy: str  # the spec as given, e.g. "window:keep=5"
    seed: int
    model: str  # "scripted", "scripted:hasty", "openai:NAME"
    level: int
    reward: float  # 0..1
    parts: Mapping[str, float]  # what the checker looked for, each 0..1
    steps: int  # requests to the acting model
    input: int
    cached: int
    output: int
    side_input: int = 0
    side_output: int = 0
    side_calls: int = 0
    raw_input: int = 0
    dollars: float = 0.0  # with prompt caching, side calls included
    prices: str = ""  # whose list prices, and of which day
    damage: int = 0  # tokens an earlier request had sent that had to be read anew
    rewrites: int = 0  # requests that changed what the one before had sent
    commits: int = 0
    refusals: int = 0
    failed: bool = False
    reason: str = ""  # empty: the agent ended the run itself
    simulated: bool = False  # a scripted acting model: every table must say so
    protection: str = ""  # what kept the tools away from the user's files
    seconds: float = 0.0  # wall clock, tools included
    tokens: tuple[int, ...] = ()  # input of each request
    raw_tokens: tuple[int, ...] = ()  # the same, uncompressed
    # Share of the raw history in front of the first changed segment; None: nothing was changed.
    first_changes: tuple[float | None, ...] = ()
    # Counts of tool calls: calls, repeated, refused, of the strategy.
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.task, self.strategy, self.seed, self.model, self.level

    @property
    def side(self) -> int:
        return self.side_input + self.side_output

    @property
    def total(self) -> int:
        """T_total of appendix F.1."""
        return self.input + self.output + self.side

    @property
    def direct_saving(self) -> float:
        """Share of the input that this run's own requests were spared; side calls not counted."""
        return 1 - self.input / self.raw_input if self.raw_input else 0.0


def append_result(folder: Path, result: Result) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS
    # A line torn by a kill must not swallow the one after it.
    torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(asdict(result)) + "\n")


def read_results(folder: Path) -> list[Result]:
    """Every run once, as it was last recorded, in the order of first appearance."""
    found: dict[Key, Result] = {}
    for outcome in iter_results(folder / RESULTS):
        if isinstance(outcome, Result):
            found[outcome.key] = outcome
    return list(found.values())


def iter_results(path: Path) -> Iterator[Result | BadInput]:
    """Each line: a result, or what is wrong with it (a run that was killed leaves half a line)."""
    try:
        lines: Iterable[str] = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield result_of(json.loads(line))
        except (ValueError, TypeError, BadInput) as error:
            yield BadInput(f"is no result: {error}", file=str(path), line=number)


def result_of(record: Any) -> Result:
    """A record read strictly: unknown and missing fields are errors."""
    if not isinstance(record, dict):
        raise BadInput("is not a JSON object")
    known = {f.name for f in fields(Result)}
    if unknown := record.keys() - known:
        raise BadInput(f"has unknown fields: {', '.join(sorted(unknown))}")
    lists = {
        name: tuple(record[name])
        for name in ("tokens", "raw_tokens", "first_changes")
        if name in record
    }
    return Result(**{**record, **lists})
