"""Pieces of the Evaluate page."""
