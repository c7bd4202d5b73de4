"""What the proxy has done, and taking it back: sessions, log, show, diff, undo, export, purge."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path

import click

from statecomp.cli.files import write_lines
from statecomp.cli.ledger_export import keep_labels, run_record
from statecomp.cli.ledger_open import (
    ALL,
    entry_named,
    forget_nearby,
    opened,
    session_named,
)
from statecomp.cli.ledger_views import (
    as_json,
    print_diff,
    print_entry,
    print_log,
    print_reasons,
    print_sessions,
)
from statecomp.cli.options import JSON_LINES, OUT_FILE, RUNS_OUT, STORE_URL
from statecomp.cli.terminal import number_of, warn
from statecomp.dashboard.answers import chapters
from statecomp.errors import BadInput

UNITS_S = {"h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
LOGGED_SESSIONS = 10


@click.command("sessions")
@STORE_URL
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="List at most N sessions.",
)
@JSON_LINES
def sessions_command(store: str, limit: int, json_lines: bool) -> None:
    """List the sessions in the ledger, the latest first, with what each of them saved, or why not.

    Dollars are by the price book, under prompt caching; a loss is shown as a negative number.
    Requests in observe mode went out as they came: what they would have saved stands apart.

    \b
    Examples:
      statecomp sessions
      statecomp sessions --json --limit 100 | jq .totals
    """
    with opened(store) as ledger:
        found = ledger.sessions(limit)
        if json_lines:
            for session in found:
                click.echo(as_json(session))
        elif found:
            print_sessions(found, ledger.totals())
        else:
            click.echo("The ledger holds no session yet: statecomp serve")


@click.command("log")
@click.argument("session", required=False)
@STORE_URL
@JSON_LINES
def log_command(session: str | None, store: str, json_lines: bool) -> None:
    """List the commits of SESSION, the latest first; without it, of the latest sessions.

    A session may be named by the beginning of its id.  A commit is live (`live in 5-16` where a
    record of more steps stands for it by now), undone, suspect (a provider refused the request it
    was in) or observed (decided, and not sent).  Below them stands why requests were not sent
    shorter.

    \b
    Examples:
      statecomp log
      statecomp log 3f9c
    """
    with opened(store) as ledger:
        chosen = [session_named(ledger, session)] if session else ledger.sessions(LOGGED_SESSIONS)
        entries = [entry for one in chosen for entry in ledger.entries(one.id)]
        entries.sort(key=lambda entry: entry.when_s, reverse=True)
        if json_lines:
            for entry in entries:
                click.echo(as_json(entry))
        elif entries:
            regrets = Counter(regret.commit for one in chosen for regret in ledger.regrets(one.id))
            print_log(entries, regrets)
        else:
            click.echo("Nothing was committed.")
        for one in () if json_lines else chosen:
            print_reasons(one, ledger.requests(one.id))


@click.command("show")
@click.argument("commit")
@STORE_URL
@JSON_LINES
def show_command(commit: str, store: str, json_lines: bool) -> None:
    """Show one COMMIT: scores, the inequality that let it through, its summary, its regrets.

    \b
    Example:
      statecomp show 8c1fe02a
    """
    with opened(store) as ledger:
        entry = entry_named(ledger, commit)
        if json_lines:
            click.echo(as_json(entry))
            return
        regrets = ledger.regrets(entry.session) if entry.session else ()
        within = chapters(ledger.entries(entry.session)) if entry.session else {}
        mine = [regret for regret in regrets if regret.commit == entry.commit.id]
        print_entry(entry, mine, within)


@click.command("diff")
@click.argument("commit")
@STORE_URL
@click.option(
    "--side-by-side/--unified",
    default=None,
    help="Beside each other, or one after the other.  [default: by the width of the terminal]",
)
def diff_command(commit: str, store: str, side_by_side: bool | None) -> None:
    """Show what COMMIT replaced, and by what.

    Secrets in the original are masked.  In a pipe the lines begin with - and +.

    \b
    Example:
      statecomp diff 8c1fe02a
    """
    with opened(store) as ledger:
        entry = entry_named(ledger, commit)
        session = ledger.session(entry.session) if entry.session else None
    if not entry.originals:
        warn("the original messages are no longer kept")
    print_diff(entry, session.protocol if session else "", side_by_side=side_by_side)


@click.command("undo")
@click.argument("commit")
@STORE_URL
@click.option(
    "-m",
    "--reason",
    default="undone by the user",
    show_default=True,
    help="Kept with the commit, for whoever looks at it later.",
)
def undo_command(commit: str, store: str, reason: str) -> None:
    """Take COMMIT back: from the next request on its steps are raw again, and are not taken again.

    A proxy that is running sees this at once.

    \b
    Example:
      statecomp undo 8c1fe02a -m "it still needed the schema"
    """
    with opened(store) as ledger:
        entry = entry_named(ledger, commit)
        ledger.undo(entry.commit.id, reason)
    first, last = entry.commit.first, entry.commit.last
    click.echo(f"{entry.commit.id} is undone: steps {first}-{last} go out raw from now on")


@click.command("export")
@click.argument("sessions", nargs=-1)
@STORE_URL
@RUNS_OUT
@click.option(
    "--labels",
    "labels_file",
    type=OUT_FILE,
    help="Write KEEP labels for what was replaced and regretted.",
)
def export_command(
    sessions: tuple[str, ...], store: str, output: Path, labels_file: Path | None
) -> None:
    """Write SESSIONS as runs, ready for `statecomp annotate`; without any, all there are.

    Your own traffic becomes training data: each run is the last raw history of a session, secrets
    masked.  An interaction that was replaced and wanted back later becomes a KEEP label.

    \b
    Example:
      statecomp export -o runs.jsonl --labels regrets.jsonl
      statecomp annotate runs.jsonl -o labels.jsonl
    """
    with opened(store) as ledger:
        named = [session_named(ledger, name) for name in sessions]
        runs, exported = [], []
        for session in named or ledger.sessions(ALL):
            record = run_record(ledger, session)
            if isinstance(record, BadInput):
                warn(f"left out: {record}")
                continue
            runs.append(record)
            exported.append(session)
        if not runs:
            raise BadInput("there is no session to export; its messages may no longer be kept")
        labels = [label for session in exported for label in keep_labels(ledger, session)]
    write_lines(output, runs, private=True)  # as private as the ledger it came from
    click.echo(f"{number_of(len(runs), 'run')} written to {output}")
    if labels_file:
        write_lines(labels_file, (label.as_json() for label in labels), private=True)
        click.echo(f"{number_of(len(labels), 'KEEP label')} written to {labels_file}")


@click.command("purge")
@STORE_URL
@click.option("--session", help="This one; the beginning of its id is enough.")
@click.option("--older-than", metavar="AGE", help="Those without a request for so long: 12h, 30d.")
@click.option("--all", "everything", is_flag=True, help="Everything the ledger holds.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge_command(
    store: str, session: str | None, older_than: str | None, everything: bool, yes: bool
) -> None:
    """Delete sessions with all they hold: messages, account and commits.

    A run that still goes on is sent raw and decided anew.  What was undone stays undone, except
    with --all.

    \b
    Examples:
      statecomp purge --older-than 30d
      statecomp purge --session 3f9c --yes
    """
    if everything == bool(session or older_than):
        raise BadInput("say what to delete: --session S, --older-than 30d or both, or --all")
    before_s = None if older_than is None else time.time() - seconds(older_than)
    with opened(store) as ledger:
        name = session_named(ledger, session).id if session else ""
        _ask(yes, "everything in the ledger" if everything else "these sessions")
        count = ledger.purge(session=name, before_s=before_s)
    forget_nearby(store)
    click.echo(f"{number_of(count, 'session')} deleted")


def seconds(age: str) -> float:
    """`12h`, `30d`, `2w`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", age.strip())
    if match is None:
        raise BadInput(f"is {age!r}; write a number and h, d or w, such as 30d", field="age")
    return float(match[1]) * UNITS_S[match[2]]


def _ask(yes: bool, what: str) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise BadInput("nobody is there to be asked; add --yes to delete without asking")
    click.confirm(f"Delete {what} for good?", abort=True)
