"""Panels: how simulated voters differ from each other, and the kinds of voter that no panel is without.

Most voters go by their opinions (`voters`). Three kinds seen in real crowds don't, or not always:

* a **random clicker** names either side with equal chance, whatever is shown, and never says that two items tie;
* an **always-left** voter names the item shown on the left, whatever it is, and never says that two items tie;
* an **inattentive** voter is a random clicker in a share of its votes, drawn for each vote, and an ordinary voter else.

Reference for nonconformity σ* and oversight ε: Lombardo et al. (2020), EMNLP, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ..base.arrays import Floats, Ints
from ..errors import InputError


class Kind(IntEnum):
    """What a voter goes by; see the module."""

    ORDINARY = 0
    RANDOM_CLICKER = 1
    ALWAYS_LEFT = 2
    INATTENTIVE = 3


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise InputError(f"{name} is a share within [0, 1], found {share!r}.")


@dataclass(frozen=True)
class Panel:
    """A population of voters; the two ranges are those of uniform distributions.

    Parameters
    ----------
    n_voters : at least 1.
    nonconformity : range of σ*, from 0 on.
    oversight : range of ε, within [0, 1].
    random_clickers, always_left, inattentive : shares of the voters, each in [0, 1], together at most 1. A panel
        has the nearest whole numbers of them; which voters they are is drawn.
    inattention : share of its votes that an inattentive voter gives without looking, in [0, 1].

    σ* and ε given voter by voter make `Voters`, which every simulation takes in place of a panel.
    Raises `InputError` where that does not hold.
    """

    n_voters: int = 100
    nonconformity: tuple[float, float] = (0.02, 0.2)
    oversight: tuple[float, float] = (0.005, 0.05)
    random_clickers: float = 0.0
    always_left: float = 0.0
    inattentive: float = 0.0
    inattention: float = 0.5

    def __post_init__(self) -> None:
        if self.n_voters < 1:
            raise InputError(f"A panel needs at least one voter, found {self.n_voters}.")
        (low, high), (least, most) = self.nonconformity, self.oversight
        if not 0 <= low <= high < np.inf:
            raise InputError(f"The range of nonconformity must rise from 0 on, found {low} to {high}.")
        if not 0 <= least <= most <= 1:
            raise InputError(f"The range of oversight must rise within [0, 1], found {least} to {most}.")
        _check_share("inattention", self.inattention)
        for name, share in zip(("random_clickers", "always_left", "inattentive"), self.odd_shares, strict=True):
            _check_share(name, share)
        if sum(self.odd_shares) > 1 + 1e-9:
            raise InputError(
                f"The shares of random clickers, always-left and inattentive voters make {sum(self.odd_shares):g} "
                "in all; together they can be at most 1."
            )

    @property
    def odd_shares(self) -> tuple[float, float, float]:
        """Shares of the kinds that aren't ordinary, in the order of `Kind`."""
        return self.random_clickers, self.always_left, self.inattentive


PAPER_PANEL = Panel()  # section 4.1 of the paper


@dataclass(frozen=True)
class Voters:
    """The voters of one simulation.

    nonconformity, oversight : σ* (from 0 on) and ε (in [0, 1]) of each, shape (n_voters,).
    kind : `Kind` of each, same shape; None if all are ordinary.
    inattention : as in `Panel`.

    Raises `InputError` where that does not hold.
    """

    nonconformity: Floats
    oversight: Floats
    kind: Ints | None = None
    inattention: float = 0.5

    def __post_init__(self) -> None:
        for name in ("nonconformity", "oversight"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        kind = np.asarray(np.zeros(self.nonconformity.shape) if self.kind is None else self.kind, dtype=np.int64)
        object.__setattr__(self, "kind", None if self.kind is None else kind)
        shapes = {self.nonconformity.shape, self.oversight.shape, kind.shape}
        if len(shapes) > 1 or self.nonconformity.ndim != 1 or not len(self):
            raise InputError(f"σ*, ε and kind must be given for each of at least one voter, found shapes {shapes}.")
        if not ((self.nonconformity >= 0) & (self.nonconformity < np.inf)).all():
            raise InputError("The nonconformity σ* of every voter must be a number from 0 on.")
        if not ((self.oversight >= 0) & (self.oversight <= 1)).all():
            raise InputError("The oversight ε of every voter must lie in [0, 1].")
        if not np.isin(kind, list(Kind)).all():
            raise InputError(f"A voter's kind must be one of {[int(k) for k in Kind]}; see Kind.")
        _check_share("inattention", self.inattention)

    def __len__(self) -> int:
        return len(self.nonconformity)

    def has(self, kind: Kind) -> bool:
        """Whether any voter is of this kind."""
        return self.kind is not None and bool((self.kind == kind).any())


def draw_panel(panel: Panel, rng: np.random.Generator) -> Voters:
    """Draw σ* and ε of each voter uniformly from the panel's ranges, then who is of which kind.

    >>> np.bincount(draw_panel(Panel(8, always_left=0.25), np.random.default_rng(1)).kind).tolist()
    [6, 0, 2]
    """
    nonconformity = rng.uniform(*panel.nonconformity, size=panel.n_voters)
    oversight = rng.uniform(*panel.oversight, size=panel.n_voters)
    kind = rng.permutation(_kinds(panel)) if any(panel.odd_shares) else None
    return Voters(nonconformity, oversight, kind, panel.inattention)


def _kinds(panel: Panel) -> Ints:
    """The kinds of a panel's voters, in order: whole numbers that add up, each sum within half a voter."""
    ends = np.floor(np.cumsum(panel.odd_shares) * panel.n_voters + 0.5 + 1e-9).astype(np.int64)
    kinds = np.zeros(panel.n_voters, dtype=np.int64)
    for kind, start, end in zip(list(Kind)[1:], (0, *ends[:-1]), ends, strict=True):
        kinds[start:end] = kind
    return kinds
