"""A group of commands that loads the one that is asked for, and none to list them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Verb:
    """A command that is not loaded yet, and where it is; `about` is the first sentence of its help.

    A test loads every one: what is named by a string no type checker looks for.
    """

    about: str
    home: str

    def load(self) -> click.Command:
        command: click.Command = resolve_name(self.home)
        return command


class PlainGroup(click.Group):
    """Lists its commands by whole sentences: what a verb does should not end in dots."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1000)) for name in self.commands]
            )


class LazyGroup(click.Group):
    """Knows each verb's name and first sentence; the rest is loaded with the verb."""

    def __init__(
        self, *given: Any, sections: Mapping[str, Mapping[str, Verb]], **named: Any
    ) -> None:
        super().__init__(*given, **named)
        self._sections = sections
        self._verbs = {name: verb for verbs in sections.values() for name, verb in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._verbs and cmd_name not in self.commands:
            self.add_command(self._verbs[cmd_name].load(), cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # Click looks for the nearest among those that are loaded.
        if args[0] not in self._verbs and not args[0].startswith("-"):
            near = get_close_matches(args[0], self._verbs, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, verbs in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, verb.about) for name, verb in verbs.items()])
