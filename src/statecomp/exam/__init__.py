"""The reader's exam: what a record still lets its reader answer about the span it replaced."""
