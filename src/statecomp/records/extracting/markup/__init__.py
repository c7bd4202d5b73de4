"""Markup as what it says: pages as lines, documents of things as objects, of tags nothing."""
