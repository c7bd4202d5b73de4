"""What commands show and load when they are asked for help, and whether their examples parse."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import click

from statecomp.cli.lazy import Verb


def help_of(package: str) -> tuple[str, set[str]]:
    """The help of a package's command, in a process of its own, and the modules loaded for it."""
    code = (
        f"import sys; from {package}.cli.app import app; "
        "app.main(['--help'], standalone_mode=False); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown, _, loaded = done.stdout.rstrip().rpartition("\n")
    return shown, set(loaded.split())


def says_its_first_sentence(name: str, verb: Verb) -> None:
    """A verb is listed by the name and with the first sentence of its own help."""
    command = verb.load()
    assert command.name == name
    assert command.get_short_help_str(1000) == verb.about


def verbs_below(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, each with the words that ask for it."""
    yield path, command
    if not isinstance(command, click.Group):
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from verbs_below(inner, f"{path} {name}")


def unexplained(command: click.Command) -> list[str]:
    """The options that say nothing of themselves."""
    options = (one for one in command.params if isinstance(one, click.Option))
    return [one.opts[0] for one in options if not one.help]


def examples(command: click.Command, program: str) -> list[list[str]]:
    """The words behind the program's name, example by example."""
    text = re.sub(r"\\\n\s*", "", command.help or "")
    lines = re.findall(rf"^\s*{program} (\S.*)$", text, re.MULTILINE)
    # What a shell does with the rest of a line is none of ours.
    bare = (re.sub(r"\$\([^)]*\)|\s[<>|].*$", "", line) for line in lines)
    return [shlex.split(line, comments=True) for line in bare]


def parses(command: click.Command, words: list[str]) -> None:
    """Raises what a person would see who typed an example and was told that it is wrong."""
    while isinstance(command, click.Group) and words:
        inner = command.get_command(click.Context(command), words[0])
        assert inner is not None, f"there is no command {words[0]!r}"
        command, words = inner, words[1:]
    try:
        command.make_context(command.name, words)
    except click.BadParameter as error:
        # The files of an example are the reader's own.
        if "does not exist" not in error.message:
            raise
