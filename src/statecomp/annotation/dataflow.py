"""The annotator that needs no model: it follows atoms from where they appear to where they go.

An interaction is READY once the prefix shows that it was read (`evidence`) and no later step takes
over anything that only it still holds (`flow`).  The future can only veto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from statecomp.annotation.evidence import Sign, came_to_nothing, signs
from statecomp.annotation.flow import Flow
from statecomp.annotation.labels import Label, Veto
from statecomp.annotation.records import Judgment, Reading
from statecomp.recent import LruCache

NAME = "dataflow"
MUST_KEEP = 8
"""Identifiers a short summary can carry."""
REMEMBERED = 4
"""Runs whose flow is kept; a run is asked about at every checkpoint."""


@dataclass(frozen=True)
class _Study:
    """A run worked out for all its checkpoints."""

    flow: Flow
    signs: tuple[tuple[Sign | None, ...], ...]
    failures: tuple[bool, ...]

    @classmethod
    def of(cls, reading: Reading) -> _Study:
        flow = Flow(reading)
        return cls(
            flow,
            signs=tuple(signs(flow, n) for n in range(1, reading.last + 1)),
            failures=tuple(map(came_to_nothing, reading.interactions)),
        )


@dataclass
class Dataflow:
    """Both stages by rules; the same run always gets the same labels."""

    _studies: LruCache[str, _Study] = field(
        default_factory=lambda: LruCache(REMEMBERED), repr=False, compare=False
    )

    def judge_all(self, reading: Reading) -> Iterator[Sequence[Judgment]]:
        for checkpoint in reading.checkpoints:
            yield self.judge(reading, checkpoint)

    def review_all(
        self, reading: Reading, judgments: Mapping[int, Sequence[Judgment]]
    ) -> Iterator[Label]:
        for number, made in judgments.items():
            yield self.review(reading, number, made)

    def judge(self, reading: Reading, checkpoint: int) -> Sequence[Judgment]:
        """Stage 1: every interaction before the checkpoint, inheriting nothing."""
        study = self._study(reading)
        progress, needs = _progress(study, checkpoint), _next_needs(study, checkpoint)
        return tuple(
            self._judged(study, number, checkpoint, progress, needs)
            for number in range(1, checkpoint)
        )

    def review(self, reading: Reading, number: int, judgments: Sequence[Judgment]) -> Label:
        """Stage 2: the earliest checkpoint from which every judgment says READY."""
        ordered = sorted(judgments, key=lambda judgment: judgment.checkpoint)
        kept = [j for j in ordered if not j.ready or j.problem or j.veto]
        after = kept[-1].checkpoint if kept else 0
        ground = next((j for j in ordered if j.checkpoint > after), None)
        boundary = ground.checkpoint if ground else None
        vetoes = sorted({v for j in ordered for v in j.veto}, key=lambda v: (v.at, v.what))
        used = self._study(reading).flow.used_from(number, boundary or number + 1)
        held = (atom for atom in used if reading.holds(number, atom))
        return Label(
            run=reading.id,
            number=number,
            boundary=boundary,
            evidence=ground.evidence if ground else (),
            veto=tuple(vetoes),
            must_keep=tuple(held)[:MUST_KEEP],
            reason=_reason(ground, ordered, vetoes),
            annotator=NAME,
        )

    def _study(self, reading: Reading) -> _Study:
        known = self._studies.get(reading.id)
        # Two runs can share an id; equality is by content, and free for the very same reading.
        if known and (known.flow.reading is reading or known.flow.reading == reading):
            return known
        return self._studies.put(reading.id, _Study.of(reading))

    def _judged(
        self, study: _Study, number: int, checkpoint: int, progress: str, needs: str
    ) -> Judgment:
        awaited = study.signs[number - 1]
        given = [sign for sign in awaited if sign and sign.at < checkpoint]
        vetoes = tuple(v for v in study.flow.vetoes[number - 1] if v.at >= checkpoint)
        return Judgment(
            number=number,
            checkpoint=checkpoint,
            ready=len(given) == len(awaited) and not vetoes,
            evidence=tuple(dict.fromkeys(sign.evidence for sign in given)),
            veto=vetoes,
            progress=progress,
            complexity=_complexity(study.flow, number),
            next_needs=needs,
            utility=_utility(given, len(awaited), len(vetoes)),
        )


def _progress(study: _Study, checkpoint: int) -> str:
    failed = sum(study.failures[: checkpoint - 1])
    return f"{checkpoint - 1} interactions done, {failed} of them came to nothing"


def _next_needs(study: _Study, checkpoint: int) -> str:
    """Guessed from the prefix alone: what the agent handled last it is likely to handle next."""
    handled = sorted(study.flow.part(checkpoint - 1).action.identifiers)
    return f"last handled: {', '.join(handled[:MUST_KEEP])}" if handled else "nothing named"


def _complexity(flow: Flow, number: int) -> str:
    lines = flow.part(number).observed.text.count("\n") + 1
    return f"{lines} lines, {len(flow.fresh[number - 1])} new atoms"


def _utility(given: Sequence[Sign], awaited: int, vetoes: int) -> str:
    if vetoes:
        return f"{vetoes} later interactions draw on it"
    if len(given) < awaited:
        return "not yet seen to have served"
    return f"served: {', '.join(sign.why for sign in given)}"


def _reason(ground: Judgment | None, judgments: Sequence[Judgment], vetoes: Sequence[Veto]) -> str:
    if not judgments:
        return "the run ends here"
    said = (ground or judgments[-1]).utility
    return f"{said}; last drawn on at {vetoes[-1].at}" if ground and vetoes else said
