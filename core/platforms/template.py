"""The page on which voters answer a task: one HTML template for Turkle, Mechanical Turk and previews.

The template is plain HTML with `${variables}` named as the columns of the batch file. It works without any
external file, by mouse, touch, keyboard and screen reader, on a phone and in a dark colour scheme. Look and behaviour
stand in `template.css` and `template.js` beside this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from ..errors import InputError, Issue
from ..examples import Example
from ..language import STANDARD, Language, translatable
from ..language import language as language_of
from .batch import suffixes
from .text import encode

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
_CROWD = "https://assets.crowd.aws/crowd-html-elements.js"
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
    spoken = language_of(language)
    asked = question or spoken.text(NOTIONS[notion][0])
    paragraphs = paragraphs_of(instructions or spoken.text(NOTIONS[notion][1]))
    keys = f'<p class="ro-keys">{_keys(spoken, n_comparisons, ties_allowed)}</p>'
    n_places = 1 if target == "page" else n_comparisons
    places = [
        _comparison(n, n_places, suffix, encode(asked), notion, ties_allowed, spoken)
        for n, suffix in enumerate(suffixes(n_places), 1)
    ]
    if target == "page":
        return _own_page(asked, paragraphs, keys, places[0], spoken)
    quiet = "" if n_comparisons > 1 else " ro-quiet"
    page = "\n".join(
        [
            f"<style>\n{packaged('template.css')}</style>",
            opening(spoken, "template.js"),
            f"<h1>{encode(asked)}</h1>",
            *(f"<p>{encode(part)}</p>" for part in paragraphs),
            *examples_shown(examples, spoken),
            keys,
            *places,
            f'<p class="ro-progress{quiet}" role="status" aria-live="polite"></p>',
            "</div>",
            f"{without_script(spoken)}<script>\n{asset('template.js')}</script>",
            "",
        ]
    )
    return wrapped(page, target)


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a plain text; a blank line begins one."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def _keys(spoken: Language, n_comparisons: int, ties_allowed: bool) -> str:
    """What keys do, as HTML."""
    text = spoken.text
    keys = [text("<kbd>←</kbd> left pair"), text("<kbd>→</kbd> right pair")]
    keys += [text("<kbd>↓</kbd> equal")] if ties_allowed else []
    keys += [text("<kbd>0</kbd> a word you don’t know")]
    keys += [text("<kbd>↑</kbd> back")] if n_comparisons > 1 else []
    told = text("With a keyboard: {keys}.", keys=", ".join(keys))
    return f"{told} {text('An answer moves you on to the next comparison.')}" if n_comparisons > 1 else told


def opening(spoken: Language, *scripts: str, classes: str = "ro") -> str:
    """The beginning of a page's root, with the texts that its scripts show in other languages than English."""
    texts = spoken.of_scripts(*scripts)
    data = f' data-texts="{encode(texts)}"' if texts else ""
    return f'<div class="{classes}" id="runoff" lang="{spoken.code}"{data}>'


def without_script(spoken: Language) -> str:
    """What stands where JavaScript is switched off."""
    told = spoken.text("Please switch on JavaScript; without it, it may be impossible to submit.")
    return f"<noscript><p>{told}</p></noscript>"


def wrapped(page: str, target: str) -> str:
    """`page` as a platform takes it: Mechanical Turk in a `<crowd-form>`, Turkle as it is."""
    if target == "mturk":
        return f'<script src="{_CROWD}"></script>\n<crowd-form answer-format="flatten-objects">\n{page}</crowd-form>\n'
    return page


