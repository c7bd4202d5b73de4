"""Vectors of recorded runs from a frozen language model, kept in a folder to learn from."""
