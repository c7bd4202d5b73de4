"""Rebuild navigation and sitemap after a reorganisation."""
