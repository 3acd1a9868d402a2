"""Pieces of the Tokens page."""
