"""Scores of a round: computed from its counted answers at closing, written in one go, read back as a dataset.

Ratings: an item's score is the mean of its ratings. Best–worst: `x` is the count, (best − worst) / appearances in the
round; the score is the expected Borda score against the whole field of θ, one Bradley–Terry fit of the comparisons that
the tuples of this round and of the closed rounds of best–worst before it decide. Orders score no item: their figures
are of targets (`round_answers.group_comparisons`). Intervals are 90 %, voters resampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa
from numpy.typing import NDArray

from ..errors import StoreError, UndefinedMetricError
from ..estimates import widened_tails
from ..schemes.collected import BEST_WORST, RATING
from ..schemes.group_agreement import group_agreement
from ..schemes.rating_statistics import adjudicate, alpha, item_ratings, leave_one_out
from ..scores.bradley_terry import BradleyTerry, expected_borda, fit_bradley_terry
from ..scores.voter_bootstrap import resample_voters
from . import schema as t
from .ballots import LEVEL
from .command import Change, fetch_rows, insert_rows, update_rows
from .round_answers import best_worst_answers, given_orders, rated_items
from .rounds import Round, rounds_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RESAMPLES = {RATING: 1000, BEST_WORST: 300}
MIN_VOTERS = 5
RIDGE = 0.1


@dataclass(frozen=True, eq=False)
class Fitted:
    """A Bradley–Terry fit of all items (positions) that were shown so far: θ, its error, score and bounds of each."""

    items: Ints
    theta: Floats
    error: Floats
    score: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class RoundScores:
    """Scores that wait to be written: of the round's items (positions) x, mean, count, lower, upper; the fit of all
    items of the rounds so far where there is one; figures of the whole round; why there are no intervals, or ""."""

    items: Ints
    x: Floats
    mean: Floats
    count: Ints
    lower: Floats
    upper: Floats
    fitted: Fitted | None = None
    fit: dict[str, Any] = field(default_factory=dict)
    note: str = ""


def score_round(
    conn: sa.Connection, project_id: str, found: Round, without: frozenset[int] | None = None
) -> RoundScores:
    """The scores of a round by its counted answers; the same answers give the same scores.

    `without` names the voters to leave out in place of those who are.
    Raises `StoreError` where there are no answers, or where an item of ratings or best–worst would have no score.
    """
    if found.scheme == RATING:
        return _score_ratings(conn, found, without)
    if found.scheme == BEST_WORST:
        return _score_best_worst(conn, project_id, found, without)
    return _score_orders(conn, project_id, found, without)


def _refuse_unscored(n_unscored: int, n_items: int) -> None:
    if n_unscored == n_items:
        raise StoreError("The round has no answers yet. Upload results before it is closed.")
    if n_unscored:
        raise StoreError(
            f"{n_unscored:,} of {n_items:,} items have no answer yet, so they would have no score. Collect more "
            "results before the round is closed."
        )


def _score_ratings(conn: sa.Connection, found: Round, without: frozenset[int] | None) -> RoundScores:
    rated = rated_items(conn, found.id, without)
    if not len(rated.voters):
        _refuse_unscored(1, 1)
    items = item_ratings(rated.table)
    _refuse_unscored(int((items.n == 0).sum()), len(items.n))
    rng = np.random.default_rng([found.ballot.seed, 2])
    lower, upper, note = mean_intervals(rated.table, rng)
    loo = leave_one_out(rated.table)
    fit = {
        "noise": items.noise.estimate,
        "leave_one_out": loo.mean,
        "alpha": _alpha(rated.table),
        "to_adjudicate": len(adjudicate(rated.table).waiting),
        "ratings": int(items.n.sum()),
        "voters": len(rated.voters),
    }
    return RoundScores(rated.items, items.mean, items.mean, items.n, lower, upper, fit=fit, note=note)


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
    if n_voters < MIN_VOTERS:
        return nothing, nothing, f"An interval needs answers of at least {MIN_VOTERS} voters; found {n_voters}."
    there = ~np.isnan(table)
    filled, known = np.where(there, table, 0.0), there.astype(np.float64)
    weights = rng.multinomial(n_voters, np.full(n_voters, 1 / n_voters), size=RESAMPLES[RATING]).astype(np.float64)
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


def _score_best_worst(
    conn: sa.Connection, project_id: str, found: Round, without: frozenset[int] | None
) -> RoundScores:
    pooled = [*closed_before(conn, project_id, found), found]
    of_round, _ = best_worst_answers(conn, [found.id], without)
    items = _items_of_round(conn, found.id)
    appearances = np.bincount(of_round.shown.ravel(), minlength=items[-1] + 1)[items]
    _refuse_unscored(int((appearances == 0).sum()), len(items))
    winner, loser, voter = _decided(conn, pooled, without)
    everyone = np.unique(np.concatenate([winner, loser]))
    first, second = np.searchsorted(everyone, winner), np.searchsorted(everyone, loser)
    fit = fit_bradley_terry(first, second, np.ones(len(first)), n_items=len(everyone), lapse=None, ridge=RIDGE)
    scores = expected_borda(fit.theta, lapse=fit.lapse)
    bounds, note = _resampled(fit, first, second, voter, np.random.default_rng([found.ballot.seed, 2]))
    at = np.searchsorted(everyone, items)
    low, high = np.minimum(bounds[0], scores), np.maximum(bounds[1], scores)
    about = {
        "lapse": float(fit.lapse),
        "tuples": len(of_round.shown),
        "rounds": [one.number for one in pooled],
        "comparisons": len(first),
        "voters": len(np.unique(voter)),
    }
    count = of_round.counts(int(items[-1]) + 1)[items]
    fitted = Fitted(everyone, fit.theta, fit.standard_error, scores, low, high)
    return RoundScores(items, count, scores[at], appearances, low[at], high[at], fitted, about, note)


def closed_before(conn: sa.Connection, project_id: str, found: Round) -> list[Round]:
    """The closed rounds of best–worst of the ranking that were drawn before this one."""
    rounds = rounds_of(conn, project_id, found.ballot.area_id)
    return [one for one in rounds if one.scheme == BEST_WORST and one.number < found.number and not one.is_open]


def _decided(conn: sa.Connection, rounds: Sequence[Round], without: frozenset[int] | None) -> tuple[Ints, Ints, Ints]:
    """The comparisons that the choices of rounds decide: winner, loser (item positions) and voter id."""
    parts = []
    for one in rounds:
        answers, voter = best_worst_answers(conn, [one.id], without)
        winner, loser, row = answers.implied()
        parts.append((winner, loser, voter[row]))
    winner, loser, voter = (np.concatenate(column) for column in zip(*parts, strict=True))
    return winner, loser, voter


def _resampled(
    fit: BradleyTerry, first: Ints, second: Ints, voter: Ints, rng: np.random.Generator
) -> tuple[tuple[Floats, Floats], str]:
    """Bounds of the scores, voters resampled with all their tuples; and why there are none, or ""."""
    n_voters, nothing = len(np.unique(voter)), np.full(len(fit.theta), np.nan)
    if n_voters < MIN_VOTERS:
        return (nothing, nothing), f"An interval needs answers of at least {MIN_VOTERS} voters; found {n_voters}."
    moved = resample_voters(
        fit, first, second, np.ones(len(first)), voter, resamples=RESAMPLES[BEST_WORST], rng=rng, workers=None
    )
    lower, upper = (expected_borda(b, lapse=fit.lapse, field=fit.theta) for b in moved.score_intervals(LEVEL))
    return (lower, upper), ""


def _score_orders(conn: sa.Connection, project_id: str, found: Round, without: frozenset[int] | None) -> RoundScores:
    orders = given_orders(conn, project_id, found, without)
    n_orders = sum(len(of_voter) for of_voter in orders.values())
    _refuse_unscored(int(n_orders == 0), 1)
    try:
        agreement = group_agreement({str(voter): of_voter for voter, of_voter in orders.items()})
        told: dict[str, Any] = {"agreement": agreement.mean, "pairs_of_voters": agreement.n_pairs}
    except UndefinedMetricError as error:
        told = {"agreement": None, "why": str(error)}
    nothing = np.empty(0)
    counted = {"orders": n_orders, "voters": len(orders)}
    return RoundScores(nothing.astype(np.int64), nothing, nothing, nothing.astype(np.int64), nothing, nothing,
                       fit=told | counted)  # fmt: skip


def _items_of_round(conn: sa.Connection, ballot_id: int) -> Ints:
    query = (
        sa.select(t.item.c.position)
        .join(t.ballot_item, t.ballot_item.c.item_id == t.item.c.id)
        .where(t.ballot_item.c.ballot_id == ballot_id)
        .order_by(t.item.c.position)
    )
    return np.array(fetch_rows(conn, query), dtype=np.int64).reshape(-1)


def write_round_scores(change: Change, found: Round, scores: RoundScores) -> None:
    """Write the scores of a round in place of those it has."""
    conn = change.conn
    query = sa.select(t.item.c.position, t.item.c.id).where(t.item.c.project_id == change.project_id)
    ids = dict(fetch_rows(conn, query))
    columns = ["x", "mean", "count", "lower", "upper"]
    values = np.column_stack([scores.x, scores.mean, scores.count, scores.lower, scores.upper]).tolist()
    rows = [
        (*(None if value != value else value for value in row[:2]), int(row[2]),
         *(None if value != value else value for value in row[3:]), found.id, ids[item])
        for item, row in zip(scores.items.tolist(), values, strict=True)
    ]  # fmt: skip
    update_rows(conn, t.ballot_item, columns, ["ballot_id", "item_id"], rows)
    conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == found.id))
    if scores.fitted is not None:
        names = ("theta", "error", "score", "lower", "upper")
        table = np.column_stack([getattr(scores.fitted, name) for name in names]).tolist()
        fitted = [
            (found.id, ids[item], *(None if value != value else value for value in row))
            for item, row in zip(scores.fitted.items.tolist(), table, strict=True)
        ]
        insert_rows(conn, t.item_score, ["ballot_id", "item_id", *names], fitted)
    kept = {"fit": scores.fit, "interval_note": scores.note or None}
    conn.execute(sa.update(t.ballot).where(t.ballot.c.id == found.id).values(kept))


def fitted_items(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """Score and θ of the items of a closed round of best–worst, by position."""
    b, s = t.ballot_item.c, t.item_score.c
    query = (
        sa.select(t.item.c.position, s.score, s.theta)
        .join(t.item, t.item.c.id == s.item_id)
        .join(t.ballot_item, sa.and_(b.item_id == s.item_id, b.ballot_id == s.ballot_id))
        .where(s.ballot_id == ballot_id)
        .order_by(t.item.c.position)
    )
    return pd.DataFrame(fetch_rows(conn, query), columns=["item", "score", "theta"]).set_index("item")
