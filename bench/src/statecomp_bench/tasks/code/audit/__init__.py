"""Audit the dependencies of many services."""
