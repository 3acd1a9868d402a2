"""How far a panel's own agreement lets any figure go, and what would raise it.

The ceiling is the agreement of two halves of the people, each with the mean of its ratings. How it grows with more
ratings an item has two answers:

* ρ of the means grows by Spearman and Brown's formula, k·ρ / (1 + (k − 1)·ρ) for k times the ratings: it rests on
  variances over all items, and so may be taken from one number.
* ρ_w does not. It rests on the few items at the top, where ratings are cut off by the end of the scale, so that means
  tie or differ by chance, and on how thickly true values lie there; two panels of equal ρ may have ρ_w .2 and .9. So it
  is simulated: items have true values u, people's ratings are the scale's own values in the order of
  √r·u + √(1−r)·noise, each value as frequent as it was in truth, and every item has as many ratings in a half as it
  had. u is normal but for one number κ that thins the top out or packs it; r and κ are set so that one time the ratings
  gives the ρ and the ρ_w that were observed.

References: Spearman (1910), Correlation calculated from faulty data, and Brown (1910), Some experimental results in the
correlation of mental abilities, British Journal of Psychology 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from bench.people_ratings import Halves, halve
from bench.people_replay import Averaged
from core.errors import InputError
from core.metrics import rounded_scores, spearman
from core.questions.rating.statistics import checked_ratings
from core.simulation.campaign import Accuracy, accuracy_between
from core.tables import Floats, Ints

SPLITS = 40
TIMES = (1, 2, 4, 8, 16, 32)
WANTED = 0.9  # ρ_w between halves from which on a top is called reliable
KAPPA = -0.6, 1.0  # range of κ
SHARE = 0.02, 0.995  # range of r
ROUNDS = 8  # halvings in the search for κ
TRIALS, DRAWS = 24, 40  # simulated pairs of halves a step of the search, and a forecast


@dataclass(frozen=True)
class Ceiling:
    """Agreement of two halves of the people.

    agreement : accuracy of one half's means against the other's, over random splits.
    n_people, n_items : people, and items that both halves rated, mean over splits.
    ratings_per_item : number in a half that the middle item has; fewest and most that any has; means over splits.
    tied_top : how many items share the highest mean in a half, mean over splits; 1 where the first is alone.
    """

    agreement: Averaged
    n_people: int
    n_items: float
    ratings_per_item: float
    fewest: float
    most: float
    tied_top: float

    @property
    def reliability(self) -> float:
        """ρ to be expected between the means of all these people and of as many others (Spearman, Brown)."""
        return spearman_brown(self.agreement.mean.rho, 2.0)


def spearman_brown(correlation: float, times: float) -> float:
    """Correlation of two means of `times` as many ratings: k·r / (1 + (k − 1)·r). For ρ, not for ρ_w.

    correlation : above −1/(k − 1) where k > 1, at most 1; times : k above 0. Raises `InputError` outside.

    >>> round(spearman_brown(0.84, 2), 3)
    0.913
    """
    if times <= 0 or not correlation <= 1 or 1 + (times - 1) * correlation <= 0:
        raise InputError(f"Spearman–Brown has no value for a correlation of {correlation} and {times} times.")
    return times * correlation / (1.0 + (times - 1.0) * correlation)


def ceiling_of(ratings: ArrayLike, *, splits: int = SPLITS, rng: np.random.Generator) -> Ceiling:
    """Agreement of random halves of the people.

    ratings : people × items, NaN where there is none (opinions of simulated voters serve as well); splits : at least 2.
    Raises `InputError` for fewer than two people or splits and ratings that don't fit, `UndefinedMetricError` where all
    means of a half are equal.
    """
    table = checked_ratings(ratings)
    if splits < 2 or len(table) < 2:
        raise InputError(f"A ceiling needs two people and two splits, found {len(table)} and {splits}.")
    return _ceiling([halve(table, rng=rng) for _ in range(splits)], len(table))


def _ceiling(split: Sequence[Halves], n_people: int) -> Ceiling:
    agreements, sizes = [], []
    for halves in split:
        one, other = halves.voters.mean(), halves.others.mean()
        agreements.append(accuracy_between(one, other))
        counts = np.concatenate([(~np.isnan(half.ratings)).sum(axis=0) for half in (halves.voters, halves.others)])
        compared = (rounded_scores(means) for means in (one, other))
        tied = (np.count_nonzero(means == means.max()) for means in compared)
        sizes.append((len(one), np.median(counts), counts.min(), counts.max(), sum(tied) / 2))
    return Ceiling(Averaged.of(agreements), n_people, *np.mean(sizes, axis=0).tolist())


@dataclass(frozen=True)
class Forecast:
    """The ceiling with `times` the ratings; `is_even`: all items have as many as the middle one.

    ratings_per_item : of the middle item in a half; agreement : of simulated halves, spread over panels, not splits.
    """

    times: float
    is_even: bool
    ratings_per_item: float
    agreement: Averaged


@dataclass(frozen=True, eq=False)
class CeilingModel:
    """Ratings to be simulated: see the module.

    share : r, of a rating's variance that is the item's, before ratings are put on the scale.
    packing : κ, above 0 where the top lies closer together than the bottom.
    values, levels : the scale's values and the shares of ratings up to each.
    counts : ratings of each item in two halves, shape (2, n_items), for each of some splits.
    fitted : agreement of simulated halves with one time the ratings, to hold against what was observed.
    """

    share: float
    packing: float
    values: Floats
    levels: Floats
    counts: tuple[Ints, ...]
    fitted: Accuracy

    def halves(self, counts: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Mean ratings in two simulated halves with so many ratings an item."""
        item = np.repeat(np.tile(np.arange(counts.shape[1]), 2), counts.ravel())
        latent = np.sqrt(self.share) * packed(rng.standard_normal(item[-1] + 1), self.packing)[item]
        latent += np.sqrt(1.0 - self.share) * rng.standard_normal(len(item))
        level = np.empty(len(item))
        level[np.argsort(latent)] = (np.arange(len(item)) + 0.5) / len(item)
        rating = self.values[np.minimum(np.searchsorted(self.levels, level), len(self.values) - 1)]
        cut = int(counts[0].sum())
        return (
            np.bincount(item[:cut], rating[:cut], counts.shape[1]) / counts[0],
            np.bincount(item[cut:], rating[cut:], counts.shape[1]) / counts[1],
        )

    def agreement(self, times: float, draws: int, rng: np.random.Generator, *, is_even: bool = False) -> Averaged:
        """Agreement of simulated halves with `times` the ratings an item has."""
        found = []
        for draw in range(draws):
            counts = self.counts[draw % len(self.counts)]
            if is_even:
                counts = np.full_like(counts, max(1, round(float(np.median(counts)))))
            found.append(accuracy_between(*self.halves(np.maximum(1, np.rint(times * counts)).astype(np.int64), rng)))
        return Averaged.of(found)


