"""Orders of the positives of a target."""
