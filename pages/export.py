"""The dataset as files."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.dataset import check_for_gensim, for_gensim, to_csv, to_json, to_tsv
from core.errors import RunoffError
from core.views.scores import ScoresView, file_stem
from core.views.words import many
from ui import cache, frame

project = frame.project()
view: ScoresView = cache.load_scores(frame.store(), project)
dataset = view.dataset

st.title("Export")
if dataset.empty:
    frame.nothing_yet("There is no dataset yet: it needs votes.", "collect", "collect votes")

about = dataset.attrs
n_ballots = max(about["ballots_closed"], 1)
st.markdown(
    f"**{many(len(dataset), 'item')} with scores, from {many(about['votes'], 'vote')} in {many(n_ballots, 'ballot')}.**"
)
if about["provisional"]:
    st.info(
        "Provisional: not all ballots are closed. File names and description say so.", icon=":material/hourglass_top:"
    )
if about["simulated_votes"]:
    st.warning(
        "The dataset holds votes of simulated voters. File names and description say so.", icon=":material/science:"
    )

stem = file_stem(about)
FILES = (
    ("Dataset (CSV)", partial(to_csv, dataset), f"{stem}.csv", "text/csv", "For programs. Reads back exactly."),
    ("Dataset (TSV)", partial(to_tsv, dataset), f"{stem}.tsv", "text/tab-separated-values", "The same, with tabs."),
    (
        "Description (JSON)",
        partial(to_json, about),
        f"{stem}.json",
        "application/json",
        "What the scores mean: notion, estimator, scale, interval, plan, seeds, versions. Keep it beside the CSV.",
    ),
    (
        "For gensim",
        partial(for_gensim, dataset),
        f"{stem}-gensim.tsv",
        "text/tab-separated-values",
        "For gensim's evaluate_word_pairs: two words and a score a line.",
    ),
    (
        "For a spreadsheet (CSV)",
        partial(to_csv, dataset, spreadsheet=True),
        f"{stem}-spreadsheet.csv",
        "text/csv",
        "Tokens that a spreadsheet would take for a formula get an apostrophe. Not for programs.",
    ),
)
for label, make, filename, mime, about_file in FILES:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        problem = ""
        if make.func is for_gensim:
            try:
                check_for_gensim(dataset)
            except RunoffError as error:
                problem = str(error)
        st.download_button(
            label,
            make,
            filename,
            mime,
            icon=":material/download:",
            on_click="ignore",
            type="primary" if label == "Dataset (CSV)" else "secondary",
            disabled=bool(problem),
        )
        st.caption(frame.plain(problem or about_file))
st.subheader("What is in it")
st.caption("Columns: area, token_a, token_b, score, rank, lower, upper (90 % interval of the score), votes, ballots.")
st.dataframe(dataset.head(10), hide_index=True, alt="The first ten rows of the dataset")
with st.expander("The description"):
    st.code(to_json(about).decode("utf-8"), language="json")
