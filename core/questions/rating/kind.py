"""Ratings: one item a question; an answer is a value of the scale, `3.25`. An item's score is the mean of its ratings.

Intervals are 90 %, voters resampled, the tails widened for few of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...base.estimates import LEVEL, widened_tails
from ...errors import InputError, UndefinedMetricError
from ...i18n import Language
from ...tabular import Table
from ...votes.platform import ResultFile
from ..base import (
    VOTERS,
    About,
    Answering,
    Answers,
    Floats,
    Ints,
    RoundKind,
    RoundScores,
    RoundSettings,
    refuse_unscored,
    too_few,
)  # fmt: skip
from .answers import is_rating_set, rating_set_answers
from .files import read_ratings
from .gold_pairs import check_gold
from .page import RatingPage
from .statistics import adjudicate, alpha, item_ratings, leave_one_out

RESAMPLES = 1000
STRETCH, SHIFT = 0.3, 0.25  # of simulated voters: spread of log g, and of the cut points in their distance


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Ratings of a round: a table of voters × items, NaN where somebody didn't rate.

    voters : ids, ascending; items : positions, ascending.
    """

    voters: Ints
    items: Ints
    table: Floats


def rated_items(answers: Answers) -> RatedItems:
    """The ratings that count."""
    voters = np.unique(answers.voter)
    table = np.full((len(voters), len(answers.items)), np.nan)
    columns = np.searchsorted(answers.items, answers.options[answers.question])
    table[np.searchsorted(voters, answers.voter), columns] = answers.value
    return RatedItems(voters, answers.items, table)