def packed(x: Floats, packing: float) -> Floats:
    """(1 − e^(−κx))/κ of normal values, brought to mean 0 and variance 1: for κ > 0 bounded above, x for κ = 0."""
    if abs(packing) < 1e-6:
        return x
    square = packing * packing
    scale = np.sqrt(np.expm1(square) * np.exp(square))
    return np.asarray((np.exp(square / 2.0) - np.exp(-packing * x)) / scale * np.sign(packing))


def model_ceiling(
    ratings: ArrayLike, *, rng: np.random.Generator, splits: int = SPLITS
) -> tuple[Ceiling, CeilingModel]:
    """The ceiling of people's ratings, and the model of it, r and κ set to its ρ and ρ_w.

    Both rise with r, and ρ_w falls with κ at equal ρ: r is sought for each κ, and κ halved in on, always with the same
    random numbers. Where no κ in −0.6…1 gives the observed ρ_w the nearest one stays. Errors as in `ceiling_of`.
    """
    table = checked_ratings(ratings)
    if splits < 2 or len(table) < 2:
        raise InputError(f"A ceiling needs two people and two splits, found {len(table)} and {splits}.")
    split = [halve(table, rng=rng) for _ in range(splits)]
    ceiling = _ceiling(split, len(table))
    counts = tuple(
        np.stack([(~np.isnan(half.ratings)).sum(axis=0) for half in (halves.voters, halves.others)])
        for halves in split[:TRIALS]
    )
    seed = int(rng.integers(2**63))
    values, levels = _scale(table)
    observed = ceiling.agreement.mean

    blank = CeilingModel(0.5, 0.0, values, levels, counts, observed)
    low, high = KAPPA
    for _ in range(ROUNDS):
        packing = (low + high) / 2.0
        model = _with_rho(replace(blank, packing=packing), observed.rho, seed)
        low, high = (packing, high) if model.fitted.rho_w > observed.rho_w else (low, packing)
    return ceiling, model


