"""The command line: one thin file a verb."""

from statecomp.cli.app import main

__all__ = ["main"]
