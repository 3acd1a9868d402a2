"""One or several: the sentence that goes with a number of things."""

from __future__ import annotations

from typing import Any


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
