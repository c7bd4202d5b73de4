"""Judging in processes of its own, so that requests never wait for it."""
