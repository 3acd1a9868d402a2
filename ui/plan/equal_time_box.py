"""Which kind of question gives most for the same time of people? Asked with the two times that decide it."""

from __future__ import annotations

import streamlit as st

from core.commands.figures.simulations import KindsAtEqualTime
from core.errors import RunoffError
from core.simulation.equal_time import Times
from core.store.projects.plans import PlanSettings, proposed_plan, read_plan
from core.store.projects.project_commands import Project
from core.store.scores.forecasts import GuessSource
from core.views import equal_time
from ui.plan.planner_box import guess_source
from ui.plan.planner_jobs import plan_fields
from ui.shared import cache, frame, jobs
from ui.shared.tables import named

FEWEST = 4  # items that kinds can be compared over


def equal_time_box(
    project: Project, area_id: int | None, n_items: int, settings: PlanSettings | None, source: GuessSource | None
) -> None:
    """All of it, where there are items. settings : of comparisons as they stand on the page, else the saved or the
    usual ones are taken; source : what the page guesses of items and voters already, else it is asked here."""
    if n_items < FEWEST:
        return
    box = st.expander(
        "Which kind of question gives most in the same time?",
        icon=":material/balance:",
        key=f"kinds-{project.id}",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        usual = settings or read_plan(frame.store(), project.id, area_id) or proposed_plan(n_items, project.seed)
        try:
            _box(project, area_id, n_items, usual, source)
        except RunoffError as error:
            frame.show_error(error)


def _box(
    project: Project, area_id: int | None, n_items: int, settings: PlanSettings, source: GuessSource | None
) -> None:
    plan = settings.plan(n_items)
    st.caption(
        f"Every kind asks the same simulated voters for as long as the plan's {plan.n_comparisons:,} comparisons take."
    )
    source = source or guess_source(project, area_id, min(settings.n_voters, 1000))
    times = _times(project, area_id, settings)
    guess = cache.load_guess(frame.store(), project, area_id, source)
    figure = KindsAtEqualTime(project.id, 0, area_id, source, plan_fields(plan), settings.protocol, guess.digest())
    measured = jobs.figure(
        figure, project, "Compare the kinds", key=f"kinds-go-{project.id}", icon=":material/science:", help=None
    )
    if measured is None:
        return
    view = equal_time.view_of(measured.result, times, settings.goal)
    st.markdown(f"**{frame.plain(view.headline)}**")
    config = named(equal_time.HELP)
    for name, form in (("seconds", "%.1f"), ("judgements", "localized")):
        config[name] = st.column_config.NumberColumn(name, help=equal_time.HELP[name], format=form)
    config["kind"] = st.column_config.TextColumn("kind", help=equal_time.HELP["kind"], pinned=True)
    st.dataframe(view.table, hide_index=True, column_config=config, placeholder="–", alt="Kinds of question compared")
    for line in view.lines:
        st.caption(frame.plain(line))


def _times(project: Project, area_id: int | None, settings: PlanSettings) -> Times:
    """The two times as the widgets have them: at first a comparison's, shared out evenly."""
    seconds, whose = _measured(project, area_id, settings)
    usual = equal_time.usual_times(seconds)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        read, decide = (
            st.number_input(
                label, 0.1, 600.0, start, 0.5, key=f"kinds-{name}-{project.id}-{start}", width=200, help=about
            )
            for label, name, start, about in (
                ("Seconds to read an item", "read", usual.read, "A comparison shows 2, a rating 1, a tuple 4."),
                (
                    "Seconds to decide once",
                    "decide",
                    usual.decide,
                    "To hold one thing against another. A comparison and a rating take 1 decision, a tuple of four 5: "
                    "three for the best, two for the worst of the others.",
                ),
            )
        )
    st.caption(
        f"By these a comparison takes {2 * read + decide:g} s; {whose} it takes {seconds:g} s. Nobody has measured how "
        "much of that is reading, and much depends on it: try other times."
    )
    return Times(float(read), float(decide))


def _measured(project: Project, area_id: int | None, settings: PlanSettings) -> tuple[float, str]:
    """Seconds per comparison of the pilot, of the owner's own trial, or of the plan; and which of them it is."""
    pilot = cache.load_pilot(frame.store(), project, area_id).seconds
    if pilot:
        return pilot, "in the pilot"
    pace = st.session_state.get(f"_pace-{project.id}")
    if pace is not None and round(pace.mean, 1) > 0:
        return round(pace.mean, 1), "in your trial"
    return settings.seconds_per_comparison, "by the plan"
