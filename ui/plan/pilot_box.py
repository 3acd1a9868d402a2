"""The pilot on the Collect page: offered before ballot 1, its figures once closed; its time on the Plan page."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.numbers_in_words import many
from core.commands.ballots import ReopenBallot
from core.store import Store
from core.store.ballots.pilots import FEWEST, MOST, STANDARD, draw_pilot
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.views.collect.collect_page import CollectView, DrawnStage
from core.views.plan import PilotView, share_text
from core.views.wording import estimated
from ui.shared import cache, frame, jobs
from ui.shared.tables import in_percent, share_column


def pilot_box(store: Store, project: Project, area_id: int | None, view: CollectView) -> None:
    """The offer of a pilot before ballot 1, or the figures of the one that is closed; else nothing."""
    if view.pilot is None:
        if view.next_number == 1:
            _offer(project, area_id)
    elif view.pilot.state == "closed":
        _closed(store, project, area_id, view.pilot, before=view.next_number == 1)


def _offer(project: Project, area_id: int | None) -> None:
    """The form that draws a pilot."""
    with st.expander("Pilot first", icon=":material/science:"):
        st.markdown(
            "Some comparisons before ballot 1 tell how long one takes, how often voters tie or don't know a word, "
            "and how much they differ, while the plan can still be changed. Their votes never enter a score."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            number = st.number_input(
                "Comparisons",
                FEWEST,
                MOST,
                STANDARD,
                10,
                key=f"pilot-{project.id}-{area_id}",
                width=160,
                help=(
                    "50 to 100 are enough for times and shares. Let at least five voters answer them, so that there "
                    "are intervals. With few items the number may differ slightly."
                ),
            )
            frame.command_button(
                "Draw the pilot",
                partial(draw_pilot, area_id=area_id),
                project.id,
                int(number),
                done=lambda n: f"The pilot of {n} comparisons is drawn. Next: give it to voters.",
                icon=":material/casino:",
            )
        st.caption("The token lists, what voters judge and the ranking are fixed then; the plan is not.")


def _closed(store: Store, project: Project, area_id: int | None, pilot: DrawnStage, *, before: bool) -> None:
    """`before`: ballot 1 can still be drawn."""
    with st.expander(f"Pilot: {many(pilot.n_comparisons, 'comparison')}", expanded=before, icon=":material/science:"):
        figures(cache.load_pilot(store, project, area_id))
        if not before:
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            frame.link("plan", "Take these figures into the plan", icon=":material/tune:", area_id=area_id)
            reopen = ReopenBallot.of(project.id, frame.expected(), pilot.ballot)
            jobs.offer("Reopen the pilot", reopen, help="For more votes, or to withdraw an upload.")


def figures(view: PilotView) -> None:
    """Times, shares, counts and remarks of a pilot, with 90% intervals."""
    summary = view.figures
    if summary is None:
        st.caption("No answer counts.")
        return
    timed = f"Over {many(summary.n_timed, 'answer')} with a time. In brackets a 90% interval, voters resampled."
    rows = (
        (
            "Mean time, t̄",
            estimated(summary.seconds_mean, 1, " s"),
            f"{timed} Hours and money follow from it (Eq. 10).",
        ),
        ("Median time", estimated(summary.seconds_median, 1, " s"), timed),
        ("Ties", share_text(summary.ties), "Of the votes, with Wilson's 90% interval, which doesn't know of voters."),
        ("Unknown words", share_text(summary.unknown), "Answers “I don't know a word here” of all, as for ties."),
        ("Voters", f"{summary.n_voters:,}", f"They gave {many(summary.n_answers, 'answer')}."),
    )
    with st.container(horizontal=True, gap="large"):
        for label, value, about in rows:
            short, _, rest = value.partition(" (")
            with st.container(width="content"):
                st.metric(label, short, width="content", help=about)
                st.caption(rest.replace(")", "", 1))
    for reason in dict.fromkeys((summary.seconds_mean.reason, summary.seconds_median.reason)):
        if reason:
            st.caption(frame.plain(reason))
    for remark in view.remarks:
        st.warning(frame.plain(remark), icon=":material/lightbulb:")
    if view.tokens is not None and len(view.tokens):
        st.markdown("**Tokens of comparisons in which somebody didn't know a word**")
        st.caption(
            "Voters don't say which word it was, so each of the four has the answer. Look at those with a large share."
        )
        config = {
            "share": share_column("share", help="Of the answers with this token."),
        }
        st.dataframe(
            in_percent(view.tokens, "share"),
            hide_index=True,
            column_config=config,
            lazy=True,
            alt="Tokens that may be unknown",
        )


def pilot_seconds(store: Store, project: Project, area_id: int | None, settings: PlanSettings, *, key: str) -> None:
    """Offer the pilot's mean time to the plan in the widgets of `key`, where there is one that differs."""
    seconds = cache.load_pilot(store, project, area_id).seconds
    if seconds is None or seconds == settings.seconds_per_comparison:
        return
    st.button(
        f"Use the {seconds:.1f} s per comparison of the pilot",
        icon=":material/timer:",
        on_click=_use,
        args=(f"seconds_per_comparison-{key}", seconds),
    )


def _use(widget: str, seconds: float) -> None:
    st.session_state[widget] = seconds
