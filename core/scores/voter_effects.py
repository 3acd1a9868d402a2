"""The likelihood of Bradley–Terry votes with oversight, given the scores and who cast them.

A voter v compares items i and j. Mostly the scores decide; with probability 2ε the voter guesses, and
names the item on the left with probability b (½ unless sides are looked at):

    P(i wins) = (1 − 2ε_v)·logistic(s_v·(θ_i − θ_j)) + 2ε_v·g,   g = b_v where i is on the left, 1 − b_v on the right

so that a random clicker has ε = ½, and one who always takes the left b = 1 besides. Without sides
g = ½, and ε is the probability that the voter names the lower item of a clear pair. The sharpness s_v is
how fine a difference the voter tells; the sharpnesses have geometric mean 1, which sets the unit of θ.

ε = ½·logistic(ℓ), s = exp(σ), b = logistic(β); ℓ, σ, β have normal priors, so that a voter of few votes is
taken for an ordinary one. ε is the lapse here; simulated voters have the same ε as their oversight
(`core.voters.model`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from ..tables import Bools, Floats, Ints

# Prior standard deviations of σ, ℓ and β. That of σ was found by simulated campaigns (docs/runoff.md: wider than .5
# costs ρ_w); those of ℓ and β let log-odds differ by 1.
SPREAD_OF_SHARPNESS = 0.4
SPREAD_OF_LAPSE = 1.0
SPREAD_OF_SIDE = 1.0
SMALLEST = 1e-300  # below it a probability counts as this much, so that logarithms stay finite
BLOCK = 16_384  # rows worked on at once
LARGEST_EXPONENT = 700.0
LONGEST_STEP = 2.0
LEAST_BEND = 0.02  # smallest second derivative in a voter's effects that is stepped by


@dataclass(frozen=True)
class Data:
    """Votes, or pairs with their votes added up; arrays of shape (n,).

    one, other : item positions; count : votes; points : how many `one` won, ties as half; voter : code 0…;
    left : 1 where `one` was shown on the left, 0 on the right, ½ where unknown.
    """

    one: Ints
    other: Ints
    count: Floats
    points: Floats
    voter: Ints
    left: Floats


@dataclass(frozen=True)
class Effects:
    """Log sharpness σ, lapse ℓ and side β of each voter, shape (3, n_voters).

    centre : of the priors; free : which of the three are estimated; times : how often each voter counts, above 0, which
    is once but in resamples of voters.
    """

    values: Floats
    centre: Floats
    free: Bools
    times: Floats

    @classmethod
    def start(cls, n_voters: int, lapse: float, *, sharpness: bool, own_lapse: bool, side: bool) -> Effects:
        """Every voter alike."""
        centre = np.array([0.0, logit(2.0 * lapse), 0.0])  # at 0 and ½ infinite, and then exact
        return cls(
            np.tile(centre[:, None], n_voters), centre, np.array([sharpness, own_lapse, side]), np.ones(n_voters)
        )

    @property
    def sharpness(self) -> Floats:
        """s of each voter."""
        return np.exp(self.values[0])

    @property
    def lapse(self) -> Floats:
        """ε of each voter, from 0 to ½."""
        return np.asarray(0.5 * expit(self.values[1]))

    @property
    def side(self) -> Floats:
        """b of each voter: the probability that a guess goes to the left."""
        return np.asarray(expit(self.values[2]))

    def counted(self, times: Floats) -> Effects:
        """The same for voters who count so often each."""
        return replace(self, times=times).stepped(np.zeros((int(self.free.sum()), len(times))), 0.0)

    def penalty(self) -> float:
        """Minus the logarithm of the priors, up to a constant."""
        if not self.free.any():
            return 0.0
        off = self.off_centre() / _SPREADS[self.free, None]
        return float(0.5 * np.sum(self.times * off * off))

    def off_centre(self) -> Floats:
        """How far the free effects are from the ordinary voter's, shape (n free, n_voters)."""
        return np.asarray(self.values[self.free] - self.centre[self.free, None])

    def stepped(self, step: Floats, share: float) -> Effects:
        """The effects moved along `step`, shape (n free, n_voters)."""
        values = self.values.copy()
        values[self.free] += share * step
        if self.free[0]:
            values[0] -= np.average(values[0], weights=self.times)
        return replace(self, values=values)


