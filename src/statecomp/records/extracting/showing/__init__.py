"""Units as lines of a record, and how many there were."""
