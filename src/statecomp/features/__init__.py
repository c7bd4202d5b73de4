"""What a router sees of an interaction: numbers that can be computed before the next action."""
