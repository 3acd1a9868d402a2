"""Borda scores of ballots, brought to one scale and averaged over the ballots of a campaign.

Symbols: x is the score of an item within one ballot, y the same score rescaled to that of the first
ballot, ȳ the mean of an item's y so far. Higher = more related. They are meaningful only where the
opponents of an item were drawn uniformly from the items of its ballot.

Reference: Lombardo et al. (2020), EMNLP, Eqs. 1, 5, 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, Issue
from ..tables import Floats, Ints


def borda(first: ArrayLike, second: ArrayLike, outcome: ArrayLike, *, n_items: int) -> Floats:
    """Borda score of each item: x = (wins + ties/2) / times presented, by the votes received (Eq. 1).

    Parameters
    ----------
    first, second : item positions 0…n_items−1 of each vote, shape (n_votes,).
    outcome : 1 the first item won, 0 the second won, 0.5 a tie.
    n_items : number of items.

    Returns shape (n_items,), in [0, 1], higher = more related; NaN for an item without a vote.
    Raises `InputError` for positions out of range, an item against itself, or another outcome.

    >>> borda([0, 0, 1], [1, 2, 2], [1, 0.5, 0], n_items=4)
    array([0.75, 0.  , 0.75,  nan])
    """
    points, votes = tally(*checked_votes(first, second, outcome, n_items=n_items), n_items=n_items)
    return _ratio(points, votes)


def tally(first: Ints, second: Ints, outcome: Floats, *, n_items: int) -> tuple[Floats, Ints]:
    """Points (wins + ties/2) and times presented, each of shape (n_items,). Votes as in `borda`, not checked."""
    points = np.bincount(first, outcome, n_items) + np.bincount(second, 1.0 - outcome, n_items)
    votes = np.bincount(first, minlength=n_items) + np.bincount(second, minlength=n_items)
    return points.astype(np.float64), votes.astype(np.int64)  # bincount of nothing counts in whole numbers


@dataclass(frozen=True)
class Rescaled:
    """Scores of the items of one ballot after `rescale`; arrays of shape (n,) in the order given.

    y : rescaled score, NaN where the item has no vote in this ballot.
    mean : ȳ, the mean of the y's that the item has so far, NaN where it has none.
    count : number of those y's.
    slope : b̂, NaN where no item tells it. The paper's footnote 7 expects at most 1, as the chances of an item fall from
        ballot to ballot; above it the ballot spread its items wider than the mean before it, and a y can fall below 0.
    """

    y: Floats
    mean: Floats
    count: Ints
    slope: float


def rescale(x: ArrayLike, previous_mean: ArrayLike, previous_count: ArrayLike) -> Rescaled:
    """Bring the scores of ballot k > 1 to the scale of the earlier ones, and average (Eqs. 5, 6).

    y = 1 − b̂ + b̂·x,  b̂ = Σ(1 − x)(1 − ȳ) / Σ(1 − x)²,  new ȳ = (count·ȳ + y) / (count + 1).

    The line is fitted by least squares through (1, 1), over the items that have both x and ȳ. Nothing
    is clipped. An item without a vote (x NaN) has no y and keeps its mean and count. A score of 1 is a
    fixed point of every such line: where all x are 1 no line can be told, b̂ is NaN and y = 1.

    Parameters
    ----------
    x : Borda scores of the ballot's items, in [0, 1] or NaN, shape (n,).
    previous_mean : their ȳ before the ballot, NaN where an item has none, shape (n,).
    previous_count : number of scores in that mean, shape (n,) or one number for all.

    Raises `InputError` for shapes that don't fit, or an x outside [0, 1].

    >>> rescale([1.0, 0.5, 0.0], [1.0, 0.75, 0.5], [1, 1, 1])
    Rescaled(y=array([1.  , 0.75, 0.5 ]), mean=array([1.  , 0.75, 0.5 ]), count=array([2, 2, 2]), slope=0.5)
    """
    scores = np.asarray(x, dtype=np.float64)
    before = np.asarray(previous_mean, dtype=np.float64)
    if scores.ndim != 1 or scores.shape != before.shape:
        raise InputError(
            f"x and previous_mean must score the same items, found shapes {scores.shape} and {before.shape}."
        )
    if ((scores < 0) | (scores > 1)).any():
        raise InputError(f"Borda scores lie in [0, 1], found {scores[(scores < 0) | (scores > 1)][0]!r}.")
    try:
        counts = np.broadcast_to(np.asarray(previous_count, dtype=np.int64), scores.shape)
    except ValueError:
        raise InputError(f"previous_count must have one entry for each of {len(scores)} items.") from None
    step = chained(scores, before, counts)
    return Rescaled(step.y, step.mean, step.count, float(step.slope))


# What follows works on axis 0 = items, so that the bootstrap runs it on (items, resamples).


@dataclass(frozen=True, eq=False)
class ChainStep:
    """One more ballot in the chain of Eqs. 5 and 6: b̂, y, the new ȳ and its count."""

    slope: Floats
    y: Floats
    mean: Floats
    count: Ints


def chained(x: Floats, mean: Floats, count: Ints, slope: Floats | None = None) -> ChainStep:
    """x of ballot k > 1 brought to the scale of the first (Eq. 6) and averaged into ȳ (Eq. 5): the one place of both.

    mean, count : ȳ(k−1) and how many y's are in it. Without `slope` it is that of these items, which must be all of
    the ballot's. Nothing is checked; see `rescale`.
    """
    slope = rescaling_slope(x, mean) if slope is None else slope
    y = on_first_scale(x, slope)
    return ChainStep(slope, y, *updated_mean(y, mean, count))


def rescaling_slope(x: Floats, mean: Floats) -> Floats:
    """b̂ = Σ(1 − x)(1 − ȳ) / Σ(1 − x)², the second line of Eq. 6, over axis 0; NaN where no item has x, ȳ and x < 1."""
    both = ~(np.isnan(x) | np.isnan(mean))
    gap = np.where(both, 1.0 - x, 0.0)
    mean_gap = np.where(both, 1.0 - mean, 0.0)
    return _ratio((gap * mean_gap).sum(axis=0), (gap * gap).sum(axis=0))


def on_first_scale(x: Floats, slope: Floats) -> Floats:
    """y = 1 − b̂ + b̂·x, the first line of Eq. 6; 1 where x is 1, whatever the slope."""
    return np.where(x == 1.0, 1.0, 1.0 - slope * (1.0 - x))


def updated_mean(y: Floats, mean: Floats, count: Ints) -> tuple[Floats, Ints]:
    """ȳ of Eq. 5, the mean of the y's so far, and its count with one more y; a missing y changes neither, a missing ȳ
    starts with y."""
    there = ~np.isnan(y)
    total = np.where(count > 0, mean * count, 0.0) + np.where(there, y, 0.0)
    new_count = count + there
    return _ratio(total, new_count), new_count


def _ratio(numerator: NDArray[np.generic], denominator: NDArray[np.generic]) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    result = np.full(np.shape(numerator), np.nan)
    return np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)


class VotesOf(Protocol):
    """The votes of a ballot as `BallotVotes` has them, checked or not."""

    @property
    def items(self) -> Ints: ...
    @property
    def first(self) -> Ints: ...
    @property
    def second(self) -> Ints: ...
    @property
    def outcome(self) -> Floats: ...
    @property
    def voter(self) -> Ints: ...


@dataclass(frozen=True)
class BallotVotes:
    """The votes of one ballot.

    items : positions of the ballot's items in the project's list, without repeats, shape (n,).
    first, second : item positions of each vote, both among `items`, shape (n_votes,).
    outcome : 1 the first won, 0 the second won, 0.5 a tie.
    voter : code 0…V−1 of who voted; a voter has the same code in every ballot.

    Raises `InputError` where that does not hold.
    """

    items: Ints
    first: Ints
    second: Ints
    outcome: Floats
    voter: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", _positions(self.items, "items"))
        top = int(self.items.max(initial=-1)) + 1
        if len(self.items) and (self.items.min() < 0 or np.bincount(self.items).max() > 1):
            raise InputError("The items of a ballot must be different positions, 0 or more.")
        first, second, outcome = checked_votes(self.first, self.second, self.outcome, n_items=top)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)
        object.__setattr__(self, "outcome", outcome)
        object.__setattr__(self, "voter", _positions(self.voter, "voter"))
        if len(self.voter) != len(first) or (self.voter < 0).any():
            raise InputError(f"Each of {len(first)} votes needs a voter's code, 0 or more.")
        listed = np.zeros(top, dtype=bool)
        listed[self.items] = True
        strangers = np.flatnonzero(~(listed[first] & listed[second]))
        if len(strangers):
            where = int(strangers[0])
            raise InputError(
                f"{len(strangers)} votes name items that are not in the ballot.",
                [Issue(f"vote {where} is on another ballot's items", found=f"{first[where]}, {second[where]}")],
            )


def places_of(votes: VotesOf) -> tuple[Ints, Ints]:
    """`first` and `second` of a ballot's votes as places 0…n−1 in its `items`."""
    place = np.zeros(int(votes.items.max(initial=-1)) + 1, dtype=np.int64)
    place[votes.items] = np.arange(len(votes.items))
    return place[votes.first], place[votes.second]


