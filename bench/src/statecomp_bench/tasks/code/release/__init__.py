"""Prepare a release from many change files."""
