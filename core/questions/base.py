"""What a kind of question is: what it asks, how an answer is written, and what answers make of scores.

A *round* is to other kinds what a ballot is to comparisons: questions drawn from a project's items, put into tasks,
answered by people. In a question the items stand at places 1, 2, …, as they are shown; an answer is a text, which
result files, tables and the store hold. A person who doesn't know a word answers `unknown`.

Store, platforms, the voting page, pages and simulated voters ask the same objects (`questions.kind_of`). A kind says
what only it knows; everything else has an answer here that holds for any. Everything random comes from the generator
passed in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.estimates import MIN_VOTERS
from ..errors import PlanError, StoreError
from ..i18n import LANGUAGES, STANDARD, Language
from ..i18n import language as language_of
from ..plan.campaign_plan import check_limits
from ..tables import Floats, Ints
from ..tabular import SourceTable
from ..tabular.json_files import known_values
from ..votes.platform import ResultFile
from .order.groups import GroupComparison, TargetGroup
from .rating.scales import CLSS, TOLERANCE, Anchor, GoldRating, RatingScale
from .task_page import Page

UNKNOWN = "unknown"
MAX_TASK_SIZE = 50
VOTERS = {"voters": ("Voters", "People whose answers count.")}  # a figure that every kind has
WIN, TIE, LOSS = range(3)  # as what an answer counts for an item
_APART = ("scale", "gold", "tolerance", "groups")  # settings that are stored in a way of their own


@dataclass(frozen=True)
class KindInfo:
    """What is said of a kind, and what others must know of it.

    label : what sentences call it. offered : a sentence where a kind is chosen. Of a kind that rounds ask: asked : what
    a question shows, one of them ("tuple"). editors : names of the settings that are chosen besides those of every
    kind. settings : those that differ from a round's usual ones. estimator, scale : in a dataset's description.
    figure : name and meaning of a person's figure; figures : label and meaning of those of `RoundScores.fit`, in order.
    scores_items : each item gets a score, so that there is a dataset; else models are ranked by what
    `RoundKind.preferences` gives. pools : scores rest on the closed rounds before, too, are of the whole field, and a
    next round can go on with the leading items. is_scale : answers are numbers of the settings' scale. by_words : what
    answers say takes the words shown. files : which files of the kind that come from elsewhere can be worked out, as
    `views.file_kinds.PLACES` names them.
    """

    label: str
    offered: str = ""
    asked: str = ""
    estimator: str = ""
    scale: str = ""
    figure: tuple[str, str] = ("", "")
    figures: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    editors: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    scores_items: bool = True
    pools: bool = False
    is_scale: bool = False
    by_words: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundSettings:
    """What a round is drawn by. `check_round` says what makes sense.

    scheme : the kind's name; raters : people wanted for each question; task_size : questions per task; swaps : half of
    the rated items are shown with their tokens in the other order, drawn by the seed; scale : of ratings; gold : rated
    first on the task page, each to be met within ±`tolerance` points.
    size, appearances, keep : items per tuple, tuples per item, the share of items a next round keeps.
    groups : of orders, a question each. question, instructions : what people read, "" for the standard text, which is
    in `language`, a code of `LANGUAGES`, as all other standard texts.
    seconds : assumed for a question, seconds; reward : paid a task; fee : the platform's share of it.
    """

    scheme: str
    raters: int = 5
    task_size: int = 10
    swaps: bool = True
    scale: RatingScale = CLSS
    gold: tuple[GoldRating, ...] = ()
    tolerance: float = TOLERANCE
    size: int = 4
    appearances: int = 8
    keep: float = 0.5
    groups: tuple[TargetGroup, ...] = ()
    question: str = ""
    instructions: str = ""
    language: str = STANDARD
    seconds: float = 6.0
    reward: float = 0.25
    fee: float = 0.2
    seed: int = 0

    def stored(self) -> dict[str, Any]:
        """As JSON holds it; `of` reads it back, and a task page takes it as its settings."""
        row: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _APART}
        anchors = [[anchor.value, anchor.text] for anchor in self.scale.anchors]
        row["scale"] = {**asdict(self.scale), "anchors": anchors}
        row["groups"] = [{f.name: _listed(getattr(group, f.name)) for f in fields(group)} for group in self.groups]
        if self.gold:
            row |= {"gold": [asdict(pair) for pair in self.gold], "tolerance": self.tolerance}
        row["words"] = max((len(group.positives) for group in self.groups), default=10)
        if self.language == STANDARD:
            del row["language"]  # as it was before there were others
        return row

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> RoundSettings:
        """Settings as JSON keeps them; what an older version didn't know has its default. TypeError or ValueError for
        others."""
        values = known_values(cls, stored)
        if values.get("language", STANDARD) not in LANGUAGES:
            raise ValueError(f"There is no language {values['language']!r}.")
        if "scale" in values:
            scale = dict(values["scale"])
            anchors = tuple(Anchor(float(value), str(text)) for value, text in scale["anchors"])
            values["scale"] = RatingScale(**{**scale, "anchors": anchors})
        values["gold"] = tuple(GoldRating(**pair) for pair in values.get("gold", ()))
        groups = values.get("groups", ())
        values["groups"] = tuple(TargetGroup(**{k: _words(v) for k, v in group.items()}) for group in groups)
        return cls(**values)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _words(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a ballot that count, in a fixed order: by question, then voter.

    number : of the round. items : positions of all its items, ascending. questions : ids, ascending; `starts[i]` to
    `starts[i + 1]` of `options` are the items (positions) of question i in their places. question : the place of each
    answer's question among them; voter : its voter's id; text, value : the answer, and its number or NaN. words :
    what is shown (`tables.SHOWN`), empty unless `KindInfo.by_words`.
    """

    number: int
    items: Ints
    questions: Ints
    starts: Ints
    options: Ints
    question: Ints
    voter: Ints
    text: Sequence[str]
    value: Floats
    words: pd.DataFrame

    @property
    def n_voters(self) -> int:
        """How many people's answers count."""
        return len(np.unique(self.voter))

    def shown(self, question: int) -> Ints:
        """The items of the question at this place, in their places."""
        return self.options[self.starts[question] : self.starts[question + 1]]

    def tuples(self) -> Ints:
        """The items that each answer was given to, (n, size), where all questions show equally many."""
        size = int(self.starts[1] - self.starts[0]) if len(self.questions) else 1
        return self.options.reshape(-1, size)[self.question]


