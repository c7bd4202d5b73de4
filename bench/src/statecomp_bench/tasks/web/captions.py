"""Captions inside long pages, edited in place: the old text must be given word for word."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from statecomp_bench.plan import Plan, Step
from statecomp_bench.steps import edit, read, shell, write
from statecomp_bench.task import Artefacts, Case, Score, Task, grade, part
from statecomp_bench.tasks.filler.output import html
from statecomp_bench.tasks.filler.words import sentence
from statecomp_bench.tasks.invented import hexadecimal, nouns, person
from statecomp_bench.tasks.shared import each, facts_for, paper, rules_of, scattered

GUIDE = """# Captions

- A caption keeps its words. The credit goes in front: the letters Ph, a slash, the photographer.
- The class of a finished caption is done.
- Pictures under an embargo keep their caption as it is; they are only listed.
- The list of pictures has NAME, a blank, the archive number, in the order of the request.

"""


@dataclass(frozen=True)
class Picture:
    name: str
    text: str
    photographer: str
    number: str
    page: str

    @property
    def old(self) -> str:
        return f'<figcaption class="old" id="{self.name}">{self.text}</figcaption>'

    @property
    def new(self) -> str:
        credit = f"Ph/{self.photographer}"
        return f'<figcaption class="done" id="{self.name}">{credit} {self.text}</figcaption>'


def pictures_of(rng: Random, level: int) -> list[Picture]:
    made = []
    for name in nouns(rng, 7 + 2 * level):
        text = f"{sentence(rng).rstrip('.?')}  ({name}, {sentence(rng).rstrip('.?').lower()})"
        number = f"AR-{hexadecimal(rng, 7)}"
        bare = Picture(name, text, person(rng), number, "")
        lines = scattered(rng, html(rng, 34).splitlines(), bare.old)
        made.append(Picture(name, text, bare.photographer, number, "\n".join(lines) + "\n"))
    return made


def files_of(rng: Random, pictures: list[Picture]) -> dict[str, str]:
    made = {"docs/captions.md": GUIDE + paper(rng, 1800)}
    for p in pictures:
        made[f"pages/{p.name}.html"] = p.page
        made[f"archive/{p.name}.txt"] = paper(
            rng, 3000, f"Photographer of {p.name}: {p.photographer}",
            f"Archive number of {p.name}: {p.number}",
        )  # fmt: skip
    return made


def plan_of(names: list[str]) -> Plan:
    facts = [
        *facts_for(names, "page", ("text", "caption of NAME",
                                   r'<figcaption class="old" id="NAME">([^<\n]+)</figcaption>')),
        *facts_for(names, "archive",
                   ("who", "photographer of NAME", r"Photographer of NAME: (\w+ \w+)"),
                   ("number", "archive number of NAME", r"Archive number of NAME: (AR-\w+)")),
    ]  # fmt: skip
    rules = [
        *rules_of("guide", ("done", "finished captions have the class done",
                            "finished caption is done", "done", "new")),
        *rules_of("guide", *(
            (f"credit_{n}", f"the credit for {n} goes in front", "The credit goes in front",
             f"Ph/{{who_{n}}} {{text_{n}}}", f"{{text_{n}}} Photo {{who_{n}}}") for n in names)),
    ]  # fmt: skip
    listed = "".join(f"{n} {{number_{n}}}\n" for n in names)
    steps = [
        Step("list", "list_files", {}, "see the pages"),
        read("guide", "docs/captions.md", "read how captions are written"),
        *(read(f"page_{n}", f"pages/{n}.html", f"read the page with {n}") for n in names),
        shell("wrong", "python3 tools/captions.py", "try a program for captions"),
        *(read(f"archive_{n}", f"archive/{n}.txt", f"read the archive card of {n}") for n in names),
        *(edit(f"edit_{n}", f"pages/{n}.html",
               f'class="old" id="{n}">{{text_{n}}}</figcaption>',
               f'class="{{done}}" id="{n}">{{credit_{n}}}</figcaption>', f"edit the caption of {n}")
          for n in names),
        write("pictures", "pictures.txt", listed, "write the list of pictures"),
        shell("proof", "grep -h figcaption pages/*.html", "look at all captions"),
    ]  # fmt: skip
    return Plan(tuple(facts), tuple(rules), tuple(steps), "The captions are edited.")


def check(pictures: list[Picture], left: Artefacts) -> Score:
    def page(p: Picture) -> str:
        return left.text(f"pages/{p.name}.html")

    def untouched(p: Picture) -> bool:
        """All lines but the caption's, and the caption was worked on."""
        lines = [line for line in page(p).splitlines() if "<figcaption" not in line]
        return page(p) != p.page and lines == [
            line for line in p.page.splitlines() if "<figcaption" not in line
        ]

    return grade(
        each("captions", 6, pictures, lambda p: page(p) == p.page.replace(p.old, p.new)),
        each("classes", 2, pictures, lambda p: f'class="done" id="{p.name}"' in page(p)),
        each("nothing else is touched", 1, pictures, untouched),
        part("list", 3, lambda: left.text("pictures.txt").splitlines() == [
            f"{p.name} {p.number}" for p in pictures]),
    )  # fmt: skip


def build(rng: Random, level: int) -> Case:
    pictures = pictures_of(rng, level)
    names = [p.name for p in pictures]
    told = (
        f"Edit the captions of the pictures {', '.join(names)}: each has a figcaption of class old "
        "with its name as id in pages/NAME.html. archive/ has photographers and archive numbers. "
        "Change nothing else on a page, not a blank. Then write pictures.txt. docs/captions.md "
        "says how captions and list are written; no picture is under an embargo today."
    )
    return Case(dict(files_of(rng, pictures)), told, plan_of(names),
                lambda left: check(pictures, left))  # fmt: skip


TASK = Task("web-captions", "Web", "Edit captions that must be given word for word", build)
