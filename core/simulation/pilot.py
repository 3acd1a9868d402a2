"""What a pilot tells the plan: seconds per comparison, shares of ties and of unknown tokens, a first fit of the panel.

50 to 100 comparisons are enough for the first three. A voter's answers hang together: times have intervals from voters
drawn with replacement; Wilson's intervals of the shares don't know of voters and are rather too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..base.estimates import LEVEL, Estimate, Share, share, widened_tails
from ..base.numbers_in_words import plural
from ..errors import InputError
from ..tables import Floats, Ints, VoteColumns
from ..voters.panel_fit import LEAST_VOTERS, AssumedSimilarity, PanelFit, fit_panel

RESAMPLES = 500
CELLS = 4_000_000  # resamples × answers worked on at once
LONG_TAIL = 2.0  # ratio of mean to median seconds from which the times are remarked on


@dataclass(frozen=True, eq=False)
class Pilot:
    """Figures of a pilot, with the counts behind each.

    n_answers : questions answered, "I don't know a token" included; n_votes : those that are votes.
    n_voters : who answered; n_timed : answers whose seconds are known.
    seconds_mean, seconds_median : of an answer; the mean is the t̄ of a plan's cost.
    ties : share of the votes; unknown : share of the answers.
    fit : the voter model fitted to the votes; None where there are no similarities.
    fit_reason : why there is no fitted panel, empty where there is one.
    remarks : what to look at before these figures go into a plan.
    """

    n_answers: int
    n_votes: int
    n_voters: int
    n_timed: int
    seconds_mean: Estimate
    seconds_median: Estimate
    ties: Share
    unknown: Share
    fit: PanelFit | None
    fit_reason: str
    remarks: tuple[str, ...]


def summarise_pilot(
    answers: VoteColumns,
    *,
    seconds: ArrayLike | None = None,
    similarity: ArrayLike | AssumedSimilarity | None = None,
    rng: np.random.Generator,
    notion: str = "relatedness",
    level: float = LEVEL,
) -> Pilot:
    """Summarise the answers of a pilot.

    Parameters
    ----------
    answers : as votes, with an outcome of NaN where the voter did not know a token.
    seconds : of each answer, NaN where unknown; where only a task's time is known, that over its comparisons.
    similarity : as `fit_panel` takes it; None where nothing is known about it.
    rng : source of the resamples; level : of all intervals.

    Raises `InputError` for no answers, times that are not positive, and votes that don't fit.
    """
    first, second, outcome, voter = answers
    result, codes = np.asarray(outcome, dtype=np.float64), np.asarray(voter)
    a, b = np.asarray(first), np.asarray(second)
    if not len(result) or not a.shape == b.shape == codes.shape == result.shape:
        raise InputError(
            f"A pilot needs answers, each with two items and a voter; found {len(result)} answers and shapes "
            f"{a.shape}, {b.shape}, {codes.shape}."
        )
    if not np.isin(result[~np.isnan(result)], (0.0, 0.5, 1.0)).all():
        raise InputError("An outcome is 1 (first won), 0 (second won), 0.5 (a tie), or NaN (a token is unknown).")
    voted = ~np.isnan(result)
    times = _times(seconds, len(result))
    timed = ~np.isnan(times)
    mean, median = _seconds(times[timed], codes[timed], rng, level)
    ties, unknown = (
        share(int((result == 0.5).sum()), int(voted.sum()), level),
        share(int((~voted).sum()), len(result), level),
    )
    fit, why = None, "The fit of a panel needs similarities of the items, from an embedding or a distribution."
    if similarity is not None:
        fit = fit_panel(
            (a[voted], b[voted], result[voted], codes[voted]),
            similarity=similarity,
            rng=rng,
            notion=notion,
            level=level,
        )
        why = fit.reason
    n_voters = len(np.unique(codes))
    remarks = _remarks(mean, median, n_voters, fit)
    return Pilot(
        len(result), int(voted.sum()), n_voters, int(timed.sum()), mean, median, ties, unknown, fit, why, remarks
    )


def _times(seconds: ArrayLike | None, n: int) -> Floats:
    times = np.full(n, np.nan) if seconds is None else np.asarray(seconds, dtype=np.float64)
    if times.shape != (n,):
        raise InputError(f"Each of {n} answers needs its seconds or NaN, found shape {times.shape}.")
    wrong = (times <= 0) | np.isinf(times)
    if wrong.any():
        raise InputError(f"Seconds must be above 0, found {times[wrong][0]:g} and {int(wrong.sum()) - 1} more like it.")
    return times


def _seconds(times: Floats, codes: Ints, rng: np.random.Generator, level: float) -> tuple[Estimate, Estimate]:
    """Mean and median of the times, with intervals from voters drawn with replacement."""
    if not len(times):
        nothing = Estimate(None, reason="No answer has a time.")
        return nothing, nothing
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    _, row = np.unique(codes[order], return_inverse=True)
    n_voters = int(row.max()) + 1
    mean, median = float(times.mean()), float(np.median(times))
    if n_voters < LEAST_VOTERS:
        why = f"An interval needs times of at least {LEAST_VOTERS} voters; found {n_voters}."
        return Estimate(mean, reason=why), Estimate(median, reason=why)
    drawn = rng.multinomial(n_voters, np.full(n_voters, 1 / n_voters), size=RESAMPLES)
    means, medians = [], []
    size = max(1, CELLS // len(times))
    for start in range(0, RESAMPLES, size):
        counts = drawn[start : start + size][:, row.ravel()]
        below = np.cumsum(counts, axis=1)
        means.append(counts @ ordered / below[:, -1])
        medians.append(ordered[(2 * below >= below[:, -1:]).argmax(axis=1)])
    tails = widened_tails(n_voters, level)
    bounds = (np.quantile(np.concatenate(found), tails).tolist() for found in (means, medians))
    of_mean, of_median = bounds
    return Estimate(mean, *of_mean), Estimate(median, *of_median)


def _remarks(mean: Estimate, median: Estimate, n_voters: int, fit: PanelFit | None) -> tuple[str, ...]:
    remarks = []
    if mean.estimate is not None and median.estimate and mean.estimate >= LONG_TAIL * median.estimate:
        remarks.append(
            f"Some answers took very long: the mean of {mean.estimate:.0f} s is "
            f"{mean.estimate / median.estimate:.1f} times the median. A cost by the mean pays for the pauses."
        )
    if n_voters < LEAST_VOTERS:
        remarks.append(f"Only {n_voters} voters answered: nothing here says how voters differ.")
    if fit is not None and fit.guessers:
        remarks.append(
            plural(
                len(fit.guessers),
                "{n} voter answered like tossed coins; look at them before the panel is used.",
                "{n} voters answered like tossed coins; look at them before the panel is used.",
            )
        )
    return tuple(remarks)
