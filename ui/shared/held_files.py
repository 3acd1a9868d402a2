"""Files that weren't put into an upload box by hand, and are used as if they had been."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoredUpload:
    """A file as an upload box gives it."""

    file_id: str
    name: str
    data: bytes

    def getvalue(self) -> bytes:
        return self.data
