"""Whether the voters are one panel, or hold two different opinions of the items.

Every score takes the voters for one panel, each of whom errs in a way of their own. Where there are two camps, voters
of one err alike: what a voter's votes say of an item beyond the fit, R_vi (votes won less those expected, summed), goes
with that of the others of the camp, and against that of the other camp. So the sums G = R·Rᵀ of products over the items
that two voters had have a leading eigenvector whose signs are the camps.

An eigenvector always finds something in noise. Hence it is found on one half of the items, and tried on the other: with
s from the first half and G of the second, s'Gs is the sum over pairs of voters of s_u·s_v·G_uv, whose mean is 0 if
everybody errs on every item alone, whatever the ballots were drawn by and however noisy each voter is. It is divided by
√(2·Σ s_u²·s_v²·G_uv²), and z is the mean over random halves of the items, either way round. What one comparison of an
item of each half says goes into both, which is no harm, but where several voters had the same two items it would bring
their chance agreement into both halves: such votes are left out of that split. Splits hang together, so that z scatters
less than a standard normal: its bound is set by simulation (docs/runoff.md).

References: Horn (1965), Psychometrika 30 (factors beyond those of noise); Owen, Perry (2009), Annals of Applied
Statistics 3 (cross-validation of the singular value decomposition by held-out rows and columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..errors import RunoffError
from ..metrics import weighted_spearman
from ..protocols import Votes
from ..scores.borda import VotesOf
from ..scores.bradley_terry import BradleyTerry, FittedVotes, fit_votes, joined
from ..tables import Bools, Floats, Ints

CAMPS_Z = 2.5  # above it the voters are of two opinions
FEWEST_VOTERS, FEWEST_VOTES, FEWEST_ITEMS = 8, 10, 12  # votes of each voter who is looked at
MOST_VOTERS = 300  # by whom the camps are found: those of most votes
SPLITS, SEED = 10, 29


@dataclass(frozen=True, eq=False)
class Camps:
    """What was found.

    z : how far the voters are from one panel, NaN where `reason` says why nobody can tell. camp : of each voter 0…V−1,
    1 in the smaller camp, else 0; all 0 for one panel; (V,).
    """

    z: float
    camp: Ints
    reason: str = ""

    @property
    def are_two(self) -> bool:
        """The voters are of two opinions."""
        return self.z > CAMPS_Z

    @property
    def sizes(self) -> tuple[int, int]:
        """Voters of the larger and of the smaller camp."""
        smaller = int(self.camp.sum())
        return len(self.camp) - smaller, smaller


def find_camps(votes: Sequence[VotesOf], fitted: FittedVotes) -> Camps:
    """Look for two camps in the votes of all ballots; fitted : of these votes. Voters stand in the order of their codes
    in the votes."""
    first, second, outcome, voter = joined(votes, fitted.items)
    return camps_of(first, second, outcome, voter, fitted.fit)


def camps_of(first: Ints, second: Ints, outcome: Floats, voter: Ints, fit: BradleyTerry) -> Camps:
    """Look for two camps in votes.

    Parameters
    ----------
    first, second : item positions of the fit; outcome : 1, 0 or .5; voter : 0…V−1; shape (n_votes,) each.
    fit : of these votes, with the effects of these voters, or of one for all.
    """
    n_items, n_votes = len(fit.theta), np.bincount(voter)
    none, by_votes = np.zeros(len(n_votes), dtype=np.int64), np.argsort(-n_votes, kind="stable")
    looked_at = np.sort(by_votes[n_votes[by_votes] >= FEWEST_VOTES][:MOST_VOTERS])
    if len(looked_at) < FEWEST_VOTERS or n_items < FEWEST_ITEMS:
        why = (
            f"it takes {FEWEST_VOTERS} voters with {FEWEST_VOTES} votes each and {FEWEST_ITEMS} items, and there are "
            f"{len(looked_at)} and {n_items}"
        )
        return Camps(np.nan, none, why)
    beyond = outcome - _expected(fit, first, second, voter)
    place = np.full(len(n_votes), -1, dtype=np.int64)
    place[looked_at] = np.arange(len(looked_at))
    rows = place[voter] >= 0
    part = _Beyond(first[rows], second[rows], place[voter[rows]], beyond[rows], len(looked_at), n_items)
    z = part.z(np.random.default_rng(SEED))
    if np.isnan(z):
        return Camps(z, none, "too few voters had the same items")
    if not z > CAMPS_Z:
        return Camps(z, none)
    every = _Beyond(first, second, voter, beyond, len(n_votes), n_items)
    camp = (every.towards(part.opinion()) < 0).astype(np.int64)
    return Camps(z, 1 - camp if 2 * camp.sum() > len(camp) else camp)


def between_camps(votes: Sequence[VotesOf], camps: Camps) -> float | None:
    """ρ_w between the rankings by each camp alone, over the items that both had; None where one has no ranking, or they
    have fewer than `FEWEST_ITEMS` in common."""
    voters = np.unique(np.concatenate([ballot.voter for ballot in votes]))
    smaller = voters[camps.camp == 1]
    theta = []
    for inside in (True, False):
        part = []
        for ballot in votes:
            is_of_camp = np.isin(ballot.voter, smaller) == inside
            of_these = (column[is_of_camp] for column in (ballot.first, ballot.second, ballot.outcome, ballot.voter))
            part.append(Votes(ballot.items, *of_these))
        try:
            theta.append(fit_votes(part).fit.theta)
        except RunoffError:
            return None
    both = ~np.isnan(theta[0]) & ~np.isnan(theta[1])
    return weighted_spearman(theta[0][both], theta[1][both]) if both.sum() >= FEWEST_ITEMS else None


def _expected(fit: BradleyTerry, first: Ints, second: Ints, voter: Ints) -> Floats:
    """P(first wins) of each vote by the fit, with the voter's own lapse and sharpness."""
    of = voter if len(fit.voter_lapse) > 1 else np.zeros_like(voter)
    lapse, sharp = fit.voter_lapse[of], fit.voter_sharpness[of]
    return np.asarray(lapse + (1.0 - 2.0 * lapse) * expit(sharp * (fit.theta[first] - fit.theta[second])))


