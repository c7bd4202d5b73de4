"""The bench on the command line: one thin file a verb."""

from statecomp_bench.cli.app import main

__all__ = ["main"]
