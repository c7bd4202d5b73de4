"""What was committed, what went out and what it saved, kept in a database for as long as told."""
