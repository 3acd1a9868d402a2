"""Pieces of the command line; `core/__main__.py` puts them together."""
