"""Lists of things: as tables told in text, and as tables made of objects."""
