"""`statecomp learn` and `statecomp routers`: a router of one's own, and which one decides."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from statecomp.annotation import foresee
from statecomp.annotation.asking import WINDOW_TOKENS, Asker
from statecomp.annotation.chat import ChatAnnotator, expected
from statecomp.annotation.forecasts import Forecasts, read_forecasts
from statecomp.annotation.journal import Journal
from statecomp.annotation.records import Reading
from statecomp.cli.annotate import in_words
from statecomp.cli.forecast import CHECKPOINTS, ask_all, left_out
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.ledger_open import opened
from statecomp.cli.options import PATH, STORE_URL
from statecomp.cli.terminal import number_of, show, warn
from statecomp.config.methods import method_of
from statecomp.config.places import data_folder
from statecomp.errors import BadInput, needing
from statecomp.learning.sessions import UsableSessions, sessions_of
from statecomp.llm.chat import Chat
from statecomp.options import Options, Settings
from statecomp.wire.chats import open_chat

if TYPE_CHECKING:
    from statecomp.learning.compare import Side
    from statecomp.learning.learn import Learned, Readers
    from statecomp.learning.routers import Routers

EXTRA = "learning needs more libraries: install statecomp[learn]"


@click.command()
@STORE_URL
@click.option("-o", "--out", type=PATH, metavar="FOLDER",
              help="Where the router goes. [default: one more of `statecomp routers`]")  # fmt: skip
@click.option("--chat", "chat_spec", default="",
              help="openai:MODEL[@URL] or anthropic:MODEL[@URL]: labels and forecasts by a model"
              " instead of rules.")  # fmt: skip
@click.option("--forecasts", type=PATH,
              help="Made before by `statecomp forecast` of the exported sessions.")  # fmt: skip
@click.option("--records", default="extract", show_default=True, metavar="SPEC",
              help="Who writes the records where both routers are replayed: extract, or"
              " chat:PROVIDER:MODEL[@URL].")  # fmt: skip
@click.option("--window", type=click.IntRange(2000), default=WINDOW_TOKENS, show_default=True,
              help="Tokens the chat can read at once.")  # fmt: skip
@click.option("--members", type=click.IntRange(2, 20), default=5, show_default=True,
              help="Of the committee: more are slower, and steadier.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Read the ledger without asking.")
@click.option("--use", is_flag=True, help="Switch to it, if it is better.")
def learn(
    store: str,
    out: Path | None,
    chat_spec: str,
    forecasts: Path | None,
    records: str,
    window: int,
    members: int,
    yes: bool,
    use: bool,
) -> None:
    """Make a router of your own from the sessions in the ledger.

    It reads the messages of your sessions, on this machine alone unless you name a chat.  Labels
    come from rules, or from the chat; what happened after a replacement counts more: steps that the
    agent came back for, and commits you undid, must stay, and what nobody came back for in 20 steps
    could go.  All this is mixed with what the shipped router learned from, so that ten sessions do
    not forget three hundred.

    The newest third of the sessions is kept apart.  On these the new router and the shipped one are
    compared: ranking, calibration, what each would have replaced too early, tokens and dollars.  A
    page shows both.  A router that is not better is kept, and never switched to by itself.

    \b
    Examples:
      statecomp learn
      statecomp learn --yes --use
      statecomp learn -o router/ --chat openai:gpt-5
      statecomp serve --router router/
    """
    if use and out:
        raise click.UsageError(
            "--use is for routers that `statecomp routers` lists, and -o is none"
        )
    if out and out.exists() and not out.is_dir():
        raise BadInput("is no folder; name another with -o", file=str(out))
    with needing(EXTRA):
        from statecomp.learning import learn as learning
        from statecomp.router.supervision import must_fit
    with opened(store) as ledger:
        found = sessions_of(ledger)
    for reason, times in found.left_out.items():
        warn(f"left out, {number_of(times, 'session')}: {reason}")
    # What cannot be learned from, or not by these means, is said before anything is asked.
    learning.parted(found.lived)
    readings = [one.reading for one in found.lived]
    told = read_forecasts(forecasts) if forecasts else None
    if told is not None:
        must_fit(told, readings)
    chat = open_chat(chat_spec, environ=os.environ) if chat_spec else None
    method, _ = method_of(
        Options.given("learn", {"records": records}), Settings(environ=os.environ)
    )
    cost = _cost(readings, chat, told, window)
    _consent(found, [chat_spec, records.partition("chat:")[2]], cost, yes=yes)
    with _readers(readings, chat, told, window, out) as readers:
        done = learning.learn(
            found.lived,
            readers,
            learner=replace(learning.MEMBERS, parts=members),
            method=method,
            heard=lambda stage: click.echo(stage, err=True),
        )
    name = _deliver(done, out)
    _say(done, name, out)
    if use and done.comparison.better:
        _shelf().use(name)
        show("In use from the next decision on; `statecomp routers back` undoes that.")


def _cost(
    readings: Sequence[Reading], chat: Chat | None, told: Forecasts | None, window: int
) -> str:
    """What a chat would be asked; nothing where nobody is."""
    if chat is None:
        return ""
    cost = expected(readings, window)
    if told is None:
        cost += foresee.expected(readings, CHECKPOINTS, window)
    return f" Labels and forecasts take {in_words(cost, chat.model)}."


def _consent(found: UsableSessions, chats: Sequence[str], cost: str, *, yes: bool) -> None:
    messages = sum(len(one.run.messages) for one in found.lived)
    clients = ", ".join(sorted({one.client for one in found.lived}))
    sessions = number_of(len(found.lived), "session")
    named = " and ".join(dict.fromkeys(filter(None, chats)))
    where = f"They are sent to {named}." if named else "Nothing leaves this machine."
    click.echo(
        f"This reads {messages:,} messages of {sessions} ({clients}), secrets masked, "
        f"with what became of each replacement. {where}{cost}",
        err=True,
    )
    if not yes and not click.confirm("Go on?", err=True):
        raise click.Abort


@contextmanager
def _readers(
    readings: Sequence[Reading],
    chat: Chat | None,
    told: Forecasts | None,
    window: int,
    out: Path | None,
) -> Iterator[Readers]:
    """Rules, or a chat that labels and forecasts, with a journal of what it answered."""
    with needing(EXTRA):
        from statecomp.learning.learn import Readers
    if chat is None:
        yield Readers(None, told)
        return
    with Journal((out or _shelf().folder) / "learn.journal") as journal:
        annotator = ChatAnnotator(chat, journal, window_tokens=window)
        if told is None:
            told = _foretold(readings, annotator.asker, window)
        yield Readers(annotator, told or None)


def _foretold(readings: Sequence[Reading], asker: Asker, window: int) -> Forecasts:
    done, _ = ask_all(readings, asker, CHECKPOINTS, window)
    told: dict[str, dict[int, tuple[float, ...]]] = {}
    for one in done:
        if not one.problem:
            told.setdefault(one.run, {})[one.checkpoint] = one.ready
    if problem := left_out(done):
        warn(problem if told else f"{problem}; the shipped router's own scores stand instead")
    return told


def _deliver(done: Learned, out: Path | None) -> str:
    with needing(EXTRA):
        from statecomp.learning.page import page_of
        from statecomp.learning.routers import write_router
    page = page_of(done)
    report = {
        "better": done.comparison.better,
        "sessions": done.sessions,
        "held_out": done.held_out,
        "labels": done.lessons.read_by,
        "corrected": done.lessons.corrected,
        "at_odds": done.lessons.at_odds,
        "comparison": done.comparison.as_json(),
        "habits": [habit.as_json() for habit in done.habits],
    }
    if out is None:
        return _shelf().put(done.bundle, report, page)
    write_router(out, done.bundle, report, page)
    return str(out)


def _say(done: Learned, name: str, out: Path | None) -> None:
    comparison = done.comparison
    one, other = comparison.shipped, comparison.yours
    show(
        f"On {done.held_out} held-out sessions ({comparison.pairs:,} pairs, labels by "
        f"{done.lessons.read_by}): AUROC {one.measures['auroc']:.3f} shipped, "
        f"{other.measures['auroc']:.3f} yours; replaced too early {_share(one)} and "
        f"{_share(other)}; tokens saved {one.replayed['saved']:.1%} and "
        f"{other.replayed['saved']:.1%}; dollars {one.replayed['dollars_saved']:.1%} and "
        f"{other.replayed['dollars_saved']:.1%}."
    )
    if done.lessons.at_odds:
        show(
            f"  {done.lessons.at_odds} steps were come back for once and missed by nobody another"
            " time; these stay"
        )
    for reason in comparison.against:
        show(f"  not better: {reason}")
    with needing(EXTRA):
        from statecomp.learning.routers import PAGE
    show(f"Router {name}; both side by side in {(out or _shelf().folder / name) / PAGE}")
    if comparison.better:
        show(f"Use it: statecomp {f'serve --router {out}' if out else f'routers use {name}'}")


def _share(side: Side) -> str:
    share = side.replayed["premature"]
    return "none judged" if share is None else f"{share:.1%}"


@click.group(cls=PlainGroup, invoke_without_command=True)
@click.pass_context
def routers(context: click.Context) -> None:
    """Which router decides: list them, use one, go back.

    A running `statecomp serve` takes the change up within seconds, unless it was started with
    --router or --scorer.
    """
    if context.invoked_subcommand is not None:
        return
    shelf = _shelf()
    show(f"{'*' if shelf.in_use == 'shipped' else ' '} shipped")
    for one in shelf.listed():
        mark = "*" if shelf.in_use == one.name else " "
        verdict = "better on held-out sessions" if one.better else "not better"
        show(f"{mark} {one.name}  {verdict}, {one.about.get('sessions', '?')} sessions")
    if shelf.in_use not in ("shipped", *shelf.names()):
        show(f"* {shelf.in_use}  is no longer there, so the shipped one decides")


@routers.command("use")
@click.argument("name")
@click.option("--anyway", is_flag=True, help="Also one that was not found better.")
def use_command(name: str, anyway: bool) -> None:
    """Let the router NAME decide from now on; `shipped` is the one of the package.

    \b
    Example:
      statecomp routers use 2026-11-18
    """
    _shelf().use(name, anyway=anyway)
    show(f"Router {name} decides from the next decision on; `statecomp routers back` undoes that.")


@routers.command("back")
def back_command() -> None:
    """Go back to the router that decided before.

    \b
    Example:
      statecomp routers back
    """
    show(f"Router {_shelf().back()} decides from the next decision on.")


def _shelf() -> Routers:
    with needing(EXTRA):
        from statecomp.learning.routers import FOLDER, Routers
    return Routers(data_folder(os.environ) / FOLDER)
