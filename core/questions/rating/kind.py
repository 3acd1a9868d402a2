"""Ratings as a kind of question: one item a question, answered with a value of the scale, such as `3.25`.

An item's score is the mean of its ratings. Intervals are 90%, voters resampled, the tails widened for few of them.

People rate on pages that show each item on the scale, or have them sorted into piles first; gold pairs say who
qualifies. A rating set that exists already can be taken as answers to a round: its items are found by their texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ...base.estimates import LEVEL, widened_tails
from ...errors import InputError, Issue, UndefinedMetricError
from ...i18n import Language, translatable
from ...tables import ANSWERS, Floats, Ints
from ...tabular import SourceTable, same_name
from ...votes.matching import text_key
from ...votes.platform import ResultFile
from ..base import VOTERS, Answering, Answers, KindInfo, RoundKind, RoundScores, RoundSettings, refuse_unscored, too_few
from ..task_page import Page, Words, settings_of_page
from .files import has_texts, read_ratings
from .scales import MOST_GOLD, GoldRating, Qualification, RatingScale, RatingSet, check_gold, qualify
from .statistics import adjudicate, alpha, item_ratings, leave_one_out

COUNTED = "rows are counted as ratings are: the first rating of the file is 2, as below a header of a row per rating"
ONLY_MEANS = "has means only: who rated what isn't in it, so there is no answer to take."


def is_rating_set(table: SourceTable) -> bool:
    """Whether a file is one of `rating.files`, and no result file of a round: it has two texts and no question's id."""
    columns = set(map(same_name, table.header))
    return not columns & {"question_id", "assignmentid"} and has_texts(table.header)


def rating_set_answers(ratings: RatingSet, shown: pd.DataFrame) -> ResultFile:
    """The ratings of people as answers to the questions of a round (`tables.SHOWN`), a row per rating.

    An item is the pair of its two texts in any order; of pairs that stand in two areas the first. Ratings of items that
    the round doesn't have get no task. Assignments are made of voter and task, as for a plain table. Raises
    `InputError` for a file of means.
    """
    if not ratings.has_people:
        raise InputError(f"{ratings.name} {ONLY_MEANS}")
    places: dict[frozenset[str], tuple[str, int]] = {}
    for task, n, a, b in shown[["task_id", "n", "token_a", "token_b"]].itertuples(index=False, name=None):
        places.setdefault(frozenset((text_key(a), text_key(b))), (task, n))
    pairs = zip(ratings.first, ratings.second, strict=True)
    of_item = [places.get(frozenset((text_key(a), text_key(b))), ("", 1)) for a, b in pairs]
    items = ratings.item.tolist()
    n = len(items)
    frame = pd.DataFrame(
        {
            "row": np.arange(2, n + 2),
            "voter": [ratings.people[person] for person in ratings.person.tolist()],
            "task_id": [of_item[item][0] for item in items],
            "n": [of_item[item][1] for item in items],
            "left_a": [ratings.first[item] for item in items],
            "left_b": [ratings.second[item] for item in items],
            "choice": [f"{value:g}" for value in ratings.rating.tolist()],
            "status": "submitted",
            "seconds": np.nan,
        }
    )
    texts = {name: "" for name, kind in ANSWERS.columns.items() if kind == "text" and name not in frame}
    kinds = {"text": "str", "int": "int64", "float": "float64"}
    answers = frame.assign(**texts).astype({name: kinds[kind] for name, kind in ANSWERS.columns.items()})
    notes = [Issue(COUNTED), *(Issue(note) for note in ratings.notes), *ratings.issues]
    return ResultFile("plain", ANSWERS.check(answers[list(ANSWERS.columns)]), n, (), tuple(notes))


_RATING = translatable(
    "Give each item a number on the scale. Numbers between those that are explained are welcome. Go by your own first "
    "impression; there is no right answer to look up."
)
_SORTING = translatable(
    "Read all the cards first. Sort each into the pile that fits best; you can move it again. Then give every card a "
    "number: it begins at its pile’s, and can be moved up or down from there."
)


class RatingPage(Page):
    """Each item gets a number on the scale."""

    name = "rating"
    kind = "rating"
    scripts: ClassVar[tuple[str, ...]] = ("scheme.js", "scheme_rating.js", "scheme_begin.js")
    question = Words(translatable("How related are the two?"), translatable("How similar are the two?"))
    steps = Words(_RATING, _RATING)
    keys = translatable(
        "<kbd>0</kbd>–<kbd>9</kbd> a whole number, <kbd>←</kbd> <kbd>→</kbd> less or more, <kbd>Enter</kbd> or "
        "<kbd>↓</kbd> next, <kbd>↑</kbd> back, <kbd>U</kbd> a word you don’t know"
    )
    keys_alone = translatable(
        "<kbd>0</kbd>–<kbd>9</kbd> a whole number, <kbd>←</kbd> <kbd>→</kbd> less or more, <kbd>Enter</kbd> sends, "
        "<kbd>U</kbd> a word you don’t know"
    )
    has_scale = True

    def columns(self, n: int, rows: int) -> list[str]:
        return [f"token_a_{n}", f"token_b_{n}"]

    def own_settings(self, stored: Mapping[str, Any], scale: RatingScale, issues: list[Issue]) -> dict[str, Any]:
        if stored.get("sort_first", scale.sorts_first):
            return {"page": SORTING} | SORTING.own_settings(stored, scale, issues)
        return {"gold": _gold(stored.get("gold") or (), scale, issues)}


