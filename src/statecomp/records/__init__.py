"""Records: what a span becomes, by a model or without one, and the check of every fact in it."""
