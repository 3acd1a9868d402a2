"""The fit of a simulated campaign: the same optimum as `bradley_terry.fit_with_voters`, far enough for a simulation.

A simulation fits after every ballot what another ballot was added to. So a few steps from the fit before are enough: of
the scores by Newton's method with bounded curvature, and of the voters' effects by Fisher scoring, in turn. While few
votes are added, only the scores of the items that have them move, by the votes on these items. What is left to the
optimum is a common factor of all scores, mostly, which ranks nothing. Votes of people are never scored so.

Every vote is a row of who won and who lost, with P(won) = ε_v + (1 − 2ε_v)·logistic(s_v·(θ_won − θ_lost)); a tie is two
rows that count half each. Priors and ridge are those of `fit_with_voters`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, logit

from ..tables import Bools, Floats, Ints
from .bradley_terry import DEFAULT_LAPSE, RIDGE
from .voter_effects import LARGEST_EXPONENT, LONGEST_STEP, SPREAD_OF_LAPSE, SPREAD_OF_SHARPNESS

# Steps s of the scores, e of the effects, b of both at once: of the first fit, of later ones, and of the last.
COLD_STEPS, WARM_STEPS, LAST_STEPS = "ssbb", "sb", "esbbb"
MORE = 1.25  # times the votes of the last fit of everything, from which on everything moves again
LEAST_CURVATURE = 0.2  # of the information, as in `Likelihood.curvature`
SOLVED, MOST_STEPS = 0.1, 60  # how exactly a step is solved for, and in how many steps of conjugate gradients
USUAL = float(logit(2.0 * DEFAULT_LAPSE))
N_KNOTS = 32  # of posteriors, as in `posterior`
HELD = 1e30  # curvature in a score that doesn't move
TOGETHER = 8  # votes whose probabilities are multiplied before a logarithm is taken


class Rows(NamedTuple):
    """Votes as rows: who won, who lost, the voter 0…V−1, and how much it counts; (n,) each."""

    won: Ints
    lost: Ints
    voter: Ints
    times: Floats

    @classmethod
    def of(cls, first: Ints, second: Ints, outcome: Floats, voter: Ints) -> Rows:
        """The rows of votes with outcomes 1, 0 and .5."""
        won, lost = np.where(outcome > 0.4, first, second), np.where(outcome > 0.4, second, first)
        tied = np.flatnonzero(outcome == 0.5)
        times = np.where(outcome == 0.5, 0.5, 1.0)
        rows = cls(won, lost, voter, times)
        return rows if not len(tied) else rows.and_these(cls(lost[tied], won[tied], voter[tied], times[tied]))

    def and_these(self, others: Rows) -> Rows:
        """Both, one after the other."""
        return Rows(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))

    def at(self, rows: Ints) -> Rows:
        """Some of them."""
        return Rows(self.won[rows], self.lost[rows], self.voter[rows], self.times[rows])


@dataclass(frozen=True, eq=False)
class QuickFit:
    """Scores and voters' effects after some steps; see the module.

    theta : of each item, (n_items,); sharpness : log s, lapse : log-odds of 2ε of each voter, (n_voters,); diagonal :
    the curvature of the objective in each score, others held fast, (n_items,); n_whole : rows when everything moved
    last.
    """

    rows: Rows
    theta: Floats
    sharpness: Floats
    lapse: Floats
    diagonal: Floats
    n_whole: int

    @property
    def spread(self) -> Floats:
        """Standard errors of θ against opponents taken as known, used for pairing."""
        return np.asarray(np.sqrt(1.0 / self.diagonal))

    @cached_property
    def settled(self) -> Floats:
        """θ some more steps on: after these the ranking of all votes is that of the exact fit, within some 10⁻⁵ of
        ρ_w."""
        return _stepped(self, LAST_STEPS).theta

    def expected_weights(self, items: Ints, n0: float = 2.0) -> Floats:
        """The mean of 1/(rank + n₀) of some items over what their votes leave possible; as `posterior` has it."""
        knots = np.linspace(self.theta.min() - 0.5, self.theta.max() + 1.0, N_KNOTS)
        total = _log_likelihoods(self, items, knots)
        total -= 0.5 * RIDGE * knots[:, None] ** 2
        total -= total.max(axis=0)
        probability = np.exp(total, out=total)
        field = np.sort(self.theta)
        rank = 1 + len(field) - np.searchsorted(field, knots, side="right")
        weighted = (1.0 / (rank + n0))[:, None] * probability
        return np.asarray(weighted.sum(axis=0) / probability.sum(axis=0))


def quick_fit(rows: Rows, before: QuickFit | None, n_items: int) -> QuickFit:
    """The fit of the votes of a ballot and of all `before` it, of items 0…n_items−1 and the same voters.

    Items that no chain of votes joins get scores all the same, by the ridge.
    """
    n_voters = int(rows.voter.max(initial=0)) + 1
    if before is None:
        zeros, usual = np.zeros(n_items), np.full(n_voters, USUAL)
        return _stepped(QuickFit(rows, zeros, np.zeros(n_voters), usual, zeros + 1.0, len(rows.won)), COLD_STEPS)
    new = max(n_voters - len(before.lapse), 0)
    sharpness, lapse = np.append(before.sharpness, np.zeros(new)), np.append(before.lapse, np.full(new, USUAL))
    every = before.rows.and_these(rows)
    if new or len(every.won) > MORE * before.n_whole:
        fit = QuickFit(every, before.theta, sharpness, lapse, before.diagonal, len(every.won))
        return _stepped(fit, WARM_STEPS)
    moving = np.zeros(n_items, dtype=bool)
    moving[rows.won] = moving[rows.lost] = True
    theirs = np.flatnonzero(moving[every.won] | moving[every.lost])
    some = every.at(theirs)
    fit = _stepped(QuickFit(some, before.theta, sharpness, lapse, before.diagonal, before.n_whole), "ss", moving)
    return QuickFit(every, fit.theta, sharpness, lapse, fit.diagonal, before.n_whole)


class _Sides:
    """Each row as either of its items sees it, sorted by item: the sparse matrix that steps are solved with.

    row : of each entry, (2n,); matrix : its values are set at each step, (n_items, n_items).
    """

    def __init__(self, rows: Rows, n_items: int) -> None:
        n = len(rows.won)
        ends = np.concatenate((rows.won, rows.lost))
        starts = np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=n_items)))).astype(np.int32)
        order = np.argsort(ends.astype(np.uint16) if n_items < 1 << 16 else ends, kind="stable")  # small ones by radix
        others = np.concatenate((rows.lost, rows.won))[order].astype(np.int32)
        self.row = np.where(order < n, order, order - n)
        self.matrix = csr_array((np.empty(2 * n), others, starts), shape=(n_items, n_items))


def _stepped(fit: QuickFit, steps: str, moving: Bools | None = None) -> QuickFit:
    """The fit so many steps on, each of the kinds that `COLD_STEPS` has; `moving`: scores of these items alone."""
    sides = _Sides(fit.rows, len(fit.theta))
    for step in steps:
        at = _Look(fit)
        sharpness, lapse = at.effects_step() if step in "eb" else (fit.sharpness, fit.lapse)
        theta, diagonal = at.scores_step(sides, moving) if step in "sb" else (fit.theta, fit.diagonal)
        fit = QuickFit(fit.rows, theta, sharpness, lapse, diagonal, fit.n_whole)
    return fit


class _Look:
    """Probabilities of all rows at a fit, with their derivatives; arrays of shape (n,)."""

    def __init__(self, fit: QuickFit) -> None:
        self.fit, rows = fit, fit.rows
        lapse = 0.5 * expit(fit.lapse)
        self.sharp, self.lapse = np.exp(fit.sharpness)[rows.voter], lapse[rows.voter]
        self.clear = (1.0 - 2.0 * lapse)[rows.voter]
        self.gap = fit.theta[rows.won]
        self.gap -= fit.theta[rows.lost]
        self.gap *= self.sharp
        odds = np.exp(np.minimum(-self.gap, LARGEST_EXPONENT))
        logistic = 1.0 / (1.0 + odds)
        other = odds * logistic
        self.turn = other - logistic
        self.chance = self.lapse + self.clear * logistic
        self.slope = self.clear * logistic * other
        self.pull = self.slope / self.chance  # of log P in the gap
        self.weight = rows.times / (self.chance * (1.0 - self.chance))  # of squared derivatives of P: the information

    def scores_step(self, sides: _Sides, moving: Bools | None) -> tuple[Floats, Floats]:
        """The scores after a step of Newton's method, and the curvature on the diagonal; (n_items,) each."""
        fit, rows, n = self.fit, self.fit.rows, len(self.fit.theta)
        pull = rows.times * self.sharp * self.pull
        gradient = np.bincount(rows.won, pull, n) - np.bincount(rows.lost, pull, n) - RIDGE * fit.theta
        bend = rows.times * self.pull * (self.pull - self.turn)
        np.maximum(bend, LEAST_CURVATURE * self.weight * self.slope**2, out=bend)
        bend *= self.sharp**2
        both = np.bincount(rows.won, bend, n) + np.bincount(rows.lost, bend, n)
        diagonal = np.asarray(both + RIDGE, dtype=np.float64)
        sides.matrix.data = bend[sides.row]
        if moving is not None:
            gradient[~moving], diagonal[~moving] = 0.0, HELD
        step = _solved(sides.matrix, diagonal, gradient)
        if moving is not None:
            diagonal[~moving] = fit.diagonal[~moving]
        return fit.theta + step * min(1.0, LONGEST_STEP / max(np.abs(step).max(), LONGEST_STEP)), diagonal

    def effects_step(self) -> tuple[Floats, Floats]:
        """The voters' effects after a step of Fisher scoring, the sum of the log sharpnesses held at 0."""
        fit, rows, n = self.fit, self.fit.rows, len(self.fit.lapse)
        of_sharp, of_lapse = self.slope * self.gap, self.lapse * self.clear * self.turn
        pull = rows.times / self.chance
        sharp = np.bincount(rows.voter, pull * of_sharp, n) - fit.sharpness / SPREAD_OF_SHARPNESS**2
        lapse = np.bincount(rows.voter, pull * of_lapse, n) - (fit.lapse - USUAL) / SPREAD_OF_LAPSE**2
        weighted = self.weight * of_sharp
        both = np.bincount(rows.voter, weighted * of_lapse, n)
        own = np.bincount(rows.voter, weighted * of_sharp, n) + 1.0 / SPREAD_OF_SHARPNESS**2
        other = np.bincount(rows.voter, self.weight * of_lapse * of_lapse, n) + 1.0 / SPREAD_OF_LAPSE**2
        scale = own * other - both * both
        along = np.sum((other * sharp - both * lapse) / scale) / np.sum(other / scale)  # Lagrange's multiplier
        sharp -= along
        moves = (other * sharp - both * lapse) / scale, (own * lapse - both * sharp) / scale
        one, two = (np.clip(move, -LONGEST_STEP, LONGEST_STEP) for move in moves)
        return fit.sharpness + one - one.mean(), fit.lapse + two


