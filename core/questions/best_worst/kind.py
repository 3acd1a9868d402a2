"""Best–worst: a tuple of items per question; an answer names the places of the most and the least related one.

It is written `best=3;worst=1`. `x` is the count, (best − worst) / appearances in the round; the score is the expected
Borda score against the whole field of θ, one Bradley–Terry fit of the comparisons that the tuples of this round and of
the closed rounds before it decide. Intervals are 90 %, voters resampled with all their tuples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ...base.estimates import LEVEL
from ...errors import InputError
from ...i18n import Language, translatable
from ...scores.bradley_terry import BradleyTerry, expected_borda, fit_bradley_terry
from ...scores.uncertainty import resample_voters
from ...tables import Floats, Ints  # fmt: skip
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
from .tuples import BLUR, SIZE, BestWorst, draw_tuples

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
        shown = draw_tuples(positions, settings.appearances, size=settings.size, rng=rng, order=order)
        return [tuple(row) for row in shown.tolist()]

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

    def read(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language) -> str:
        match = _WRITTEN.fullmatch(given)
        if match is None:
            raise InputError(spoken.text("{given} names no best and worst of the tuple", given=repr(given)))
        best, worst = int(match[1]), int(match[2])
        if not (1 <= best <= n_shown and 1 <= worst <= n_shown):
            told = spoken.text("{given}: the tuple has the places 1 to {last}", given=repr(given), last=n_shown)
            raise InputError(told)
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
        given, voter = choices(answers), answers.voter
        n_items = int(given.shown.max()) + 1
        rows = np.arange(len(voter))
        winner, loser, row = given.implied()
        shares = {}
        for one in np.unique(voter).tolist():
            others = voter != one
            named = [
                np.bincount(given.shown[rows, place][others], minlength=n_items) for place in (given.best, given.worst)
            ]
            times = np.bincount(given.shown[others].ravel(), minlength=n_items)
            count = np.full(n_items, np.nan)
            np.divide(named[0] - named[1], times, out=count, where=times > 0)
            mine = ~others[row]
            difference = count[winner[mine]] - count[loser[mine]]
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
    for place, taken in ((best, worst), (worst, best)):
        for row in np.flatnonzero(rng.random(n) < lapse).tolist():
            others = [at for at in range(size) if at not in (place[row], taken[row])]
            if others:
                place[row] = others[int(rng.integers(len(others)))]
    return best, worst
