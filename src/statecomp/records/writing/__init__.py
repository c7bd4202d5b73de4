"""Records by a model: what it is asked, what it answers, and what it may cost."""
