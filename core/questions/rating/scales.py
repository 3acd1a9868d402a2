"""Rating scales: the values a person may give, and what they mean in words.

Two are ready. `STSS`: 0.0 to 4.0 in tenths, with a worded anchor at each whole number, as in O'Shea, Bandar, Crockett,
McLean (2013), Semantic similarity of short texts: anchors together with sorting first gave them the least noise.
`CLSS`: 0 to 4 in quarters, as in Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity: how far the
smaller text holds the meaning of the larger. The wordings are Runoff's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError, Issue
from ...i18n import translatable

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Anchor:
    """A value of the scale and what it means."""

    value: float
    text: str


@dataclass(frozen=True)
class RatingScale:
    """Values from `low` to `high` in steps of `step`; higher = more related.

    `sorts_first`: people sort the items into piles before they rate them. Raises `InputError` for a scale whose steps
    don't lead from one end to the other, or with an anchor that is no value of it.
    """

    name: str
    low: float
    high: float
    step: float
    anchors: tuple[Anchor, ...] = ()
    sorts_first: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high and self.step > 0):
            raise InputError("A scale needs a lower end, a higher one, and steps above 0.")
        if not self._is_step(self.high):
            raise InputError(f"Steps of {self.step:g} don't lead from {self.low:g} to {self.high:g}.")
        off = [anchor for anchor in self.anchors if not self.allows(anchor.value)]
        if off:
            raise InputError(f"There is an anchor at {off[0].value:g}, which is no value of the scale.")

    def _is_step(self, value: float) -> bool:
        steps = (value - self.low) / self.step
        return abs(steps - round(steps)) < _TOLERANCE * max(1.0, abs(steps))

    def allows(self, value: float) -> bool:
        """Whether somebody may give this value."""
        return math.isfinite(value) and self.low <= value <= self.high and self._is_step(value)

    @property
    def values(self) -> tuple[float, ...]:
        """All values, ascending."""
        n = round((self.high - self.low) / self.step)
        return tuple(round(self.low + number * self.step, 9) for number in range(n + 1))

    def read(self, text: str, *, row: int | None = None) -> float:
        """A rating as a person wrote it; a comma may stand for the decimal point. Raises `InputError` with the row."""
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            value = math.nan
        if not self.allows(value):
            allowed = f"{self.low:g} to {self.high:g} in steps of {self.step:g}"
            raise InputError("This is no rating.", [Issue(f"a rating is {allowed}", row=row, found=text)])
        return value

    def describe(self, value: float) -> str:
        """The meaning of the nearest anchor at or below a value, "" where there is none."""
        below = [anchor for anchor in self.anchors if anchor.value <= value + _TOLERANCE]
        return max(below, key=lambda anchor: anchor.value).text if below else ""


STSS = RatingScale(
    "STSS",
    0.0,
    4.0,
    0.1,
    (
        Anchor(0.0, translatable("The two have nothing to do with each other.")),
        Anchor(1.0, translatable("There is a faint likeness in what they mean.")),
        Anchor(2.0, translatable("Much of what they mean is alike.")),
        Anchor(3.0, translatable("What they mean is closely connected.")),
        Anchor(4.0, translatable("They mean the same.")),
    ),
    sorts_first=True,
)
CLSS = RatingScale(
    "CLSS",
    0.0,
    4.0,
    0.25,
    (
        Anchor(0.0, translatable("About different things; nothing of the larger text is in the smaller.")),
        Anchor(1.0, translatable("About different things that belong to the same field.")),
        Anchor(2.0, translatable("Not the same, but they share some things that matter.")),
        Anchor(3.0, translatable("Nearly the same; some detail that matters differs or is missing.")),
        Anchor(4.0, translatable("All that matters of the larger text is in the smaller.")),
    ),
)
SCALES = {scale.name: scale for scale in (STSS, CLSS)}
