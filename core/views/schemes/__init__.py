"""What the page Other schemes shows."""
