"""Comparisons: two items, of which a voter names the more related one, or neither. Ballots and pilots ask them.

Who meets whom and what votes make of scores is a protocol's business (`core.protocols`); their pages are in
`comparison_page`, their files in `platforms`, what answers mean in `votes`.
"""

from __future__ import annotations

from ..errors import InputError
from .base import LOSS, TIE, WIN, KindInfo, QuestionKind

VALUES = {"first": 1.0, "second": 0.0, "tie": 0.5}
_COUNTS = {"first": (WIN, LOSS), "second": (LOSS, WIN), "tie": (TIE, TIE)}


class ComparisonKind(QuestionKind):
    """Which of the two is more related?"""

    name = "comparison"
    about = KindInfo(
        "comparisons",
        offered="Of two items people name the more related one, in ballots that keep the best.",
    )

    def value(self, answer: str) -> float | None:
        """1 where the first won, 0 the second, 0.5 a tie."""
        return VALUES.get(answer)

    def counts_as(self, answer: str, place: int) -> int:
        if answer not in _COUNTS:
            raise InputError(f"{answer!r} is no answer to a comparison.")
        return _COUNTS[answer][place]

    def n_shown(self) -> tuple[int, int | None]:
        return 2, 2
