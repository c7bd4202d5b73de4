"""Stories as mail threads, plans of editions, and a late mail."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.web.pages import prose

EDITIONS = ("morning", "evening", "weekend")
SLOTS = (1, 2, 3, 4)
WEIGH = """import pathlib, sys
heavy = 0
for path in sorted(pathlib.Path('mail').rglob('*.html')):
    size = len(path.read_bytes())
    heavy += path.parent.name == 'blocks' and size > 640
    print(f'{path}: {size} bytes')
    for number, line in enumerate(path.read_text().splitlines(), 1):
        print(f'{path}:{number}: {line[:120]}')
there = [path.stem for path in pathlib.Path('mail').glob('*.html')]
names = [name for name in ('morning', 'evening', 'weekend') if name not in there]
print('missing editions:', ', '.join(names) or 'none')
sys.exit(heavy > 0 or bool(names))
"""


@dataclass(frozen=True)
class Story:
    name: str
    headline: str
    teaser: str
    link: str


@dataclass(frozen=True)
class Issue:
    stories: tuple[Story, ...]
    slots: dict[str, tuple[str, ...]]  # as they were planned
    late: dict[str, tuple[int, str]]  # the slot that changed, and who gets it
    subjects: dict[str, str]
    codes: dict[str, str]
    sponsor: str
    host: str

    def final(self, edition: str) -> list[Story]:
        names = list(self.slots[edition])
        slot, name = self.late[edition]
        names[slot - 1] = name
        return [next(s for s in self.stories if s.name == n) for n in names]


def issue_of(rng: Random, level: int) -> Issue:
    names = nouns(rng, 7 + 2 * level)
    host = f"news.{'-'.join(nouns(rng, 2))}.example"
    stories = tuple(
        Story(
            name,
            f"What the {rng.choice(names)} has to do with {name} {rng.randrange(20, 99)}",
            " ".join(sentence(rng) for _ in range(5)),
            f"https://{host}/{name}-{hexadecimal(rng, 4)}",
        )
        for name in names
    )
    slots, late = {}, {}
    for edition in EDITIONS:
        *chosen, spare = rng.sample(names, len(SLOTS) + 1)
        slots[edition], late[edition] = tuple(chosen), (rng.choice(SLOTS), spare)
    payer, register = "-".join(nouns(rng, 2)), rng.randrange(10_000, 99_999)
    sponsor = f"This mail is paid for by {payer} mutual, register no. {register}"
    subjects = {
        e: f"Your {e} of {rng.choice(names)} and {rng.choice(names)} {hexadecimal(rng, 3)}"
        for e in EDITIONS
    }
    codes = {e: f"nl{hexadecimal(rng, 6)}" for e in EDITIONS}
    return Issue(stories, slots, late, subjects, codes, sponsor, host)


def thread(rng: Random, story: Story) -> str:
    """A story as it came: drafts that were dropped, talk, and the wording that holds."""
    mails = []
    for number in range(5):
        mails.append(
            f"From: {person(rng)}\nDraft {number} of the {story.name} headline: {sentence(rng)}\n\n"
            f"{prose(rng, 1, 16)}"
        )
    final = (
        f'From: {person(rng)}\nFinal headline on {story.name}: "{story.headline}"\n'
        f'Final teaser on {story.name}: "{story.teaser}"\n'
        f'Final link on {story.name}: "{story.link}"\n'
    )
    mails.insert(rng.randrange(2, 5), final)
    return "\n-----\n".join(mails)


def schedule(rng: Random, issue: Issue, edition: str) -> str:
    lines = [
        f"{edition} slot {n} goes to {name}"
        for n, name in zip(SLOTS, issue.slots[edition], strict=True)
    ]
    return (
        f"# {edition}\n\nThe {edition} subject is {issue.subjects[edition]}\n"
        f"The {edition} campaign code is {issue.codes[edition]}\n\n{prose(rng, 4)}\n"
        + "\n".join(lines)
        + f"\n\n{prose(rng, 4)}"
    )
