"""What changes a workspace and may take long, and what takes long to measure: carried out at once, or by a job."""
