"""Comparisons, or another kind of question for the same time of people? Asked with the two times that decide it."""

from __future__ import annotations

import streamlit as st

from core.commands.figures.simulations import KindsAtEqualTime
from core.simulation.schemes import Times
from core.views import equal_time
from ui.plan.planner_jobs import PlannerRequest, plan_fields
from ui.shared import frame, jobs
from ui.shared.tables import named


def break_even_box(asked: PlannerRequest) -> None:
    """All of it; the guess of items and voters is the planner's, what is to be right the plan's aim."""
    project, settings = asked.project, asked.settings
    with st.expander("Would another kind of question give more in this time?", icon=":material/balance:"):
        seconds = settings.seconds_per_comparison
        usual = equal_time.usual_times(seconds)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            read, decide = (
                st.number_input(
                    label, 0.1, 600.0, start, 0.5, key=f"even-{name}-{project.id}-{start}", width=200, help=about
                )
                for label, name, start, about in (
                    ("Reading an item, seconds", "read", usual.read, "A comparison shows 2, a rating 1, a tuple 4."),
                    ("Deciding once, seconds", "decide", usual.decide, "A comparison and a rating take 1, a tuple 5."),
                )
            )
        st.caption(
            f"By these a comparison takes {2 * read + decide:g} s; the plan counts {seconds:g} s, at first shared out "
            "evenly. What is reading and what deciding is an assumption: time a trial or a pilot, and try others."
        )
        wanted = KindsAtEqualTime(
            project.id, 0, asked.area_id, asked.source, plan_fields(asked.plan), settings.protocol, asked.guess.digest()
        )
        found = jobs.figure(
            wanted, project, "Simulate the kinds", key=f"even-go-{project.id}", icon=":material/science:", help=None
        )
        if found is None:
            return
        view = equal_time.view_of(found.result, Times(float(read), float(decide)), settings.aim)
        st.markdown(f"**{frame.plain(view.headline)}**")
        config = named(equal_time.HELP)
        for name, form in (("seconds", "%.1f"), ("judgements", "localized")):
            config[name] = st.column_config.NumberColumn(name, help=equal_time.HELP[name], format=form)
        st.dataframe(view.table, hide_index=True, column_config=config, placeholder="–", alt="Kinds at equal time")
        for line in view.lines:
            st.caption(frame.plain(line))
