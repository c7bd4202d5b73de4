"""What an adapter is told: the words of the command line, and what only a door can choose."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from statecomp.config.methods import method_of
from statecomp.errors import BadInput
from statecomp.method import Method
from statecomp.options import Options, Settings
from statecomp.proxy.settings import Mode
from statecomp.wire.protocol import Placement

MODE = "STATECOMP_MODE"
"""compress, observe or off, for every adapter that is not told otherwise."""
MODES = ("compress", "observe", "off")


def mode_of(given: str) -> Mode:
    chosen = given or os.environ.get(MODE, "") or MODES[0]
    if chosen not in MODES:
        raise BadInput(f"is {chosen!r}; known are {', '.join(MODES)}", field="mode")
    return cast(Mode, chosen)


def chosen_method(method: Method | None, given: Mapping[str, object]) -> Method:
    """A record must stay a message of its own: merged into another, that would be rebuilt."""
    if method is not None and given:
        raise BadInput("says it all; leave out the other options", field="method")
    return replace(method or _read(given), placement=Placement())


def _read(given: Mapping[str, object]) -> Method:
    for name in ("role", "merge"):
        if name in given:
            problem = "is not for adapters: a record is a user message of its own there"
            raise BadInput(problem, field=name)
    options = Options.given("adapter", given)
    method, _ = method_of(options, Settings(environ=os.environ))
    options.done()
    return method


def on_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
