"""Unmodified agents against the scripted provider: installing, starting and watching them."""
