"""The project: where it stands, the next step, its settings, and new projects."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.commands.projects import other_name_text
from core.store.projects.archive import delete_project
from core.store.projects.project_commands import change_project, is_untouched, read_log
from core.tabular.csv_writing import table_for_spreadsheets
from core.views.log import log_table, newest_head
from ui.project import demo_box, project_files
from ui.project.new_project import NOTIONS, new_box
from ui.shared import cache, choosers, frame
from ui.shared.frame import SIMULATED

LOGGED = 1000  # entries of the log that are shown
HEAD_HELP = (
    "A fingerprint of the log and the votes up to that entry. Keep it outside this workspace: as long as the command "
    "`check`, given this head, finds it there, nothing before it was changed."
)

if not st.session_state.get("project_id"):
    st.title(frame.plain("Runoff"))
    st.markdown("**There is no project yet. Make one to begin.**")
    new_box()
    frame.stop()

project = frame.project()
view = cache.load_overview(frame.store(), project)

st.title(frame.plain(project.name))
is_introduced = demo_box.show(project)
frame.first_line(f"**{frame.plain(view.headline)}**", *([SIMULATED] if view.simulated and not is_introduced else []))
frame.next_step(view.next_page, frame.plain(view.next_label[:1].lower() + view.next_label[1:]), area_id=view.next_area)

st.subheader("Steps")
for step in view.steps:
    mark = ":material/check_circle:" if step.done else ":material/radio_button_unchecked:"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width=150):
            frame.link(step.page, step.title, icon=mark)
        st.caption(frame.plain(step.state))

with st.expander("Settings of this project"), st.form("settings"):
    name = st.text_input("Name", project.name, max_chars=100)
    notion = choosers.radio(
        "What voters judge",
        dict(NOTIONS),
        project.notion,
        key=f"notion-of-{project.id}-{project.notion}",
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
            done=lambda actual: f"The settings are saved. {other_name_text(actual, name)}".rstrip(),
        )
with st.expander("New project, import"):
    new_box()
with st.expander("Files, copies, deleting"):
    project_files.files_box(frame.store(), project)
with st.expander("Log: who did what when"):
    entries = read_log(frame.store(), project.id, LOGGED)
    log = log_table(entries)
    if len(log) == LOGGED:
        st.caption(f"The newest {LOGGED:,} entries. The project file holds all of them.")
    if head := newest_head(frame.store(), project.id):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(head.said, help=HEAD_HELP, width="content")
            frame.copy_button("Copy", head.head, key=f"copy-head-{project.id}")
    st.dataframe(log, hide_index=True, lazy=True, alt="Log of the project")
    st.download_button(
        "Download the log (CSV)",
        partial(table_for_spreadsheets, log),
        f"{slug(project.name)}-log.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
if project.kind != "demo" and is_untouched(frame.store(), project.id):
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Undo: remove this project", icon=":material/undo:"):
            done = f"{project.name} is removed. A copy lies in the workspace's folder backups."
            frame.carry_out(
                delete_project,
                frame.store(),
                project.id,
                project.name,
                done=done,
                expected_revision=frame.expected(),
            )
        st.caption("There are no votes yet, so this project can still be removed as if it had never been made.")
