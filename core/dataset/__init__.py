"""The finished dataset as files: written, read, compared, split, described."""
