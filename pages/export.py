"""The dataset to be given to others: files, datasheet, versions."""

from __future__ import annotations

import streamlit as st

from core.base.plurals import many
from core.views.export import ExportView
from ui.export import dataset_files
from ui.export.datasheet_box import datasheet_box
from ui.export.releases_box import releases_box
from ui.shared import cache, frame

project = frame.project()
view: ExportView = cache.load_export(frame.store(), project)
dataset = view.dataset

st.title("Export")
if dataset.empty:
    frame.nothing_yet("There is no dataset yet: it needs votes.", "collect", "collect votes")

about = dataset.attrs
n_ballots = max(about["ballots_closed"], 1)
counts = {
    "items": many(len(dataset), "item"),
    "votes": many(about["votes"], "vote"),
    "voters": view.voters.said,
    "ballots": many(n_ballots, "ballot"),
}
st.markdown("**{items} with scores, from {votes} of {voters} in {ballots}.**".format(**counts))
if about["provisional"]:
    st.info(
        "Provisional: not all ballots are closed. File names and description say so.", icon=":material/hourglass_top:"
    )
if about["simulated_votes"]:
    st.warning(
        "The dataset holds votes of simulated voters. File names and description say so.", icon=":material/science:"
    )

dataset_files.whole(project)
dataset_files.formats(view)
datasheet_box(project, view.fields)
releases_box(project, view)

st.subheader("What is in it")
st.caption(
    "The first ten items, under the names of the file's columns. The 90 % interval of the score goes from lower to "
    "upper, that of the rank, where there is one, from rank_lower to rank_upper; ballots is how many the item was "
    "in."
)
three = dict.fromkeys(("score", "lower", "upper"), st.column_config.NumberColumn(format="%.3f"))
st.dataframe(dataset.head(10), hide_index=True, column_config=three, alt="The first ten rows of the dataset")
with st.expander("The description"):
    st.code(view.description, language=None, wrap_lines=True)  # the colours of JSON would be too faint
