"""The process of a job, and the catalogue of what it can do."""
