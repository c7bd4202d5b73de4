"""Which of what could be said is said first, and what a name or a line is worth."""
