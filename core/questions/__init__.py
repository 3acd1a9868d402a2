"""The kinds of question: how a ballot or a round asks. One is one class here and one line in `KINDS`.

Nothing outside this folder compares a kind's name: `kind_of` finds the object, which is asked instead.
"""

from __future__ import annotations

from ..errors import PlanError
from .base import Answers, KindInfo, QuestionKind, RoundKind, RoundScores, RoundSettings
from .best_worst.kind import BestWorstKind
from .comparison import ComparisonKind
from .order.kind import OrderKind
from .rating.kind import RatingKind

COMPARISON = ComparisonKind()
KINDS: dict[str, QuestionKind] = {kind.name: kind for kind in (COMPARISON, RatingKind(), BestWorstKind(), OrderKind())}


def kind_of(name: str) -> QuestionKind:
    """The kind of this name; `PlanError` where there is none."""
    if name not in KINDS:
        raise PlanError(f"The scheme is one of {', '.join(KINDS)}, found {name!r}.")
    return KINDS[name]


def round_kinds() -> dict[str, RoundKind]:
    """The kinds that rounds ask, by name."""
    return {name: kind for name, kind in KINDS.items() if isinstance(kind, RoundKind)}


def round_kind(name: str) -> RoundKind:
    """The kind of this name that a round asks; `PlanError` where there is none."""
    known = round_kinds()
    if name not in known:
        raise PlanError(f"The scheme is one of {', '.join(known)}, found {name!r}.")
    return known[name]


def default_settings(name: str, *, seed: int = 0) -> RoundSettings:
    """Settings of a round to begin with: five ratings per item, one person per tuple with eight tuples per item,
    ten orders per target. Raises `PlanError` for another kind."""
    return round_kind(name).default_settings(seed=seed)


def check_round(settings: RoundSettings, *, with_groups: bool = True) -> RoundSettings:
    """The settings unchanged; `PlanError` naming the first one that makes no sense."""
    return round_kind(settings.scheme).checked(settings, with_groups=with_groups)


__all__ = [
    "COMPARISON",
    "KINDS",
    "KindInfo",
    "Answers",
    "QuestionKind",
    "RoundKind",
    "RoundScores",
    "RoundSettings",
    "check_round",
    "default_settings",
    "kind_of",
    "round_kind",
    "round_kinds",
]
