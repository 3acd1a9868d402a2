"""Pieces of several pages: the frame, choosers, caches, jobs, files."""
