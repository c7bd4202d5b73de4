"""The twelve sessions: three or four tasks of several domains, and short requests between."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from random import Random

from statecomp.errors import BadInput
from statecomp_bench.sessions.notes import GIVEN, Memory, chosen, correction, memories, note
from statecomp_bench.sessions.session import Errand, WorkSession
from statecomp_bench.task import LEVELS, Case
from statecomp_bench.tasks import task_named

MIXED = "Mixed"
GREETINGS = (
    "Good morning! Here is the first thing for today.",
    "Thank you. Next, something quite different.",
    "Good. I have one more of that size.",
    "Thanks. And the last big one for today.",
)
IN_BETWEEN = "Before you go on, a short note about what you did first."
MISTAKE = "Sorry, I have to take something back."
EVENING = "All done for today, so the note for Greta, who takes over tomorrow."
# What is asked about the first task between, and about each task in the evening.
ASKED, IN_THE_EVENING = 5, 3


@dataclass(frozen=True)
class BookEntry:
    """One of the book: tasks in their order."""

    id: str
    tasks: tuple[str, ...]

    @property
    def title(self) -> str:
        return ", ".join(self.tasks)

    def session(self, seed: int = 0, level: int = 1) -> WorkSession:
        if level not in LEVELS:
            raise BadInput(f"must be one of {', '.join(map(str, LEVELS))}", field="level")
        return _session(self, seed, level)


BOOK = tuple(
    BookEntry(f"session-{name}", tasks)
    for name, tasks in {
        "orders": ("office-approvals", "code-release", "web-offers"),
        "keys": ("security-keys", "web-newsletter", "office-payroll"),
        "deploys": ("code-deploy", "office-travel", "security-timeline", "web-events"),
        "desk": ("office-tickets", "security-hardening", "code-schema"),
        "rooms": ("web-bookings", "code-flags", "office-stocktake", "security-secrets"),
        "sensors": ("security-alerts", "office-budget", "web-translation"),
        "mirrors": ("code-mirrors", "office-tickets", "web-brochure"),
        "table": ("office-vouchers", "web-captions", "security-keys", "code-catalogs"),
        "offers": ("web-offers", "security-backups", "code-notices"),
        "samples": ("security-lookups", "code-audit", "office-contracts", "web-bookings"),
        "services": ("code-deploy", "security-samples", "office-survey"),
        "forms": ("office-approvals", "web-forms", "security-alerts"),
    }.items()
)


def sessions_like(patterns: tuple[str, ...] = ()) -> tuple[BookEntry, ...]:
    """Entries whose id matches one of the patterns; all of them for none."""
    wanted = patterns or ("*",)
    found = tuple(entry for entry in BOOK if any(fnmatch(entry.id, p) for p in wanted))
    if not found:
        raise BadInput(f"no session is like {', '.join(patterns)}; see `statecomp-bench tasks`")
    return found


def session_named(name: str) -> BookEntry:
    return next(entry for entry in BOOK if entry.id == name)


def _session(entry: BookEntry, seed: int, level: int) -> WorkSession:
    """Two tasks, a note about the first, a task, a correction, perhaps a task, the evening."""
    rng = Random(f"{entry.id}/{seed}/{level}")
    cases = [task_named(name).case(seed, level) for name in entry.tasks]
    first, second = (f"{rng.choice('HKMX')}{rng.choice('BDRT')}-{n}" for n in
                     rng.sample(range(10, 99), 2))  # fmt: skip
    known = [_known(number, cases) for number in range(len(cases))]
    asked = chosen(rng, known[0], ASKED)
    *asked, right = asked
    wrong = rng.choice(asked)
    evening = _evening(rng, known, {m.fact.name for m in (*asked, right)})
    put_right, corrected = correction("first", asked, (wrong, right), second)
    big = [partial(Errand, name, case=case) for name, case in zip(entry.tasks, cases, strict=True)]
    errands = [
        big[0](f"{GREETINGS[0]} One thing for all of the day: {GIVEN.format(ref=first)}"),
        big[1](GREETINGS[1]),
        Errand("note", IN_BETWEEN, note("first", asked, first, {}), looks_back=True),
        big[2](GREETINGS[2]),
        Errand("correction", MISTAKE, put_right, looks_back=True),
        *(make(GREETINGS[3]) for make in big[3:]),
        Errand("evening", EVENING, note("evening", evening, second, {"notes/first.md": corrected}),
               looks_back=True),
    ]  # fmt: skip
    return WorkSession(entry.id, tuple(errands))


def _known(number: int, cases: list[Case]) -> list[Memory]:
    others = [case for place, case in enumerate(cases) if place != number]
    return [*memories(number, cases[number], others)]


def _evening(rng: Random, known: list[list[Memory]], before: set[str]) -> list[Memory]:
    """Some of each task that was not asked for before, and can be told apart."""
    picked: list[Memory] = []
    for group in known:
        fresh = [memory for memory in group if memory.fact.name not in before]
        picked += chosen(rng, fresh, IN_THE_EVENING, picked)
    return picked
