"""What the Collect page shows."""
