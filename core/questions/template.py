"""The page on which voters answer a task: one HTML template for Turkle, Mechanical Turk and previews.

The template is plain HTML with `${variables}` named as the columns of the batch file. It works without any
external file, by mouse, touch, keyboard and screen reader, on a phone and in a dark colour scheme. Look and behaviour
stand in `template.css` and `template.js` beside this module, its HTML in `templates/`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ..base.templating import environment
from ..errors import InputError, Issue
from ..i18n import STANDARD, translatable
from ..i18n import language as language_of
from ..votes.text import encode
from .batch import suffixes
from .examples import Example

NOTIONS = {
    "relatedness": (
        translatable("Which two words are more related?"),
        translatable(
            "Two words are related when what they stand for has to do with each other in any way: a part, a place, "
            "a cause, an opposite, things met together. They don’t have to mean the same.\n\n"
            "Compare the two pairs and choose the pair whose words are more related. Go by your own first impression; "
            "there is no right answer to look up."
        ),
    ),
    "similarity": (
        translatable("Which two words are more similar in meaning?"),
        translatable(
            "Two words are similar when they mean nearly the same or stand for the same kind of thing. Opposites, or "
            "things that are only met together, are not similar.\n\n"
            "Compare the two pairs and choose the pair whose words are more similar. Go by your own first impression; "
            "there is no right answer to look up."
        ),
    ),
}
TIE = {"relatedness": translatable("Both equally related"), "similarity": translatable("Both equally similar")}
UNKNOWN = translatable("I don’t know a word here")
_DARK, _SCHEMES = "@media (prefers-color-scheme: dark)", "color-scheme: light dark;"  # in template.css
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def template(
    *,
    n_comparisons: int,
    notion: str,
    ties_allowed: bool,
    question: str | None = None,
    instructions: str | None = None,
    examples: Sequence[Example] = (),
    target: str = "turkle",
    language: str = STANDARD,
) -> str:
    """The page for tasks of up to `n_comparisons` comparisons.

    Each comparison is a group of radio buttons `choice_n` (`choice` where a task holds one comparison) with the values
    left, right, tie (where `ties_allowed`) and unknown. The page's script removes comparisons whose cells are empty.
    Keys: ← or 1 the left pair, → or 2 the right one, ↓ or 3 a tie, 0 for a word that isn't known, ↑ back.

    Parameters: `notion`, relatedness or similarity, chooses the wording; `question` and `instructions` replace it
    (plain text; a blank line begins a paragraph); `examples` stand between them and the first comparison, folded away
    on a phone; `target`, "turkle" or "mturk": Turkle brings its own form and
    Submit button, Mechanical Turk needs a `<crowd-form>` around the same page; "page" is the voting page: one
    comparison, style and script in files of their own (`asset`), the instructions folded away. `language`, a code of
    `LANGUAGES`, is that of all texts but `question`, `instructions` and `examples`; names and values of fields stay.
    Raises `InputError` for another notion or target, or fewer than one comparison.

    >>> page = template(n_comparisons=2, notion="relatedness", ties_allowed=True)
    >>> "${left_a_2}" in page and 'name="choice_2" value="tie"' in page and "<form" not in page
    True
    """
    _check(n_comparisons, notion, target)
    text = language_of(language).text
    return render(
        "own_page" if target == "page" else "task",
        language,
        target=target,
        question=question or text(NOTIONS[notion][0]),
        instructions=paragraphs_of(instructions or text(NOTIONS[notion][1])),
        examples=examples,
        n_comparisons=n_comparisons,
        suffixes=suffixes(n_comparisons),
        ties_allowed=ties_allowed,
        tie=TIE[notion],
        unknown=UNKNOWN,
    )


def render(name: str, language: str, **values: Any) -> str:
    """A page by one of this package's templates; what it prints is written as in a batch file (`text.encode`)."""
    page = environment(__package__, encode).get_template(f"{name}.html.j2")
    return page.render(language=language_of(language), asset=asset, **values)


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a plain text; a blank line begins one."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def asset(name: str) -> str:
    """The template's style ("template.css") or script ("template.js"), for pages that link to them."""
    # Whatever script comes first brings the texts with it.
    return packaged("language.js") + packaged(name) if name == "template.js" else packaged(name)


def fill(page: str, row: Mapping[str, str]) -> str:
    """`page` with its variables replaced by plain texts, escaped; a variable that `row` lacks becomes empty.

    >>> fill("<p>${left_a}</p>", {"left_a": "R&D"})
    '<p>R&amp;D</p>'
    """
    return _VARIABLE.sub(lambda match: encode(row.get(match[1], "")), page)


def render_preview(page: str, row: Mapping[str, str], *, scheme: str | None = None, language: str = STANDARD) -> str:
    """A whole HTML document that shows one task: `page` with its variables filled in, and a button that sends nothing.

    `row` maps variables to plain texts (a batch's row before it is encoded); they are escaped here. A comparison of
    which `row` has no variable at all stays empty, as in a task that is shorter than others. `scheme`, "light" or
    "dark", shows the page as a browser with that setting would; None follows the browser. `language` is the page's.
    Raises `InputError` naming the variables that `row` lacks of the other comparisons, or all if it has none.

    >>> "R&amp;D" in render_preview("<p>${left_a}</p>", {"left_a": "R&D"})
    True
    """
    wanted = set(_VARIABLE.findall(page))
    there = {_number(name) for name in wanted & set(row)}
    missing = sorted(name for name in wanted - set(row) if _number(name) in there or not there)
    if missing:
        raise InputError(
            "The preview lacks values for the template's variables.",
            [Issue("no value", column=name) for name in missing],
        )
    if scheme is not None:
        page = page.replace(_DARK, "@media all" if scheme == "dark" else "@media not all", 1)
        page = page.replace(_SCHEMES, f"color-scheme: {scheme};", 1)
    return render("preview", language, task=fill(page, row))


def _number(variable: str) -> str:
    """The comparison that a variable belongs to: the digits at its end."""
    return variable[len(variable.rstrip("0123456789")) :]


def _check(n_comparisons: int, notion: str, target: str) -> None:
    issues = []
    if n_comparisons < 1:
        issues.append(Issue("a task needs at least one comparison", column="n_comparisons", found=str(n_comparisons)))
    if notion not in NOTIONS:
        issues.append(Issue(f"must be one of {', '.join(NOTIONS)}", column="notion", found=notion))
    if target not in ("turkle", "mturk", "page"):
        issues.append(Issue("must be turkle or mturk (or page, the voting page)", column="target", found=target))
    if issues:
        raise InputError("No template can be made of this.", issues)


def packaged(name: str) -> str:
    """A text that stands beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
