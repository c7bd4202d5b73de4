"""`statecomp-bench desk`: a model whose answers are written by whoever answers a folder."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import click
from rich.table import Table

from statecomp.cli.server import listening
from statecomp.cli.terminal import complain, show
from statecomp.errors import BadInput
from statecomp_bench.desk.queue import Queue

HOST = "127.0.0.1"
GRACE_S = 1


@click.command("desk")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--port",
    default=8485,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="The port to listen on, loopback only.",
)
@click.option(
    "--wait",
    "wait_s",
    default=240.0,
    show_default=True,
    type=click.FloatRange(0),
    metavar="S",
    help="How long a request waits for its answer before it is told to come again.",
)
@click.option("--list", "lists", is_flag=True, help="Show how every question stands, and end.")
@click.option(
    "--next", "who", metavar="NAME", help="Claim the oldest open question, print its page, and end."
)
@click.option(
    "--hold",
    "hold_s",
    default=1800.0,
    show_default=True,
    type=click.FloatRange(1),
    metavar="S",
    help="How long a claim holds.",
)
@click.option(
    "--answer", "name", metavar="QUESTION", help="Put standard input down as its answer, and end."
)
def desk_command(
    folder: Path,
    port: int,
    wait_s: float,
    lists: bool,
    who: str | None,
    hold_s: float,
    name: str | None,
) -> None:
    """Serve a model whose answers are written by whoever answers the questions in FOLDER.

    A person, or another program: a model that can only be reached by hand can act or write records.
    Clients speak OpenAI (chat completions, responses) or Anthropic.  A question is named by what
    decides its answer, so whoever asks it again, in a later run too, gets the answer at once.

    \b
    Questions are FOLDER/questions/NAME.md (and .json), answers FOLDER/answers/NAME.txt: plain text,
    or {"text": "...", "tool_calls": [{"name": "...", "arguments": {}}]}.

    \b
    Examples:
      statecomp-bench desk desk/ --wait 3600
      statecomp-bench run --model openai:me --base-url http://127.0.0.1:8485/v1 --deadline 3600
      statecomp-bench desk desk/ --next ada
      statecomp-bench desk desk/ --answer 0f3b... < reply.txt
    """
    if sum((lists, who is not None, name is not None)) > 1:
        raise click.UsageError("--list, --next and --answer exclude each other")
    queue = Queue(folder)
    if not lists and who is None and name is None:
        queue.prepare()
        _serve(queue, port, wait_s)
        return
    queue.require()
    if lists:
        _list(queue)
    elif who is not None:
        _next(queue, who, hold_s)
    elif name is not None:
        queue.write_answer(name, _given())


def _list(queue: Queue) -> None:
    table = Table("question", "state", "by", "problem")
    for standing in queue.standings():
        table.add_row(standing.name, standing.state, standing.who, standing.problem)
    show(table)


def _next(queue: Queue, who: str, hold_s: float) -> None:
    name = queue.take(who, hold_s)
    if name is None:
        complain("no question is open")
        raise click.exceptions.Exit(1)
    click.echo(queue.page_path(name))


def _given() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput("the answer is not UTF-8", field="standard input") from error


def _serve(queue: Queue, port: int, wait_s: float) -> None:
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise BadInput(f"needs {package}: install statecomp[proxy]", field="desk")
    import uvicorn

    from statecomp_bench.desk.server import build_app

    sockets = listening(HOST, port)
    config = uvicorn.Config(
        build_app(queue, wait_s),
        ws="none",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    click.echo(
        f"statecomp: questions to http://{HOST}:{port}/v1 are in {queue.folder / 'questions'}"
        f" and wait {wait_s:g} s for an answer in {queue.folder / 'answers'}",
        err=True,
    )
    # The server restores this handler and raises the signal again when it has shut down.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets)
