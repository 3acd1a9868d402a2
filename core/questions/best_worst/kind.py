"""Best–worst scaling: of a few items shown as a tuple, four as a rule, a person names the most and the least related.

An answer names their places: `best=3;worst=1`. An item's *count*, `x` of a round, is the share of its appearances in
the round in which it was named best minus the share in which it was named worst, −1 to 1.

Or the choice is read as comparisons: the best above all others, all others above the worst (5 of the 6 pairs of a tuple
of four). One Bradley–Terry fit of those of this round and of the closed rounds before it gives θ; the score is the
expected Borda score against the whole field of θ. Those comparisons hang together, so the fit's standard errors are too
small: intervals are 90%, voters resampled with all their tuples.

References: Louviere, Woodworth (1991), Best-worst scaling: a model for the largest difference judgments; Kiritchenko,
Mohammad (2017), Best-worst scaling more reliable than rating scales, ACL (tuples of four, counts).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...ballots.draw import checked_items, whole_number
from ...base.estimates import LEVEL
from ...errors import InputError
from ...i18n import Language, translatable
from ...scores.bradley_terry import BradleyTerry, expected_borda, fit_bradley_terry
from ...scores.uncertainty import resample_voters
from ...tables import Floats, Ints
from ..base import (
    LOSS,
    TIE,
    VOTERS,
    WIN,
    Answering,
    Answers,
    Field,
    KindInfo,
    RoundKind,
    RoundScores,
    RoundSettings,
    refuse_unscored,
    too_few,
)
from ..task_page import Words

SIZE = 4
TRIES = 8
BLUR = 0.1  # of the scores' SD, by which items change places the first time they are lined up
SWEEPS, MAX_IDLE_SWEEPS = 60, 5  # rounds of exchanges against pairs that meet too often, and how many may gain nothing


def draw_tuples(
    items: ArrayLike,
    appearances: int,
    *,
    size: int = SIZE,
    rng: np.random.Generator,
    order: ArrayLike | None = None,
    met: Iterable[tuple[int, int]] = (),
) -> Ints:
    """Draw tuples in which every item appears equally often, within one, never twice in a tuple.

    Tuples are cut from one random order of the items after another, then items are exchanged between tuples until no
    two meet twice, or, where there are more meetings than pairs, much more often than the average; as far as that is
    found in 60 sweeps. With `order` (scores with a little noise, say) tuples are cut along it instead, so that items
    meet their neighbours.

    Parameters
    ----------
    items : whole numbers, all different, shape (n,); appearances : of each, at least 1; size : from 2 to n.
    order : shape (appearances, n), a row for each time an item appears: items next to each other in it meet.
    met : pairs of items that met before, to be kept apart as well.

    Returns shape (⌈n·appearances / size⌉, size), rows and places in random order. Raises `InputError`.

    >>> tuples = draw_tuples(range(8), 2, rng=np.random.default_rng(1))
    >>> tuples.shape, np.unique(tuples, return_counts=True)[1].tolist()
    ((4, 4), [2, 2, 2, 2, 2, 2, 2, 2])
    """
    values = checked_items(items)
    n, m = len(values), whole_number(appearances, 1, "appearances")
    if not 2 <= whole_number(size, 2, "size") <= n:
        raise InputError(f"Tuples of {size} can't be drawn from {n} items.")
    keys = rng.random((m, n)) if order is None else np.asarray(order, dtype=np.float64)
    if keys.shape != (m, n):
        raise InputError(f"order must have a row of {n} numbers for each of {m} appearances, found {keys.shape}.")
    sequence = np.argsort(keys, axis=1, kind="stable").ravel()
    n_tuples = -(-len(sequence) // size)
    fill = n_tuples * size - len(sequence)
    if fill:  # the last tuple is made whole with items drawn for it
        sequence = np.append(sequence, rng.permutation(np.setdiff1d(np.arange(n), sequence[-(size - fill) :]))[:fill])
    place = {int(value): at for at, value in enumerate(values.tolist())}
    before = [(place[a], place[b]) for a, b in met if a in place and b in place]
    rows = sequence.reshape(n_tuples, size)
    if order is not None:  # tuples with near items next to each other, so that exchanges stay near
        rows = rows[np.argsort(keys.mean(axis=0)[rows].mean(axis=1), kind="stable")]
    meetings = m * (size - 1) / (n - 1)  # of two items, on average; exactly even designs take too long to find
    tuples = _Tuples(rows.tolist(), before, allowed=1 if meetings <= 1 else math.ceil(meetings) + 1)
    tuples.spread(rng, reach=n_tuples if order is None else 3 * m)
    shuffled = rng.permuted(np.array(tuples.rows), axis=1)
    return np.asarray(values[shuffled[rng.permutation(n_tuples)]])


def next_round(scores: ArrayLike, keep: int, appearances: int, *, rng: np.random.Generator, size: int = SIZE) -> Ints:
    """Tuples of a further round: the `keep` items with the highest scores, each meeting its neighbours.

    scores : of all items, shape (n,), NaN counts as 0; equal ones go by their number. Items are lined up along their
    scores, each time with normal noise that grows from a tenth of the scores' SD on, so that neighbours change.

    >>> tuples = next_round(np.arange(20.0), 8, 2, rng=np.random.default_rng(1))
    >>> tuples.shape, int(tuples.min())
    ((4, 4), 12)
    """
    values = np.nan_to_num(np.asarray(scores, dtype=np.float64))
    items = np.argsort(-values, kind="stable")[:keep]
    blur = BLUR * np.std(values[items]) * np.arange(1, appearances + 1)[:, None]
    order = -values[items] + blur * rng.standard_normal((appearances, len(items)))
    return draw_tuples(items, appearances, size=size, rng=rng, order=order)


class _Tuples:
    """Tuples with the number of times that every two items meet in them."""

    def __init__(self, rows: list[list[int]], met: list[tuple[int, int]], *, allowed: int) -> None:
        self.rows, self.allowed = rows, allowed
        self.count: dict[tuple[int, int], int] = {}
        for pair in [*met, *(pair for row in rows for pair in combinations(row, 2))]:
            self._add(*pair, 1)

    def _add(self, a: int, b: int, by: int) -> None:
        key = (a, b) if a < b else (b, a)
        self.count[key] = self.count.get(key, 0) + by

    def _faults(self, row: int, place: int) -> int:
        """How badly the item at a place sits: pairs that meet more often than they must, itself again above all."""
        item, total = self.rows[row][place], 0
        for other_place, other in enumerate(self.rows[row]):
            if other_place != place:
                times = self.count[(item, other) if item < other else (other, item)]
                total += 1000 if other == item else max(0, times - self.allowed)
        return total

    def _exchange(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        for (row, place), sign in ((one, -1), (other, -1)):
            self._count_place(row, place, sign)
        (r, p), (s, q) = one, other
        self.rows[r][p], self.rows[s][q] = self.rows[s][q], self.rows[r][p]
        for (row, place), sign in ((one, 1), (other, 1)):
            self._count_place(row, place, sign)

    def _count_place(self, row: int, place: int, by: int) -> None:
        item = self.rows[row][place]
        for other_place, other in enumerate(self.rows[row]):
            if other_place != place:
                self._add(item, other, by)

    def spread(self, rng: np.random.Generator, *, reach: int) -> None:
        """Exchange items with tuples up to `reach` rows away until none meet more often than `allowed`."""
        n, size = len(self.rows), len(self.rows[0])
        if n < 2:
            return
        counts: list[int] = []
        for _ in range(SWEEPS):
            faulty = [(row, at) for row in range(n) for at in range(size) if self._faults(row, at)]
            counts.append(len(faulty))
            if not faulty or (len(counts) > MAX_IDLE_SWEEPS and counts[-1] > 0.98 * counts[-1 - MAX_IDLE_SWEEPS]):
                return  # where a few items must meet again, more exchanges gain nothing
            for row, at in faulty:
                before = self._faults(row, at)
                if before:
                    self._try(row, at, before, reach, rng)

    def _try(self, row: int, at: int, before: int, reach: int, rng: np.random.Generator) -> None:
        n, size = len(self.rows), len(self.rows[0])
        for _ in range(TRIES):
            other = int(rng.integers(max(0, row - reach), min(n, row + reach + 1)))
            if other == row:
                continue
            there = int(rng.integers(size))
            was = before + self._faults(other, there)
            self._exchange((row, at), (other, there))
            if self._faults(row, at) + self._faults(other, there) < was:
                return
            self._exchange((row, at), (other, there))


@dataclass(frozen=True, eq=False)
class BestWorst:
    """Answers: items shown (n, size), and the places of the one named best and the one named worst, (n,).

    Raises `InputError` where a place doesn't exist, or the same item was named both.
    """

    shown: Ints
    best: Ints
    worst: Ints

    def __post_init__(self) -> None:
        shown = np.asarray(self.shown, dtype=np.int64)
        if shown.ndim != 2 or shown.shape[1] < 2 or (shown < 0).any():
            raise InputError(f"Tuples are rows of at least two items from 0 on, found shape {shown.shape}.")
        object.__setattr__(self, "shown", shown)
        for name in ("best", "worst"):
            place = np.asarray(getattr(self, name), dtype=np.int64)
            if place.shape != (len(shown),) or ((place < 0) | (place >= shown.shape[1])).any():
                raise InputError(
                    f"{name} must be a place from 0 to {shown.shape[1] - 1} for each of {len(shown)} tuples."
                )
            object.__setattr__(self, name, place)
        both = np.flatnonzero(self.best == self.worst)
        if len(both):
            raise InputError(f"Tuple {both[0]} names the same item best and worst.")

    def _named(self, place: Ints) -> Ints:
        return np.asarray(self.shown[np.arange(len(self.shown)), place])

    def counts(self, n_items: int) -> Floats:
        """(times best − times worst) / appearances of each item, −1 to 1, NaN where it was never shown; (n_items,).

        >>> BestWorst([[0, 1, 2, 3]], [1], [3]).counts(5)
        array([ 0.,  1.,  0., -1., nan])
        """
        named = [np.bincount(self._named(place), minlength=n_items) for place in (self.best, self.worst)]
        times = np.bincount(self.shown.ravel(), minlength=n_items)
        result = np.full(n_items, np.nan)
        np.divide(named[0] - named[1], times, out=result, where=times > 0)
        return result

    def implied(self) -> tuple[Ints, Ints, Ints]:
        """The comparisons a choice decides: winners, losers, and the tuple each comes from; 2·size − 3 of each."""
        n, size = self.shown.shape
        places = np.arange(size)
        middle = (places != self.best[:, None]) & (places != self.worst[:, None])
        row, place = np.nonzero(middle)
        other = self.shown[row, place]
        best, worst = self._named(self.best), self._named(self.worst)
        winner = np.concatenate([best, best[row], other])
        loser = np.concatenate([worst, other, worst[row]])
        return winner, loser, np.concatenate([np.arange(n), row, row])

    def fit(self, n_items: int) -> BradleyTerry:
        """Bradley–Terry scores from the implied comparisons, the lapse estimated; raises as `fit_bradley_terry`."""
        winner, loser, _ = self.implied()
        return fit_bradley_terry(winner, loser, np.ones(len(winner)), n_items=n_items, lapse=None, ridge=0.1)


RESAMPLES = 300
RIDGE = 0.1
_WRITTEN = re.compile(r"best\s*=\s*([0-9]{1,3})(?:\s*[;,]\s*|\s*)worst\s*=\s*([0-9]{1,3})")


def extremes(answer: str) -> tuple[int, int]:
    """The places, from 0, of the best and the worst of an answer in the store.

    >>> extremes("best=3;worst=1")
    (2, 0)
    """
    match = _WRITTEN.fullmatch(answer)
    if match is None:
        raise InputError(f"{answer!r} is no answer to a tuple.")
    return int(match[1]) - 1, int(match[2]) - 1


def choices(answers: Answers) -> BestWorst:
    """The answers of rounds of one size, by item position."""
    places = np.array([extremes(answer) for answer in answers.text], dtype=np.int64).reshape(-1, 2)
    return BestWorst(answers.tuples(), places[:, 0], places[:, 1])


class BestWorstKind(RoundKind):
    """Which of the tuple is most related, and which least?"""

    name = kind = "best-worst"
    about = KindInfo(
        label="best–worst",
        offered=(
            "Of a few items people name the most and the least related: a tuple of four decides five comparisons."
        ),
        asked="tuple",
        estimator="Bradley–Terry with one lapse, on the comparisons that best–worst choices decide",
        scale="expected Borda score against the whole field; higher = more related; within 0 and 1",
        figure=(
            "agreement",
            "Of the comparisons that the person's choices decide, the share that the others' choices decide the same "
            "way: by (best − worst) / appearances of the two items without the person.",
        ),
        figures={
            "lapse": ("Lapse", "How often a comparison that a choice decides goes against the scores, estimated."),
            "comparisons": ("Comparisons", "What the choices of this round and those before it decide."),
            **VOTERS,
        },
        editors=("tuples",),
        settings={"raters": 1, "task_size": 5, "seconds": 18.0},
        pools=True,
        files=("best–worst",),
    )
    fields = ("best", "worst")
    scripts = ("scheme.js", "scheme_best_worst.js")
    question = Words(
        translatable("Which two are most related, and which least?"),
        translatable("Which two are most similar, and which least?"),
    )
    steps = Words(
        translatable(
            "Of each list choose the item whose words are most related, and the one whose words are least. Go by your "
            "own first impression."
        ),
        translatable(
            "Of each list choose the item whose words are most similar, and the one whose words are least. Go by your "
            "own first impression."
        ),
    )
    keys = translatable(
        "the number of the most {adjective}, then that of the least; <kbd>0</kbd> a word you don’t know, <kbd>↑</kbd> "
        "back, <kbd>↓</kbd> on. Two answers move you on"
    )
    keys_alone = translatable(
        "the number of the most {adjective}, then that of the least, which sends; <kbd>0</kbd> a word you don’t know"
    )
    rows = ("size", 3, SIZE)

    def draw(
        self, items: pd.DataFrame, settings: RoundSettings, rng: np.random.Generator, scores: Floats | None = None
    ) -> list[tuple[int, ...]]:
        """Tuples; along the scores where there are any, so that near items meet."""
        order = None if scores is None else _along(scores, settings.appearances, rng)
        positions = items["item"].to_numpy()
        tuples = draw_tuples(positions, settings.appearances, size=settings.size, rng=rng, order=order)
        return [tuple(row) for row in tuples.tolist()]

    def n_questions(self, settings: RoundSettings, n_items: int) -> int:
        return -(-n_items * settings.appearances // settings.size)

    def wanted_of_item(self, settings: RoundSettings) -> int:
        return settings.raters * settings.appearances

    def columns(self, n: int, rows: int) -> list[str]:
        return [f"tuple_{n}_token_{letter}_{k}" for k in range(1, rows + 1) for letter in "ab"]

    def cells(self, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
        of = f"tuple_{n}"
        return [
            (f"{of}_item_id_{place}", str(item)),
            (f"{of}_token_a_{place}", token_a),
            (f"{of}_token_b_{place}", token_b),
        ]

    def written(self, *values: str) -> str:
        return f"best={values[0]};worst={values[1]}" if any(values) else ""

    def filled(self, answer: str) -> dict[str, str]:
        return {name: str(place + 1) for name, place in zip(self.fields, extremes(answer), strict=True)}

    def read(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language) -> str:
        match = _WRITTEN.fullmatch(given)
        if match is None:
            raise InputError(spoken.text("{given} names no best and worst of the tuple", given=repr(given)))
        best, worst = int(match[1]), int(match[2])
        if not (1 <= best <= n_shown and 1 <= worst <= n_shown):
            message = spoken.text("{given}: the tuple has the places 1 to {last}", given=repr(given), last=n_shown)
            raise InputError(message)
        if best == worst:
            raise InputError(spoken.text("{given} names the same item best and worst", given=repr(given)))
        return f"best={best};worst={worst}"

    def counts_as(self, answer: str, place: int) -> int:
        """A win for the best, a loss for the worst, a tie for the others."""
        best, worst = extremes(answer)
        return WIN if place == best else LOSS if place == worst else TIE

    def standing(self, wins: Floats, ties: Floats, losses: Floats, mean_value: Floats) -> Floats:
        """(wins + ties / 2) / appearances."""
        n = wins + ties + losses
        return np.divide(2 * wins + ties, 2 * n, out=np.full(len(n), np.nan), where=n > 0)

    def simulate(self, opinion: Floats, who: Answering, settings: RoundSettings, rng: np.random.Generator) -> list[str]:
        """The extremes of the opinions."""
        best, worst = choose_extremes(opinion, who.lapse, rng)
        return [f"best={b + 1};worst={w + 1}" for b, w in zip(best.tolist(), worst.tolist(), strict=True)]

    def score(self, answers: Answers, before: Sequence[Answers], settings: RoundSettings, seed: int) -> RoundScores:
        pooled = [*before, answers]
        of_round, items = choices(answers), answers.items
        appearances = np.bincount(of_round.shown.ravel(), minlength=items[-1] + 1)[items]
        refuse_unscored(int((appearances == 0).sum()), len(items))
        winner, loser, voter = _decided(pooled)
        everyone = np.unique(np.concatenate([winner, loser]))
        first, second = np.searchsorted(everyone, winner), np.searchsorted(everyone, loser)
        fit = fit_bradley_terry(first, second, np.ones(len(first)), n_items=len(everyone), lapse=None, ridge=RIDGE)
        scores = expected_borda(fit.theta, lapse=fit.lapse)
        bounds, note = _resampled(fit, first, second, voter, np.random.default_rng([seed, 2]))
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
        fitted = Field(everyone, fit.theta, fit.standard_error, scores, low, high)
        return RoundScores(items, count, scores[at], appearances, low[at], high[at], fitted, about, note)

    def seconds(self, n_answers: int) -> float:
        """Each resample of the voters is a fit of its own."""
        return n_answers / 300

    def people(self, answers: Answers, settings: RoundSettings) -> Mapping[int, float]:
        if not len(answers.voter):
            return {}
        chosen, voter = choices(answers), answers.voter
        n_items = int(chosen.shown.max()) + 1
        rows = np.arange(len(voter))
        winner, loser, row = chosen.implied()
        shares = {}
        for one in np.unique(voter).tolist():
            others = voter != one
            ends = [chosen.shown[rows, place][others] for place in (chosen.best, chosen.worst)]
            named = [np.bincount(items, minlength=n_items) for items in ends]
            times = np.bincount(chosen.shown[others].ravel(), minlength=n_items)
            count = np.full(n_items, np.nan)
            np.divide(named[0] - named[1], times, out=count, where=times > 0)
            own = ~others[row]
            difference = count[winner[own]] - count[loser[own]]
            difference = difference[~np.isnan(difference)]
            if len(difference):
                shares[one] = float(np.mean(0.5 + 0.5 * np.sign(difference)))
        return shares


def _along(scores: Floats, appearances: int, rng: np.random.Generator) -> Floats:
    """A key for each appearance and item: the best first, with noise that grows, so that not the same ones meet."""
    blur = BLUR * float(np.std(scores)) * np.arange(1, appearances + 1)[:, None]
    return np.asarray(-scores + blur * rng.standard_normal((appearances, len(scores))))


def _decided(rounds: Sequence[Answers]) -> tuple[Ints, Ints, Ints]:
    """The comparisons that the choices of rounds decide: winner, loser (item positions) and voter id."""
    parts = []
    for one in rounds:
        winner, loser, row = choices(one).implied()
        parts.append((winner, loser, one.voter[row]))
    winner, loser, voter = (np.concatenate(column) for column in zip(*parts, strict=True))
    return winner, loser, voter


def _resampled(
    fit: BradleyTerry, first: Ints, second: Ints, voter: Ints, rng: np.random.Generator
) -> tuple[tuple[Floats, Floats], str]:
    """Bounds of the scores, and why there are none, or ""."""
    nothing = np.full(len(fit.theta), np.nan)
    if note := too_few(len(np.unique(voter))):
        return (nothing, nothing), note
    ones = np.ones(len(first))
    moved = resample_voters(fit, (first, second, ones, voter), resamples=RESAMPLES, rng=rng, workers=None)
    lower, upper = (expected_borda(b, lapse=fit.lapse, field=fit.theta) for b in moved.score_intervals(LEVEL))
    return (lower, upper), ""


def choose_extremes(opinion: Floats, lapse: Floats | float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Places of the best and the worst that simulated voters name by their opinions (n, size); equal ones are drawn.

    Each of the two is by a lapse another item, but never the one that was named the other way.

    >>> choose_extremes(np.array([[0.1, 0.9, 0.5]]), 0.0, np.random.default_rng(1))
    (array([1]), array([0]))
    """
    n, size = opinion.shape
    order = np.lexsort((rng.random(opinion.shape), opinion), axis=1)
    worst, best = order[:, 0].copy(), order[:, -1].copy()
    for place, other_end in ((best, worst), (worst, best)):
        for row in np.flatnonzero(rng.random(n) < lapse).tolist():
            others = [at for at in range(size) if at not in (place[row], other_end[row])]
            if others:
                place[row] = others[int(rng.integers(len(others)))]
    return best, worst
