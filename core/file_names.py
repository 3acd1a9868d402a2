"""Names of files as text: one that isn't UTF-8 (a disk of the nineties, a zip from Windows) can be opened by the name
that Python gives it, but neither printed nor kept."""

from __future__ import annotations

import re
from pathlib import Path

_HALF = re.compile("[\ud800-\udfff]")


def shown_path(path: Path | str) -> str:
    r"""A path as text; each byte of it that isn't UTF-8 becomes U+FFFD.

    >>> shown_path("models/mod\udce8le.vec")
    'models/mod�le.vec'
    """
    return _HALF.sub("\ufffd", str(path))


def shown_name(path: Path | str) -> str:
    """The last part of `shown_path`."""
    return shown_path(Path(path).name)
