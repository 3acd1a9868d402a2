"""Figures that take long to measure: measured once of a project as it stands, and kept."""
