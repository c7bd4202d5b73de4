"""A router of one's own: what a ledger can teach, mixed with what the shipped router learned."""
