"""Follow an intruder from host to host."""