def _own_page(question: str, paragraphs: list[str], keys: str, comparison: str, spoken: Language) -> str:
    explained = "".join(f"<p>{encode(part)}</p>" for part in paragraphs)
    return (
        f'{opening(spoken, "template.js", "vote.js", "offline.js")}\n<h1 dir="auto">{encode(question)}</h1>\n'
        f'<details class="ro-help"><summary>{spoken.text("What is asked")}</summary>{explained}</details>\n'
        f"{keys}\n{comparison}\n</div>\n"
    )


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
    filled, text = fill(page, row), language_of(language).text
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text('Preview of a task')}</title>\n</head>\n<body>\n<main>\n"
        "<form data-preview onsubmit=\"document.getElementById('sent').textContent = "
        f"'{text('A preview: nothing was sent.')}'; return false\">\n"
        f'{filled}<input type="submit" value="{text("Submit")}">\n<p id="sent" role="status"></p>\n'
        "</form>\n</main>\n</body>\n</html>\n"
    )


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


def examples_shown(examples: Sequence[Example], spoken: Language) -> list[str]:
    """The examples, each a row of two pairs with the answer below; nothing at all where there are none."""
    if not examples:
        return []
    return [
        '<details class="ro-examples" open>',
        f"<summary>{spoken.many(len(examples), 'Example', 'Examples')}</summary>",
        *(_example(example, spoken) for example in examples),
        "</details>",
    ]


def _example(example: Example, spoken: Language) -> str:
    """Pairs stand beside each other, or on a phone below each other, so the answer is told by its words."""
    words = {
        side: f'<bdi dir="auto">{encode(pair[0])}</bdi> <span class="ro-with">{spoken.text("and")}</span> '
        f'<bdi dir="auto">{encode(pair[1])}</bdi>'
        for side, pair in (("left", example.left), ("right", example.right))
    }
    pairs = " ".join(
        f'<span class="ro-shown{" ro-chosen" if example.answer in (side, "tie") else ""}">{text}</span>'
        for side, text in words.items()
    )
    why = f' <bdi dir="auto">{encode(example.why)}</bdi>' if example.why else ""
    answer = words.get(example.answer, spoken.text("both equally"))
    told = spoken.text("Answer: {answer}.", answer=f"<strong>{answer}</strong>")
    return f'<div class="ro-example"><p class="ro-both">{pairs}</p>\n<p>{told}{why}</p></div>'


def _comparison(n: int, of: int, suffix: str, question: str, notion: str, ties_allowed: bool, spoken: Language) -> str:
    """One comparison: a fieldset with two cards and, below them, the answers that choose neither."""
    name = f"choice{suffix}"
    count = f'<span class="ro-count">{spoken.text("{at} of {of}", at=n, of=of)}</span> ' if of > 1 else ""
    again = f'<span class="ro-hidden">{question}</span>'
    others = [("tie", spoken.text(TIE[notion]))] if ties_allowed else []
    others.append(("unknown", spoken.text(UNKNOWN)))
    small = "".join(
        f'<label class="ro-small"><input type="radio" name="{name}" value="{value}" required>'
        f"<span>{escape(text)}</span></label>"
        for value, text in others
    )
    sides = {"left": spoken.text("Left"), "right": spoken.text("Right")}
    named = {
        side: spoken.text("{side} pair", side=f'<span class="ro-{side}">{text}</span>') for side, text in sides.items()
    }
    cards = "".join(
        f'<label class="ro-card"><input type="radio" name="{name}" value="{side}" required>'
        f'<span class="ro-hidden">{told}: </span>'
        f'<span class="ro-pair"><bdi class="ro-token" dir="auto">${{{side}_a{suffix}}}</bdi> '
        f'<span class="ro-and">{spoken.text("and")}</span> <bdi class="ro-token" dir="auto">${{{side}_b{suffix}}}</bdi>'
        f'<span class="ro-area" dir="auto">${{area_{side}{suffix}}}</span></span></label>'
        for side, told in named.items()
    )
    return (
        f'<fieldset class="ro-comparison" tabindex="-1"><legend>{count}{again}</legend>\n'
        f'<div class="ro-cards">{cards}</div>\n<div class="ro-others">{small}</div></fieldset>'
    )
