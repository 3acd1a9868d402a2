"""The voting page of a ballot or a round: its server, its links, how it goes, and what the owner may change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.base.plurals import many
from core.commands.ballots import OpenVoting
from core.errors import RunoffError
from core.i18n import language
from core.store import Store
from core.store.ballots.ballots import Ballot
from core.store.projects.plans import PlanSettings
from core.store.projects.projects import Project
from core.store.voting.voting import (
    invite,
    read_invitations,
    read_link,
    renew_link,
    round_voting_settings,
    set_voting_state,
)
from core.views.collect import voting as views
from core.views.words import moment
from core.voting import process
from ui.collect.voting_arrivals_box import arrivals_box
from ui.collect.voting_checks import checks_box, voters_box
from ui.collect.voting_form import round_form, settings_form
from ui.shared import frame, jobs

STATES = {"open": "Voting is **open**.", "paused": "Voting is **paused**.", "closed": "Voting is **closed**."}


def voting_panel(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """Everything about the voting page of the open ballot."""
    view = views.load(store, project.id, ballot)
    st.markdown(view.state_said)
    server_switch(store)
    settings = settings_form(view.voting.settings if view.voting else None, plan, ballot, view.hashes)
    if settings is not None:
        jobs.send(OpenVoting.of(project.id, frame.expected(), ballot, settings=settings.stored()))
    if view.voting is None:
        return
    change = partial(set_voting_state, area_id=ballot.area_id, code=ballot.code)
    state_buttons(
        view.voting.state,
        lambda state, done: _send(change, project, state, done=done),
        closing="Voters get no more. The ballot stays open for files, until you close it below.",
    )
    live_figures(store, ballot.id)
    links_box(store, project, ballot)
    checks_box(store, project, ballot, view)
    voters_box(project, view)
    arrivals_box(store, project, view.voting)


def round_voting_panel(project: Project, found: Ballot) -> None:
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
            jobs.send(OpenVoting.of(project.id, frame.expected(), found, settings=settings.stored()))
        if view.voting is None:
            return
        change = partial(set_voting_state, area_id=found.area_id, code=found.code)
        state_buttons(
            view.voting.state,
            lambda state, done: _send(change, project, state, done=done),
            closing="Voters get no more. The round stays open for files, until you close it below.",
            key=str(found.id),
        )
        live_figures(store, found.id)
        links_box(store, project, found)
        voters_box(project, view, noun="answer")
        arrivals_box(store, project, view.voting)


def _send(action: partial, project: Project, *args: object, done: str) -> None:
    frame.carry_out(action, frame.store(), project.id, *args, done=done, expected_revision=frame.expected())


def server_switch(store: Store) -> None:
    """The switch of the server, and where it listens."""
    servers = process.running_servers(store)
    with st.container(horizontal=True, vertical_alignment="center"):
        if not servers:
            st.markdown(":material/power_off: The voting page isn't served.")
            if st.button("Start it on this machine", icon=":material/play_arrow:"):
                _switch(partial(process.start_server, store))
        for running in servers:
            st.markdown(
                f":material/power: Served at {frame.plain(running.url)}, for this machine only."
                if running.is_local
                else f":material/power: Served at {frame.plain(running.url)}, for others on its network too."
            )
        if servers and st.button("Stop it" if len(servers) == 1 else "Stop them all", icon=":material/stop:"):
            _switch(partial(process.stop_servers, store))
    if all(running.is_local for running in servers):
        st.caption(
            "For voters elsewhere, run `runoff vote` behind a web server with TLS; docs/voting.md says how, "
            "step by step."
        )


def _switch(action: partial) -> None:
    try:
        action()
    except RunoffError as error:
        frame.show_error(error)
    else:
        st.rerun()


def state_buttons(state: str, change: Callable[[str, str], None], *, closing: str, key: str = "") -> None:
    """Pause, resume and close. `change` takes the new state and what to say then; `closing` is the help of closing."""
    keys = {name: f"{name}-{key}" if key else None for name in ("pause", "resume", "end")}
    with st.container(horizontal=True):
        if state == "open" and st.button("Pause voting", icon=":material/pause:", key=keys["pause"]):
            change("paused", "Voting is paused; everybody keeps their place.")
        if state == "paused" and st.button("Resume voting", icon=":material/play_arrow:", key=keys["resume"]):
            change("open", "Voting goes on.")
        if state != "closed" and st.button("Close voting", help=closing, key=keys["end"]):
            change("closed", "Voting is closed.")


@st.fragment(run_every=3)
def live_figures(store: Store, ballot_id: int) -> None:
    """Votes, voters, pace and expected end, anew every few seconds."""
    live = views.load_live(store, ballot_id)
    st.progress(live.share, text=f"{live.votes:,} of {many(live.wanted, 'vote')}")
    end = moment(live.expected_end) + " UTC" if live.expected_end else "–"
    with st.container(horizontal=True):
        figures = (
            ("Voters on the page", f"{live.voters:,}", f"{live.finished:,} have finished."),
            ("Active", f"{live.active:,}", "Seen within the last five minutes."),
            ("Votes a minute", f"{live.pace:.1f}", "Over the last ten minutes."),
            ("Expected end", end, "If the votes go on coming at this pace."),
        )
        for label, value, about in figures:
            st.metric(label, value, width="content", help=about)


def links_box(store: Store, project: Project, ballot: Ballot) -> None:
    """The plain link, those of platforms, and personal ones."""
    code = read_link(store, project.id, ballot.area_id)
    if code is None:
        return
    running = process.running_server(store)
    address = running.url if running else f"http://localhost:{process.PORT}"
    base = st.text_input(
        "Address at which voters reach it",
        address,
        help="Where your web server passes voters on to this page, such as https://vote.example.org.",
        key=f"voting-base-{address}",
    )
    st.markdown("**The link** (the same for all ballots and rounds of this ranking):")
    plain = views.link(base, code)
    st.code(plain, language=None)
    with st.expander("Links for platforms"):
        for name, query in views.PLATFORM_LINKS.items():
            st.caption(name)
            st.code(plain + query, language=None)
    with st.expander("Personal links"):
        st.caption("Under “Voters” in the settings you choose whether the plain link still lets others in.")
        names = st.text_area("Names, one a line", key=f"invite-{ballot.id}")
        if st.button("Make links", disabled=not names.strip()):
            _send(partial(invite, area_id=ballot.area_id), project, names.splitlines(), done="The links are made.")
        invitations = read_invitations(store, project.id, ballot.area_id)
        if invitations:
            data = views.write_invitations(base, code, invitations)
            label = f"Personal links (CSV, {len(invitations)})"
            st.download_button(label, data, "voting-links.csv", "text/csv", on_click="ignore")
    if st.checkbox("Give this page another link", help="The old link and all personal ones then lead nowhere."):
        frame.command_button(
            "Make a new link", partial(renew_link, area_id=ballot.area_id), project.id, done="The page has a new link."
        )
