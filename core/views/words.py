"""Small wordings that views and pages share."""

from __future__ import annotations

import re


def many(n: int, noun: str) -> str:
    """A number with its noun.

    >>> many(1, "vote"), many(1200, "vote")
    ('1 vote', '1,200 votes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def moment(stored: str) -> str:
    """A time of the store for people, in UTC to the minute.

    >>> moment("2026-11-28T03:04:05.678901+00:00")
    '2026-11-28 03:04'
    """
    return stored[:16].replace("T", " ")


def slug(name: str, otherwise: str = "dataset") -> str:
    """A name as the start of a file's: small letters, digits and hyphens, or `otherwise` if none are left.

    >>> slug("Jobs & skills"), slug("猫")
    ('jobs-skills', 'dataset')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or otherwise
