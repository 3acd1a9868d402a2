"""Other ways to ask people: compared, their ratings read, and target groups."""

from __future__ import annotations

import streamlit as st

from ui.schemes.best_worst_box import best_worst_box
from ui.schemes.collect_box import collect_box
from ui.schemes.groups_box import groups_box
from ui.schemes.ratings_box import ratings_box
from ui.schemes.scheme_choice_box import which_box
from ui.schemes.side_by_side_box import side_box
from ui.shared import cache, frame

project = frame.project()
st.title("Other schemes")
st.markdown(
    "**Votes on comparisons are one way to ask people; here are the others: ratings, best–worst choices, and "
    "orders of target groups.** See which suits you, collect with this project's items, or read files."
)
standings = cache.load_standings(frame.store(), project)
area_id = frame.area(project, standings)
n_items = sum(standing.n_items for standing in standings if standing.ranking.area_id == area_id)
which, collect, ratings, best_worst, groups, side = st.tabs(
    ["Which scheme?", "Collect", "Ratings", "Best–worst", "Target groups", "Side by side"],
    key="schemes-tab",
    on_change="rerun",  # so that a message above doesn't lead back to the first
)
with which:
    which_box(project, area_id, n_items)
with collect:
    collect_box(project, area_id, n_items)
with ratings:
    ratings_box(project)
with best_worst:
    best_worst_box(project, sum(standing.n_items for standing in standings))
with groups:
    groups_box(project)
with side:
    side_box(project, has_scores=any(standing.n_closed for standing in standings))
