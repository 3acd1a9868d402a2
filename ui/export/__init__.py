"""Pieces of the Export page."""
