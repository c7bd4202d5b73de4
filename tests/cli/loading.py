"""What a command shows and loads when it is asked for help."""

from __future__ import annotations

import subprocess
import sys

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
