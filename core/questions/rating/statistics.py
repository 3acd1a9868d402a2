"""Statistics of ratings: means and noise of the items, agreement of the people, and models ranked on the gold ratings.

Ratings are a table: rows people, columns items, NaN where somebody didn't rate. What can't be told is None, with the
reason beside it.

Models are ranked on pairs of texts of different size, by level (paragraph to sentence, …) and by genre. On each level a
model's similarities are correlated with the gold ratings, and models stand in the order of the sum of Pearson's r over
the levels, Spearman's ρ beside it. A level that a model doesn't cover counts nothing, and says so. A model may leave
items out: it is then correlated over those it covers, and the number stands beside the figure.

References: O'Shea, Bandar, Crockett, McLean (2013), Semantic similarity of short texts (noise as mean of SDs,
leave-one-out agreement); Jurgens, Pilehvar, Navigli (2016), Cross Level Semantic Similarity (adjudication; sections 4.1
and 5.2: models by level).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...base.estimates import Estimate, widened_tails
from ...errors import InputError, UndefinedMetricError
from ...metrics import average_ranks, rounded_scores
from ...tables import Floats, Ints
from ...trust.agreement import LEVEL, RESAMPLES, KrippendorffAlpha

MOST_PAIRS = 5000  # of people that are compared; of more, so many are drawn
LEAST_ITEMS = 3  # for a correlation: two points always lie on a line
APART = 1.0  # points between two people from which an item is adjudicated


@dataclass(frozen=True, eq=False)
class ItemRatings:
    """Of each item (n_items,): `mean` (NaN without a rating), `sd` (n − 1; NaN below two), `n` ratings."""

    mean: Floats
    sd: Floats
    n: Ints

    @property
    def noise(self) -> Estimate:
        """The mean of the items' SDs, in points of the scale: the less, the closer people are."""
        known = self.sd[~np.isnan(self.sd)]
        if not len(known):
            return Estimate(None, reason="no item has two ratings")
        return Estimate(float(known.mean()))


def checked_ratings(ratings: ArrayLike) -> Floats:
    """Ratings as a table of at least one person and two items, or `InputError`."""
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise InputError(f"Ratings are a table of people × at least two items, found an array of shape {table.shape}.")
    if np.isinf(table).any():
        raise InputError(f"{int(np.isinf(table).sum())} ratings are infinite.")
    return table


def item_ratings(ratings: ArrayLike) -> ItemRatings:
    """Mean, SD and number of ratings of each item.

    >>> found = item_ratings([[1.0, 4.0], [3.0, np.nan]])
    >>> found.mean.tolist(), round(float(found.sd[0]), 4), found.n.tolist(), round(found.noise.estimate, 4)
    ([2.0, 4.0], 1.4142, [2, 1], 1.4142)
    """
    table = checked_ratings(ratings)
    is_rated = ~np.isnan(table)
    n = is_rated.sum(axis=0)
    mean = np.full(table.shape[1], np.nan)
    np.divide(np.where(is_rated, table, 0).sum(axis=0), n, out=mean, where=n > 0)
    squares = np.where(is_rated, (table - mean) ** 2, 0).sum(axis=0)
    sd = np.full(table.shape[1], np.nan)
    np.divide(squares, n - 1, out=sd, where=n > 1)
    return ItemRatings(mean, np.sqrt(sd), n)


@dataclass(frozen=True)
class Person:
    """Pearson's r of a person's ratings with the mean of all others' over `n_items`, None with the reason."""

    row: int
    r: float | None
    n_items: int
    reason: str = ""


@dataclass(frozen=True)
class LeaveOneOut:
    """Each person against the rest: mean, best and worst r over those for whom it is defined; None where for none."""

    people: tuple[Person, ...]

    @property
    def defined(self) -> list[float]:
        """The r of those who have one, in the order of the people."""
        return [person.r for person in self.people if person.r is not None]

    @property
    def mean(self) -> float | None:
        """The mean r."""
        return float(np.mean(self.defined)) if self.defined else None

    @property
    def best(self) -> float | None:
        """The highest r."""
        return max(self.defined, default=None)

    @property
    def worst(self) -> float | None:
        """The lowest r."""
        return min(self.defined, default=None)


