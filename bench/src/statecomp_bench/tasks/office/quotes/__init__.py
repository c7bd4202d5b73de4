"""Compare offers of a tender."""
