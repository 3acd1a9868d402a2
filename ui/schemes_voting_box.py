"""A round on Runoff's own voting page: its settings, its link, how it goes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.language import language
from core.store.ballots import Ballot
from core.store.projects import Project
from core.store.voting import open_round_voting, round_voting_settings, set_round_voting_state
from core.views import voting as views
from ui import frame
from ui.voting_arrivals_box import arrivals_box
from ui.voting_box import links_box, live_figures, server_switch, state_buttons
from ui.voting_checks import voters_box
from ui.voting_form import round_form

STATES = {"open": "Voting is **open**.", "paused": "Voting is **paused**.", "closed": "Voting is **closed**."}


def round_voting_box(project: Project, area_id: int | None, found: Ballot) -> None:
    """Everything about the voting page of an open round."""
    store = frame.store()
    view = views.load(store, project.id, found)
    if not st.toggle("Ask on Runoff's own voting page", view.voting is not None, key=f"voting-{found.id}"):
        return
    with st.container(border=True):
        st.markdown(STATES[view.voting.state] if view.voting else "Voting is not open yet.")
        server_switch(store)
        old = view.voting.settings if view.voting else round_voting_settings(found)
        spoken = language(found.settings.language)
        settings = round_form(old, f"round-{found.id}", spoken, view.hashes, is_new=view.voting is None)
        if settings is not None:
            _send(partial(open_round_voting, area_id=area_id), project, found, settings, done="Voting is open.")
        if view.voting is None:
            return
        change = partial(set_round_voting_state, area_id=area_id)
        state_buttons(
            view.voting.state,
            lambda state, done: _send(change, project, found, state, done=done),
            closing="Voters get no more. The round stays open for files, until you close it below.",
            key=str(found.id),
        )
        live_figures(store, found.id)
        links_box(store, project, found)
        voters_box(project, view, noun="answer")
        arrivals_box(store, project, view.voting)


def _send(action: partial, project: Project, found: Ballot, *args: object, done: str) -> None:
    frame.carry_out(
        action, frame.store(), project.id, found.ordinal, *args, done=done, expected_revision=frame.expected()
    )