_SPREADS = np.array([SPREAD_OF_SHARPNESS, SPREAD_OF_LAPSE, SPREAD_OF_SIDE])


class Bends(NamedTuple):
    """Minus second derivatives: of each row in θ_one − θ_other, (n,); in that and a free effect of the row's voter,
    (n free, n); in the free effects of each voter, (n_voters, n free, n free)."""

    scores: Floats
    crossed: Floats
    effects: Floats


class _Rows:
    """The voters' effects in each row, which don't depend on the scores; arrays of shape (n,).

    sharp, lapse : of the row's voter; guess : g; clear : 1 − 2ε; win, loss : what guesses add to P(one wins) and
    P(other wins).
    """

    def __init__(self, data: Data, effects: Effects) -> None:
        self.sharp, self.lapse = effects.sharpness[data.voter], effects.lapse[data.voter]
        side = effects.side[data.voter]
        self.guess = data.left * side + (1.0 - data.left) * (1.0 - side)
        self.clear = 1.0 - 2.0 * self.lapse
        self.win = 2.0 * self.lapse * self.guess
        self.loss = 2.0 * self.lapse * (1.0 - self.guess)


class Likelihood:
    """Probabilities of `data` at scores θ and effects, with the derivatives that Newton's method needs.

    `near` : a likelihood of the same data with the same effects, of which is taken what doesn't hang on the scores.
    """

    def __init__(self, data: Data, theta: Floats, effects: Effects, *, near: Likelihood | None = None) -> None:
        self.data, self.effects = data, effects
        self._rows: _Rows = _Rows(data, effects) if near is None else near._rows
        self.rest: Floats = data.count - data.points if near is None else near.rest
        n = len(data.one)
        self.gap, self.logistic, self.other_logistic = np.empty(n), np.empty(n), np.empty(n)
        self.win, self.loss, self.slope = np.empty(n), np.empty(n), np.empty(n)  # slope : of P in the gap
        for at in range(0, n, BLOCK):
            self._look(theta, slice(at, at + BLOCK))

    def _look(self, theta: Floats, part: slice) -> None:
        """Fill in some rows: few enough at a time that what lies between stays in the processor's cache."""
        rows, data = self._rows, self.data
        gap, win, loss = self.gap[part], self.win[part], self.loss[part]
        np.subtract(theta[data.one[part]], theta[data.other[part]], out=gap)
        np.multiply(rows.sharp[part], gap, out=gap)
        # One exponential for both takes a third of the time of `expit` twice; beyond the bound P doesn't change.
        odds = np.exp(np.minimum(-gap, LARGEST_EXPONENT))
        logistic = np.divide(1.0, 1.0 + odds, out=self.logistic[part])
        other_logistic = np.multiply(odds, logistic, out=self.other_logistic[part])
        np.multiply(rows.clear[part], logistic, out=win)
        np.multiply(win, other_logistic, out=self.slope[part])
        np.add(win, rows.win[part], out=win)
        np.maximum(win, SMALLEST, out=win)
        np.multiply(rows.clear[part], other_logistic, out=loss)
        np.add(loss, rows.loss[part], out=loss)
        np.maximum(loss, SMALLEST, out=loss)

    @property
    def sharp(self) -> Floats:
        """s of each row's voter."""
        return self._rows.sharp

    @property
    def lapse(self) -> Floats:
        """ε of each row's voter."""
        return self._rows.lapse

    @property
    def guess(self) -> Floats:
        """g of each row."""
        return self._rows.guess

    def cost(self) -> float:
        """Minus the logarithm of the likelihood."""
        return self._cost

    @cached_property
    def _cost(self) -> float:
        # No `@` on long vectors: a threaded BLAS that waits for a busy core takes a hundred times as long.
        terms = np.empty(len(self.win))
        for at in range(0, len(terms), BLOCK):
            part = slice(at, at + BLOCK)
            won, lost = np.log(self.win[part]), np.log(self.loss[part])
            np.multiply(self.data.points[part], won, out=won)
            np.multiply(self.rest[part], lost, out=lost)
            np.add(won, lost, out=terms[part])
        return float(-np.sum(terms))

    def pull(self) -> Floats:
        """Derivative of the log-likelihood of each row in P(one wins)."""
        return self._pull

    @cached_property
    def _pull(self) -> Floats:
        result = self.data.points / self.win
        result -= self.rest / self.loss
        return result

    def score(self) -> Floats:
        """Derivative of the log-likelihood of each row in θ_one."""
        result = self.pull() * self.slope
        result *= self.sharp
        return result

    def information(self) -> Floats:
        """Fisher information of each row on θ_one − θ_other."""
        return np.asarray(self.data.count * (self.slope * self.sharp) ** 2 / (self.win * self.loss))

    def curvature(self, *, bounded: bool) -> Floats:
        """Minus the second derivative of the log-likelihood of each row on θ_one − θ_other.

        Oversight makes the likelihood of an upset convex in places, so it may be negative. `bounded` keeps it at a
        fifth of `information` at least, so that steps go downhill from anywhere.
        """
        exact = np.empty(len(self.win))
        for at in range(0, len(exact), BLOCK):
            part = slice(at, at + BLOCK)
            slope, points, rest, pull = self.slope[part], self.data.points[part], self.rest[part], self.pull()[part]
            bend = slope * (self.other_logistic[part] - self.logistic[part])
            observed = (points / self.win[part] ** 2 + rest / self.loss[part] ** 2) * slope**2 - pull * bend
            np.multiply(self.sharp[part] ** 2, observed, out=exact[part])
        return np.maximum(exact, 0.2 * self.information()) if bounded else exact

    def effects_step(self) -> tuple[Floats, Floats]:
        """Newton's step for the free effects of every voter, and their gradient; (n free, n_voters).

        For voters at whom the likelihood is not concave the step is that of Fisher scoring.
        """
        effects, n = self.effects, self.effects.values.shape[1]
        times, precision = effects.times, 1.0 / _SPREADS[effects.free] ** 2
        prior = times[:, None, None] * np.diag(precision)
        rates, bends = self._rates(), self._second_rates()
        pull = self.pull()
        gradient = np.array([np.bincount(self.data.voter, pull * rate, n) for rate in rates])
        gradient -= times * precision[:, None] * effects.off_centre()
        points, count, rest = self.data.points, self.data.count, self.rest
        observed = self._by_voter(points / self.win**2 + rest / self.loss**2, rates, pull, bends)
        observed += prior
        convex = np.linalg.eigvalsh(observed)[:, 0] < 0.1 * precision.min() * times
        if convex.any():
            observed[convex] = (self._by_voter(count / (self.win * self.loss), rates) + prior)[convex]
        inverse = np.linalg.inv(observed)
        if effects.free[0]:
            # Along the sharpnesses' sum there is no move: Lagrange's multiplier takes that part out of the gradient.
            along = np.einsum("v,vk,kv->", times, inverse[:, 0], gradient) / np.sum(times**2 * inverse[:, 0, 0])
            step = np.einsum("vkl,lv->kv", inverse, gradient - along * times * np.eye(len(rates))[0][:, None])
            gradient[0] -= times * np.sum(times * gradient[0]) / np.sum(times**2)
        else:
            step = np.einsum("vkl,lv->kv", inverse, gradient)
        return step * min(1.0, LONGEST_STEP / max(np.abs(step).max(), LONGEST_STEP)), gradient

    def effects_gradient(self) -> Floats:
        """The gradient that `effects_step` gives, alone."""
        times, pull, n = self.effects.times, self.pull(), self.effects.values.shape[1]
        gradient = np.array([np.bincount(self.data.voter, pull * rate, n) for rate in self._rates()])
        gradient -= times * self.effects.off_centre() / _SPREADS[self.effects.free, None] ** 2
        if self.effects.free[0]:
            gradient[0] -= times * np.sum(times * gradient[0]) / np.sum(times**2)
        return gradient

    def bends(self, *, expected: bool) -> Bends:
        """Minus the second derivatives of the log-likelihood with the priors: the observed ones, or expected ones.

        The expected ones are never below 0 in any direction. The observed ones may be; of a voter at whom they are in
        the effects alone, all votes have the expected ones.
        """
        rates, bends = self._rates(), self._second_rates()
        prior = self.effects.times[:, None, None] * np.diag(1.0 / _SPREADS[self.effects.free] ** 2)
        rise = self.slope * self.sharp
        if expected:
            weight = self.data.count / (self.win * self.loss)
            return Bends(weight * rise**2, weight * rise * rates, self._by_voter(weight, rates) + prior)
        weight, pull = self.data.points / self.win**2 + self.rest / self.loss**2, self.pull()
        own = self._by_voter(weight, rates, pull, bends) + prior
        convex = np.linalg.eigvalsh(own)[:, 0] < LEAST_BEND * self.effects.times
        turn = self.other_logistic - self.logistic
        twice = np.array(
            [
                rise * (1.0 + self.gap * turn),
                -2.0 * self.lapse * (1.0 - 2.0 * self.lapse) * self.logistic * self.other_logistic * self.sharp,
                np.zeros_like(rise),
            ]
        )[self.effects.free]  # of P in Δθ and the effects
        observed = Bends(weight * rise**2 - pull * rise * self.sharp * turn, weight * rise * rates - pull * twice, own)
        if not convex.any():
            return observed
        votes, result = convex[self.data.voter], self.bends(expected=True)
        return Bends(
            np.where(votes, result.scores, observed.scores),
            np.where(votes, result.crossed, observed.crossed),
            np.where(convex[:, None, None], result.effects, own),
        )

    def effects_error(self) -> Floats:
        """Standard errors of the free effects of every voter, scores taken as known; (n free, n_voters).

        By the Fisher information with the priors. Without free effects the shape is (0, n_voters).
        """
        effects, n = self.effects, self.effects.values.shape[1]
        if not effects.free.any():
            return np.empty((0, n))
        information = self._by_voter(self.data.count / (self.win * self.loss), self._rates())
        information += effects.times[:, None, None] * np.diag(1.0 / _SPREADS[effects.free] ** 2)
        return np.sqrt(np.diagonal(np.linalg.inv(information), axis1=1, axis2=2)).T

    def _rates(self) -> Floats:
        """First derivatives of P in the free effects, (n free, n)."""
        side = self.effects.side[self.data.voter]
        guessing = self.lapse * (1.0 - 2.0 * self.lapse)  # of ε in ℓ
        leaning = (2.0 * self.data.left - 1.0) * side * (1.0 - side)  # of g in β
        off = self.guess - self.logistic
        rates = np.array([self.slope * self.gap, 2.0 * guessing * off, 2.0 * self.lapse * leaning])
        return np.asarray(rates[self.effects.free])

    def _second_rates(self) -> dict[tuple[int, int], Floats]:
        """Second derivatives of P in the free effects, by rows of the first."""
        side = self.effects.side[self.data.voter]
        guessing = self.lapse * (1.0 - 2.0 * self.lapse)
        leaning = (2.0 * self.data.left - 1.0) * side * (1.0 - side)
        off = self.guess - self.logistic
        falling = self.logistic * self.other_logistic * self.gap
        second = {
            (0, 0): self.slope * self.gap * (1.0 + self.gap * (self.other_logistic - self.logistic)),
            (1, 0): -2.0 * guessing * falling,
            (1, 1): 2.0 * guessing * (1.0 - 4.0 * self.lapse) * off,
            (2, 1): 2.0 * guessing * leaning,
            (2, 2): 2.0 * self.lapse * leaning * (1.0 - 2.0 * side),
        }
        row = np.cumsum(self.effects.free) - 1
        free = self.effects.free
        return {(int(row[i]), int(row[j])): bend for (i, j), bend in second.items() if free[i] and free[j]}

    def _by_voter(
        self,
        weight: Floats,
        rates: Floats,
        pull: Floats | None = None,
        bends: dict[tuple[int, int], Floats] | None = None,
    ) -> Floats:
        """Σ weight·rate·rateᵀ − pull·bend over the votes of each voter, (n_voters, n free, n free)."""
        n, size = self.effects.values.shape[1], len(rates)
        matrix = np.empty((n, size, size))
        for i in range(size):
            for j in range(i + 1):
                terms = weight * rates[i] * rates[j]
                if pull is not None and bends and (i, j) in bends:
                    terms -= pull * bends[i, j]
                matrix[:, i, j] = matrix[:, j, i] = np.bincount(self.data.voter, terms, n)
        return matrix
