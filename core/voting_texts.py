"""What the voting page shows of a task: the question by the template of all platforms, and what explains it."""

from __future__ import annotations

from collections.abc import Mapping

from .platforms.batch import FIELDS
from .platforms.template import NOTIONS, fill, paragraphs_of, template
from .store.page_views import View
from .voting_questions import explained as explained_round
from .voting_questions import question_html


def task_html(view: View, texts: Mapping[str, str]) -> str:
    """The one question of the page, by the template of all platforms, with its texts filled in and escaped."""
    if view.round is not None:
        return question_html(view.round, view.notion, texts)
    wording = view.wording or {}
    page = template(
        n_comparisons=1,
        notion=view.notion,
        ties_allowed=view.settings.ties_allowed,
        question=wording.get("question") or None,
        instructions=wording.get("instructions") or None,
        target="page",
        language=view.language.code,
    )
    return fill(page, {name: texts.get(name, "") for name in FIELDS})


def explained(view: View) -> tuple[str, list[str]]:
    """The question and the paragraphs of the instructions, as plain texts."""
    if view.round is not None:
        return explained_round(view.round, view.notion)
    asked, standard = map(view.language.text, NOTIONS[view.notion])
    wording = view.wording or {}
    return wording.get("question") or asked, paragraphs_of(wording.get("instructions") or standard)