class SortingPage(RatingPage):
    """Items are sorted into piles, one an anchor, before they get their numbers."""

    name = "sort-then-rate"
    scripts = ("scheme.js", "scheme_drag.js", "scheme_rating.js", "scheme_sorting.js")
    question = Words(
        translatable("How related are the two on each card?"), translatable("How similar are the two on each card?")
    )
    steps = Words(_SORTING, _SORTING)
    keys = translatable(
        "the number of a pile puts the card there, <kbd>↓</kbd> <kbd>↑</kbd> next and last card, <kbd>U</kbd> a word "
        "you don’t know; then <kbd>←</kbd> <kbd>→</kbd> rate lower or higher"
    )

    def own_settings(self, stored: Mapping[str, Any], scale: RatingScale, issues: list[Issue]) -> dict[str, Any]:
        gold = _gold(stored.get("gold") or (), scale, issues)
        if len(scale.anchors) < 2:
            reason = "has fewer than two anchors, which piles are named by"
            issues.append(Issue(reason, column="scale", found=scale.name))
        return {"gold": gold}


RATING_PAGE, SORTING = RatingPage(), SortingPage()


def read_qualification(fields: Mapping[str, str], stored: Mapping[str, Any]) -> Qualification:
    """How a person did on the gold pairs: `fields` are a task's form fields by name, `gold_1`, …, with or without the
    prefix `Answer.`; a field that is missing or no rating is a pair that isn't met. Raises `InputError` without gold.

    >>> stored = {"scale": "CLSS", "gold": [{"first": "car", "second": "auto", "rating": 4}]}
    >>> read_qualification({"Answer.gold_1": "3.25"}, stored).passed, read_qualification({}, stored).passed
    (True, False)
    """
    settings = settings_of_page(RATING_PAGE, stored)
    if not settings.gold:
        raise InputError("These settings have no gold pairs, so nobody can qualify.")
    ratings = []
    for n in range(1, len(settings.gold) + 1):
        text = fields.get(f"gold_{n}", fields.get(f"Answer.gold_{n}", ""))
        try:
            ratings.append(settings.scale.read(text))
        except InputError:
            ratings.append(float("nan"))
    return qualify(ratings, [pair.rating for pair in settings.gold], tolerance=settings.tolerance)


def _gold(stored: Any, scale: RatingScale, issues: list[Issue]) -> tuple[GoldRating, ...]:
    pairs = []
    for n, pair in enumerate(stored, start=1):
        try:
            gold = GoldRating(str(pair["first"]), str(pair["second"]), float(pair["rating"]))
        except (KeyError, TypeError, ValueError):
            issues.append(Issue(f"pair {n} needs first, second and rating", column="gold", found=str(pair)))
            continue
        if not gold.first.strip() or not gold.second.strip() or not scale.allows(gold.rating):
            issues.append(Issue(f"pair {n} lacks a text, or its rating is off the scale", column="gold"))
        pairs.append(gold)
    if len(pairs) > MOST_GOLD:
        issues.append(Issue(f"{MOST_GOLD} pairs are the most", column="gold", found=str(len(pairs))))
    return tuple(pairs)


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


class RatingKind(RoundKind, RatingPage):
    """How related are the two, on a scale?"""

    about = KindInfo(
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
        files=("ratings",),
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

    def read_own_file(self, table: SourceTable, data: bytes, shown: pd.DataFrame) -> ResultFile | None:
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
        ratings = rate(opinion[:, 0], stretch[voter], cuts[voter], who.lapse, rng)
        return [f"{values[at]:g}" for at in ratings.tolist()]

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
    is_rated = ~np.isnan(table)
    filled, known = np.where(is_rated, table, 0.0), is_rated.astype(np.float64)
    weights = rng.multinomial(n_voters, np.full(n_voters, 1 / n_voters), size=RESAMPLES).astype(np.float64)
    lower, upper = nothing.copy(), nothing.copy()
    tails = widened_tails(n_voters, LEVEL)
    for start in range(0, n_items, 1000):  # in parts: resamples × items
        part = slice(start, start + 1000)
        n = weights @ known[:, part]
        means = np.full(n.shape, np.nan)
        np.divide(weights @ filled[:, part], n, out=means, where=n > 0)
        several = is_rated[:, part].sum(axis=0) > 1
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
    levels = ((opinion**stretch)[:, None] > cuts).sum(axis=1)
    slip = rng.random(len(levels)) < lapse
    return np.asarray(np.where(slip, rng.integers(0, cuts.shape[1] + 1, len(levels)), levels))
