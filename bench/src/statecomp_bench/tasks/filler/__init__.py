"""Filler that reads like the output of tools: nothing in it is ever needed.

Shapes (how many lines, how long each) follow what was measured on recorded runs; `measured.toml`
has the figures and no text.  Words are invented.
"""
