"""What the Tokens page shows."""
