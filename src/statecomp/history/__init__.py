"""Pure values: what a history is made of, and what may be asked of it."""
