"""The pages on which people rate, sort and rate, name best and worst, put into order, or write, as HTML templates.

Like the comparison's page (`template`): plain HTML with `${variables}` named as the batch file's columns, no external
file, by mouse, touch and keyboard, on a phone and in the dark.

| scheme | columns, with n the place in the task | fields |
|---|---|---|
| rating, sort-then-rate | `item_id_n, token_a_n, token_b_n` | `rating_n`, a value of the scale; `gold_n` |
| best-worst | `tuple_n_item_id_k, tuple_n_token_a_k, tuple_n_token_b_k` | `best_n`, `worst_n`: k |
| order | `order_n_target, order_n_word_k` | `order_n`: all k, the most related first, as `3 1 2` |
| writing | `text_id_n, larger_n, wanted_n, anchor_n` | `text_n` |

`unknown_n` is `1` where somebody can't answer; the other fields of n are then absent or empty. A task may hold fewer
items than the page, a tuple or an order fewer rows: empty cells are removed by the script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from .scheme_parts import box, gold_box, scale_list
from .scheme_settings import SchemeSettings, scheme_settings
from .scheme_wording import keys_of, paragraphs_of, question_of, spoken_by
from .template import opening, packaged, without_script, wrapped
from .text import encode

_SCRIPTS = {
    "rating": ("scheme.js", "scheme_rating.js", "scheme_begin.js"),
    "sort-then-rate": ("scheme.js", "scheme_drag.js", "scheme_rating.js", "scheme_sorting.js"),
    "best-worst": ("scheme.js", "scheme_best_worst.js"),
    "order": ("scheme.js", "scheme_drag.js", "scheme_order.js"),
    "writing": ("scheme.js", "scheme_writing.js"),
}


def scheme_template(scheme: str, settings: Mapping[str, Any], *, task_size: int, target: str = "turkle") -> str:
    """The page for tasks of up to `task_size` items, tuples, targets or texts.

    scheme : rating, sort-then-rate, best-worst, order or writing; settings : see `scheme_settings.scheme_settings`;
    target : "turkle", where the platform brings the form and its Submit button, or "mturk", in a `<crowd-form>`.
    Raises `InputError` for another scheme or target, settings that make no sense, or a task of nothing.

    >>> page = scheme_template("rating", {"scale": "CLSS"}, task_size=2)
    >>> "${token_b_2}" in page and 'name="rating_2" min="0" max="4" step="0.25"' in page and "<form" not in page
    True
    """
    found = scheme_settings(scheme, settings)
    if task_size < 1:
        raise InputError(f"A task needs at least one question, not {task_size}.")
    if target not in ("turkle", "mturk"):
        raise InputError(f"The target of a task page is turkle or mturk, not {target!r}.")
    question = encode(question_of(found))
    body = [
        f"<style>\n{scheme_style()}</style>",
        _opening(found),
        *_head(found, question),
        *(gold_box(found, n, question) for n in range(1, len(found.gold) + 1)),
        '<div id="ro-boxes">',
        *(box(found, n, task_size, question) for n in range(1, task_size + 1)),
        "</div>",
        '<p class="ro-progress" role="status" aria-live="polite"></p>',
        "</div>",
        without_script(spoken_by(found)),
        f"<script>\n{scheme_script(found.scheme)}</script>",
        "",
    ]
    return wrapped("\n".join(body), target)


def scheme_box(settings: SchemeSettings) -> str:
    """One question for the voting page, its texts still variables; names of fields end in 1."""
    question = encode(question_of(settings))
    explained = "".join(f"<p>{encode(part)}</p>" for part in paragraphs_of(settings))
    summary = spoken_by(settings).text("What is asked")
    scale = [scale_list(settings)] if settings.kind == "rating" else []
    return "\n".join(
        [
            _opening(settings),
            f'<h1 dir="auto">{question}</h1>',
            f'<details class="ro-help"><summary>{summary}</summary>{explained}</details>',
            f'<p class="ro-keys">{keys_of(settings, is_alone=True)}</p>',
            *scale,
            f'<div id="ro-boxes">{box(settings, 1, 1, question)}</div>',
            "</div>",
        ]
    )


def scheme_style() -> str:
    """The style of these pages: the comparison's, and what they have more."""
    return packaged("template.css") + scheme_style_only()


def scheme_style_only() -> str:
    """What these pages have more in style than the comparison's."""
    return packaged("scheme.css")


def scheme_script(scheme: str) -> str:
    """The script of a scheme's page."""
    parts = "".join(packaged(name) for name in ("language.js", *_SCRIPTS[scheme]))
    return f'(function () {{\n"use strict";\n{parts}}})();\n'


def _head(settings: SchemeSettings, question: str) -> list[str]:
    head = [f'<h1 dir="auto">{question}</h1>', *(f"<p>{encode(part)}</p>" for part in paragraphs_of(settings))]
    if settings.kind == "rating":
        head.append(scale_list(settings))
    return [*head, f'<p class="ro-keys">{keys_of(settings)}</p>']


def _opening(settings: SchemeSettings) -> str:
    return opening(spoken_by(settings), *_SCRIPTS[settings.scheme], classes=f"ro ro-scheme-{settings.scheme}")
