"""What the voting page shows of a task, and takes from its form: by the templates of all platforms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ..questions import RoundSettings, round_kind, round_kinds
from ..questions.base import UNKNOWN
from ..questions.task_page import PageSettings, columns_of, settings_of_page, single_question
from ..questions.template import FIELDS, NOTIONS, Wording, fill, packaged, paragraphs_of, template
from ..questions.template import asset as template_asset
from ..store.voting.views import View

_template = lru_cache(maxsize=100)(template)  # one page for all the votes of a ballot


def task_html(view: View, texts: Mapping[str, str]) -> str:
    """The one question of the page, by the template of all platforms, with its texts filled in and escaped."""
    if view.round is not None:
        settings = _page_settings(view.round, view.notion)
        return fill(single_question(settings), {name: texts.get(name, "") for name in columns_of(settings, 1)})
    wording = view.wording or {}
    page = _template(
        n_comparisons=1,
        notion=view.notion,
        ties_allowed=view.settings.ties_allowed,
        wording=Wording(
            wording.get("question") or "", wording.get("instructions") or "", language=view.language.code
        ),
        target="page",
    )
    return fill(page, {name: texts.get(name, "") for name in FIELDS})


def explained(view: View) -> tuple[str, list[str]]:
    """The question and the paragraphs of the instructions, as plain texts."""
    if view.round is not None:
        settings = _page_settings(view.round, view.notion)
        return settings.asked, settings.paragraphs
    asked, standard = map(view.language.text, NOTIONS[view.notion])
    wording = view.wording or {}
    return wording.get("question") or asked, paragraphs_of(wording.get("instructions") or standard)


def _page_settings(found: RoundSettings, notion: str) -> PageSettings:
    """A round's settings as its page takes them; one question stands alone there, so nothing is sorted first."""
    stored = found.stored() | {"notion": notion, "sort_first": False, "gold": []}
    return settings_of_page(round_kind(found.scheme), stored)


def answer_of(fields: Mapping[str, str]) -> str:
    """The answer that a form's fields hold, as its kind of question writes it, "" where nothing is filled in.

    >>> answer_of({"best_1": "3", "worst_1": "1"}), answer_of({"unknown_1": "1", "order_1": "2 1"}), answer_of({})
    ('best=3;worst=1', 'unknown', '')
    """
    if fields.get("unknown_1", "").strip():
        return UNKNOWN
    written = (
        kind.written(*(fields.get(f"{name}_1", "").strip() for name in kind.fields)) for kind in round_kinds().values()
    )
    return next(filter(None, written), "")


def asset(name: str) -> str | None:
    """A file of the page: its style, or the script of a kind of question; None for any other name."""
    if name in ("template.css", "template.js"):
        return template_asset(name)
    if name == "scheme.css":
        return packaged("scheme.css")
    found = round_kinds().get(name.removesuffix(".js"))
    return found.script() if found is not None and name.endswith(".js") else None
