"""Settings: turns what a person writes on a command line into strategies, scorers, summarisers."""

from statecomp.config.options import Settings
from statecomp.config.strategies import BUILDERS, strategy_factory

__all__ = ["BUILDERS", "Settings", "strategy_factory"]
