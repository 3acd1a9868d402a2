"""Everything that makes a project: a form, a project file, archived results."""

from __future__ import annotations

import streamlit as st

from core.commands.projects import other_name_text
from core.errors import RunoffError
from core.questions import KINDS as QUESTIONS
from core.questions import RoundKind
from core.store.projects.project_commands import create_from_template, create_project, get_project
from ui.project import project_files
from ui.project.archived_box import archived_box
from ui.shared import choosers, frame, kinds

NOTIONS = {
    "relatedness": "Relatedness: any strong tie counts, opposites too",
    "similarity": "Similarity: only likeness of meaning counts",
}
KINDS = {"real": "Real: only people vote", "trial": "Trial: simulated voters may answer too, permanently marked"}
STARTS = {
    "empty": "Empty: your own token lists",
    "template": "Template: two areas of everyday words, a plan, and of comparisons a drawn pilot of 50",
}


def new_project() -> None:
    """The form of a project of one's own, empty or from the template."""
    with st.form("new project", clear_on_submit=True):
        name = st.text_input("Name", placeholder="For example: biomedical terms", max_chars=100)
        notion = choosers.radio(
            "What voters judge",
            dict(NOTIONS),
            key="new-notion",
            help="Relatedness ranks embeddings by |cos|, similarity by cos. It can be changed until a ballot is drawn.",
        )
        kind = choosers.radio(
            "Kind",
            dict(KINDS),
            key="new-kind",
            help="Choose a trial to see the whole process first, without people.",
        )
        asks = choosers.radio(
            kinds.LABEL,
            {name: kinds.named(asked) for name, asked in QUESTIONS.items()},
            key="new-asks",
            horizontal=True,
            help="It can be changed on the Plan page until something is drawn.",
        )
        starts = dict(STARTS)
        start = choosers.radio("Start from", starts, key="new-start")
        if st.form_submit_button("Create project", type="primary"):
            make = create_project if start == "empty" else create_from_template
            try:
                project_id = make(frame.store(), name, kind=kind, notion=notion, asks=asks)
            except RunoffError as error:
                frame.show_error(error)
                return
            drawn = "look at its plan" if isinstance(QUESTIONS[asks], RoundKind) else "let people vote on the pilot"
            following = "its token lists" if start == "empty" else drawn
            given = get_project(frame.store(), project_id).name
            done = f"The project {given} is made. Next: {following}. It can be undone at the end of this page."
            frame.flash(f"{done} {other_name_text(given, name)}".rstrip())
            frame.open_project(project_id)


def new_box() -> None:
    """Everything that makes a project: a form, a project file, archived results."""
    new_project()
    st.caption("Or bring an existing one: a Runoff project file, or the result files of an old campaign.")
    project_files.import_box(frame.store())
    archived_box(frame.store())
