"""The project: where it stands, the next step, its settings, and new projects."""

from __future__ import annotations

import streamlit as st

from core.errors import RunoffError
from core.store.projects import change_project, create_project, read_log
from core.views.log import log_table
from core.views.words import slug
from ui import cache, frame, project_files
from ui.archived_box import archived_box

NOTIONS = {
    "relatedness": "Relatedness: any strong tie counts, opposites too",
    "similarity": "Similarity: only likeness of meaning counts",
}
LOGGED = 1000  # entries of the log that are shown
KINDS = {
    "real": "Real: only people vote",
    "trial": "Trial: simulated voters may answer too, marked for ever",
}


def new_project() -> None:
    with st.form("new project", clear_on_submit=True):
        name = st.text_input("Name", placeholder="For example: biomedical terms", max_chars=100)
        notion = st.radio("What voters judge", list(NOTIONS), format_func=NOTIONS.get)
        kind = st.radio("Kind", list(KINDS), format_func=KINDS.get)
        if st.form_submit_button("Create project", type="primary"):
            try:
                project_id = create_project(frame.store(), name, kind=kind, notion=notion)
            except RunoffError as error:
                frame.show_error(error)
                return
            st.session_state["project_id"] = project_id
            st.query_params["project"] = project_id
            frame.flash(f"The project {name.strip()} is made. Next: its token lists.")
            st.rerun()


if not st.session_state.get("project_id"):
    st.title("Runoff")
    st.write("Make a project to begin.")
    new_project()
    project_files.import_box(frame.store())
    archived_box(frame.store())
    st.stop()

project = frame.project()
view = cache.load_overview(frame.store(), project)

st.title(frame.plain(project.name))
st.markdown(f"**{frame.plain(view.headline)}**")
if view.simulated:
    st.warning(
        "This project holds votes of simulated voters. Its scores say how Runoff works, and nothing about people.",
        icon=":material/science:",
    )
frame.next_step(view.next_page, frame.plain(view.next_label[:1].lower() + view.next_label[1:]), area_id=view.next_area)

st.subheader("The way of the data")
for step in view.steps:
    mark = ":material/check_circle:" if step.done else ":material/radio_button_unchecked:"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width=150):
            frame.link(step.page, step.title, icon=mark)
        st.caption(frame.plain(step.state))

with st.expander("Settings of this project"), st.form("settings"):
    name = st.text_input("Name", project.name, max_chars=100)
    notion = st.radio(
        "What voters judge",
        list(NOTIONS),
        index=list(NOTIONS).index(project.notion),
        format_func=NOTIONS.get,
        disabled=bool(view.fixed_by),
        help="Fixed once a ballot or the pilot is drawn. Relatedness ranks embeddings by |cos|, similarity by cos.",
    )
    st.caption(f"Seed of the project: {project.seed}. Every draw follows from it.")
    if st.form_submit_button("Save"):
        frame.carry_out(
            change_project,
            frame.store(),
            project.id,
            name=name,
            notion=notion,
            expected_revision=frame.expected(),
            done="The settings are saved.",
        )
with st.expander("New project, import"):
    new_project()
    project_files.import_box(frame.store())
    archived_box(frame.store())
with st.expander("Files, copies, deleting"):
    project_files.files_box(frame.store(), project)
with st.expander("Log: who did what when"):
    log = log_table(read_log(frame.store(), project.id, LOGGED))
    if len(log) == LOGGED:
        st.caption(f"The newest {LOGGED:,} entries. The project file holds all of them.")
    st.dataframe(log, hide_index=True, lazy=True, alt="Log of the project")
    st.download_button(
        "Download the log (CSV)",
        log.to_csv(index=False),
        f"{slug(project.name)}-log.csv",
        "text/csv",
        on_click="ignore",
    )
