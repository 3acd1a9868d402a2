"""Checks of the votes, shown where a ballot is about to be closed."""

from __future__ import annotations

import streamlit as st

from core.spoken import say
from core.store import Store
from core.store.projects import Project
from core.views.checks import CHEAP, VoteChecks
from ui import cache, frame
from ui.checks_box import figures_table
from ui.shares import in_percent, share_column


def show(store: Store, project: Project, area_id: int | None, n_votes: int) -> None:
    """What the votes look like: at once where they are few, on demand where reading them takes a while."""
    if not n_votes:
        return
    asked = n_votes <= CHEAP or st.toggle(
        say("Check the votes"), key=f"checks-{project.id}-{area_id}", help=say("Reads all votes, which takes a moment.")
    )
    if not asked:
        return
    checks: VoteChecks = cache.load_checks(store, project, area_id)
    if len(checks.parts) > 1:
        st.warning(frame.plain(checks.parts_said), icon=":material/link_off:")
    flagged = checks.sides.flagged
    if len(flagged):
        st.warning(frame.plain(checks.sides_said), icon=":material/swap_horiz:")
    with st.expander(say("Checks of the votes")):
        for sentence in (checks.parts_said, checks.sides_said, checks.agreement_said):
            st.markdown(frame.plain(sentence))
        if checks.has_checks:
            figures_table(checks.figures)
        st.caption(
            say(
                "Sides are drawn at random, so a voter who reads chooses each about half the time. A voter is named "
                "where so uneven a split has a chance below 5 % for all voters together (exact binomial test). α is 1 "
                "where voters agree fully, and 0 where they agree as by chance."
            )
        )
        table = checks.sides.voters.rename(columns={"share": "share of left"})
        table = in_percent(table, "share of left")
        config = {
            "voter": say("voter"),
            "answers": say("answers"),
            "left": say("left"),
            "share of left": share_column(say("share of left")),
            "p": st.column_config.NumberColumn(
                format="%.4f", help=say("Chance of so uneven a split, or more, by luck.")
            ),
        }
        st.dataframe(table, hide_index=True, column_config=config, lazy=True, alt=say("Sides chosen by voter"))
        frame.link("voters", say("Look at each voter"), icon=":material/groups:", area_id=area_id)
