"""Simulated voters: a stochastic transitivity model of how a person compares two items, and panels of such voters.

Voter v holds of item i the opinion o = F(z + σ*·(1 − z²)·η), with z the underlying similarity, σ* the voter's
nonconformity, η ~ N(0, 1) drawn once for each voter and item and kept for the whole campaign, and F the cut to [−1, 1];
asked for relatedness, |o|. The voter prefers the item of the higher opinion, but with probability ε, the oversight,
names the other. Equal opinions are a tie, and oversight doesn't touch ties.

What is the oversight ε here is the lapse of fits to votes (`core.scores.voter_effects`), which have the same ε.

Most voters go by their opinions. Three kinds seen in real crowds don't, or not always:

* a **random clicker** names either side with equal chance, whatever is shown, and never says that two items tie;
* an **always-left** voter names the item shown on the left, whatever it is, and never says that two items tie;
* an **inattentive** voter is a random clicker in a share of its votes, drawn for each vote, and an ordinary voter else.

Reference: Lombardo et al. (2020), EMNLP, Eq. 11 and section 4.1 (σ* and ε).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..tables import Floats, Ints

__all__ = [
    "VoterKind",
    "Panel",
    "Voters",
    "answer",
    "decide",
    "draw_panel",
    "exponential",
    "opinions",
    "opinions_asked",
    "overrule",
    "power_law",
]


class VoterKind(IntEnum):
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
            raise InputError(f"The range of nonconformity must rise from 0 up, found {low} to {high}.")
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
        """Shares of the kinds that aren't ordinary, in the order of `VoterKind`."""
        return self.random_clickers, self.always_left, self.inattentive


PAPER_PANEL = Panel()  # section 4.1 of the paper


@dataclass(frozen=True)
class Voters:
    """The voters of one simulation.

    nonconformity, oversight : σ* (from 0 on) and ε (in [0, 1]) of each, shape (n_voters,).
    kind : `VoterKind` of each, same shape; None if all are ordinary.
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
            raise InputError("The nonconformity σ* of every voter must be a number, 0 or more.")
        if not ((self.oversight >= 0) & (self.oversight <= 1)).all():
            raise InputError("The oversight ε of every voter must lie in [0, 1].")
        if not np.isin(kind, list(VoterKind)).all():
            raise InputError(f"A voter's kind must be one of {[int(k) for k in VoterKind]}; see VoterKind.")
        _check_share("inattention", self.inattention)

    def __len__(self) -> int:
        return len(self.nonconformity)

    def has(self, kind: VoterKind) -> bool:
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
    for kind, start, end in zip(list(VoterKind)[1:], (0, *ends[:-1]), ends, strict=True):
        kinds[start:end] = kind
    return kinds


CELLS = 4_000_000  # opinions held in memory at once while votes are answered


def opinions(
    similarity: ArrayLike,
    voters: Voters,
    *,
    seed: int,
    notion: str = "relatedness",
    which: ArrayLike | None = None,
    amplitude: ArrayLike | None = None,
) -> Floats:
    """What each voter thinks of each item: o = F(z + σ*·(1 − z²)·η) (Eq. 11), for relatedness |o|.

    η of voter v is a stream of its own, seeded with (seed, v): the same seed gives the same opinions in
    every ballot, whichever voters are asked for.

    Parameters
    ----------
    similarity : z of the items in [−1, 1], shape (n_items,).
    voters : see `draw_panel`.
    seed : of the campaign, from 0 on.
    notion : "relatedness" or "similarity".
    which : the voters wanted, numbers from 0; default all.
    amplitude : what σ* is multiplied by for each item, shape (n_items,); default 1 − z².

    Returns shape (n voters wanted, n_items), in [0, 1] for relatedness and [−1, 1] for similarity.
    Raises `InputError` for a z outside [−1, 1], another notion, or a negative seed.
    """
    z = checked_similarity(similarity)
    _check(notion, seed)
    numbers = np.arange(len(voters)) if which is None else _numbers(which, len(voters), "which")
    spread = 1.0 - z * z if amplitude is None else np.asarray(amplitude, dtype=np.float64)
    result = np.empty((len(numbers), len(z)))
    for row, number in zip(result, numbers.tolist(), strict=True):
        np.random.default_rng((seed, number)).standard_normal(out=row)
        row *= voters.nonconformity[number] * spread
    result += z
    np.clip(result, -1.0, 1.0, out=result)
    return np.abs(result, out=result) if notion == "relatedness" else result


def decide(
    opinion_first: ArrayLike, opinion_second: ArrayLike, oversight: ArrayLike, rng: np.random.Generator
) -> Floats:
    """Votes from opinions: 1 the first wins, 0 the second, 0.5 where the opinions are equal.

    With probability `oversight` (a number, or one for each vote) the other item is named; a tie stays a
    tie. One random number is used for each vote, ties included.

    >>> decide([0.9, 0.1, 0.5], [0.2, 0.4, 0.5], 0.0, np.random.default_rng(1))
    array([1. , 0. , 0.5])
    """
    difference = np.asarray(opinion_first, dtype=np.float64) - np.asarray(opinion_second, dtype=np.float64)
    slip = np.where(rng.random(difference.shape) < np.asarray(oversight), -1.0, 1.0)
    return 0.5 + 0.5 * np.sign(difference) * slip


def overrule(
    outcome: Floats, voter: Ints, voters: Voters, rng: np.random.Generator, *, flipped: ArrayLike | None = None
) -> Floats:
    """Votes of the voters who don't go by their opinions put in place of `outcome`; see `VoterKind`.

    outcome : as `decide` returns it, shape (n,); voter : who answers, numbers below len(voters), shape (n,).
    flipped : where the first item is shown on the right, shape (n,); default nowhere. Only always-left voters look.

    A panel of ordinary voters uses no random number, any other two for each vote.

    >>> lefties = Voters([0.1], [0.0], [VoterKind.ALWAYS_LEFT])
    >>> overrule(np.array([0.5, 0.5]), np.array([0, 0]), lefties, np.random.default_rng(1), flipped=[False, True])
    array([1., 0.])
    """
    if voters.kind is None:
        return outcome
    kind = voters.kind[voter]
    clicked = np.where(rng.random(len(outcome)) < 0.5, 1.0, 0.0)
    looks_away = (kind == VoterKind.INATTENTIVE) & (rng.random(len(outcome)) < voters.inattention)
    left = 1.0 if flipped is None else np.where(flipped, 0.0, 1.0)
    result = np.where((kind == VoterKind.RANDOM_CLICKER) | looks_away, clicked, outcome)
    return np.where(kind == VoterKind.ALWAYS_LEFT, left, result)


def answer(
    similarity: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    voter: ArrayLike,
    voters: Voters,
    *,
    seed: int,
    rng: np.random.Generator,
    notion: str = "relatedness",
    flipped: ArrayLike | None = None,
) -> Floats:
    """The outcome of each comparison as its voter answers it: `opinions`, then `decide`, then `overrule`.

    first, second : item positions, and voter : number of the voter asked, each of shape (n,).
    flipped : as in `overrule`.
    Returns outcomes as `decide` does, shape (n,). Raises `InputError` as `opinions_asked` does.
    """
    both = opinions_asked(similarity, first, second, voter, voters, seed=seed, notion=notion)
    asked = np.asarray(voter, dtype=np.int64)
    outcome = decide(both[0], both[1], voters.oversight[asked], rng)
    return overrule(outcome, asked, voters, rng, flipped=flipped)


def opinions_asked(
    similarity: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    voter: ArrayLike,
    voters: Voters,
    *,
    seed: int,
    notion: str = "relatedness",
    amplitude: ArrayLike | None = None,
) -> Floats:
    """What the voter of each comparison thinks of its first and its second item, shape (2, n); see `opinions`.

    Only voters who are asked are computed, some at a time, so that memory stays bounded.
    Raises `InputError` as `opinions` does, and for positions or voters that don't exist.
    """
    z = checked_similarity(similarity)
    a, b = _numbers(first, len(z), "first"), _numbers(second, len(z), "second")
    asked = _numbers(voter, len(voters), "voter")
    if not len(a) == len(b) == len(asked):
        raise InputError(f"first, second and voter must be equally long, found {len(a)}, {len(b)} and {len(asked)}.")
    held = np.empty((2, len(asked)))
    for votes, rows, numbers in _blocks_of_voters(asked, max(1, CELLS // max(1, len(z)))):
        block = opinions(z, voters, seed=seed, notion=notion, which=numbers, amplitude=amplitude)
        held[0, votes], held[1, votes] = block[rows, a[votes]], block[rows, b[votes]]
    return held


def _blocks_of_voters(asked: Ints, size: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Votes (positions), the row of each vote's voter in the block, and the voters of the block."""
    numbers, code = np.unique(asked, return_inverse=True)
    order = np.argsort(code, kind="stable")
    for start in range(0, len(numbers), size):
        low, high = np.searchsorted(code[order], (start, start + size))
        votes = order[low:high]
        yield votes, code[votes] - start, numbers[start : start + size]


