"""Numbers said in words, in one way on every page and in every file.

They are shares in per cent, the sentence that goes with one or several, and how many voters there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def percent(share: float, digits: int = 0) -> str:
    """A share, 0 to 1 or more, in per cent with so many decimals; an end that rounding alone would reach is not said.

    >>> percent(0.426), percent(2998 / 3000), percent(1.0), percent(1 / 3000), percent(0.0), percent(0.9996, 1)
    ('43%', 'over 99%', '100%', 'under 1%', '0%', 'over 99.9%')
    """
    text = f"{share:.{digits}%}"
    step = 10.0**-digits
    if share < 1 and text == f"{1:.{digits}%}":
        return f"over {100 - step:.{digits}f}%"
    if share > 0 and text == f"{0:.{digits}%}":
        return f"under {step:.{digits}f}%"
    return text


def percent_as_set(share: float) -> str:
    """A share that somebody chose, in per cent with the decimals it was chosen with (three digits at the most).

    >>> percent_as_set(0.1), percent_as_set(0.025), percent_as_set(0.2)
    ('10%', '2.5%', '20%')
    """
    return f"{100 * share:.3g}%"


def with_minus(text: str) -> str:
    """Figures in words with a minus sign where they have a hyphen; only for text that holds nothing but figures.

    >>> with_minus("-0.15 (-0.19 to 0.02)")
    '−0.15 (−0.19 to 0.02)'
    """
    return text.replace("-", "\N{MINUS SIGN}")


def with_decimals(value: float | None, digits: int = 3) -> str:
    """A figure with so many decimals; a dash where there is none.

    >>> with_decimals(0.5871), with_decimals(-0.1534, 2), with_decimals(None)
    ('0.587', '−0.15', '–')
    """
    return "–" if value is None or np.isnan(value) else with_minus(f"{value:.{digits}f}")


def p_said(p: float) -> str:
    """A p-value as text: never 0.

    >>> p_said(0.0), p_said(0.0123), p_said(1.0)
    ('< 0.001', '0.012', '1.000')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def in_percent(shares: ArrayLike, digits: int = 0) -> NDArray[np.float64]:
    """Shares, 0 to 1, times a hundred, for a column of so many decimals; NaN stays. An end that isn't reached is a step
    away from it: a column holds numbers, so it can't say “over”.

    >>> in_percent([0.426, 2998 / 3000, 1.0, 1 / 3000, 0.0]).round(1).tolist()
    [42.6, 99.0, 100.0, 1.0, 0.0]
    """
    percents = 100 * np.asarray(shares, dtype=np.float64)
    step = 10.0**-digits
    percents = np.where((percents < 100) & (np.round(percents, digits) >= 100), 100 - step, percents)
    return np.where((percents > 0) & (np.round(percents, digits) <= 0), step, percents)


def plural(n: int, one: str, other: str, /, **values: Any) -> str:
    """The sentence that goes with n things; `{n}` in it is their number, other names stand for `values`.

    >>> plural(1, "{n} vote counts", "{n} votes count"), plural(1200, "{n} vote counts", "{n} votes count")
    ('1 vote counts', '1,200 votes count')
    """
    return (one if n == 1 else other).format(n=f"{n:,}", **values)


def many(n: int, noun: str) -> str:
    """A number with its noun.

    >>> many(1, "vote"), many(1200, "vote")
    ('1 vote', '1,200 votes')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


@dataclass(frozen=True)
class VoterCount:
    """People and simulated voters with at least one vote that counts, and the voters who are left out of the project.

    Who is left out has no vote that counts, and so is in neither of the first two.
    """

    people: int
    simulated: int
    left_out: int = 0

    @property
    def total(self) -> int:
        """Who has a vote that counts."""
        return self.people + self.simulated

    @property
    def named(self) -> str:
        """Who has a vote that counts, in words.

        >>> VoterCount(12, 0).named, VoterCount(1, 3).named, VoterCount(0, 1).named, VoterCount(0, 0).named
        ('12 people', '1 person and 3 simulated voters', '1 simulated voter', 'nobody')
        """
        people = plural(self.people, "{n} person", "{n} people")
        simulated = many(self.simulated, "simulated voter")
        if self.people and self.simulated:
            return f"{people} and {simulated}"
        return people if self.people else simulated if self.simulated else "nobody"

    @property
    def said(self) -> str:
        """The same, and how many are left out.

        >>> VoterCount(11, 0, 1).said, VoterCount(0, 60).said, VoterCount(0, 0, 2).said
        ('11 people (1 more left out)', '60 simulated voters', 'nobody (2 more left out)')
        """
        return f"{self.named} ({self.left_out:,} more left out)" if self.left_out else self.named
