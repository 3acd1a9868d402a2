"""The plan: what people are asked, how much of it and in how many steps, what that costs, and how kinds compare."""

from __future__ import annotations

import streamlit as st

from core.questions import RoundKind
from ui.plan import comparison_plan, round_plan
from ui.plan.equal_time_box import equal_time_box
from ui.plan.plan_form import ranking_choice
from ui.plan.side_by_side_box import side_box
from ui.shared import cache, frame, kinds

project = frame.project()
st.title("Plan")
standings = cache.load_standings(frame.store(), project)
headline = st.container()
ranking_choice(project, standings)
area_id = frame.area(project, standings)
standing = kinds.standing(project, area_id)
kind = kinds.choose(project, [standing], every=True)
st.caption(kind.about.offered)
settings, source = None, None
if standing is None or sum(each.n_items for each in standings) < 2:
    with headline:
        frame.lead_to(
            "A plan needs at least two items: three tokens in one area, or two areas of two.",
            key="tokens",
            label="add token lists",
        )
elif standing.n_items < 2:
    st.warning("This area has one item, and a ranking needs two: add tokens to it, or rank all areas together.")
elif isinstance(kind, RoundKind):
    round_plan.show(project, area_id, standing, kind, headline)
else:
    settings, source = comparison_plan.show(project, area_id, standing, headline)
st.subheader("Kinds of question compared")
equal_time_box(project, area_id, standing.n_items if standing else 0, settings, source)
side_box(project, has_scores=any(each.n_closed for each in standings))
