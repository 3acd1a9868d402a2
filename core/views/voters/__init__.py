"""What the Voters page shows."""
