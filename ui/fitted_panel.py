"""Panels fitted to votes as choices of the planner, and how such a fit is shown."""

from __future__ import annotations

import streamlit as st

from core.errors import RunoffError
from core.panel import Panel
from core.store.panel_fits import BALLOT_VOTES, PILOT_VOTES, StoredFit
from core.store.projects import Project
from core.views.panel_fit import fit_table, rests_on
from ui import cache, frame

FITTED = {PILOT_VOTES: "as fitted to the pilot's votes", BALLOT_VOTES: "as fitted to this project's votes"}
EAGER = 5_000  # votes that are fitted before anybody asks, in a fraction of a second


def offered(project: Project, area_id: int | None, similarity: str, chosen: str | None) -> tuple[dict[str, str], list]:
    """The fitted panels to choose from, with their names, and why others can't be.

    With many votes the fit takes seconds, so it is made once its choice is `chosen`.
    """
    there, reasons = {}, []
    votes = cache.load_votes_to_fit(frame.store(), project, area_id)
    for which, name in FITTED.items():
        if not votes[which]:
            continue
        if votes[which] > EAGER and chosen != which:
            there[which] = name
            continue
        found = _fit(project, area_id, similarity, which)
        if found.fit is not None and found.fit.panel() is not None:
            there[which] = name
        else:
            reasons.append(f"Voters {name} aren't offered: {found.reason}")
    return there, reasons


def fitted(project: Project, area_id: int | None, similarity: str, which: str, n_voters: int) -> Panel | None:
    """The panel of a fit, shown with what it rests on; None, with the reason, where there is none."""
    found = _fit(project, area_id, similarity, which)
    panel = None if found.fit is None else found.fit.panel(n_voters)
    if panel is None:
        told = f"Voters {FITTED[which]}: {found.reason} The paper's voters are taken."
        st.warning(frame.plain(told))
        return None
    config = {
        "mean": st.column_config.TextColumn("mean", help="Over the voters, with a 90 % interval, voters resampled."),
        "width of the range": st.column_config.TextColumn(
            "width of the range",
            help="Voters are taken to lie evenly on a range of this width around the mean. Without a width, all alike.",
        ),
    }
    st.dataframe(fit_table(found), hide_index=True, column_config=config, alt="The fitted panel")
    st.caption(frame.plain(rests_on(found)))
    return panel


def _fit(project: Project, area_id: int | None, similarity: str, which: str) -> StoredFit:
    try:
        return cache.load_panel_fit(frame.store(), project, area_id, similarity, which)
    except RunoffError as error:
        return StoredFit(None, str(error))
