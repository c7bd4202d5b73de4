"""Audit travel claims."""
