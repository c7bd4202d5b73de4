"""A process that writes into a ledger until it is stopped: STORE NAME START STOP [LIMIT].

It says each number once its transaction is in, with the text that now stands there.  LIMIT is the
size a file may have, in bytes, as on a disk that fills up.
"""

from __future__ import annotations

import resource
import sys

from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit
from statecomp.ledger.open import open_ledger
from tests.ledger.samples import entry, masked, request, session

SIZE = 3


def written(number: int, name: str) -> list[Commit]:
    """The transaction of one number; big enough to need several pages."""
    at = f"state {number}"
    return [
        Commit(
            f"{number}-{place}",
            at,
            (f"{number}/{place}",),
            place,
            place,
            f"{name} {at} " * 300,
            9,
            3,
        )
        for place in range(SIZE)
    ]


def main(store: str, name: str, start: str, stop: str, limit: str = "") -> None:
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    ledger = open_ledger(store, mask=masked)
    log = ledger.commits("t")
    for number in range(int(start), int(stop)):
        commits = written(number, name)
        try:
            standing = log.append(f"state {number}", commits)
            say(number, standing[0].text.split()[0])
            messages = [{"role": "user", "content": f"{name} {n}"} for n in range(number)]
            told = [entry(commit, name) for commit in standing]
            ledger.record(session(name), request(name, number + 1), told, messages=messages)
        except LedgerFailed as failed:
            say("failed", failed)
            say("still", len(log.find([f"state {n}" for n in range(int(stop))])))
            return


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
