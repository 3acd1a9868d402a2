"""The dataset as files."""

from __future__ import annotations

import re

import streamlit as st

from core.dataset import for_gensim, to_csv, to_json, to_tsv
from core.views.scores import ScoresView
from ui import cache, frame

project = frame.project()
view: ScoresView = cache.load_scores(frame.store(), project)
dataset = view.dataset

st.title("Export")
if dataset.empty:
    st.markdown("**There is no dataset yet: it needs votes.**")
    frame.link("collect", "**Next: collect votes**", icon=":material/arrow_forward:")
    st.stop()

about = dataset.attrs
n_ballots = max(about["ballots_closed"], 1)
ballots = "1 ballot" if n_ballots == 1 else f"{n_ballots} ballots"
st.markdown(f"**{len(dataset):,} items with scores, from {about['votes']:,} votes in {ballots}.**")
if about["provisional"]:
    st.info("Provisional: not all ballots are closed. The files say so.", icon=":material/hourglass_top:")
if about["simulated_votes"]:
    st.warning("The dataset holds votes of simulated voters. The description says so.", icon=":material/science:")

slug = re.sub(r"[^a-z0-9]+", "-", project.name.casefold()).strip("-") or "dataset"
stem = f"{slug}-provisional" if about["provisional"] else slug
FILES = (
    ("CSV", to_csv(dataset), f"{stem}.csv", "text/csv", "For programs. Reads back exactly."),
    ("TSV", to_tsv(dataset), f"{stem}.tsv", "text/tab-separated-values", "The same, with tabs."),
    ("Description (JSON)", to_json(about), f"{stem}.json", "application/json",
     "What the scores mean: notion, estimator, scale, interval, plan, seeds, versions. Keep it beside the CSV."),
    ("For gensim", for_gensim(dataset), f"{stem}-gensim.tsv", "text/tab-separated-values",
     "For gensim's evaluate_word_pairs: two words and a score a line."),
    ("For a spreadsheet (CSV)", to_csv(dataset, spreadsheet=True), f"{stem}-spreadsheet.csv", "text/csv",
     "Tokens that a spreadsheet would take for a formula get an apostrophe. Not for programs."),
)  # fmt: skip
for label, data, filename, mime, help_text in FILES:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.download_button(
            label, data, filename, mime, icon=":material/download:", on_click="ignore",
            type="primary" if label == "CSV" else "secondary",
        )  # fmt: skip
        st.caption(help_text)
st.subheader("What is in it")
st.caption("Columns: area, token_a, token_b, score, rank, lower, upper (90 % interval of the score), votes, ballots.")
st.dataframe(dataset.head(10), hide_index=True, alt="The first ten rows of the dataset")
with st.expander("The description"):
    st.code(to_json(about).decode("utf-8"), language="json")
