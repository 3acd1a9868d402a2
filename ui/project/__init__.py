"""Pieces of the Project page."""
