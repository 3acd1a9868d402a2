"""Pieces of the Help page, and the tour."""
