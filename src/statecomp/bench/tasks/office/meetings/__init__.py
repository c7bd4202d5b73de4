"""Book meetings."""
