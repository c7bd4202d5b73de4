"""Does an extract call a step failed that succeeded?

All recorded runs.  Where an answer states its exit status or its flag, that decides; the words of
the answer decide where neither exists.  Prints how many answers there are of each sort, and how
good the words would have been where the status is known: it is hidden from them and compared.
"""

from __future__ import annotations

import sys
from collections import Counter

from benchmarks.must_keep_recall import RUNS
from statecomp.errors import BadInput
from statecomp.records.extracting.ending import reads_failed
from statecomp.records.extracting.units import parts_of
from statecomp.traces.jsonl import read_runs
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named


def main() -> int:
    if not RUNS.exists():
        print(f"Skipped: the recorded runs are not here ({RUNS}).")
        return 0
    found: Counter[tuple[bool | None, bool]] = Counter()
    for run in read_runs(RUNS):
        if isinstance(run, BadInput):
            continue
        for member in parse(run.messages, wire_named(run.protocol)).interactions:
            for payload in parts_of(member).payloads:
                text = payload.text or str(payload.body)
                found[payload.ended, reads_failed(text)] += 1
    known = {ended: found[ended, True] + found[ended, False] for ended in (True, False, None)}
    print(f"{known[True]} answers say that they went well, {known[False]} that they did not,")
    print(f"{known[None]} say nothing; the words of {found[None, True]} of these are an error's.")
    print(f"Words alone would call {found[True, True]} of {known[True]} good ones failed,")
    print(f"and would miss {found[False, False]} of {known[False]} that failed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
