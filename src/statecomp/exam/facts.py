"""What a span says that can be asked for: a value, whose it is, and what it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from statecomp.exam.text import folded


class FactKind(StrEnum):
    """What a question is about."""

    ROW = "row"
    OBJECT = "object"
    PAIR = "pair"
    LOCATION = "location"
    RULE = "rule"
    EDIT = "edit"
    VERDICT = "verdict"
    MENTION = "mention"
    ASKED = "asked"


@dataclass(frozen=True)
class FactRow:
    """One record of a group: the step that showed it, what it is called, its values by field.

    `text` is the record as the source has it, or as much of it as is known.
    """

    step: int
    name: str
    values: dict[str, str]
    text: str

    @cached_property
    def folded_name(self) -> str:
        return folded(self.name)

    @cached_property
    def folded_values(self) -> dict[str, str]:
        return {field: folded(value) for field, value in self.values.items()}

    @cached_property
    def folded_text(self) -> str:
        return folded(self.text)


@dataclass(frozen=True)
class FactGroup:
    """Records of one kind, one below the other: the rows of a table, the objects of a list.

    A block of key-value pairs is a group too, of entries with one value each.
    """

    kind: FactKind
    entries: Sequence[FactRow]
