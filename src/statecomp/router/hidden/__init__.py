"""Routers that read hidden states of a frozen language model: trained, kept and used online."""
