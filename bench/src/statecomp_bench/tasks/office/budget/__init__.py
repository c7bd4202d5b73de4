"""Consolidate budgets."""
