"""Altair charts of views, and charts as files."""
