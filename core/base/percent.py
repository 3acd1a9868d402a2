"""Shares in per cent for people to read: never 100 % while something is missing, nor 0 % where there is something."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def percent(share: float, digits: int = 0) -> str:
    """A share, 0 to 1 or more, in per cent with so many decimals; an end that rounding alone would reach is not said.

    >>> percent(0.426), percent(2998 / 3000), percent(1.0), percent(1 / 3000), percent(0.0), percent(0.9996, 1)
    ('43%', 'over 99%', '100%', 'under 1%', '0%', 'over 99.9%')
    """
    shown = f"{share:.{digits}%}"
    step = 10.0**-digits
    if share < 1 and shown == f"{1:.{digits}%}":
        return f"over {100 - step:.{digits}f}%"
    if share > 0 and shown == f"{0:.{digits}%}":
        return f"under {step:.{digits}f}%"
    return shown


def in_percent(shares: ArrayLike, digits: int = 0) -> NDArray[np.float64]:
    """Shares, 0 to 1, times a hundred, for a column of so many decimals; NaN stays. An end that isn't reached is a step
    away from it: a column holds numbers, so it can't say “over”.

    >>> in_percent([0.426, 2998 / 3000, 1.0, 1 / 3000, 0.0]).round(1).tolist()
    [42.6, 99.0, 100.0, 1.0, 0.0]
    """
    found = 100 * np.asarray(shares, dtype=np.float64)
    step = 10.0**-digits
    found = np.where((found < 100) & (np.round(found, digits) >= 100), 100 - step, found)
    return np.where((found > 0) & (np.round(found, digits) <= 0), step, found)