def _solved(matrix: csr_array, diagonal: Floats, right: Floats) -> Floats:
    """x with (D − W) x = right, roughly, by conjugate gradients; the matrix is positive definite by the ridge."""
    x, residual = np.zeros_like(right), right.copy()
    direction = right / diagonal
    power = np.einsum("i,i", residual, direction)
    goal = SOLVED**2 * power
    for _ in range(MOST_STEPS):
        if power <= goal:
            break
        image = diagonal * direction - matrix @ direction
        length = power / np.einsum("i,i", direction, image)  # no BLAS, whose sums hang on the number of threads
        x += length * direction
        residual -= length * image
        scaled = residual / diagonal
        power, before = np.einsum("i,i", residual, scaled), power
        direction *= power / before
        direction += scaled
    return x


def _log_likelihoods(fit: QuickFit, items: Ints, knots: Floats) -> Floats:
    """Log-likelihood of the votes of some items with their score at each knot, (n_knots, n items).

    Votes of an item stand in groups of `TOGETHER`, filled up with votes of probability 1.
    """
    rows, n = fit.rows, len(fit.rows.won)
    place = np.full(len(fit.theta), -1)
    place[items] = np.arange(len(items))
    ends = np.concatenate((place[rows.won], place[rows.lost]))
    sides = np.flatnonzero(ends >= 0)
    ends = ends[sides].astype(np.uint16 if len(items) < 1 << 16 else np.int64)
    order = np.argsort(ends, kind="stable")
    sides, ends = sides[order], ends[order]
    count = np.bincount(ends, minlength=len(items))
    groups = np.maximum(-(-count // TOGETHER), 1)
    first = np.cumsum(groups) - groups
    at = np.arange(len(sides)) - np.repeat(np.cumsum(count) - count, count)  # number of a vote among its item's
    cell = at % TOGETHER * groups.sum() + first[ends] + at // TOGETHER
    won = sides < n
    row = np.where(won, sides, sides - n)
    voter, opponent = rows.voter[row], fit.theta[np.where(won, rows.lost[row], rows.won[row])]
    lapse, downwards = 0.5 * expit(fit.lapse), np.where(won, -1.0, 1.0) * np.exp(fit.sharpness)[voter]

    def laid(values: Floats, rest: float) -> Floats:
        cells = np.full((TOGETHER, groups.sum()), rest, dtype=np.float32)
        cells.ravel()[cell] = values
        return cells

    # The odds at one knot after the other; beyond e^±80 the probability doesn't change.
    odds = laid(np.exp(np.clip(downwards * (knots[0] - opponent), -80.0, 80.0)), 0.0)
    ratio = laid(np.exp(np.clip(downwards * (knots[1] - knots[0]), -3.0, 3.0)), 1.0)
    sure, clear = laid(lapse[voter], 1.0), laid(1.0 - 2.0 * lapse[voter], 0.0)
    times = laid(rows.times[row], 1.0) if (rows.times != 1.0).any() else None
    logs = np.empty((len(knots), groups.sum()), dtype=np.float32)
    chance = np.empty_like(odds)
    with np.errstate(over="ignore"):
        for knot in logs:
            np.add(odds, 1.0, out=chance)
            np.divide(clear, chance, out=chance)
            chance += sure
            if times is not None:
                np.power(chance, times, out=chance)
            np.multiply.reduce(chance, axis=0, out=knot)
            odds *= ratio
    np.log(np.maximum(logs, np.float32(1e-37), out=logs), out=logs)
    return np.add.reduceat(logs.astype(np.float64), first, axis=1)