@dataclass(frozen=True)
class BallotScores:
    """Scores after ballot `number` (from 1); arrays over `items`, see `Rescaled`; votes = times presented."""

    number: int
    items: Ints
    x: Floats
    y: Floats
    mean: Floats
    count: Ints
    slope: float
    votes: Ints


def score_campaign(ballots: Sequence[BallotVotes], n_items: int) -> tuple[BallotScores, ...]:
    """Scores of every ballot of a campaign, in order.

    y(1) = x(1) with slope 1; later ballots as in `rescale`. An item without votes in the first ballot
    has NaN there. An item that skips a ballot keeps its mean. `n_items` is the number of items of the
    project. Raises `InputError` where a ballot names an item beyond it.

    >>> votes = BallotVotes([0, 1, 2], [0, 0, 1], [1, 2, 2], [1, 1, 1], [0, 0, 0])
    >>> final = BallotVotes([0, 1], [0], [1], [0.5], [0])
    >>> [ballot.mean.tolist() for ballot in score_campaign([votes, final], 3)]
    [[1.0, 0.5, 0.0], [0.875, 0.625]]
    """
    mean, count = np.full(n_items, np.nan), np.zeros(n_items, dtype=np.int64)
    scores = []
    for number, ballot in enumerate(ballots, start=1):
        items = ballot.items
        check_range(items, n_items)
        points, votes = tally(*places_of(ballot), ballot.outcome, n_items=len(items))
        x = _ratio(points, votes)
        if number == 1:
            after = Rescaled(x, x.copy(), (votes > 0).astype(np.int64), 1.0)
        else:
            after = rescale(x, mean[items], count[items])
        mean[items], count[items] = after.mean, after.count
        scores.append(BallotScores(number, items, x, after.y, after.mean, after.count, after.slope, votes))
    return tuple(scores)


