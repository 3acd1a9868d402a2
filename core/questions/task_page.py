"""Task pages of questions that aren't comparisons: what is asked, the boxes of a task, the whole page as a template.

Like the comparison's page (`questions.comparison_page`): plain HTML with `${variables}` named as the batch file's
columns, no external file, by mouse, touch and keyboard, on a phone and in the dark. Every text of a task stands as a
variable and is escaped in the batch file (`reading.encode`), what is plain text where the template prints it; the
templates lie with the comparison's.

| page | columns, with n the place in the task | fields |
|---|---|---|
| rating, sort-then-rate | `item_id_n, token_a_n, token_b_n` | `rating_n`, a value of the scale; `gold_n` |
| best-worst | `tuple_n_item_id_k, tuple_n_token_a_k, tuple_n_token_b_k` | `best_n`, `worst_n`: k |
| order | `order_n_target, order_n_word_k` | `order_n`: all k, the most related first, as `3 1 2` |
| writing | `text_id_n, larger_n, wanted_n, anchor_n` | `text_n` |

`unknown_n` is `1` where somebody can't answer; the other fields of n are then absent or empty. A task may hold fewer
items than the page, a tuple or an order fewer rows: empty cells are removed by the script.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup

from ..errors import InputError, Issue
from ..i18n import LANGUAGES, STANDARD, Language, translatable
from ..i18n import language as language_of
from .comparison_page import packaged, render
from .rating.scales import CLSS, SCALES, TOLERANCE, Anchor, GoldRating, RatingScale

NOTIONS = ("relatedness", "similarity")
MOST_ROWS = 50  # items of a tuple, words of an order
EXPLAINED = {
    "relatedness": translatable(
        "Two words are related when what they stand for has to do with each other in any way: a part, a place, a "
        "cause, an opposite, things met together. They don’t have to mean the same."
    ),
    "similarity": translatable(
        "Two words are similar when they mean nearly the same or stand for the same kind of thing. Opposites, or "
        "things that are only met together, are not similar."
    ),
}
_ADJECTIVE = {"relatedness": translatable("related"), "similarity": translatable("similar")}
_MOST = {"relatedness": translatable("Most related"), "similarity": translatable("Most similar")}
_LEAST = {"relatedness": translatable("Least related"), "similarity": translatable("Least similar")}


class Words(NamedTuple):
    """A text for each notion. Whole sentences: in other languages the rest of a sentence depends on the adjective."""

    relatedness: str
    similarity: str

    def of(self, notion: str) -> str:
        """The one for a notion."""
        return self[NOTIONS.index(notion)]


@dataclass(frozen=True)
class PageSettings:
    """Settings of a task page.

    page : what is asked; notion : relatedness or similarity, chooses the wording, which `question` and `instructions`
    (plain text; a blank line begins a paragraph) replace; scale : of ratings and of writing; gold : qualification pairs
    of a rating page, each to be met within ±`tolerance`; rows : items of a tuple, or most words of an order; smaller :
    what is to be written, "sentence" say; language : a code of `LANGUAGES`, of all texts that aren't the owner's.
    """

    page: Page
    notion: str = NOTIONS[0]
    question: str = ""
    instructions: str = ""
    scale: RatingScale = CLSS
    gold: tuple[GoldRating, ...] = ()
    tolerance: float = TOLERANCE
    rows: int = 0
    smaller: str = translatable("sentence")
    language: str = STANDARD

    @property
    def scheme(self) -> str:
        """The page's name."""
        return self.page.name

    @property
    def spoken(self) -> Language:
        """The language of the standard texts."""
        return language_of(self.language)

    @property
    def most(self) -> str:
        """The name of an answer's upper end."""
        return self.spoken.text(_MOST[self.notion])

    @property
    def least(self) -> str:
        """The name of an answer's lower end."""
        return self.spoken.text(_LEAST[self.notion])

    @property
    def asked(self) -> str:
        """What is asked, as plain text."""
        return self.question or self._told(self.page.question.of(self.notion))

    @property
    def paragraphs(self) -> list[str]:
        """The explanation's paragraphs, as plain texts."""
        standard = self._told(self.page.steps.of(self.notion))
        if self.page.explains_notion:
            standard = f"{self.spoken.text(EXPLAINED[self.notion])}\n\n{standard}"
        return [part.strip() for part in (self.instructions or standard).split("\n\n") if part.strip()]

    def keys(self, *, is_alone: bool = False) -> Markup:
        """What keys do; where a question stands alone on its page, an answer is sent by itself."""
        adjective = self.spoken.text(_ADJECTIVE[self.notion])
        keys = self.spoken.html(self.page.keys_alone if is_alone else self.page.keys, adjective=adjective)
        return self.spoken.html("With a keyboard: {keys}.", keys=keys)

    def _told(self, text: str) -> str:
        # The owner's word goes in unescaped; whoever shows the result escapes it.
        return self.spoken.text(text, smaller=self.spoken.text(self.smaller))


