"""Bring a package of tariffs in line with its specification."""
