"""What a round of another scheme asks, and how an answer to it is written.

A *round* is to ratings, best–worst and orders what a ballot is to comparisons: questions drawn from a project's items,
put into tasks, answered by people. In a question the items stand at places 1, 2, …, as they are shown.

    rating       one item; an answer is a value of the scale: 3.25
    best-worst   a tuple of items; an answer names the places of the most and the least related: best=3;worst=1
    order        the positives of a target; an answer lists all places, most related first: 3 1 2

A person who doesn't know a word answers `unknown`. These texts are what result files, tables and the store hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..errors import InputError, PlanError
from ..json_texts import known_values
from ..language import LANGUAGES, STANDARD, Language
from ..language import language as language_of
from ..plan_values import check_limits
from .gold_pairs import TOLERANCE, GoldPair, check_gold
from .scales import CLSS, Anchor, RatingScale
from .target_groups import TargetGroup

RATING, BEST_WORST, ORDER = "rating", "best-worst", "order"
SCHEMES = (RATING, BEST_WORST, ORDER)
LABELS = {RATING: "ratings", BEST_WORST: "best–worst", ORDER: "orders of target groups"}
UNKNOWN = "unknown"
MAX_TASK_SIZE = 50
_BEST_WORST = re.compile(r"best\s*=\s*([0-9]{1,3})(?:\s*[;,]\s*|\s*)worst\s*=\s*([0-9]{1,3})")
_APART = ("scale", "gold", "tolerance", "groups")  # settings that are stored in a way of their own
_SEPARATORS = re.compile(r"[\s,;>]+")


@dataclass(frozen=True)
class RoundSettings:
    """What a round is drawn by. `check_round` says what makes sense.

    raters : people wanted for each question; task_size : questions a task; swaps : half of the rated items are shown
    with their tokens in the other order, drawn by the seed; scale : of ratings; gold : rated first on the task page,
    each to be met within ±`tolerance` points.
    size, appearances, keep : of best–worst: items a tuple, tuples an item, the share of items a next round keeps.
    groups : of orders, a question each. question, instructions : what people read, "" for the standard text, which is
    in `language`, a code of `LANGUAGES`, as all other standard texts.
    seconds : assumed for a question, seconds; reward : paid a task; fee : the platform's share of it.
    """

    scheme: str
    raters: int = 5
    task_size: int = 10
    swaps: bool = True
    scale: RatingScale = CLSS
    gold: tuple[GoldPair, ...] = ()
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

    @property
    def label(self) -> str:
        """What sentences call the scheme."""
        return LABELS[self.scheme]

    @property
    def wanted_of_item(self) -> int:
        """Answers wanted in which an item appears."""
        return self.raters * (self.appearances if self.scheme == BEST_WORST else 1)

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
        values["gold"] = tuple(GoldPair(**pair) for pair in values.get("gold", ()))
        groups = values.get("groups", ())
        values["groups"] = tuple(TargetGroup(**{k: _words(v) for k, v in group.items()}) for group in groups)
        return cls(**values)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _words(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def default_settings(scheme: str, *, seed: int = 0) -> RoundSettings:
    """Settings to begin with: five ratings an item, one person a tuple with eight tuples an item, ten orders a target.

    Raises `PlanError` for another scheme.
    """
    found = RoundSettings(scheme, seed=seed % 2**31)
    if scheme == BEST_WORST:
        found = replace(found, raters=1, task_size=5, seconds=18.0)
    if scheme == ORDER:
        found = replace(found, raters=10, task_size=5, seconds=36.0)
    return check_round(found, with_groups=False)


def check_round(settings: RoundSettings, *, with_groups: bool = True) -> RoundSettings:
    """The settings unchanged; `PlanError` naming the first one that makes no sense."""
    if settings.scheme not in SCHEMES:
        raise PlanError(f"The scheme is one of {', '.join(SCHEMES)}, found {settings.scheme!r}.")
    if settings.language not in LANGUAGES:
        raise PlanError(f"People read one of {', '.join(LANGUAGES)}, found {settings.language!r}.")
    limits = {
        "raters": (1, 1000, "People a question"),
        "task_size": (1, MAX_TASK_SIZE, "Questions a task"),
        "size": (3, 10, "Items a tuple"),
        "appearances": (1, 1000, "Tuples an item"),
        "keep": (0.01, 1, "The share that goes on"),
        "seconds": (0.1, 3600, "Seconds a question"),
        "reward": (0, 10_000, "The reward"),
        "fee": (0, 10, "The fee"),
        "seed": (0, 2**31 - 1, "The seed"),
    }
    check_limits(settings, limits)
    if len(settings.scale.values) > 1001:
        raise PlanError("The scale has more than 1,001 values: choose larger steps.")
    if settings.scheme == RATING:
        check_gold(settings.gold, settings.tolerance, settings.scale)
    if settings.scheme == ORDER and with_groups:
        if not settings.groups:
            raise PlanError("There is no target group to order. Propose or read some first.")
        single = [group.target for group in settings.groups if len(group.positives) < 2]
        if single:
            raise PlanError(f"{', '.join(single[:5])}: fewer than two positives, so there is nothing to order.")
    return settings


def read_answer(settings: RoundSettings, given: str, n_shown: int, spoken: Language | None = None) -> str:
    """An answer as the store holds it, from how a person or a file wrote it.

    given : of a rating the value, a comma may stand for the point; of best–worst `best=3;worst=1`; of an order places
    with spaces, commas or > between. n_shown : items of the question. Raises `InputError` with what is wrong, in the
    language `spoken`, English by default.

    >>> read_answer(RoundSettings("order"), "3 > 1 > 2", 3), read_answer(RoundSettings("rating"), "3,250", 1)
    ('3 1 2', '3.25')
    """
    text, say = given.strip().lower(), spoken or language_of(STANDARD)
    if text == UNKNOWN:
        return UNKNOWN
    if settings.scheme == RATING:
        try:
            return f"{settings.scale.read(text):g}"
        except InputError:
            raise InputError(say.text(
                "{given}: a rating is {low} to {high} in steps of {step}", given=repr(given),
                low=say.number(settings.scale.low), high=say.number(settings.scale.high),
                step=say.number(settings.scale.step),
            )) from None  # fmt: skip
    if settings.scheme == BEST_WORST:
        match = _BEST_WORST.fullmatch(text)
        if match is None:
            raise InputError(say.text("{given} names no best and worst of the tuple", given=repr(given)))
        best, worst = int(match[1]), int(match[2])
        if not (1 <= best <= n_shown and 1 <= worst <= n_shown):
            raise InputError(say.text("{given}: the tuple has the places 1 to {last}", given=repr(given), last=n_shown))
        if best == worst:
            raise InputError(say.text("{given} names the same item best and worst", given=repr(given)))
        return f"best={best};worst={worst}"
    places = [part for part in _SEPARATORS.split(text) if part]
    if sorted(places) != sorted(str(place) for place in range(1, n_shown + 1)):
        told = say.text("{given} isn't an order of the places 1 to {last}, each once", given=repr(given), last=n_shown)
        raise InputError(told)
    return " ".join(places)


def value_of(scheme: str, answer: str) -> float | None:
    """The number that goes with an answer in the store: that of a rating, None for others."""
    return float(answer) if scheme == RATING and answer != UNKNOWN else None


def extremes(answer: str) -> tuple[int, int]:
    """The places, from 0, of the best and the worst of an answer in the store.

    >>> extremes("best=3;worst=1")
    (2, 0)
    """
    match = _BEST_WORST.fullmatch(answer)
    if match is None:
        raise InputError(f"{answer!r} is no answer to a tuple.")
    return int(match[1]) - 1, int(match[2]) - 1


def ordered(answer: str) -> list[int]:
    """The places, from 0, of an answer in the store, most related first.

    >>> ordered("3 1 2")
    [2, 0, 1]
    """
    return [int(place) - 1 for place in answer.split()]
