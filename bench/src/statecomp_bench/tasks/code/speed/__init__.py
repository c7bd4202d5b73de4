"""Tune batch sizes by measuring them."""
