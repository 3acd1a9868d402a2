"""What the voting page shows and takes where a round asks for ratings, best and worst, or orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from .platforms.scheme_parts import columns_of
from .platforms.scheme_settings import SchemeSettings, scheme_settings
from .platforms.scheme_templates import scheme_box, scheme_script, scheme_style_only
from .platforms.scheme_wording import paragraphs_of, question_of
from .platforms.template import asset as template_asset
from .platforms.template import fill
from .schemes.collected import BEST_WORST, ORDER, RATING, UNKNOWN, RoundSettings

FIELDS = ("rating_1", "best_1", "worst_1", "order_1", "unknown_1")
_SCRIPTS = {f"{scheme}.js": scheme for scheme in (RATING, BEST_WORST, ORDER)}


def page_settings(found: RoundSettings, notion: str) -> SchemeSettings:
    """A round's settings as its page takes them; one question stands alone there, so nothing is sorted first."""
    stored = {"question": found.question, "instructions": found.instructions, "size": found.size, "notion": notion}
    stored["language"] = found.language
    anchors = [[anchor.value, anchor.text] for anchor in found.scale.anchors]
    stored["scale"] = {**asdict(found.scale), "anchors": anchors}
    stored["words"] = max((len(group.positives) for group in found.groups), default=2)
    return scheme_settings(found.scheme, stored | {"sort_first": False})


def question_html(found: RoundSettings, notion: str, texts: Mapping[str, str]) -> str:
    """The one question of the page, with its texts filled in and escaped."""
    settings = page_settings(found, notion)
    return fill(scheme_box(settings), {name: texts.get(name, "") for name in columns_of(settings, 1)})


def explained(found: RoundSettings, notion: str) -> tuple[str, list[str]]:
    """The question and the paragraphs of its explanation, as plain texts."""
    settings = page_settings(found, notion)
    return question_of(settings), paragraphs_of(settings)


def answer_of(fields: Mapping[str, str]) -> str:
    """The answer that a form's fields hold, in the form of `schemes.collected`, "" where nothing is filled in.

    >>> answer_of({"best_1": "3", "worst_1": "1"}), answer_of({"unknown_1": "1", "order_1": "2 1"}), answer_of({})
    ('best=3;worst=1', 'unknown', '')
    """
    given = {name: fields.get(name, "").strip() for name in FIELDS}
    if given["unknown_1"]:
        return UNKNOWN
    if given["best_1"] or given["worst_1"]:
        return f"best={given['best_1']};worst={given['worst_1']}"
    return given["rating_1"] or given["order_1"]


def asset(name: str) -> str | None:
    """A file of the page: its style, or the script of a scheme; None for any other name."""
    if name in ("template.css", "template.js"):
        return template_asset(name)
    if name == "scheme.css":
        return scheme_style_only()
    return scheme_script(_SCRIPTS[name]) if name in _SCRIPTS else None
