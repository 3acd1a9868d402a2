"""Pieces of the Embeddings page."""
