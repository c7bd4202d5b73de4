"""Carry old tables over by migration scripts."""
