"""Ratings of an item on a scale."""
