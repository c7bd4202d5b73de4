"""Tasks of the Code domain."""
