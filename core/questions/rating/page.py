"""The pages on which people rate: each item on the scale, or sorted into piles first; and who met its gold pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...errors import InputError, Issue
from ...i18n import translatable
from ..task_page import Page, Words, settings_of_page
from .gold_pairs import MOST_GOLD, GoldPair, Qualification, qualify
from .scales import RatingScale

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
            told = "has fewer than two anchors, which piles are named by"
            issues.append(Issue(told, column="scale", found=scale.name))
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
    given = []
    for n in range(1, len(settings.gold) + 1):
        text = fields.get(f"gold_{n}", fields.get(f"Answer.gold_{n}", ""))
        try:
            given.append(settings.scale.read(text))
        except InputError:
            given.append(float("nan"))
    return qualify(given, [pair.rating for pair in settings.gold], tolerance=settings.tolerance)


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
