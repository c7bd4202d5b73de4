"""The HTTP door: one address in front of any model."""
