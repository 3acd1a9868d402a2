"""The project's embeddings against what the people of a round said."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.questions import RoundKind
from core.store.projects.project_commands import Project
from core.views.kinds import rounds as view
from core.views.kinds import target_groups
from core.views.kinds.rounds import RoundView
from ui.shared import cache, frame, kinds
from ui.shared.tables import download, show_table


def show_rounds(project: Project, area_id: int | None, kind: RoundKind) -> None:
    """All of the page for one kind."""
    closed = [one for one in kinds.rounds(project, area_id, kind) if not one.round.is_open]
    if not closed:
        frame.nothing_yet(f"No round of {kind.about.label} is closed yet.", "collect", "collect answers")
    round_view = kinds.one_of(project, area_id, closed)
    _models(project, round_view, view.file_stem_of(project.name, round_view.round))


def _models(project: Project, round_view: RoundView, stem: str) -> None:
    opened, problems = view.opened_models(frame.store(), project.id)
    for problem in problems:
        st.warning(frame.plain(problem))
    if not opened:
        st.caption("There is no embedding in this project yet: import one on the Embeddings page.")
        return
    ranked = partial(view.models, opened=opened)
    make = partial(cache.load_round, ranked, frame.store(), project, round_view.round)
    try:
        table = make()
    except RunoffError as error:
        frame.show_error(error)
        return
    about = view.MODEL_HELP if round_view.round.kind.about.scores_items else target_groups.HELP
    show_table(table, about, "Models against the round")
    download("Download the models (CSV)", make, f"{stem}-models.csv")
