"""A new project: the form, and what brings one that exists; nothing of another project."""

from __future__ import annotations

import streamlit as st

from ui.project.new_project import new_box
from ui.shared import frame

frame.close_side()
st.title("New project")
new_box()
if st.session_state.get("project_id") and st.button("Cancel", icon=":material/close:"):
    frame.lead_on("project")