class Page(ABC):
    """A page that asks something: its texts, by notion where they hang on it, its columns, and its boxes.

    kind : the class of a box, where several pages ask the same; scripts : files beside `questions.comparison_page`, in
    order;
    rows : name in JSON, fewest and usual number of the rows of a question, where it has rows to be chosen.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    scripts: ClassVar[tuple[str, ...]] = ()
    question: ClassVar[Words]
    steps: ClassVar[Words]
    keys: ClassVar[str]
    keys_alone: ClassVar[str] = ""
    explains_notion: ClassVar[bool] = True
    has_scale: ClassVar[bool] = False
    rows: ClassVar[tuple[str, int, int] | None] = None

    @abstractmethod
    def columns(self, n: int, rows: int) -> list[str]:
        """The columns of a batch file that question `n` of a task shows, in order; `task_id` and the ids of items stand
        beside them."""

    def inside(self, settings: PageSettings, n: int) -> str:
        """What stands in the box of question `n`, as HTML: the template named as `kind`, or whatever a page makes."""
        return render(self.kind, settings.language, settings=settings, n=n)

    def own_settings(self, stored: Mapping[str, Any], scale: RatingScale, issues: list[Issue]) -> dict[str, Any]:
        """What only this page has of its settings, `page` among them where they choose another; adds to `issues`."""
        return {}

    def script(self) -> str:
        """The page's script."""
        parts = "".join(packaged(name) for name in ("language.js", *self.scripts))
        return f'(function () {{\n"use strict";\n{parts}}})();\n'


def settings_of_page(page: Page, stored: Mapping[str, Any]) -> PageSettings:
    """Settings as JSON keeps them; what is absent has its default.

    Keys: notion, question, instructions; scale, the name of a ready scale or {name, low, high, step, anchors: [[value,
    text], …]}; sort_first, true or false (by default what the scale says); gold, a list of
    {first, second, rating}, and tolerance; size, the items of a tuple; words, the most words of an order; smaller;
    language. Raises `InputError` with everything that makes no sense.
    """
    issues: list[Issue] = []
    notion = str(stored.get("notion") or NOTIONS[0])
    if notion not in NOTIONS:
        issues.append(Issue(f"must be one of {', '.join(NOTIONS)}", column="notion", found=notion))
    language = str(stored.get("language") or STANDARD)
    if language not in LANGUAGES:
        issues.append(Issue(f"must be one of {', '.join(LANGUAGES)}", column="language", found=language))
    scale = _scale(stored.get("scale"), issues)
    own: dict[str, Any] = {"page": page} | page.own_settings(stored, scale, issues)
    rows = _rows(page, stored, issues)
    tolerance = stored.get("tolerance", TOLERANCE)
    if not (isinstance(tolerance, int | float) and 0 <= tolerance <= scale.high - scale.low):
        issues.append(Issue("must be points of the scale", column="tolerance", found=str(tolerance)))
    if issues:
        raise InputError("No task page can be made of these settings.", issues)
    texts: dict[str, Any] = {name: str(stored.get(name) or "").strip() for name in ("question", "instructions")}
    texts["smaller"] = str(stored.get("smaller") or "").strip() or "sentence"
    return PageSettings(
        notion=notion, scale=scale, tolerance=float(tolerance), rows=rows, language=language, **texts, **own
    )


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


def _scale(stored: Any, issues: list[Issue]) -> RatingScale:
    if stored is None:
        return CLSS
    try:
        return scale_of(stored)
    except InputError as error:
        issues.append(Issue(str(error), column="scale"))
        return CLSS


def _rows(page: Page, stored: Mapping[str, Any], issues: list[Issue]) -> int:
    if page.rows is None:
        return 1
    name, least, usual = page.rows
    value = stored.get(name, usual)
    if not isinstance(value, int) or not least <= value <= MOST_ROWS:
        issues.append(Issue(f"must lie between {least} and {MOST_ROWS}", column=name, found=str(value)))
        return usual
    return value


def columns_of(settings: PageSettings, task_size: int) -> list[str]:
    """The columns of a batch file that the page shows, in order, of a task of this size."""
    return [name for n in range(1, task_size + 1) for name in settings.page.columns(n, settings.rows)]


def whole_page(found: PageSettings, *, task_size: int, target: str = "turkle") -> str:
    """The page for tasks of up to `task_size` items, tuples, targets or texts.

    target : "turkle", where the platform brings the form and its Submit button, or "mturk", in a `<crowd-form>`.
    Raises `InputError` for another target, or a task of nothing.
    """
    if task_size < 1:
        raise InputError(f"A task needs at least one question, not {task_size}.")
    if target not in ("turkle", "mturk"):
        raise InputError(f"The target of a task page is turkle or mturk, not {target!r}.")
    return render("question_task", found.language, settings=found, task_size=task_size, target=target)


def single_question(settings: PageSettings) -> str:
    """One question for the voting page, its texts still variables; names of fields end in 1."""
    return render("question", settings.language, settings=settings)
