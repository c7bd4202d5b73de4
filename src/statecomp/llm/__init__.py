"""Asking a model in words: what is sent, what comes back, what it costs."""
