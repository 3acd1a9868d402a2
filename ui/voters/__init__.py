"""Pieces of the Voters page."""