class _Beyond:
    """Votes of `n_voters` voters with what they say beyond the fit; arrays of shape (n_votes,)."""

    def __init__(self, first: Ints, second: Ints, voter: Ints, beyond: Floats, n_voters: int, n_items: int) -> None:
        self.first, self.second, self.voter, self.beyond = first, second, voter, beyond
        self.n_voters, self.n_items = n_voters, n_items
        pair = np.minimum(first, second) * n_items + np.maximum(first, second)
        _, code, times = np.unique(pair, return_inverse=True, return_counts=True)
        self.repeated = times[code] > 1

    def by_item(self, rows: Bools) -> Floats:
        """R of these votes, (voters, items)."""
        size = self.n_voters * self.n_items
        at, value = self.voter[rows] * self.n_items, self.beyond[rows]
        sums = np.bincount(at + self.first[rows], value, size) - np.bincount(at + self.second[rows], value, size)
        return np.asarray(sums.reshape(self.n_voters, self.n_items))

    def towards(self, of_items: Floats) -> Floats:
        """How far each voter goes with values of the items, (voters,)."""
        moved = self.beyond * (of_items[self.first] - of_items[self.second])
        return np.bincount(self.voter, moved, self.n_voters).astype(np.float64)

    def opinion(self) -> Floats:
        """What the voters of one camp hold of each item beyond the fit, and those of the other hold less, (items,)."""
        beyond = self.by_item(np.ones(len(self.first), dtype=bool))
        return np.asarray(beyond.T @ _leading(_products(beyond)))

    def z(self, rng: np.random.Generator) -> float:
        """The mean of the cross-validated z of random halves of the items; NaN where one has no votes in common."""
        figures = []
        for _ in range(SPLITS):
            inside = np.zeros(self.n_items, dtype=bool)
            inside[rng.permutation(self.n_items)[: self.n_items // 2]] = True
            across = inside[self.first] != inside[self.second]
            beyond = self.by_item(~(across & self.repeated))
            halves = [_products(beyond[:, half]) for half in (inside, ~inside)]
            figures += [_tried(*halves), _tried(*halves[::-1])]
        return float(np.mean(figures))


def _products(beyond: Floats) -> Floats:
    """G without its diagonal."""
    products = np.asarray(beyond @ beyond.T)
    np.fill_diagonal(products, 0.0)
    return products


def _leading(products: Floats) -> Floats:
    return np.asarray(np.linalg.eigh(products)[1][:, -1])


def _tried(found_on: Floats, tried_on: Floats) -> float:
    """z of the leading eigenvector of one half on the other."""
    s = _leading(found_on)
    spread = float(np.sqrt(2.0 * np.sum(np.outer(s**2, s**2) * tried_on**2)))
    return float(s @ tried_on @ s) / spread if spread > 0 else float("nan")
