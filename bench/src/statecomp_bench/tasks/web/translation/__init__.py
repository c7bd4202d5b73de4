"""Translate pages with a memory and an amended glossary."""
