"""What the Evaluate page shows, and of one embedding."""
