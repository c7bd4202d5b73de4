"""A group of commands that loads the one that is asked for, and none to list them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

WHOLE = 1000
"""No first sentence is longer."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A command that is not loaded yet; `about` is the first sentence of its help."""

    about: str
    load: Callable[[], click.Command]


class LazyGroup(click.Group):
    """Knows each verb's name and first sentence; the rest is loaded with the verb."""

    def __init__(self, *given: Any, verbs: Mapping[str, Verb], **named: Any) -> None:
        super().__init__(*given, **named)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self._verbs, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._verbs and cmd_name not in self.commands:
            self.add_command(self._verbs[cmd_name].load(), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Whole sentences: what a verb does should not end in dots."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._about(name)) for name in self.list_commands(ctx)])

    def _about(self, name: str) -> str:
        if name in self._verbs:
            return self._verbs[name].about
        return self.commands[name].get_short_help_str(WHOLE)
