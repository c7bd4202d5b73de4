"""What a study of next actions is on disk.

key.jsonl                one `MomentPage` a line: what stands behind each name; not for readers
moments/MOMENT.json      the recorded next step and what it uses; not for readers
pages/NAME.md            the question: a view, and what is wanted
answers/NAME.json        the reader's answer, expected beside it
judging/MOMENT.md        the whole history, the recorded step, and the answers under letters
letters.jsonl            which answer has which letter; not for judges
verdicts/MOMENT.json     the judge's word on each letter
assignments/WHO.md       instructions for one reader or judge, with the names it gets
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp_bench.readers.lines import append_line, read_lines


@dataclass(frozen=True, slots=True)
class MomentPage:
    """One moment as one strategy shows it."""

    name: str
    moment: str
    run: str
    domain: str
    number: int
    strategy: str
    tokens: int
    raw: int


@dataclass(frozen=True)
class NextFolder:
    path: Path

    def pages(self) -> list[MomentPage]:
        return [MomentPage(**line) for line in read_lines(self.path / "key.jsonl")]

    def require(self) -> list[MomentPage]:
        found = self.pages()
        if not found:
            raise BadInput("holds no moments; make some with `prepare`", file=str(self.path))
        return found

    def by_moment(self) -> dict[str, list[MomentPage]]:
        groups: dict[str, list[MomentPage]] = {}
        for page in self.require():
            groups.setdefault(page.moment, []).append(page)
        return groups

    def add(self, page: MomentPage) -> None:
        append_line(self.path / "key.jsonl", asdict(page))

    def page_file(self, name: str) -> Path:
        return self.path / "pages" / f"{name}.md"

    def answer_file(self, name: str) -> Path:
        return self.path / "answers" / f"{name}.json"

    def judging_file(self, moment: str) -> Path:
        return self.path / "judging" / f"{moment}.md"

    def verdict_file(self, moment: str) -> Path:
        return self.path / "verdicts" / f"{moment}.json"

    def moment_file(self, moment: str) -> Path:
        return self.path / "moments" / f"{moment}.json"

    def facts(self, moment: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.moment_file(moment).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(
                f"cannot be read: {error}", file=str(self.moment_file(moment))
            ) from error
        return found

    def letters(self) -> dict[str, Mapping[str, str]]:
        """For each moment that was given to judges, the page behind each letter."""
        lines = read_lines(self.path / "letters.jsonl")
        return {str(line["moment"]): dict(line["letters"]) for line in lines}


def put(path: Path, text: str) -> None:
    """A whole file or none: whoever polls the folder never sees half a page."""
    draft = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, "utf-8", "replace")
        draft.replace(path)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from error
