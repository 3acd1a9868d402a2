"""Values of a plan and its costs as they are given, checked: any kind of number that means the right thing is taken."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ..errors import PlanError


def whole(value: Any, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise PlanError(f"{name} must be a whole number, found {value!r}.") from None
    if number < least:
        raise PlanError(f"{name} must be at least {least}, found {number}.")
    return number


def check_limits(settings: object, limits: Mapping[str, tuple[float, float, str]]) -> None:
    """Raise `PlanError` for the first number out of its limits: lowest, highest, and what people call it."""
    for name, (lowest, highest, label) in limits.items():
        value = getattr(settings, name)
        if not (math.isfinite(value) and lowest <= value <= highest):
            raise PlanError(f"{label} is {value:g}; it must lie between {lowest:g} and {highest:,}.")


def fraction(value: Any) -> float:
    """A fraction between 0 and 1, both excluded."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1:
        raise PlanError(f"The fraction kept must lie between 0 and 1 (both excluded), found {value!r}; try 0.5.")
    return number


def appearances(value: Any, n_ballots: int) -> int | tuple[int, ...]:
    """One number of appearances, or one for each ballot."""
    name = "The number of appearances of an item in a ballot"
    if hasattr(value, "__index__"):
        return whole(value, name, 1)
    try:
        numbers = tuple(whole(entry, name, 1) for entry in value)
    except TypeError:
        raise PlanError(f"{name} must be a whole number, or one for each ballot; found {value!r}.") from None
    if len(numbers) != n_ballots:
        raise PlanError(f"Give one number of appearances for each of {n_ballots} ballots; found {len(numbers)}.")
    return numbers


def kept(n: int, keep: float) -> int:
    """How many of n items a share of them is: round(keep · n), halves up (Eq. 2).

    >>> kept(45, 0.7), kept(45, 0.5)
    (32, 23)
    """
    # 0.7 · 45 is 31.499999999999996 in floats; six decimals are enough to see that a half was meant.
    return math.floor(round(keep * n, 6) + 0.5)


def amount(value: float, name: str) -> Decimal:
    """A number from 0 on, exactly as it is written."""
    number = Decimal(str(value)) if isinstance(value, int | float | Decimal) else Decimal("NaN")
    if not (number.is_finite() and number >= 0):
        raise PlanError(f"{name} must be a number from 0 on, found {value!r}.")
    return number


def cents(value: Decimal) -> Decimal:
    """Rounded to hundredths, halves up."""
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