@dataclass(frozen=True)
class FinalScores:
    """The final scores of all items of the project; arrays of shape (n_items,).

    score : ȳ of the item's last ballot, NaN where it has none; ballots : ballots the item was in;
    votes : votes on it in all of them.
    """

    score: Floats
    ballots: Ints
    votes: Ints


def final_scores(ballot_scores: Sequence[BallotScores], n_items: int) -> FinalScores:
    """The final score of each item: ȳ of the last ballot it was in."""
    score = np.full(n_items, np.nan)
    ballots, votes = np.zeros(n_items, dtype=np.int64), np.zeros(n_items, dtype=np.int64)
    for ballot in ballot_scores:
        check_range(ballot.items, n_items)
        score[ballot.items] = ballot.mean
        ballots[ballot.items] += 1
        votes[ballot.items] += ballot.votes
    return FinalScores(score, ballots, votes)


def check_range(items: Ints, n_items: int) -> None:
    """Raise `InputError` unless all positions are below `n_items`."""
    if len(items) and items.max() >= n_items:
        raise InputError(f"The project has {n_items} items, but a ballot names position {items.max()}.")


def _positions(values: ArrayLike, name: str) -> Ints:
    """The values as int64; `InputError` unless they are one row of whole numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise InputError(f"{name} must be one row of whole numbers, found {array.dtype} of shape {array.shape}.")
    return array.astype(np.int64)


def checked_votes(
    first: ArrayLike, second: ArrayLike, outcome: ArrayLike, *, n_items: int
) -> tuple[Ints, Ints, Floats]:
    """Votes as arrays, or `InputError` saying which vote is wrong and how."""
    a, b, result = _positions(first, "first"), _positions(second, "second"), np.asarray(outcome, dtype=np.float64)
    if not len(a) == len(b) == result.size:
        raise InputError(f"first, second and outcome must be equally long, found {len(a)}, {len(b)} and {result.size}.")
    faults = (
        (~np.isin(result, (0.0, 0.5, 1.0)), "outcome must be 1 (first won), 0 (second won) or 0.5 (a tie)", result),
        ((a < 0) | (a >= n_items), f"first must be an item position from 0 to {n_items - 1}", a),
        ((b < 0) | (b >= n_items), f"second must be an item position from 0 to {n_items - 1}", b),
        (a == b, "an item can't be compared with itself", a),
    )
    issues = [
        Issue(f"vote {row}: {message}", found=str(values[row]))
        for wrong, message, values in faults
        for row in np.flatnonzero(wrong)[:20].tolist()
    ]
    if issues:
        raise InputError(f"{int(np.logical_or.reduce([f[0] for f in faults]).sum())} votes can't be scored.", issues)
    return a, b, result
