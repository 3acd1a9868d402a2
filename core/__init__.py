"""Runoff: datasets of word-pair relatedness from pairwise votes, and embeddings ranked with them.

Nothing in this package knows about pages; every module can be used from a notebook or a script.
"""

__version__ = "0.13.2"
