"""Build a newsletter in editions within size and markup rules."""
