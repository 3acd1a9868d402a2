"""Pieces of the page Other schemes."""
