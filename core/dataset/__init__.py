"""The finished dataset as files: written, read, compared, split, described."""

from .files import read_dataset

__all__ = ["read_dataset"]
