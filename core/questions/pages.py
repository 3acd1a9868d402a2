"""Task pages by name: those of the kinds of question, and of writing, which collects texts and no answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..i18n import translatable
from . import round_kinds
from .rating.page import SORTING
from .task_page import Page, PageSettings, Words, settings_of_page, whole_page
from .template import render

MAX_WRITTEN = 2000
_STEPS = translatable(
    "For each text write a {smaller} whose meaning is as close to it as the rating says. Write it in your own words; "
    "it doesn’t have to look like the text, and it must make sense by itself."
)
_QUESTION = translatable("Write a {smaller} that is as close as wanted")


class WritingPage(Page):
    """A text to write for each that is shown, as close to it as is wanted."""

    name = kind = "writing"
    scripts = ("scheme.js", "scheme_writing.js")
    question = Words(_QUESTION, _QUESTION)
    steps = Words(_STEPS, _STEPS)
    keys = translatable("<kbd>Tab</kbd> goes on to the next text")
    explains_notion = False

    def columns(self, n: int, rows: int) -> list[str]:
        return [f"larger_{n}", f"wanted_{n}", f"anchor_{n}"]

    def inside(self, settings: PageSettings, n: int) -> str:
        return render(self.kind, settings.language, settings=settings, n=n, max_written=MAX_WRITTEN)


def pages() -> dict[str, Page]:
    """All pages by name."""
    return {page.name: page for page in (*round_kinds().values(), SORTING, WritingPage())}


def page_settings(name: str, stored: Mapping[str, Any]) -> PageSettings:
    """Settings of the page of this name; see `task_page.settings_of_page`. Raises `InputError` for another name, too.

    >>> page_settings("rating", {"scale": "STSS"}).scheme, page_settings("rating", {"scale": "CLSS"}).scheme
    ('sort-then-rate', 'rating')
    """
    known = pages()
    if name not in known:
        raise InputError(f"There is no task page for the scheme {name!r}; there is {', '.join(known)}.")
    return settings_of_page(known[name], stored)


def task_page(name: str, stored: Mapping[str, Any], *, task_size: int, target: str = "turkle") -> str:
    """The page of this name for tasks of up to `task_size` items, tuples, targets or texts; see `task_page.whole_page`.

    >>> page = task_page("rating", {"scale": "CLSS"}, task_size=2)
    >>> "${token_b_2}" in page and 'name="rating_2" min="0" max="4" step="0.25"' in page and "<form" not in page
    True
    """
    return whole_page(page_settings(name, stored), task_size=task_size, target=target)
