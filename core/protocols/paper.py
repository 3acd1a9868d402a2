"""The paper's protocols: `Paper`, the adaptive one, and `Uniform`, one ballot with the votes of a whole plan.

Sections 2.5 and 2.6 describe the first, section 2.4 the second.

Reference: Lombardo et al. (2020), EMNLP, Eqs. 1–6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..ballots.draw import select_items
from ..base.parallel import Progress
from ..errors import DisconnectedError, NotConvergedError
from ..plan import Plan
from ..scores.borda import VotesOf, chained, tally
from ..scores.bradley_terry import fit_votes, joined
from ..scores.uncertainty import bootstrap_intervals, fitted_intervals, resampled_scores
from ..tables import Floats, Ints
from .base import (
    FITTED,
    PLAIN,
    WIDENED,
    Held,
    Mode,
    Protocol,
    ProtocolInfo,
    Sampler,
    Scored,
    SelectedItems,
    named_bounds,
    too_few,
)

REFERENCE = (
    "P. Lombardo, A. Boiardi, L. Colombo, A. Schiavone, N. Tamagnone (2020): Top-Rank-Focused Adaptive Vote Collection "
    "for the Evaluation of Domain-Specific Semantic Models. Proceedings of EMNLP 2020, pages 3081 ff."
)
METHODS = (
    (
        "paragraph",
        "Protocol of the paper. In each ballot every item meets opponents drawn at random from the items that are "
        "left; after it the items with the highest mean score go on to the next. So the most votes lie at the top. "
        "The Borda score of an item in a ballot is the share of its votes that it won, a tie as half a vote:",
    ),
    ("formula", "x = (votes won + votes tied / 2) / votes"),
    (
        "paragraph",
        "Later ballots have stronger opponents, so their scores are brought to the scale of ballot 1 by a line through "
        "(1, 1), fitted by least squares to the items of the ballot; an item's score is the mean over its ballots:",
    ),
    (
        "formula",
        "y = 1 − b + b·x     (y = x in ballot 1)\n"
        "b = Σ(1 − x)(1 − ȳ) / Σ(1 − x)²     ȳ: the mean of an item's y before this ballot\n"
        "score = mean of y over the ballots that the item was in",
    ),
    ("paragraph", f"Reference: {REFERENCE} Equations 1, 5 and 6."),
)
BORDA = ProtocolInfo(
    label="the paper's",
    offered="The paper’s: opponents at random",
    advice="The paper's draws opponents at random and averages rescaled win ratios; take it to repeat published work.",
    score="ȳ, the mean of the rescaled scores, on the scale of ballot 1. Higher is more related.",
    estimator="mean of rescaled Borda scores (Lombardo et al. 2020, Eqs. 1, 5, 6)",
    scale="Borda score of ballot 1; higher = more related; not clipped",
    methods=METHODS,
    in_words=(
        "An item's score in ballot 1 is the share of its votes that it won. In a later ballot the others are stronger, "
        "so an item wins less often: a line brings the win ratios back to the scale of ballot 1. An item's score is "
        "the mean over its ballots."
    ),
    rescales=True,
    by_scores=True,
)


class Paper(Protocol):
    """Opponents at random, the top by ȳ goes on, ȳ is the score."""

    name = "paper"
    about = BORDA
    resamples = 1000
    bounds = FITTED

    def select(self, held: Sequence[Held], n: int, rng: np.random.Generator) -> SelectedItems:
        """The highest ȳ of the last ballot's items."""
        scores = self.last_scores(held)
        items, mean = scores.items, scores.rank_by
        if (items[1:] < items[:-1]).any():
            order = np.argsort(items)
            items, mean = items[order], mean[order]
        selected = select_items(items, mean, n, rng=rng)
        return SelectedItems(
            selected.items, mean[np.searchsorted(items, selected.items)], selected.n_tied, selected.n_tied_kept
        )

    def draw(self, items: Ints, n: int, held: Sequence[Held], rng: np.random.Generator, sampler: Sampler) -> Ints:
        """Opponents uniformly at random."""
        return sampler(items, n, rng)

    def score(self, votes: VotesOf, held: Sequence[Held], mode: Mode = Mode.FINAL) -> Scored:
        """x (Eq. 1), rescaled and averaged (Eqs. 5, 6); as `scores.score_campaign` has it."""
        x, times = borda_of(votes)
        if not held:
            return scored(votes, x, x, x, (times > 0).astype(np.int64), times)
        mean, count = standing(self.scored(held, mode))
        mean, count = mean[votes.items], count[votes.items]
        step = chained(x, mean, count)
        return scored(votes, x, step.y, step.mean, step.count, times, float(step.slope))

    def resample(
        self,
        votes: Sequence[VotesOf],
        of_all: Scored,
        n: int,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Iterator[tuple[Ints, Floats]]:
        """The whole chain of Borda scores of every resample."""
        yield from resampled_scores(votes, _n_items(votes), resamples=n, rng=rng)

    def intervals(
        self,
        votes: Sequence[VotesOf],
        scores: Scored,
        level: float,
        rng: np.random.Generator,
        *,
        bounds: str | None = None,
    ) -> Scored:
        """Intervals of the share of votes that an item would win against all others, out to its ȳ; `fitted_intervals`.

        Where votes leave items apart there are none. The fit is the scores' state. Older bounds are percentiles of ȳ
        over resamples of the voters.
        """
        made = self.bounds if bounds is None else bounds
        if made == PLAIN:
            return super().intervals(votes, scores, level, rng, bounds=made)
        fitted = None
        lower, upper = np.full(len(scores.items), np.nan), np.full(len(scores.items), np.nan)
        if made == WIDENED:
            n = _n_items(votes)
            found = bootstrap_intervals(votes, n, resamples=self.resamples, level=level, rng=rng, workers=None)
            lower, upper, note = found.lower[scores.items], found.upper[scores.items], found.reason
        else:
            note = too_few(len(np.unique(np.concatenate([ballot.voter for ballot in votes]))))
            try:
                fitted = None if note else fit_votes(votes)
            except DisconnectedError as error:
                note = f"An interval needs votes that join all items; found {len(error.parts):,} parts that none joins."
            except NotConvergedError as error:
                note = f"An interval needs a fit of all votes. {error}"
            if fitted is not None:
                places = np.searchsorted(fitted.items, scores.items)
                given = joined(votes, fitted.items)
                lower, upper = fitted_intervals(fitted.fit, given, places, scores.score, level)
        return replace(
            scores,
            columns={**scores.columns, "lower": lower, "upper": upper},
            fit=scores.fit | named_bounds(made),
            note=note,
            state=fitted,
        )


class Uniform(Paper):
    """Every item alike: one ballot with exactly the comparisons of the whole plan, so that both cost the same."""

    name = "uniform"
    about = replace(
        BORDA,
        label="every item alike",
        offered="",
        advice="",
        collectable=False,
    )

    def sizes(self, plan: Plan) -> Sequence[tuple[int, int]]:
        """One ballot of all items; they appear ⌊M_unif⌋ or ⌈M_unif⌉ times (Eq. 4)."""
        return [(plan.n_items, plan.n_comparisons)]


def scored(
    votes: VotesOf, x: Floats, y: Floats, mean: Floats, count: Ints, times: Ints, slope: float | None = None
) -> Scored:
    """Scores that rank by ȳ. votes : times shown; slope : None in the first ballot."""
    columns: dict[str, Any] = {"x": x, "y": y, "mean": mean, "count": count, "votes": times}
    return Scored(votes.items, mean, mean, columns, None if slope is None or np.isnan(slope) else slope)


def borda_of(votes: VotesOf) -> tuple[Floats, Ints]:
    """x of a ballot's items (Eq. 1), NaN where one has no vote, and how often each was shown."""
    points, times = tally(votes.first, votes.second, votes.outcome, n_items=int(votes.items.max()) + 1)
    points, times = points[votes.items], times[votes.items]
    return np.divide(points, times, out=np.full(len(points), np.nan), where=times != 0), times


def standing(held: Sequence[Held]) -> tuple[Floats, Ints]:
    """ȳ of every item as of the last ballot it was in, and the number of its scores, by position; NaN and 0 where it
    has none."""
    n_items = _n_items([held[0].votes])
    mean, count = np.full(n_items, np.nan), np.zeros(n_items, dtype=np.int64)
    for _, scores in held:
        if scores is not None:
            mean[scores.items], count[scores.items] = scores.columns["mean"], scores.columns["count"]
    return mean, count


def _n_items(votes: Sequence[VotesOf]) -> int:
    return int(votes[0].items.max()) + 1  # the first ballot has all items
