"""The steps of a voter who has begun: from a form's fields to what is done, and what the page's script is told then."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from .api import translatable, voting

MAX_ANSWER = 500  # letters; the places of an order are fewer by far
UNSAVED = "unsaved"  # in the address of a page: the answer that led there wasn't saved
NOT_SAVED_QUERY = f"?{UNSAVED}=1"
Step = tuple[Callable[..., voting.VoterView], str]  # what is done, and the query of the page that follows


def place_id(task: int, n: int) -> str:
    """How a form names a place."""
    return f"{task}.{n}"


def _place(fields: dict[str, str]) -> tuple[int, int]:
    """The place in the voter's own tasks that a form names: task and number."""
    task, _, n = fields.get("place", "").partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in (task, n)):
        raise voting.InputError(translatable("This answer fits nothing that the page asked. Load the page again."))
    return int(task), int(n)


def _vote(fields: dict[str, str]) -> Step:
    task, n = _place(fields)
    try:
        seconds: float | None = float(fields.get("seconds", ""))
    except ValueError:
        seconds = None
    seconds = seconds if seconds is not None and math.isfinite(seconds) else None
    choice = (fields.get("choice") or voting.answer_of(fields))[:MAX_ANSWER]
    return partial(voting.vote, task=task, n=n, choice=choice, seconds=seconds), ""


def _undo(fields: dict[str, str]) -> Step:
    task, n = _place(fields)
    return partial(voting.undo, task=task, n=n), ""


def _example(fields: dict[str, str]) -> Step:
    number, choice = fields.get("number", ""), fields.get("choice", "")
    if not (number.isascii() and number.isdigit() and len(number) < 3):
        raise voting.InputError(translatable("There is no such example. Load the page again."))
    choice = choice if choice in ("left", "right", "tie", "unknown") else ""
    return partial(voting.example_done, number=int(number)), f"?e={int(number)}&a={choice}"


STEPS: dict[str, Callable[[dict[str, str]], Step]] = {
    "vote": _vote,
    "example": _example,
    "undo": _undo,
    "more": lambda fields: (voting.more, ""),
    "finish": lambda fields: (voting.finish, ""),
}


def answer(view: voting.VoterView) -> dict[str, Any]:
    """What the page's script needs of the next comparison; for any other page it asks for the page."""
    place = view.place
    if view.kind != "vote" or place is None:
        return {"kind": "page"} | ({"query": NOT_SAVED_QUERY} if view.said == voting.NOT_SAVED else {})
    undo = place_id(*view.last) if view.last else ""
    told = {"kind": "vote", "place": place_id(place.task, place.n), "of": place.of, "undo": undo}
    return told | {"texts": dict(place.texts), "said": view.language.text(view.said)}
