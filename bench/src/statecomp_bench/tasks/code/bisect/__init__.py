"""Trace broken tests to the commits that broke them."""
