"""Recorded runs played again under a strategy: what it would have sent, saved and broken."""
