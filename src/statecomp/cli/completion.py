"""`statecomp completion`: tab completion for the shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete statecomp commands.

    \b
    Examples:
      echo 'eval "$(statecomp completion bash)"' >> ~/.bashrc
      echo 'eval "$(statecomp completion zsh)"' >> ~/.zshrc
      statecomp completion fish > ~/.config/fish/completions/statecomp.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell} has no completion")
    command = context.find_root().command
    click.echo(kind(command, {}, "statecomp", "_STATECOMP_COMPLETE").source())
