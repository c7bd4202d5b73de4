"""Tasks of the Security domain."""
