"""What the Plan page shows."""
