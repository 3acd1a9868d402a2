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


def slug(name: str, otherwise: str = "dataset") -> str:
    """A name as the start of a file's: small letters, digits and hyphens, or `otherwise` if none are left.

    >>> slug("Jobs & skills"), slug("猫")
    ('jobs-skills', 'dataset')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or otherwise


def file_stem(about: dict) -> str:
    """The name of a dataset's files, without ending: the project's, and what a reader must know at once.

    >>> file_stem({"project": "Jobs & skills", "provisional": True, "simulated_votes": True})
    'jobs-skills-provisional-simulated'
    """
    marks = {"provisional": about["provisional"], "simulated": about["simulated_votes"]}
    return "-".join([slug(str(about["project"])), *(name for name, is_so in marks.items() if is_so)])
