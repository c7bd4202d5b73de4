"""What `serve` decides by: the options that say so, and the method they make."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from statecomp.cli.options import together
from statecomp.cli.terminal import warn
from statecomp.config.learned import following, must_suit, scored_by, worse
from statecomp.config.methods import OPTIONS, method_of
from statecomp.config.records import DAY_DOLLARS, SESSION_DOLLARS
from statecomp.controller.prices import PriceBook
from statecomp.errors import BadInput
from statecomp.method import Method
from statecomp.options import Options, Settings
from statecomp.proxy.rivals.rivals import Rivals
from statecomp.proxy.settings import Mode
from statecomp.recipes import DEFAULT, RECIPES

SWITCH = click.Choice(["on", "off"])


def _said(option: str) -> str:
    """What an option is for, as a sentence; names in it keep their capitals."""
    about = OPTIONS[option]
    return f"{about[0].upper()}{about[1:]}."


_OPTIONS = (
    click.option(
        "--recipe",
        default=DEFAULT,
        show_default=True,
        type=click.Choice(list(RECIPES)),
        help="How boldly to replace; `statecomp recipes` shows what each was measured to do.",
    ),
    click.option("--scorer", help="router[:FOLDER], paper or age:after=N."),
    click.option(
        "--router",
        "chosen",
        multiple=True,
        metavar="NAME",
        help="A router that `statecomp learn` made, by its name or FOLDER, or `shipped`; without it"
        " the one that `statecomp routers` has in use, also when that changes.  Two are compared in"
        " --mode observe.",
    ),
    click.option("--encoder", metavar="FOLDER", help=_said("encoder")),
    click.option("--device", help=_said("device")),
    click.option("--dtype", help=_said("dtype")),
    click.option("--encode-s", type=float, default=30.0, show_default=True, help=_said("encode_s")),
    click.option(
        "--records",
        metavar="SPEC",
        help="Who writes records: extract (no model, the default), same (a cheap sibling of the"
        " client's model, at the client's own upstream and with its key), or"
        " chat:PROVIDER:MODEL[@URL].",
    ),
    click.option("--records-model", metavar="NAME", help=_said("records_model")),
    click.option(
        "--records-session",
        type=float,
        show_default=f"{SESSION_DOLLARS:g}",
        help=_said("records_session"),
    ),
    click.option(
        "--records-day",
        type=float,
        show_default=f"{DAY_DOLLARS:g}",
        help=_said("records_day"),
    ),
    click.option("--records-wait", type=float, metavar="S", help=_said("records_wait")),
    click.option("--wariness", type=float, help=_said("wariness")),
    click.option("--threshold", type=float, help=_said("threshold")),
    click.option("--longer-than", type=int, help=_said("longer_than")),
    click.option("--min-source-tokens", type=int, help=_said("min_source_tokens")),
    click.option("--holds", type=SWITCH, help=_said("holds")),
    click.option("--chapters", type=SWITCH, help=_said("chapters")),
    click.option("--pin", metavar="REGEX", help=_said("pin")),
    click.option(
        "--pin-tool", "pin_tools", multiple=True, help="A tool whose results always stay."
    ),
    click.option("--role", type=click.Choice(["user", "assistant"]), help=_said("role")),
    click.option("--merge", type=SWITCH, help=_said("merge")),
)


def method_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that can be told how to decide."""
    return together(*_OPTIONS)(command)


def live_method(given: Mapping[str, object], book: PriceBook, routers: Any = None) -> Method:
    """How to decide: a recipe, and what overrules it; with `routers`, by the one in use."""
    if str(given.get("scorer") or "").startswith(("labels", "folds")):
        raise BadInput("scores recorded runs, not live ones; use router or age", field="scorer")
    options = Options.given("serve", given)
    method, _ = method_of(options, Settings(environ=os.environ, book=book), serves=True)
    options.done()
    method = following(method, routers)
    method.scorer()  # one that cannot be opened should be known before the first request
    return method


def given_for(
    method: Mapping[str, str | float | None], chosen: Sequence[str], mode: Mode, routers: Any
) -> list[dict[str, str | float | None]]:
    """What was given, once for each router that is named, or once."""
    must_suit(chosen, mode)
    if mode == "observe" and method.get("records") not in (None, "extract"):
        warn("--mode observe asks no model for --records: extracts stand for what it would write")
        method = {key: None if key.startswith("records") else method[key] for key in method}
    in_use = () if routers is None or method.get("scorer") else (routers.in_use,)
    for name in chosen or in_use:
        if worse(name, routers):
            warn(f"router {name!r} was not better than the shipped one on held-out sessions")
    return [scored_by(method, name, routers) for name in chosen or (None,)]


def rivals_of(
    names: Sequence[str], given: Sequence[Mapping[str, object]], book: PriceBook
) -> Rivals:
    """Both routers, to be shown the same requests; paths are nobody's business on a page."""
    shown = [Path(name).name for name in names]
    if shown[0] == shown[1]:
        shown = [f"{name} ({place})" for place, name in enumerate(shown, 1)]
    methods = (live_method(one, book) for one in given)
    return Rivals(dict(zip(shown, methods, strict=True)), book)