def _with_rho(model: CeilingModel, wanted: float, seed: int) -> CeilingModel:
    """The model with the r that gives this ρ, or comes nearest."""

    def excess(share: float) -> float:
        trial, rng = replace(model, share=share), np.random.default_rng(seed)
        return float(np.mean([spearman(*trial.halves(counts, rng)) for counts in model.counts])) - wanted

    low, high = SHARE
    if excess(low) < 0.0 < excess(high):
        low = brentq(excess, low, high, xtol=0.003, rtol=1e-6)
    elif excess(low) < 0.0:
        low = high
    placed = replace(model, share=float(low))
    return replace(placed, fitted=placed.agreement(1.0, len(model.counts), np.random.default_rng(seed)).mean)


def _scale(table: Floats) -> tuple[Floats, Floats]:
    """The values that ratings take, and the share of ratings up to each; every item counts alike."""
    there = ~np.isnan(table)
    count = there.sum(axis=0)
    weight = np.broadcast_to(1.0 / np.maximum(count, 1), table.shape)[there]
    values, place = np.unique(table[there], return_inverse=True)
    levels = np.cumsum(np.bincount(place.ravel(), weight))
    return values, levels / levels[-1]


def forecast_ceiling(
    model: CeilingModel, *, rng: np.random.Generator, times: Sequence[float] = TIMES, draws: int = DRAWS
) -> tuple[Forecast, ...]:
    """The ceiling forecast: with as many ratings for each item as the middle one has, then with each of `times`."""
    seed = int(rng.integers(2**63))
    base = float(np.mean([np.median(counts) for counts in model.counts]))
    asked = [(1.0, True), *((float(k), False) for k in times)]
    return tuple(
        Forecast(k, even, k * base, model.agreement(k, draws, np.random.default_rng(seed), is_even=even))
        for k, even in asked
    )


@dataclass(frozen=True)
class Verdict:
    """Whether a panel can give a reliable top, in words; `times` the ratings that would do, None if none tried does."""

    is_reliable: bool
    text: str
    times: float | None


def top_verdict(ceiling: Ceiling, forecasts: Sequence[Forecast], *, wanted: float = WANTED) -> Verdict:
    """Say whether the top of such a panel's scores can be relied on, and what would make it so."""
    found = ceiling.agreement.mean
    halves = f"Two halves of these {ceiling.n_people} people agree at ρ_w {found.rho_w:.2f} (ρ {found.rho:.2f})"
    if found.rho_w >= wanted:
        return Verdict(True, f"{halves}: the top is reliable. A higher ρ_w than that means nothing here.", 1.0)
    few = f"with {ceiling.ratings_per_item:.3g} ratings an item in each half"
    if ceiling.fewest < ceiling.most:
        few += f" ({ceiling.fewest:.0f} to {ceiling.most:.0f})"
    parts = [f"This panel can't give you a reliable top. {halves} {few}."]
    even = next((f for f in forecasts if f.is_even), None)
    if even is not None and ceiling.fewest < ceiling.most and even.agreement.mean.rho_w > found.rho_w + 0.05:
        each, then = even.ratings_per_item, even.agreement.mean.rho_w
        parts.append(f"As many ratings for every item, {each:.3g}, would bring ρ_w to about {then:.2f}.")
    more = sorted((f for f in forecasts if not f.is_even), key=lambda f: f.times)
    enough = next((f for f in more if f.times > 1 and f.agreement.mean.rho_w >= wanted), None)
    if enough is not None:
        parts.append(
            f"About {enough.times:g} times the ratings, {enough.ratings_per_item:.0f} an item in each half, "
            f"would bring it to {enough.agreement.mean.rho_w:.2f}."
        )
    elif more:
        parts.append(f"Even {more[-1].times:g} times the ratings would not bring it to {wanted:g}.")
    parts.append("Comparisons of the leading items with each other, by many people, are another way.")
    return Verdict(False, " ".join(parts), None if enough is None else enough.times)
