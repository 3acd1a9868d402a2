"""How well each embedding ranks the items as people do, how sure that is, and why."""

from __future__ import annotations

import streamlit as st

from core.store.projects.library import read_embeddings
from core.views.evaluate.evaluate import EvaluateView
from ui.embeddings import encoder_box, imports
from ui.evaluate import differences_box, headline, jobs, needed_box, parts_box, tables, why_box
from ui.shared import cache, frame

project = frame.project()
st.title("Evaluate")
if not read_embeddings(frame.store(), project.id):
    frame.nothing_yet("There is no embedding to compare yet.", "embeddings", "load an embedding")

with st.container():  # each has a place of its own, full or empty, so that the open tab stays open
    imports.watch(frame.store(), project)
answer = st.container()  # the headline stands above the settings that it follows from
n0, notion, policy, top = headline.settings(project)
view: EvaluateView = cache.load_evaluation(frame.store(), project, n0, notion, policy, top)
if view.dataset.empty:
    frame.nothing_yet("There are no scores to compare with yet.", "collect", "collect votes")
if not view.evaluations:
    with answer:
        headline.show(view, None, None, None, project)
    frame.stop()
visit = jobs.visit(view, project)

with st.container():
    by_votes = tables.votes_intervals(visit)
with st.container():
    by_tokens = tables.token_intervals(visit)
with answer:
    headline.show(view, by_votes, by_tokens, visit, project)
figures, differences, why, parts, variants = st.tabs(["Figures", "Differences", "Why", "Parts", "Variants"])
with figures:
    tables.show(visit, by_votes, by_tokens)
with differences:
    differences_box.show(visit, by_votes, by_tokens)
    if len(view.evaluations) > 1:
        needed_box.show(view, project)
with why:
    why_box.show(view, project)
with parts:
    parts_box.show(visit)
with variants:
    parts_box.variants(visit)
with st.expander("Add a model", icon=":material/add:"):
    frame.link(
        "embeddings", "A file of vectors or of similarities: on the Embeddings page", icon=":material/upload_file:"
    )
    encoder_box.show(frame.store(), project, "evaluate")
