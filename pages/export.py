"""The dataset to be given to others: files, datasheet, versions."""

from __future__ import annotations

import streamlit as st

from core.questions import RoundKind
from core.views.export import ExportView
from ui.export import dataset_files
from ui.export.publishing_boxes import datasheet_box, releases_box
from ui.shared import cache, frame, kinds

project = frame.project()
st.title("Export")
standings = cache.load_standings(frame.store(), project)
kind = kinds.choose(project, standings)
if isinstance(kind, RoundKind):
    dataset_files.show_rounds(project, frame.area(project, standings), kind)
    frame.stop()
view: ExportView = cache.load_export(frame.store(), project)
dataset = view.dataset

if dataset.empty:
    frame.nothing_yet("There is no dataset yet: it needs votes.", "collect", "collect votes")

about = dataset.attrs
frame.first_line(f"**{frame.plain(view.said)}**", *frame.of_dataset(about))

model_answers = dataset_files.with_model_answers(project)
dataset_files.whole(project, model_answers)
dataset_files.formats(view)
datasheet_box(project, view.fields)
releases_box(project, view, model_answers)

st.subheader("What is in it")
st.caption(
    "The first ten items, under the names of the file's columns. The 90% interval of the score goes from lower to "
    "upper, that of the rank, where there is one, from rank_lower to rank_upper; ballots is how many the item was "
    "in."
)
three = dict.fromkeys(("score", "lower", "upper"), st.column_config.NumberColumn(format="%.3f"))
st.dataframe(
    dataset.head(10),
    hide_index=True,
    column_config=three,
    placeholder="–",
    alt="The first ten rows of the dataset",
)
with st.expander("The description"):
    st.code(view.description, language=None, wrap_lines=True)  # the colours of JSON would be too faint