def leave_one_out(ratings: ArrayLike, *, ranked: bool = False) -> LeaveOneOut:
    """Pearson's r of each person with the mean ratings of everybody else, over the items that both have.

    ranked : Spearman's ρ instead. Undefined over fewer than three items, or where one of the two is constant.
    """
    table = checked_ratings(ratings)
    is_rated = ~np.isnan(table)
    filled = np.where(is_rated, table, 0.0)
    total, count = filled.sum(axis=0), is_rated.sum(axis=0)
    people = []
    for row in range(len(table)):
        others = count - is_rated[row]
        both = is_rated[row] & (others > 0)
        rest = (total - filled[row])[both] / others[both]
        r, reason = (spearman if ranked else pearson)(table[row, both], rest)
        people.append(Person(row, r, int(both.sum()), reason))
    return LeaveOneOut(tuple(people))


def pearson(one: Floats, other: Floats) -> tuple[float | None, str]:
    """Pearson's r, −1 to 1, or None and why: fewer than three items, or one side constant."""
    if len(one) < LEAST_ITEMS:
        return None, f"over {len(one)} items, and {LEAST_ITEMS} are needed"
    if np.ptp(rounded_scores(one)) == 0 or np.ptp(rounded_scores(other)) == 0:
        return None, "one of the two is the same for all items"
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1, 1)), ""


def spearman(one: Floats, other: Floats) -> tuple[float | None, str]:
    """Spearman's ρ, as `pearson`; ties share their average rank."""
    if not len(one):
        return pearson(one, other)
    return pearson(average_ranks(one), average_ranks(other))


@dataclass(frozen=True)
class Pairwise:
    """Mean Spearman's ρ between two people over the items both rated, None with the reason where undefined for all.

    Over `n_pairs` pairs of people for whom it is defined, of `n_shared` that share three items and were looked at.
    """

    mean: float | None
    n_pairs: int
    n_shared: int
    reason: str = ""


def pairwise(ratings: ArrayLike, *, most: int = MOST_PAIRS, seed: int = 0) -> Pairwise:
    """Agreement of two people: the mean over pairs of people, or over `most` of them, drawn, where there are more.

    >>> pairwise([[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    Pairwise(mean=-0.333333333333, n_pairs=3, n_shared=3, reason='')
    """
    table = checked_ratings(ratings)
    is_rated = ~np.isnan(table)
    shared = is_rated.astype(np.int32) @ is_rated.T.astype(np.int32)
    one, other = np.nonzero(np.triu(shared >= LEAST_ITEMS, 1))
    if len(one) > most:
        chosen = np.sort(np.random.default_rng(seed).permutation(len(one))[:most])
        one, other = one[chosen], other[chosen]
    correlations = []
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        both = is_rated[a] & is_rated[b]
        rho, _ = spearman(table[a, both], table[b, both])
        if rho is not None:
            correlations.append(rho)
    if correlations:
        return Pairwise(round(float(np.mean(correlations)), 12), len(correlations), len(one))
    if not len(one):
        return Pairwise(None, 0, 0, f"no two people rated {LEAST_ITEMS} items in common")
    return Pairwise(None, 0, len(one), "everybody rated all alike")


