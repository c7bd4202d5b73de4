"""Repair many pages by an accessibility guide."""
