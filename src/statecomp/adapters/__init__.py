"""Doors for the frameworks people build agents with; each file imports its own framework only."""
