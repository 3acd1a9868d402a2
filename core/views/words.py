"""Small wordings that views and pages share."""

from __future__ import annotations

import re

from ..estimates import Estimate


def many(n: int, noun: str) -> str:
    """A number with its noun.

    >>> many(1, "vote"), many(1200, "vote")
    ('1 vote', '1,200 votes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def estimated(found: Estimate, digits: int = 3, unit: str = "") -> str:
    """An estimate with its interval, or a dash.

    >>> estimated(Estimate(0.1, 0.05, 0.2)), estimated(Estimate(0.1)), estimated(Estimate(None))
    ('0.100 (0.050 to 0.200)', '0.100', '–')
    >>> estimated(Estimate(6.04, 5.0, 7.26), 1, " s")
    '6.0 s (5.0 to 7.3)'
    """
    if found.estimate is None:
        return "–"
    shown = f"{found.estimate:.{digits}f}{unit}"
    if found.lower is None or found.upper is None:
        return shown
    return f"{shown} ({found.lower:.{digits}f} to {found.upper:.{digits}f})"


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
