"""What a task page of another scheme is told: the settings of a round, read from JSON and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, Issue
from ..language import LANGUAGES, STANDARD, translatable
from ..schemes.best_worst import SIZE
from ..schemes.gold_pairs import MOST_GOLD, TOLERANCE, GoldPair, Qualification, qualify
from ..schemes.scales import CLSS, SCALES, Anchor, RatingScale

SCHEMES = ("rating", "sort-then-rate", "best-worst", "order", "writing")
NOTIONS = ("relatedness", "similarity")
MOST_ROWS = 50  # items of a tuple, words of an order
WORDS = 10


@dataclass(frozen=True)
class SchemeSettings:
    """Settings of a task page.

    scheme : of `SCHEMES`; notion : relatedness or similarity, chooses the wording, which `question` and `instructions`
    (plain text; a blank line begins a paragraph) replace; scale : of ratings and of writing; gold : qualification pairs
    of a rating page, each to be met within ±`tolerance`; rows : items of a tuple, or most words of an order; smaller :
    what is to be written, "sentence" say; language : a code of `LANGUAGES`, of all texts that aren't the owner's.
    """

    scheme: str
    notion: str = "relatedness"
    question: str = ""
    instructions: str = ""
    scale: RatingScale = CLSS
    gold: tuple[GoldPair, ...] = ()
    tolerance: float = TOLERANCE
    rows: int = SIZE
    smaller: str = translatable("sentence")
    language: str = STANDARD

    @property
    def sorts_first(self) -> bool:
        """Whether items are sorted into piles before they are rated."""
        return self.scheme == "sort-then-rate"

    @property
    def kind(self) -> str:
        """The kind of question: rating, best-worst, order or writing."""
        return "rating" if self.sorts_first else self.scheme


def scheme_settings(scheme: str, stored: Mapping[str, Any]) -> SchemeSettings:
    """Settings as JSON keeps them; what is absent has its default.

    Keys: notion, question, instructions; scale, the name of a ready scale or {name, low, high, step, anchors: [[value,
    text], …]}; sort_first, true or false (by default what the scale says); gold, a list of
    {first, second, rating}, and tolerance; size, the items of a tuple; words, the most words of an order; smaller;
    language. Raises `InputError` with everything that makes no sense.

    >>> scheme_settings("rating", {"scale": "STSS"}).scheme, scheme_settings("rating", {"scale": "CLSS"}).scheme
    ('sort-then-rate', 'rating')
    """
    if scheme not in SCHEMES:
        raise InputError(f"There is no task page for the scheme {scheme!r}; there is {', '.join(SCHEMES)}.")
    issues: list[Issue] = []
    notion = str(stored.get("notion") or NOTIONS[0])
    if notion not in NOTIONS:
        issues.append(Issue(f"must be one of {', '.join(NOTIONS)}", column="notion", found=notion))
    language = str(stored.get("language") or STANDARD)
    if language not in LANGUAGES:
        issues.append(Issue(f"must be one of {', '.join(LANGUAGES)}", column="language", found=language))
    scale = _scale(stored.get("scale"), issues)
    gold = _gold(stored.get("gold") or (), scale, issues) if scheme in ("rating", "sort-then-rate") else ()
    if scheme == "rating" and stored.get("sort_first", scale.sorts_first):
        scheme = "sort-then-rate"
    if scheme == "sort-then-rate" and len(scale.anchors) < 2:
        issues.append(Issue("has fewer than two anchors, which piles are named by", column="scale", found=scale.name))
    rows = _rows(scheme, stored, issues)
    tolerance = stored.get("tolerance", TOLERANCE)
    if not (isinstance(tolerance, int | float) and 0 <= tolerance <= scale.high - scale.low):
        issues.append(Issue("must be points of the scale", column="tolerance", found=str(tolerance)))
    if issues:
        raise InputError("No task page can be made of these settings.", issues)
    texts = {name: str(stored.get(name) or "").strip() for name in ("question", "instructions", "smaller")}
    texts["smaller"] = texts["smaller"] or "sentence"
    texts["language"] = language
    return SchemeSettings(scheme, notion, scale=scale, gold=gold, tolerance=float(tolerance), rows=rows, **texts)


def scale_of(stored: str | Mapping[str, Any]) -> RatingScale:
    """A scale as JSON keeps it: the name of a ready one, or its parts. Raises `InputError`."""
    if isinstance(stored, str):
        if stored not in SCALES:
            raise InputError(f"There is no scale {stored!r}; ready are {', '.join(SCALES)}.")
        return SCALES[stored]
    try:
        low, high, step = (float(stored[name]) for name in ("low", "high", "step"))
        anchors = tuple(Anchor(float(value), str(text)) for value, text in stored.get("anchors", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("A scale needs numbers low, high and step, and anchors as pairs of value and text.") from error
    sorts_first = bool(stored.get("sorts_first", False))
    return RatingScale(str(stored.get("name") or "own scale"), low, high, step, anchors, sorts_first)


def read_qualification(fields: Mapping[str, str], stored: Mapping[str, Any]) -> Qualification:
    """How a person did on the gold pairs: `fields` are a task's form fields by name, `gold_1`, …, with or without the
    prefix `Answer.`; a field that is missing or no rating is a pair that isn't met. Raises `InputError` without gold.

    >>> stored = {"scale": "CLSS", "gold": [{"first": "car", "second": "auto", "rating": 4}]}
    >>> read_qualification({"Answer.gold_1": "3.25"}, stored).passed, read_qualification({}, stored).passed
    (True, False)
    """
    settings = scheme_settings("rating", stored)
    if not settings.gold:
        raise InputError("These settings have no gold pairs, so nobody can qualify.")
    given = []
    for n in range(1, len(settings.gold) + 1):
        text = fields.get(f"gold_{n}", fields.get(f"Answer.gold_{n}", ""))
        try:
            given.append(settings.scale.read(text))
        except InputError:
            given.append(float("nan"))
    return qualify(given, [pair.rating for pair in settings.gold], tolerance=settings.tolerance)


def _scale(stored: Any, issues: list[Issue]) -> RatingScale:
    if stored is None:
        return CLSS
    try:
        return scale_of(stored)
    except InputError as error:
        issues.append(Issue(str(error), column="scale"))
        return CLSS


def _gold(stored: Any, scale: RatingScale, issues: list[Issue]) -> tuple[GoldPair, ...]:
    pairs = []
    for n, pair in enumerate(stored, start=1):
        try:
            gold = GoldPair(str(pair["first"]), str(pair["second"]), float(pair["rating"]))
        except (KeyError, TypeError, ValueError):
            issues.append(Issue(f"pair {n} needs first, second and rating", column="gold", found=str(pair)))
            continue
        if not gold.first.strip() or not gold.second.strip() or not scale.allows(gold.rating):
            issues.append(Issue(f"pair {n} lacks a text, or its rating is off the scale", column="gold"))
        pairs.append(gold)
    if len(pairs) > MOST_GOLD:
        issues.append(Issue(f"{MOST_GOLD} pairs are the most", column="gold", found=str(len(pairs))))
    return tuple(pairs)


def _rows(scheme: str, stored: Mapping[str, Any], issues: list[Issue]) -> int:
    name, least, default = ("words", 2, WORDS) if scheme == "order" else ("size", 3, SIZE)
    value = stored.get(name, default)
    if scheme not in ("order", "best-worst"):
        return SIZE
    if not isinstance(value, int) or not least <= value <= MOST_ROWS:
        issues.append(Issue(f"must lie between {least} and {MOST_ROWS}", column=name, found=str(value)))
        return default
    return value
