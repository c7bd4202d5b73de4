"""Label files: for each interaction, the earliest checkpoint from which it may be replaced."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput, ScoringFailed
from statecomp.history.history import History


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the prefix shows that an interaction's details are no longer needed."""

    at: int
    quote: str


@dataclass(frozen=True, slots=True)
class Veto:
    """A later step that still needed something only this interaction held."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class Label:
    """t_i* for one interaction; `boundary` is None where it must stay for the whole run."""

    run: str
    number: int
    boundary: int | None
    evidence: tuple[Evidence, ...] = ()
    veto: tuple[Veto, ...] = ()
    must_keep: tuple[str, ...] = ()
    reason: str = ""
    annotator: str = ""

    def ready(self, checkpoint: int) -> bool:
        """y_ik = 1{k >= t_i*}."""
        return self.boundary is not None and checkpoint >= self.boundary

    def as_json(self) -> dict[str, Any]:
        """The line of a label file."""
        return {
            "id": self.run,
            "i": self.number,
            "boundary": self.boundary,
            "evidence": [asdict(evidence) for evidence in self.evidence],
            "veto": [asdict(veto) for veto in self.veto],
            "must_keep": list(self.must_keep),
            "reason": self.reason,
            "annotator": self.annotator,
        }


Labels = Mapping[str, Mapping[int, Label]]
"""Labels by run and interaction number."""


def read_readings(path: Path) -> Iterator[Label]:
    """Every line of a label file; several annotators may have read the same interaction."""
    try:
        with path.open(encoding="utf-8") as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    yield _label(text, str(path), line)
    except UnicodeDecodeError as error:
        problem = "is no text; labels are lines of JSON, as statecomp annotate writes them"
        raise BadInput(problem, file=str(path)) from error
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"labels cannot be read from it: {reason}", file=str(path)) from error


def read_labels(path: Path) -> dict[str, dict[int, Label]]:
    """Labels by run and interaction number; of several readings of one, the first counts."""
    labels: dict[str, dict[int, Label]] = {}
    for label in read_readings(path):
        labels.setdefault(label.run, {}).setdefault(label.number, label)
    return labels


def labels_in(path: Path) -> dict[str, dict[int, Label]]:
    """The labels of a file that holds at least one."""
    found = read_labels(path)
    if not found:
        raise BadInput("holds no label; `statecomp annotate` writes label files", file=str(path))
    return found


def _label(text: str, file: str, line: int) -> Label:
    with parsing("label", file, line):
        record: dict[str, Any] = json.loads(text)
        number, boundary = record["i"], record["boundary"]
        if not isinstance(number, int) or not isinstance(boundary, int | None):
            raise BadInput("must be whole numbers", file=file, line=line, field="i and boundary")
        if boundary is not None and boundary <= number:
            problem = f"is {boundary}, not after its interaction {number}"
            raise BadInput(problem, file=file, line=line, field="boundary")
        return Label(
            run=str(record["id"]),
            number=number,
            boundary=boundary,
            evidence=evidence_in(record),
            veto=vetoes_in(record),
            must_keep=tuple(map(str, record.get("must_keep") or ())),
            reason=str(record.get("reason") or ""),
            annotator=str(record.get("annotator") or ""),
        )


def evidence_in(record: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """What a record quotes; raises what a malformed record raises."""
    return tuple(Evidence(int(e["at"]), str(e["quote"])) for e in record.get("evidence") or ())


def vetoes_in(record: Mapping[str, Any]) -> tuple[Veto, ...]:
    return tuple(Veto(int(v["at"]), str(v["what"])) for v in record.get("veto") or ())


WRITERS = {"label": "annotate", "forecast": "forecast"}


@contextmanager
def parsing(what: str, file: str, line: int) -> Iterator[None]:
    """Whatever is wrong with a line of such records is one sentence that names the place."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise BadInput(f"is not valid JSON ({error.msg})", file=file, line=line) from error
    except KeyError as error:
        advice = f"; `statecomp {WRITERS[what]}` writes {what} files" if what in WRITERS else ""
        place = str(error.args[0])
        raise BadInput(f"is missing{advice}", file=file, line=line, field=place) from error
    except (TypeError, AttributeError, ValueError, RecursionError) as error:
        raise BadInput(f"is not a {what} record", file=file, line=line) from error


@dataclass(frozen=True, slots=True)
class LabelScorer:
    """True labels as scores: what a perfect router would say (an upper reference)."""

    labels: Mapping[int, Label]

    def score(self, history: History) -> Mapping[str, float]:
        if not self.labels:
            raise ScoringFailed("there are no labels for this run")
        return {
            i.id: float(i.number in self.labels and self.labels[i.number].ready(history.checkpoint))
            for i in history.interactions
        }
