"""Tasks of the Web domain."""
