"""Pieces of the Plan page."""
