"""What a person sees of the ledger.  Everything in it may be a stranger's text: it is cleaned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from types import MappingProxyType

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from statecomp.cli.terminal import number_of, show
from statecomp.dashboard.answers import chapters, fates, original, steps_of
from statecomp.dashboard.reasons import gate_words
from statecomp.ledger.audit import Entry, Regret, Request, Session, Sums, Totals
from statecomp.ledger.commits import Commit

TITLE = 48
WIDE = 120
# Tool output can hold sequences that move the cursor, set the title or answer for the user.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_STATES = {"live": "green", "undone": "yellow", "suspect": "red", "observed": "cyan"}


def clean(text: str) -> str:
    """A text that can do nothing to a terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.encode("utf-8", "replace").decode())


def print_sessions(sessions: Sequence[Session], totals: Totals) -> None:
    """What was only observed has columns of its own: it is no saving.  What saved nothing says why.

    Raw and sent are histories, system prompt included, without tool definitions.
    """
    right: tuple[str, ...] = (
        *("requests", "raw tokens", "sent tokens", "saved", "dollars saved", "commits", "regrets"),
    )
    observed = any(session.totals.observed.requests for session in sessions)
    right += ("would save", "would save dollars", "would regret") if observed else ()
    table = _table(("session", "last", "client", *right, "task"), right)
    for session in sessions:
        own = session.totals
        cells = _sums(own, _share(own.acted))
        cells += _would(own.observed) if observed else ()
        about = (session.id, _time(session.last_s), session.client)
        table.add_row(*_cells(*about, *cells, _one_line(_task(session))))
    show(table)
    for session in sessions:
        if not _saving(session) and session.note:
            click.echo(clean(f"{session.id} saved nothing; at its last request: {session.note}"))
    acted = totals.acted
    if acted.requests:
        _, raw, sent, share, dollars, *_ = _sums(acted, _share(acted))
        click.echo(
            f"{number_of(acted.requests, 'request')}, {raw} tokens of history came in, {sent} went"
            f" out ({share} saved), {dollars} dollars saved, {number_of(acted.commits, 'commit')},"
            f" {number_of(acted.regrets, 'regret')}"
        )
    if totals.outside_tokens:
        click.echo(
            f"{totals.outside_tokens:,} tokens of tool definitions were sent beside the histories"
        )
    if totals.record_dollars:
        click.echo(f"{totals.record_dollars:.4f} dollars of that went to models that write records")
    if seen := totals.observed.requests:
        share, dollars, _ = _would(totals.observed)
        click.echo(
            f"only observed: {number_of(seen, 'request')}, which went out as they came and would"
            f" have saved {share} of their tokens and {dollars} dollars, with"
            f" {number_of(totals.observed.regrets, 'regret')}"
        )


def print_reasons(session: Session, requests: Sequence[Request]) -> None:
    """How many requests of a session were sent shorter, and why the others were not."""
    if not requests:
        return
    counts = ", ".join(f"{count:,} {kind}" for kind, count in fates(requests))
    told = f"{session.id}: {number_of(len(requests), 'request')} ({counts})"
    latest = requests[-1].note
    click.echo(clean(f"{told}; the last: {latest}" if latest else told))


def print_log(entries: Sequence[Entry], regrets: Mapping[str, int]) -> None:
    right = ("steps", "tokens", "became", "score", "regrets")
    asked = any(entry.ruling.get("writer") for entry in entries)
    names = ("commit", "when", "session", "state", *right, *(("record",) if asked else ()))
    table = _table(names, right)
    within = chapters(entries)
    for entry in entries:
        commit = entry.commit
        lowest = f"{min(entry.scores.values()):.2f}" if entry.scores else "-"
        cells = (
            steps_of(commit),
            f"{commit.source_tokens:,}",
            f"{commit.summary_tokens:,}",
            lowest,
        )
        table.add_row(
            *_cells(commit.id, _time(entry.when_s), entry.session),
            Text(_state(entry, within), _STATES[entry.state]),
            *_cells(*cells, str(regrets.get(commit.id, 0))),
            *_cells(*((_writer(entry),) if asked else ())),
        )
    show(table)


def _writer(entry: Entry) -> str:
    """The model that wrote a record, or that an extract stands in for one."""
    return str(entry.ruling.get("writer", "")).partition(",")[0]


