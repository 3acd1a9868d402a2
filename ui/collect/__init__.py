"""Pieces of the Collect page."""
