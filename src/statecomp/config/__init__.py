"""Settings: turns what a person writes on a command line into strategies, scorers, summarisers."""

from statecomp.config.strategies import BUILDERS, strategy_factory
from statecomp.options import Settings

__all__ = ["BUILDERS", "Settings", "strategy_factory"]
