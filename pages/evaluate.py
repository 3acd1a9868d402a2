"""How well each embedding ranks the items as people do, how sure that is, and why."""

from __future__ import annotations

import streamlit as st

from core.store.library import read_embeddings
from core.views.evaluate import EvaluateView
from ui import (
    cache,
    encoder_box,
    evaluation_differences_box,
    evaluation_headline,
    evaluation_jobs,
    evaluation_needed_box,
    evaluation_parts_box,
    evaluation_tables,
    evaluation_why_box,
    frame,
    imports,
)

project = frame.project()
st.title("Evaluate")
if not read_embeddings(frame.store(), project.id):
    frame.nothing_yet("There is no embedding to compare yet.", "embeddings", "load an embedding")

with st.container():  # each has a place of its own, full or empty, so that the open tab stays open
    imports.watch(frame.store(), project)
answer = st.container()  # the headline stands above the settings that it follows from
n0, notion, policy, top = evaluation_headline.settings(project)
view: EvaluateView = cache.load_evaluation(frame.store(), project, n0, notion, policy, top)
if view.dataset.empty:
    frame.nothing_yet("There are no scores to compare with yet.", "collect", "collect votes")
if not view.evaluations:
    with answer:
        evaluation_headline.show(view, None, None, None, project)
    frame.stop()
visit = evaluation_jobs.visit(view, project)

with st.container():
    by_votes = evaluation_tables.votes_intervals(visit)
with st.container():
    by_tokens = evaluation_tables.token_intervals(visit)
with answer:
    evaluation_headline.show(view, by_votes, by_tokens, visit, project)
figures, differences, why, parts, variants = st.tabs(["Figures", "Differences", "Why", "Parts", "Variants"])
with figures:
    evaluation_tables.show(visit, by_votes, by_tokens)
with differences:
    evaluation_differences_box.show(visit, by_votes, by_tokens)
    if len(view.evaluations) > 1:
        evaluation_needed_box.show(view, project)
with why:
    evaluation_why_box.show(view, project)
with parts:
    evaluation_parts_box.show(visit)
with variants:
    evaluation_parts_box.variants(visit)
with st.expander("Add a model", icon=":material/add:"):
    frame.link(
        "embeddings", "A file of vectors or of similarities: on the Embeddings page", icon=":material/upload_file:"
    )
    encoder_box.show(frame.store(), project, "evaluate")
