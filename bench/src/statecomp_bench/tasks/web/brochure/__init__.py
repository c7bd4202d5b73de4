"""Build a small site from briefs and a style guide."""
