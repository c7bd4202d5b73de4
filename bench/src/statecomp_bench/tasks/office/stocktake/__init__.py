"""Reconcile a stock-take."""
