"""The frame around every page: the navigation, the project picker, and the errors that are told in words."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from core.errors import RunoffError  # noqa: E402
from ui.project import demo_box  # noqa: E402
from ui.shared import choosers, frame, jobs  # noqa: E402

st.set_page_config(page_title="Runoff", page_icon=str(ROOT / "ui" / "icon.svg"), layout="wide")
page = frame.navigation()
try:
    frame.style_page()
    frame.choose_project()
    jobs.report_ends()
    frame.show_flash()
    jobs.show_under_way()
    demo_box.show_tour(page.url_path or "project")
    with choosers.watched():
        page.run()
except RunoffError as error:
    frame.show_error(error)
frame.end_drawing()