def exponential(n: int) -> Floats:
    """Exponential similarities z_i = 2·e^(−i/n) − 1, i = 1…n, falling; (n,).

    >>> exponential(2).round(3)
    array([ 0.213, -0.264])
    """
    return 2.0 * np.exp(-np.arange(1, n + 1) / n) - 1.0


def power_law(n: int) -> Floats:
    """Power-law similarities z_i = 2/(1 + √(i/n)) − 1, i = 1…n, falling to 0; (n,).

    >>> power_law(4).round(3)
    array([0.333, 0.172, 0.072, 0.   ])
    """
    return 2.0 / (1.0 + np.sqrt(np.arange(1, n + 1) / n)) - 1.0


def checked_similarity(similarity: ArrayLike) -> Floats:
    """z as an array in [−1, 1], or `InputError`. What oversteps 1 by float noise is cut."""
    z = np.asarray(similarity, dtype=np.float64)
    if z.ndim != 1:
        raise InputError(f"Similarities must be one row of numbers, found an array of shape {z.shape}.")
    wrong = ~(np.abs(z) <= 1.0 + 1e-9)  # NaN is wrong too
    if wrong.any():
        raise InputError(f"{int(wrong.sum())} similarities are not in [-1, 1], the first is {z[wrong][0]!r}.")
    return np.clip(z, -1.0, 1.0)


def _numbers(values: ArrayLike, n: int, name: str) -> Ints:
    array = np.asarray(values, dtype=np.int64)
    if array.ndim != 1 or ((array < 0) | (array >= n)).any():
        raise InputError(f"{name} must be numbers from 0 to {n - 1}.")
    return array


def _check(notion: str, seed: int) -> None:
    if notion not in ("relatedness", "similarity"):
        raise InputError(f'The notion must be "relatedness" or "similarity", found {notion!r}.')
    if seed < 0:
        raise InputError(f"The seed must be a whole number, 0 or more, found {seed}.")