class Rating(RoundKind, RatingPage):
    """How related are the two, on a scale?"""

    about = About(
        label="ratings",
        offered="Each item gets a number on a scale with worded anchors, from several people.",
        asked="item",
        estimator="mean of people's ratings",
        scale="points of the scale; higher = more related",
        figure=("r", "Pearson's r of the person's ratings with the mean of all others', over three items at least."),
        figures={
            "noise": ("Noise", "Mean of the items' standard deviations, in points of the scale: less is closer."),
            "leave_one_out": ("Leave-one-out r", "Mean Pearson's r of each person with the mean of all others."),
            "alpha": ("Krippendorff's α", "By squared differences: 1 is full agreement, 0 what chance gives."),
            "to_adjudicate": ("To adjudicate", "Items where any two people differ by a point or more."),
            **VOTERS,
        },
        editors=("scale", "swaps", "gold"),
        is_scale=True,
    )
    fields = ("rating",)

    def draw(
        self, items: pd.DataFrame, settings: RoundSettings, rng: np.random.Generator, scores: Floats | None = None
    ) -> list[tuple[int, ...]]:
        """Each item once, in random order."""
        if not len(items):
            raise InputError("There is no item to rate.")
        return [(int(item),) for item in rng.permutation(items["item"].to_numpy())]

    def n_questions(self, settings: RoundSettings, n_items: int) -> int:
        return n_items

    def check(self, settings: RoundSettings, *, with_groups: bool) -> None:
        check_gold(settings.gold, settings.tolerance, settings.scale)

    def swaps(self, settings: RoundSettings) -> bool:
        return settings.swaps

    def n_shown(self) -> tuple[int, int | None]:
        return 1, 1

    def cells(self, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
        return [(f"item_id_{n}", str(item)), (f"token_a_{n}", token_a), (f"token_b_{n}", token_b)]

    def read(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language) -> str:
        """A comma may stand for the point."""
        scale = settings.scale
        try:
            return f"{scale.read(given):g}"
        except InputError:
            raise InputError(spoken.text(
                "{given}: a rating is {low} to {high} in steps of {step}", given=repr(given),
                low=spoken.number(scale.low), high=spoken.number(scale.high), step=spoken.number(scale.step),
            )) from None  # fmt: skip

    def value(self, answer: str) -> float | None:
        return float(answer)

    def standing(self, wins: Floats, ties: Floats, losses: Floats, mean_value: Floats) -> Floats:
        """The mean rating."""
        return np.round(mean_value, 12)

    def read_own_file(self, table: Table, data: bytes, shown: pd.DataFrame) -> ResultFile | None:
        """The ratings of a rating set; items are found by their texts."""
        return rating_set_answers(read_ratings(data, table.name), shown) if is_rating_set(table) else None

    def simulate(self, opinion: Floats, who: Answering, settings: RoundSettings, rng: np.random.Generator) -> list[str]:
        """The opinion through the voter's own scale and cut points, which hold over all rounds."""
        values, voter = settings.scale.values, who.voter
        own = np.random.default_rng([who.seed, 1, 8])
        parts = [own.spawn(1)[0] for _ in range(int(voter.max()) + 1)]
        even = np.arange(1, len(values)) / len(values)
        stretch = np.array([np.exp(STRETCH * part.standard_normal()) for part in parts])
        cuts = np.array([np.sort(even + SHIFT / len(values) * p.standard_normal(len(values) - 1)) for p in parts])
        given = rate(opinion[:, 0], stretch[voter], cuts[voter], who.lapse, rng)
        return [f"{values[at]:g}" for at in given.tolist()]

    def score(self, answers: Answers, before: Sequence[Answers], settings: RoundSettings, seed: int) -> RoundScores:
        rated = rated_items(answers)
        if not len(rated.voters):
            refuse_unscored(1, 1)
        items = item_ratings(rated.table)
        refuse_unscored(int((items.n == 0).sum()), len(items.n))
        lower, upper, note = mean_intervals(rated.table, np.random.default_rng([seed, 2]))
        fit = {
            "noise": items.noise.estimate,
            "leave_one_out": leave_one_out(rated.table).mean,
            "alpha": _alpha(rated.table),
            "to_adjudicate": len(adjudicate(rated.table).waiting),
            "ratings": int(items.n.sum()),
            "voters": len(rated.voters),
        }
        return RoundScores(rated.items, items.mean, items.mean, items.n, lower, upper, fit=fit, note=note)

    def people(self, answers: Answers, settings: RoundSettings) -> Mapping[int, float]:
        rated = rated_items(answers)
        if not len(rated.voters):
            return {}
        people = leave_one_out(rated.table).people
        return {int(rated.voters[person.row]): person.r for person in people if person.r is not None}


def _alpha(table: Floats) -> float | None:
    try:
        return alpha(table).alpha
    except UndefinedMetricError:
        return None


def mean_intervals(table: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, str]:
    """Bounds of each item's mean rating, and why there are none, or "".

    Voters are drawn with replacement, the tails widened for few of them; a bound needs two ratings of the item.
    table : voters × items, NaN where not rated.

    >>> mean_intervals(np.ones((2, 3)), np.random.default_rng(1))[2]
    'An interval needs answers of at least 5 voters; found 2.'
    """
    n_voters, n_items = table.shape
    nothing = np.full(n_items, np.nan)
    if note := too_few(n_voters):
        return nothing, nothing, note
    there = ~np.isnan(table)
    filled, known = np.where(there, table, 0.0), there.astype(np.float64)
    weights = rng.multinomial(n_voters, np.full(n_voters, 1 / n_voters), size=RESAMPLES).astype(np.float64)
    lower, upper = nothing.copy(), nothing.copy()
    tails = widened_tails(n_voters, LEVEL)
    for start in range(0, n_items, 1000):  # in parts: resamples × items
        part = slice(start, start + 1000)
        n = weights @ known[:, part]
        means = np.full(n.shape, np.nan)
        np.divide(weights @ filled[:, part], n, out=means, where=n > 0)
        several = there[:, part].sum(axis=0) > 1
        bounds = np.nanquantile(means[:, several], tails, axis=0)
        lower[part][several], upper[part][several] = bounds
    return lower, upper, ""


def rate(
    opinion: Floats, stretch: Floats | float, cuts: Floats, lapse: Floats | float, rng: np.random.Generator
) -> Ints:
    """Ratings 0…k−1 of simulated voters: o^g cut at the points below it, or by a lapse any value.

    opinion, in [0, 1], stretch (g, above 0), lapse, the probability of an answer that isn't meant : shape (n,);
    cuts : ascending, (n, k − 1). Returns shape (n,).

    >>> rate(np.array([0.2, 0.9]), 1.0, np.array([[0.5], [0.5]]), 0.0, np.random.default_rng(1))
    array([0, 1])
    """
    found = ((opinion**stretch)[:, None] > cuts).sum(axis=1)
    slip = rng.random(len(found)) < lapse
    return np.asarray(np.where(slip, rng.integers(0, cuts.shape[1] + 1, len(found)), found))