def alpha(ratings: ArrayLike, *, seed: int = 0, resamples: int = RESAMPLES, level: float = LEVEL) -> KrippendorffAlpha:
    """Krippendorff's α of ratings by squared differences (interval metric), with the interval of resampled items.

        α = 1 − (N − 1) · Σ_u n_u SS_u / (n_u − 1) / (N · SS)

    over the items u with n_u ≥ 2 ratings, N in all: SS_u is the sum of squares around the item's mean, SS around the
    mean of all. Items are drawn with replacement, since ratings of one item hang together; Krippendorff's own
    bootstrap draws single disagreements, and where some items have many more ratings than others its interval need
    not hold the estimate (on SimVerb it doesn't). NaN bounds where there are fewer than two such items.
    Raises `UndefinedMetricError` where no item has two ratings, or all ratings are equal.
    """
    table = checked_ratings(ratings)
    is_rated = ~np.isnan(table)
    n = is_rated.sum(axis=0)
    both = n > 1
    if not both.any():
        raise UndefinedMetricError(
            f"Not enough overlap: α compares ratings of the same item, and of {int((n > 0).sum()):,} rated items none "
            "has two."
        )
    values, known = table[:, both], is_rated[:, both]
    centre = float(values[known].mean())
    deviations = np.where(known, values - centre, 0.0)
    count, total, squares = known.sum(axis=0).astype(float), deviations.sum(axis=0), (deviations**2).sum(axis=0)
    if np.ptp(values[known]) == 0:
        raise UndefinedMetricError(
            f"All {int(count.sum()):,} ratings that could be compared are equal, so α is not defined: agreement can't "
            "be told from habit."
        )
    sums = np.array([count, total, squares, count * (squares - total**2 / count) / (count - 1)])
    lower = upper = float("nan")
    if len(count) > 1:
        rng = np.random.default_rng(seed)
        drawn = np.array([_alpha(sums[:, rng.integers(0, len(count), len(count))]) for _ in range(resamples)])
        drawn = drawn[~np.isnan(drawn)]
        lower, upper = np.quantile(drawn, widened_tails(len(count), level)).tolist()
    n_people = int(known.any(axis=1).sum())
    n_rated = int((n > 0).sum())
    return KrippendorffAlpha(_alpha(sums), lower, upper, level, len(count), n_rated, int(count.sum()), n_people)


def _alpha(sums: Floats) -> float:
    """α from count, sum, sum of squares and weighted disagreement of each item; NaN where all ratings are equal."""
    n, total, squares, apart = sums.sum(axis=1)
    spread = squares - total**2 / n
    return float(1 - (n - 1) * apart / (n * spread)) if spread > 1e-12 * max(squares, 1e-300) else float("nan")


@dataclass(frozen=True, eq=False)
class Adjudication:
    """Final ratings (n_items,), NaN where an item waits for a decision or has no rating; `waiting` are its positions.

    An item waits where any two people differ by a point or more.
    """

    final: Floats
    waiting: Ints


def adjudicate(ratings: ArrayLike, decided: dict[int, float] | None = None) -> Adjudication:
    """The mean of an item's ratings, or what was decided where two people are `APART` or more.

    decided : position → rating, also allowed for items that don't need it. Raises `InputError` for a position that
    doesn't exist.

    >>> found = adjudicate([[1.0, 2.0, 4.0], [1.5, 3.0, 4.0]], {1: 2.25})
    >>> found.final.tolist(), found.waiting.tolist()
    ([1.25, 2.25, 4.0], [])
    """
    table = checked_ratings(ratings)
    found = item_ratings(table)
    reach = np.where(found.n > 0, np.nanmax(np.where(np.isnan(table), -np.inf, table), axis=0), 0)
    depth = np.where(found.n > 0, np.nanmin(np.where(np.isnan(table), np.inf, table), axis=0), 0)
    open_ = np.round(reach - depth, 9) >= APART
    final = np.where(open_, np.nan, found.mean)
    for position, value in (decided or {}).items():
        if not 0 <= position < table.shape[1]:
            raise InputError(f"There is no item {position} to decide on.")
        final[position], open_[position] = value, False
    return Adjudication(final, np.flatnonzero(open_))


def alpha_by_group(ratings: ArrayLike, groups: ArrayLike) -> dict[str, KrippendorffAlpha | str]:
    """α of the items of each group (genre, level), in the order of their first item, or why there is none."""
    table, names = checked_ratings(ratings), np.asarray(groups)
    result: dict[str, KrippendorffAlpha | str] = {}
    for name in dict.fromkeys(names.tolist()):
        try:
            result[str(name)] = alpha(table[:, names == name])
        except (UndefinedMetricError, InputError) as error:
            result[str(name)] = str(error)
    return result


@dataclass(frozen=True)
class Deviation:
    """How far one group of people lies from another: mean, quartiles and number of the items' differences."""

    mean: float
    lower_quartile: float
    median: float
    upper_quartile: float
    n: int


