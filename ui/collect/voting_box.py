"""The voting page of a ballot or a round: opened and served by one button, its links, and what the owner may change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.base.numbers_in_words import many
from core.commands.ballots import OpenVoting
from core.commands.figures.rehearsal import Rehearsed
from core.i18n import language
from core.questions.voting_settings import VotingSettings
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.voting.owner_commands import (
    VotingPageInfo,
    invite,
    read_invitations,
    read_link,
    renew_link,
    round_voting_settings,
    set_voting_state,
)
from core.views.collect import voting as views
from core.voting import process
from ui.collect.serving import base_field, serving_box, stop_serving_button
from ui.collect.voting_arrivals_box import arrivals_box
from ui.collect.voting_checks import checks_box, voters_box
from ui.collect.voting_form import round_form, settings_form
from ui.shared import frame, jobs

MENU = "Pause or stop"
EVERY = 3  # seconds between two looks at an open voting page


def voting_panel(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """Everything about the voting page of the open ballot."""
    view = views.load(store, project.id, ballot)
    settings = view.voting.settings if view.voting else views.standard_settings(plan, ballot)
    _serving(store, project, ballot, view, settings, note=views.settings_said(settings))
    changed = settings_form(settings, plan, ballot, view.hashes, is_new=view.voting is None)
    if changed is not None:
        jobs.send(OpenVoting.of(project.id, frame.expected(), ballot, settings=changed.stored()))
    rehearsal_box(store, project, ballot)
    if view.voting is None:
        return
    links_box(store, project, ballot)
    checks_box(store, project, ballot, view)
    voters_box(project, view)
    arrivals_box(store, project, view.voting)


def rehearsal_box(store: Store, project: Project, ballot: Ballot) -> None:
    """The rehearsal of the voting page in its expander: the button, and what was found."""
    box = st.expander("Rehearse the voting page", key=f"rehearsal-{ballot.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        st.markdown(
            "Twenty made-up voters go the whole way on a copy: consent, questions, examples, votes, double taps, Undo, "
            "a lost connection. Each stored row is compared with what was sent. **Nothing of this project changes.**"
        )
        wanted = views.rehearsal_of(store, project.id, ballot.area_id, ballot.code, n_voters=20)
        found = jobs.figure(wanted, project, "Rehearse now", key=f"rehearsal-{ballot.id}", icon=":material/theaters:")
        if found is not None:
            _rehearsed(found.result)


def _rehearsed(found: Rehearsed) -> None:
    (st.success if found.is_fine else st.error)(frame.plain(found.said))
    for problem in found.problems:
        st.markdown(frame.plain(problem))
    st.caption(frame.plain(found.pay_said))
    st.markdown("**What a voter sees, in order**")
    st.dataframe(found.screens_table, hide_index=True, alt="Screens of the rehearsal")
    st.markdown("**What is exported**, as `campaign/votes.csv` of the dataset")
    st.dataframe(found.votes, hide_index=True, alt="Votes of the rehearsal")
    st.caption(frame.plain(found.untouched_said))


def _serving(
    store: Store, project: Project, ballot: Ballot, view: views.VotingView, settings: VotingSettings, *, note: str
) -> None:
    command = OpenVoting.of(project.id, frame.expected(), ballot, settings=settings.stored())
    serving_box(
        store,
        view.voting.state if view.voting else None,
        read_link(store, project.id, ballot.area_id) if view.voting else None,
        key=str(ballot.id),
        note=note,
        open_voting=lambda: jobs.send(command),
    )


def round_voting_panel(project: Project, found: Ballot) -> None:
    """Everything about the voting page of an open round."""
    store = frame.store()
    view = views.load(store, project.id, found)
    old = view.voting.settings if view.voting else round_voting_settings(found)
    if view.voting is not None:
        live(store, found.id, is_open=view.voting.state == "open")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(views.state_said(view.voting), width="content")
            with st.popover(MENU, icon=":material/front_hand:"):
                voting_states(store, project, found, view.voting, "The round stays open for files.")
    spoken = language(found.settings.language)
    _serving(store, project, found, view, old, note="With the settings below.")
    settings = round_form(old, f"round-{found.id}", spoken, view.hashes, is_new=view.voting is None)
    if settings is not None:
        jobs.send(OpenVoting.of(project.id, frame.expected(), found, settings=settings.stored()))
    if view.voting is None:
        return
    links_box(store, project, found)
    voters_box(project, view, noun="answer")
    arrivals_box(store, project, view.voting)


def voting_states(store: Store, project: Project, ballot: Ballot, voting: VotingPageInfo | None, stays: str) -> None:
    """Pause, resume, stop serving and close, one below the other; `stays` is what closing leaves open."""
    change = partial(set_voting_state, area_id=ballot.area_id, code=ballot.code)
    if voting is not None:
        offers = (
            ("Pause voting", "open", "paused", "Voting is paused; everybody keeps their place.", ":material/pause:"),
            ("Resume voting", "paused", "open", "Voting goes on.", ":material/play_arrow:"),
        )
        for label, of, state, done, icon in offers:
            if voting.state == of:
                frame.command_button(label, _to(change, state), project.id, done=done, icon=icon)
    stop_serving_button(store)
    if voting is not None and voting.state != "closed":
        frame.command_button(
            "Close voting",
            _to(change, "closed"),
            project.id,
            done="Voting is closed.",
            icon=":material/do_not_disturb_on:",
            help=f"Voters get no more comparisons. {stays}",
        )


def _to(change: Callable[..., None], state: str) -> Callable[..., None]:
    return lambda store, project_id, **options: change(store, project_id, state, **options)


def live(store: Store, ballot_id: int, *, is_open: bool) -> None:
    """Votes, voters, pace and expected end; anew every few seconds while voting is open."""
    st.fragment(_live, run_every=EVERY if is_open else None)(store, ballot_id)


def _live(store: Store, ballot_id: int) -> None:
    found = views.load_live(store, ballot_id)
    st.progress(found.share, text=f"{found.votes:,} of {many(found.wanted, 'vote')}")
    if found.said:
        st.caption(found.said)


def links_box(store: Store, project: Project, ballot: Ballot) -> None:
    """Links for platforms, personal ones, and another one in place of all of them."""
    code = read_link(store, project.id, ballot.area_id)
    if code is None:
        return
    with st.expander("Other links"):
        st.caption("The link stays the same for all ballots and rounds of this ranking.")
        base = base_field(process.running_servers(store))
        plain = views.link(base, code)
        for name, query in views.PLATFORM_LINKS.items():
            st.caption(name)
            st.code(plain + query, language=None)
        st.markdown("**Personal links**")
        st.caption("Under “Voters” in the settings you choose whether the plain link still lets others in.")
        names = st.text_area("Names, one per line", key=f"invite-{ballot.id}")
        frame.command_button(
            "Make links",
            lambda store, id_, **options: invite(store, id_, names.splitlines(), area_id=ballot.area_id, **options),
            project.id,
            done="The links are made.",
            disabled=not names.strip(),
        )
        invitations = read_invitations(store, project.id, ballot.area_id)
        if invitations:
            data = views.write_invitations(base, code, invitations)
            label = f"Personal links (CSV, {len(invitations)})"
            st.download_button(label, data, "voting-links.csv", "text/csv", on_click="ignore")
        if st.checkbox("I want another link", help="The old link and all personal links stop working."):
            frame.command_button(
                "Replace the link",
                partial(renew_link, area_id=ballot.area_id),
                project.id,
                done="The link is replaced.",
            )
