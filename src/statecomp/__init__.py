"""Learns when a past interaction is safe to replace, and only then replaces it."""

__version__ = "0.1.0"
