"""Tasks of the Office domain."""