def print_entry(
    entry: Entry, regrets: Sequence[Regret], within: Mapping[str, Commit] = MappingProxyType({})
) -> None:
    commit, gate = entry.commit, gate_words(entry.ruling)
    lines = [
        f"commit   {commit.id}",
        f"state    {_state(entry, within)}",
        f"session  {entry.session or '(its account is no longer kept)'}",
        f"when     {_time(entry.when_s)}",
        f"steps    {steps_of(commit)}",
        f"tokens   {commit.source_tokens:,} became {commit.summary_tokens:,}",
    ]
    if entry.scores:
        scores = sorted(entry.scores.items())
        lines.append("scores   " + ", ".join(f"{n}: {score:.3f}" for n, score in scores))
    lines.append(f"because  {gate['verdict']}")
    lines += [f"         {line}" for line in gate["lines"]]
    lines += [f"         {name} = {value}" for name, value in gate["rest"]]
    if router := entry.ruling.get("router"):
        lines.append(f"router   {router}")
    if writer := entry.ruling.get("writer"):
        lines.append(f"record   {writer}")
    lines += [f"regret   request {r.request}, {r.kind}: {_one_line(r.detail)}" for r in regrets]
    click.echo(clean("\n".join([*lines, "", commit.text])))


def print_diff(entry: Entry, protocol: str, *, side_by_side: bool | None) -> None:
    """The original beside its summary where there is room, else one after the other."""
    commit = entry.commit
    titles = (
        f"original, steps {steps_of(commit)}, {commit.source_tokens:,} tokens",
        f"summary, {commit.summary_tokens:,} tokens ({entry.state})",
    )
    text = clean("\n".join(_original_lines(entry, protocol)))
    summary = clean(commit.text)
    console = Console(highlight=False)
    wide = console.is_terminal and console.width >= WIDE
    if wide if side_by_side is None else side_by_side:
        table = Table(box=SIMPLE_HEAD, expand=True)
        for title, style in zip(titles, ("red", "green"), strict=True):
            table.add_column(title, style=style, ratio=1, overflow="fold")
        table.add_row(Text(text), Text(summary))
        show(table)
        return
    click.echo(f"--- {titles[0]}\n+++ {titles[1]}")
    for mark, side, colour in (("-", text, "red"), ("+", summary, "green")):
        for line in side.splitlines():
            # Colours are left out by click where nobody looks.
            click.secho(f"{mark}{line}", fg=colour)


def as_json(value: Session | Entry) -> str:
    return json.dumps(asdict(value), default=str)


def _original_lines(entry: Entry, protocol: str) -> Iterator[str]:
    """Step by step: what was said, each call with its arguments, each result."""
    for interaction in original(entry, protocol):
        if interaction["number"] is not None:
            yield f"[step {interaction['number']}]"
        for part in interaction["parts"]:
            yield from f"{part['kind']}: {part['text']}".splitlines()


def _task(session: Session) -> str:
    return f"sub-agent: {session.title}" if session.parent else session.title


def _saving(session: Session) -> bool:
    acted, observed = session.totals.acted, session.totals.observed
    return acted.saved_tokens > 0 or observed.saved_tokens > 0


def _sums(sums: Sums, share: str) -> tuple[str, ...]:
    return (
        *(f"{sums.requests:,}", f"{sums.raw_tokens:,}", f"{sums.sent_tokens:,}", share),
        *(f"{sums.saved_dollars:,.2f}", f"{sums.commits:,}", f"{sums.regrets:,}"),
    )


def _would(observed: Sums) -> tuple[str, str, str]:
    if not observed.requests:
        return "-", "-", "-"
    return _share(observed), f"{observed.saved_dollars:,.2f}", f"{observed.regrets:,}"


def _share(sums: Sums) -> str:
    return f"{sums.saved_tokens / sums.raw_tokens:.0%}" if sums.raw_tokens else "-"


def _table(columns: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    return table


def _cells(*texts: str) -> list[Text]:
    """As text, so that brackets in it are no styles."""
    return [Text(clean(text)) for text in texts]


def _state(entry: Entry, within: Mapping[str, Commit]) -> str:
    chapter = within.get(entry.commit.id) if entry.state == "live" else None
    return f"{entry.state} in {steps_of(chapter)}" if chapter else entry.state


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"
