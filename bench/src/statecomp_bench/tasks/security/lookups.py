"""A fast way that costs the account: it is tried once at the start, and must not be tried again."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.outside import HTTP, Scene
from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import http, python, read, shell
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.output import record
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.shared import each, facts_for, named, paper, rules_of

SERVICE = "https://intel.example"
REFUSED = """429 too many requests
The bulk interface is closed for this account: tag bulk was answered with a strike.
Use tag single. Three strikes close the account for good.
"""
GUIDE = """# Samples

- Lookups are tagged bulk, which is fast, or single, which is slow; we take bulk where it works.
- A family with score 70 or more is contained, one below is watched.
- Digests in tickets are cut to their first twelve characters.
- Machines of the plant are never contained, whatever the score: they are isolated by hand.
- The summary counts each verdict; lines are `VERDICT NUMBER`, sorted by verdict.

"""
TICKET = """
    # ticket for NAME
    import json, os
    os.makedirs('tickets', exist_ok=True)
    text = '{score_NAME}'
    score = int(text) if text.isdigit() else 0
    verdict = 'contain' if score >= {least} else 'watch'
    if '{place_NAME}' == 'plant' and {byhand}:
        verdict = 'isolate'
    ticket = {
        'family': '{family_NAME}',
        'verdict': verdict,
        'digest': '{digest_NAME}'{cut},
        'contact': '{contact_NAME}',
    }
    open('tickets/NAME.json', 'w').write(json.dumps(ticket) + '\\n')
    print(ticket)
"""
SUMMARY = """
    # summary of verdicts
    import glob, json
    from collections import Counter
    counts = Counter(json.load(open(p))['verdict'] for p in glob.glob('tickets/*.json'))
    lines = [f'{name} {count}' for name, count in {ordered}]
    open('summary.txt', 'w').write('\\n'.join(lines) + '\\n')
    print(lines)
"""


@dataclass(frozen=True)
class Sample:
    name: str
    digest: str
    family: str
    score: int
    place: str
    contact: str

    @property
    def ticket(self) -> dict[str, str]:
        verdict = "contain" if self.score >= 70 else "watch"
        return {"family": self.family, "digest": self.digest[:12], "contact": self.contact,
                "verdict": "isolate" if self.place == "plant" else verdict}  # fmt: skip


def samples_of(rng: Random, level: int) -> list[Sample]:
    return [
        Sample(name, hexadecimal(rng, 32), f"fam{rng.randrange(100, 999)}", rng.randrange(30, 99),
               rng.choice(("plant", "office", "office")), person(rng))
        for name in nouns(rng, 6 + 2 * level)
    ]  # fmt: skip


def files_of(rng: Random, samples: list[Sample]) -> dict[str, str]:
    made = {"docs/samples.md": GUIDE + paper(rng, 1800)}
    for s in samples:
        made[f"samples/{s.name}.txt"] = paper(
            rng, 3000, f"Digest of {s.name}: {s.digest}", kinds=("listing", "log")
        )
        made[f"machines/{s.name}.txt"] = paper(
            rng, 3200, f"Place of {s.name}: {s.place}", f"Contact for {s.name}: {s.contact}"
        )
    return made


def scenes_of(rng: Random, samples: list[Sample]) -> tuple[Scene, ...]:
    single = (
        Scene(HTTP, rf"{SERVICE}/{s.name}\b.*tag=single", (
            f"200 ok\nFamily of {s.name}: {s.family}\nScore of {s.name}: {s.score}\n"
            f"{record(rng, 7)}",))
        for s in samples
    )  # fmt: skip
    return Scene(HTTP, "tag=bulk", (REFUSED,)), *single


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "sample", ("digest", "digest of NAME", r"Digest of NAME: (\w+)")),
        *facts_for(names, "machine", ("place", "place of NAME", r"Place of NAME: (\w+)"),
                   ("contact", "contact for NAME", r"Contact for NAME: (\w+ \w+)")),
        *facts_for(names, "lookup", ("family", "family of NAME", r"Family of NAME: (\w+)"),
                   ("score", "score of NAME", r"Score of NAME: (\d+)")),
    ]  # fmt: skip
    rules = [
        *rules_of("try", ("tag", "the bulk interface is closed", "bulk was answered with a strike",
                          "single", "bulk")),
        *rules_of(
            "guide",
            ("least", "scores from 70 on are contained", "with score 70 or more", "70", "60"),
            ("byhand", "the plant is isolated by hand", "are isolated by hand", "True", "False"),
            ("cut", "digests have twelve characters", "their first twelve characters", "[:12]", ""),
            ("ordered", "the summary is sorted", "sorted by verdict", "sorted(counts.items())",
             "[('all', sum(counts.values()))]"),
        ),
    ]  # fmt: skip
    steps = [
        Step("list", "list_files", {}, "see which samples there are"),
        read("guide", "docs/samples.md", "read how samples are judged"),
        http("try", "GET", f"{SERVICE}/all?tag=bulk", "look all of them up in bulk"),
        *(read(f"sample_{n}", f"samples/{n}.txt", f"read the sample {n}", group="s")
          for n in names),
        *(read(f"machine_{n}", f"machines/{n}.txt", f"read about the machine of {n}", group="m")
          for n in names),
        *(http(f"lookup_{n}", "GET", f"{SERVICE}/{n}?tag={{tag}}", f"look the sample {n} up")
          for n in names),
        *(python(f"ticket_{n}", named(TICKET, n), f"write the ticket for {n}", leaves=True)
          for n in names),
        python("summary", SUMMARY, "count the verdicts", leaves=True),
        shell("proof", "cat summary.txt tickets/*.json", "read the tickets again"),
    ]  # fmt: skip
    return Plan(tuple(facts), tuple(rules), tuple(steps), "All samples are judged.")


def check(samples: list[Sample], left: Artefacts) -> Score:
    def field(key: str, sample: Sample) -> bool:
        return bool(left.json(f"tickets/{sample.name}.json")[key] == sample.ticket[key])

    def strikes() -> float:
        """The first try could not be known; who looked nothing up has no merit."""
        left.text("summary.txt")
        tried = sum("tag=bulk" in line for line in left.calls)
        return 1.0 if tried == 1 else max(0.0, 0.5 - tried / len(samples))

    verdicts = [s.ticket["verdict"] for s in samples]
    counts = [f"{name} {verdicts.count(name)}" for name in sorted({*verdicts})]
    return grade(
        each("families", 3, samples, lambda s: field("family", s)),
        each("verdicts", 3, samples, lambda s: field("verdict", s)),
        each("digests", 2, samples, lambda s: field("digest", s)),
        each("contacts", 1, samples, lambda s: field("contact", s)),
        part("summary", 2, lambda: left.text("summary.txt").splitlines() == counts),
        part("not tried again", 3, strikes),
    )


def build(rng: Random, level: int) -> Case:
    samples = samples_of(rng, level)
    names = [s.name for s in samples]
    told = (
        f"Judge the samples {', '.join(names)}. samples/ has their digests, machines/ where they "
        f"were found (plant or office) and whom to tell. GET {SERVICE}/NAME?tag=TAG tells family "
        f"and score of one, GET {SERVICE}/all?tag=bulk of all where bulk works. Write "
        "tickets/NAME.json with family, verdict (contain, watch or isolate), digest and contact, "
        "then summary.txt. docs/samples.md says how they are judged."
    )
    return Case(
        dict(files_of(rng, samples)), told, plan_of(names), lambda left: check(samples, left),
        scenes=scenes_of(rng, samples),
    )  # fmt: skip


TASK = Task("security-lookups", "Security", "Judge samples; a first way is closed for good", build)