@dataclass(frozen=True, eq=False)
class Field:
    """Scores of all items (positions) that were shown so far: θ, its error, the score and its bounds."""

    items: Ints
    theta: Floats
    error: Floats
    score: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class RoundScores:
    """Scores that wait to be written: of the round's items (positions) x, mean, count, lower, upper; those of all items
    of the rounds so far where there are any; figures of the whole round; why there are no intervals, or ""."""

    items: Ints
    x: Floats
    mean: Floats
    count: Ints
    lower: Floats
    upper: Floats
    fitted: Field | None = None
    fit: dict[str, Any] = field(default_factory=dict)
    note: str = ""


class Answering(NamedTuple):
    """Who answers in a simulation: numbers of the voters, (n,), their lapses, the seed of what is theirs for good."""

    voter: Ints
    lapse: Floats
    seed: int


class QuestionKind(ABC):
    """A kind of question, as a ballot asks it."""

    name: ClassVar[str]
    about: ClassVar[KindInfo]

    def value(self, answer: str) -> float | None:
        """The number that goes with an answer in the store, no `unknown`; None where it has none."""
        return None

    def counts_as(self, answer: str, place: int) -> int:
        """As what an answer counts for the item at a place (from 0): WIN, TIE or LOSS; a counted answer counts once for
        every item that it shows. Raises `InputError` for an answer that can't be read."""
        return TIE

    def n_shown(self) -> tuple[int, int | None]:
        """The fewest items of a question, and the most; None for any number."""
        return 2, None