def deviation_by_group(crowd: ArrayLike, experts: ArrayLike, groups: ArrayLike) -> dict[str, Deviation | None]:
    """Mean crowd rating minus expert rating of each item, by group; None for a group without an item that both have."""
    one, other, names = np.asarray(crowd, float), np.asarray(experts, float), np.asarray(groups)
    if not one.shape == other.shape == names.shape:
        raise InputError("Crowd, experts and groups need one entry per item.")
    result: dict[str, Deviation | None] = {}
    for name in dict.fromkeys(names.tolist()):
        gap = (one - other)[names == name]
        gap = gap[~np.isnan(gap)]
        result[str(name)] = _deviation(gap) if len(gap) else None
    return result


def _deviation(gap: Floats) -> Deviation:
    lower, median, upper = np.quantile(gap, [0.25, 0.5, 0.75]).tolist()
    return Deviation(float(gap.mean()), lower, median, upper, len(gap))


@dataclass(frozen=True)
class Fit:
    """Pearson's r and Spearman's ρ over `n` of `n_items` items, None with the reason where undefined."""

    pearson: float | None
    spearman: float | None
    n: int
    n_items: int
    reason: str = ""


@dataclass(frozen=True)
class ModelPlace:
    """A model: its place (ties share the best), sums over levels, and its fit on each level and genre.

    unseen : over the genres that were held out, None where there are none.
    """

    model: str
    place: int
    sum_pearson: float
    sum_spearman: float
    by_level: Mapping[str, Fit]
    by_genre: Mapping[tuple[str, str], Fit]
    unseen: Fit | None


def fit_of(given: ArrayLike, gold: ArrayLike) -> Fit:
    """How a model's similarities go with gold ratings, items without either left out; equal to 12 digits is a tie."""
    x, y = np.asarray(given, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    known = ~np.isnan(x) & ~np.isnan(y)
    r, reason = pearson(x[known], y[known])
    rho, _ = spearman(x[known], y[known])
    return Fit(r, rho, int(known.sum()), int((~np.isnan(y)).sum()), reason)


def rank_models(
    similarities: Mapping[str, ArrayLike],
    gold: ArrayLike,
    levels: Sequence[str],
    genres: Sequence[str],
    *,
    held_out: Sequence[str] = (),
) -> list[ModelPlace]:
    """Models in the order of their summed Pearson's r, best first, equal sums in the order given.

    similarities : by model, (n,), NaN where it has none; gold : ratings (n,); levels, genres : of each item;
    held_out : genres that nobody could prepare for. Raises `InputError` where lengths differ or there is no item.
    """
    y, level, genre = np.asarray(gold, dtype=np.float64), np.asarray(levels), np.asarray(genres)
    values = {name: np.asarray(given, dtype=np.float64) for name, given in similarities.items()}
    if not len(y) or any(len(each) != len(y) for each in (level, genre, *values.values())):
        raise InputError(f"Levels, genres and every model need an entry for each of {len(y)} items.")
    strange = sorted(set(held_out) - set(genre.tolist()))
    if strange:
        raise InputError(f"There is no genre {', '.join(strange)} to hold out.")
    parts = list(dict.fromkeys(zip(level.tolist(), genre.tolist(), strict=True)))
    unseen = np.isin(genre, list(held_out))
    places = []
    for name, given in values.items():
        by_level = {str(one): fit_of(given[level == one], y[level == one]) for one in dict.fromkeys(level.tolist())}
        by_genre = {
            (str(one), str(other)): fit_of(given[here], y[here])
            for one, other in parts
            for here in [(level == one) & (genre == other)]
        }
        of_unseen = fit_of(given[unseen], y[unseen]) if unseen.any() else None
        sums = [sum(getattr(fit, figure) or 0.0 for fit in by_level.values()) for figure in ("pearson", "spearman")]
        places.append((name, sums, by_level, by_genre, of_unseen))
    totals = rounded_scores([sums[0] for _, sums, *_ in places]).tolist()
    standings = [
        ModelPlace(name, 1 + sum(other > total for other in totals), sums[0], sums[1], by_level, by_genre, of_unseen)
        for (name, sums, by_level, by_genre, of_unseen), total in zip(places, totals, strict=True)
    ]
    return sorted(standings, key=lambda standing: standing.place)
