"""Pieces of the Scores page."""
