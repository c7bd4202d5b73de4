"""Reconcile invoices with the ledger."""