@dataclass(frozen=True, eq=False)
class DrawnRound:
    """Questions: item positions in the order shown; whether the tokens of an item change places, (n,);
    task 0… and place in it 0… of each, (n,)."""

    options: tuple[tuple[int, ...], ...]
    swapped: NDArray[np.bool_]
    task: Ints
    place: Ints

    @property
    def items(self) -> Ints:
        """The positions of all items that are shown, ascending."""
        return np.unique(np.concatenate([np.asarray(shown, dtype=np.int64) for shown in self.options]))


class RoundKind(QuestionKind, Page):
    """A kind that rounds ask, with a page of its own (`task_page.Page`).

    fields : the names of the form fields of a question, without its number.
    """

    fields: ClassVar[tuple[str, ...]]

    # Settings

    def default_settings(self, *, seed: int = 0) -> RoundSettings:
        """Settings to begin with."""
        settings = replace(RoundSettings(self.name, seed=seed % 2**31), **self.about.settings)
        return self.checked(settings, with_groups=False)

    def checked(self, settings: RoundSettings, *, with_groups: bool = True) -> RoundSettings:
        """The settings unchanged; `PlanError` naming the first one that makes no sense."""
        if settings.language not in LANGUAGES:
            raise PlanError(f"People read one of {', '.join(LANGUAGES)}, found {settings.language!r}.")
        limits = {
            "raters": (1, 1000, "People per question"),
            "task_size": (1, MAX_TASK_SIZE, "Questions per task"),
            "size": (3, 10, "Items per tuple"),
            "appearances": (1, 1000, "Tuples per item"),
            "keep": (0.01, 1, "The share that goes on"),
            "seconds": (0.1, 3600, "Seconds per question"),
            "reward": (0, 10_000, "The reward"),
            "fee": (0, 10, "The fee"),
            "seed": (0, 2**31 - 1, "The seed"),
        }
        check_limits(settings, limits)
        if len(settings.scale.values) > 1001:
            raise PlanError("The scale has more than 1,001 values: choose larger steps.")
        self.check(settings, with_groups=with_groups)
        return settings

    def check(self, settings: RoundSettings, *, with_groups: bool) -> None:
        """Raise `PlanError` for settings of this kind that make no sense."""

    def lacks(self, settings: RoundSettings) -> str:
        """What must be chosen before a round can be drawn by these settings ("groups"); "" where nothing is missing."""
        return ""

    # Drawing

    @abstractmethod
    def draw(
        self, items: pd.DataFrame, settings: RoundSettings, rng: np.random.Generator, scores: Floats | None = None
    ) -> list[tuple[int, ...]]:
        """The questions: item positions in the order shown.

        items : the ranking's (`areas.items_of`), or the leading ones of a round before, whose θ are `scores`. Raises
        `InputError` where nothing can be drawn.
        """

    @abstractmethod
    def n_questions(self, settings: RoundSettings, n_items: int) -> int:
        """How many questions a round of so many items has."""

    def questions(
        self, items: pd.DataFrame, settings: RoundSettings, rng: np.random.Generator, scores: Floats | None = None
    ) -> DrawnRound:
        """Draw a round of these items and put it into tasks, whose sizes differ by one at most; see `draw`.

        Everything follows from the items, the settings and the generator: the same give the same draw.
        """
        options = self.draw(items, settings, rng, scores)
        n = len(options)
        swapped = np.zeros(n, dtype=bool)
        if self.swaps(settings):
            swapped[: n // 2] = True
            swapped = rng.permutation(swapped)
        parts = np.array_split(rng.permutation(n), -(-n // settings.task_size))
        task, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        for number, part in enumerate(parts):
            task[part], place[part] = number, np.arange(len(part))
        return DrawnRound(tuple(options), swapped, task, place)

    def wanted_of_item(self, settings: RoundSettings) -> int:
        """Answers wanted in which an item appears."""
        return settings.raters

    def swaps(self, settings: RoundSettings) -> bool:
        """Whether half of the questions, and every other voter, show the tokens in the other order."""
        return False

    # Batch files, and what the page shows

    @abstractmethod
    def cells(self, n: int, place: int, item: int, token_a: str, token_b: str) -> list[tuple[str, str]]:
        """The columns of the item at a place of question n (from 1) in a batch file, with their texts; the id first."""

    def head(self, n: int, token_a: str) -> list[tuple[str, str]]:
        """The columns of question n that come before those of its items; `token_a` is of any of them."""
        return []

    def turned(self, pairs: Sequence[tuple[str, str]], swapped: bool) -> list[tuple[str, str]]:
        """The tokens of a question's items as they are shown; swapped : as it was drawn."""
        return [(b, a) for a, b in pairs] if swapped else list(pairs)

    def variables(self, pairs: Sequence[tuple[str, str]], swapped: bool) -> dict[str, str]:
        """The words of a single question by the names of the page's variables."""
        turned = self.turned(pairs, swapped)
        variables = dict(self.head(1, turned[0][0]))
        for place, (a, b) in enumerate(turned, 1):
            variables |= dict(self.cells(1, place, 0, a, b)[1:])
        return variables

    # Answers

    def written(self, *values: str) -> str:
        """An answer from what its form fields hold, "" where nothing is filled in."""
        return values[0].lower()

    def filled(self, answer: str) -> dict[str, str]:
        """What its form fields hold of an answer as the store holds it, by their names: `written` makes it of them."""
        return {self.fields[0]: answer}

    def answer(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language | None = None) -> str:
        """An answer as the store holds it, from how a person or a file wrote it; see `read`."""
        text = given.strip().lower()
        return UNKNOWN if text == UNKNOWN else self.read(settings, text, n_shown, spoken or language_of(STANDARD))

    @abstractmethod
    def read(self, settings: RoundSettings, given: str, n_shown: int, spoken: Language) -> str:
        """An answer as the store holds it, from how a person or a file wrote it, in small letters and no `unknown`.

        n_shown : items of the question. Raises `InputError` with what is wrong, in the language `spoken`.
        """

    def standing(self, wins: Floats, ties: Floats, losses: Floats, mean_value: Floats) -> Floats:
        """What an open round says of its items so far; NaN for nothing.

        mean_value : of the answers' numbers, NaN where there are none.
        """
        return np.full(len(wins), np.nan)

    def read_own_file(self, table: SourceTable, data: bytes, shown: pd.DataFrame) -> ResultFile | None:
        """What a file in a way of the kind's own holds; None for other files. table : the file opened; shown :
        `tables.SHOWN` of the round."""
        return None

    @abstractmethod
    def simulate(self, opinion: Floats, who: Answering, settings: RoundSettings, rng: np.random.Generator) -> list[str]:
        """Answers of simulated voters by the opinions that they hold of the items shown, (n, size), in [0, 1]."""

    # Scores

    @abstractmethod
    def score(self, answers: Answers, before: Sequence[Answers], settings: RoundSettings, seed: int) -> RoundScores:
        """The scores of a round; the same answers give the same. before : the closed rounds that it rests on, too.

        Raises `StoreError` where there are no answers, or an item would have no score.
        """

    def seconds(self, n_answers: int) -> float:
        """How long scoring so many answers with their intervals takes."""
        return n_answers / 10_000

    @abstractmethod
    def people(self, answers: Answers, settings: RoundSettings) -> Mapping[int, float]:
        """Each person's figure (`KindInfo.figure`) by voter's id, where it is defined."""

    def preferences(self, answers: Answers, settings: RoundSettings) -> list[GroupComparison]:
        """What answers say within target groups, where items have no scores of their own."""
        return []


def refuse_unscored(n_unscored: int, n_items: int) -> None:
    """`StoreError` where items would have no score."""
    if n_unscored == n_items:
        raise StoreError("The round has no answers yet. Upload results before it is closed.")
    if n_unscored:
        raise StoreError(
            f"{n_unscored:,} of {n_items:,} items have no answer yet, so they would have no score. Collect more "
            "results before the round is closed."
        )


def too_few(n_voters: int) -> str:
    """Why so few voters make no interval, or ""."""
    return (
        ""
        if n_voters >= MIN_VOTERS
        else f"An interval needs answers of at least {MIN_VOTERS} voters; found {n_voters}."
    )
