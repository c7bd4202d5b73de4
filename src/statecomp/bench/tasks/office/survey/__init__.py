"""Evaluate a survey."""
