"""The Evaluate page: how well each embedding ranks the items as people do, how sure that is, and why.

A leaderboard stands first, what is behind it in tabs, of which only the open one is drawn.
"""

from __future__ import annotations

import streamlit as st

from core.questions import RoundKind
from core.store.projects.embedding_library import read_embeddings
from core.views.evaluate.evaluate_page import EvaluateView
from ui.embeddings import imports
from ui.evaluate import differences_box, headline, jobs, judges_box, round_models, settings, tables, why_box
from ui.shared import cache, frame, kinds

project = frame.project()
st.title("Evaluate")
if not read_embeddings(frame.store(), project.id):
    first = st.container()
    judges_box.alone(project)
    with first:
        frame.nothing_yet("There is no embedding to compare yet.", "embeddings", "load an embedding")

standings = cache.load_standings(frame.store(), project)
kind = kinds.choose(project, standings)
if isinstance(kind, RoundKind):
    round_models.show_rounds(project, frame.area(project, standings), kind)
    frame.stop()

with st.container():  # each has a place of its own, full or empty, so that the open tab stays open
    imports.watch(frame.store(), project)
answer = st.container()  # the headline stands above the settings that it follows from
controls = st.empty()  # gone where there is nothing to set
with controls.container(horizontal=True, vertical_alignment="center"):
    signs = st.container(horizontal=True, vertical_alignment="center", width="content")
    reading = st.container(width="content")
    chosen = settings.show(project)
view: EvaluateView = cache.load_evaluation(frame.store(), project, chosen.n0, chosen.notion, chosen.policy, chosen.top)
if view.dataset.empty:
    controls.empty()
    first = st.container()
    judges_box.alone(project)
    with first:
        frame.nothing_yet("There are no scores to compare with yet.", "collect", "collect votes")
with signs:
    headline.signs(view, project)
if not view.evaluations:
    with answer:
        headline.show(view, None, None, None)
    frame.stop()
visit = jobs.visit(view, project)

with st.container():
    by_votes = tables.votes_intervals(visit, chosen)
with st.container():
    by_tokens = tables.token_intervals(visit)
with answer:
    headline.show(view, by_votes, by_tokens, visit)
with reading, st.popover("How to read this", icon=":material/help:", key=f"evaluate-reading-{project.id}"):
    headline.reading(view, by_votes, by_tokens)
with st.container():
    scale = tables.scale_of(visit)
tables.show(visit, chosen, by_votes, by_tokens, scale)

names = ["Areas", "Differences", "Disagreements", "Parts", "Variants", "All figures", "Language models"]
areas, differences, why, parts, variants, everything, judges = st.tabs(
    names, key=f"evaluate-tab-{project.id}", on_change="rerun"
)
if areas.open:
    with areas:
        tables.by_area(visit, chosen, by_votes, by_tokens)
if differences.open:
    with differences:
        differences_box.show_differences(visit, chosen, by_votes, by_tokens)
        if len(view.evaluations) > 1:
            differences_box.show_sample_size(view, project)
if why.open:
    with why:
        why_box.show_why(view, project)
if parts.open:
    with parts:
        why_box.show_parts(visit, chosen)
if variants.open:
    with variants:
        why_box.variants(visit, chosen)
if everything.open:
    with everything:
        tables.everything(visit, scale)
if judges.open:
    with judges:
        judges_box.show(project, chosen.n0)
with st.expander("Add a model", icon=":material/add:"):
    frame.link(
        "embeddings", "A file of vectors or of similarities: on the Embeddings page", icon=":material/upload_file:"
    )
    imports.show_encoder(frame.store(), project, "evaluate")
    frame.link("embeddings", "A model on a server: on the Embeddings page", icon=":material/dns:")
