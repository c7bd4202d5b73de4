"""Hand-offs: a task is run to a point, and somebody else finishes it from what a strategy shows."""
