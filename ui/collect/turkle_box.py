"""Turkle over its interface: publish the ballot there, see how far it is, fetch the votes. No token is kept."""

from __future__ import annotations

import hashlib

import streamlit as st

from core.base.numbers_in_words import many
from core.errors import RunoffError
from core.platforms.turkle import TurkleSite
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.project_commands import Project
from core.store.votes.publications import (
    MAX_ASSIGNMENTS,
    Publication,
    confirm_address,
    fetch_from_turkle,
    finished_there,
    publish_on_turkle,
    read_publications,
)
from core.views.wording import moment
from core.votes.platform import Outgoing
from ui.shared import choosers, frame
from ui.shared.files import StoredUpload

_WHOLE, _MISSING = "The whole ballot", "Only what still needs votes"


def fetched_files(project: Project) -> list[StoredUpload]:
    """The files fetched since votes were last taken, for the upload box."""
    turn = st.session_state.get("_upload_turn", 0)
    kept = st.session_state.get(f"_fetched-{project.id}", {})
    return [file for (of_turn, _), file in kept.items() if of_turn == turn]


def turkle_box(store: Store, project: Project, ballot: Ballot, whole: Outgoing, top_up: Outgoing | None) -> None:
    """The API token, what was published, and the form that publishes."""
    there = read_publications(store, ballot.id)
    with st.expander("Let Runoff publish and fetch", icon=":material/cloud_sync:", expanded=bool(there)):
        token = st.text_input(
            "API token of an administrator",
            type="password",
            key="turkle-token",
            autocomplete="off",
            help=(
                "On the server, `manage.py drf_create_token NAME` shows it. It is kept in this browser's session only: "
                "never on a disk, never in the log."
            ),
        )
        for publication in there:
            _published(store, project, publication, token)
        _publish(store, project, ballot, whole, top_up, token, there)


def _published(store: Store, project: Project, publication: Publication, token: str) -> None:
    """A batch that is there, and its two buttons; first that the address is the owner's, where a file brought it."""
    fetched = "not fetched yet"
    if publication.fetched_at:
        fetched = f"fetched {moment(publication.fetched_at)} UTC"
    st.markdown(
        (
            f"Top-up: batch {publication.batch} at {frame.plain(publication.address)}, "
            f"{many(publication.n_tasks, 'task')} × {many(publication.assignments, 'voter')}, {fetched}."
        )
        if publication.is_top_up
        else (
            f"Ballot: batch {publication.batch} at {frame.plain(publication.address)}, "
            f"{many(publication.n_tasks, 'task')} × {many(publication.assignments, 'voter')}, {fetched}."
        )
    )
    if not publication.confirmed:
        address = frame.plain(publication.address)
        st.warning(f"The address {address} came with the imported file. Your token would go there.")
        frame.command_button(
            "Yes, this is my Turkle",
            confirm_address,
            project.id,
            publication.id,
            done=f"The votes can be fetched from {publication.address} now.",
            key=f"confirm-{publication.id}",
        )
        return
    with st.container(horizontal=True):
        fetch = st.button("Fetch the votes", key=f"fetch-{publication.id}", type="primary", disabled=not token)
        ask = st.button("Check progress", key=f"ask-{publication.id}", disabled=not token)
    try:
        if ask:
            done, wanted = finished_there(store, project.id, publication.id, token)
            st.info(f"{done:,} of {wanted:,} assignments are finished there.")
        if fetch:
            data = fetch_from_turkle(store, project.id, publication.id, token)
            keep = st.session_state.setdefault(f"_fetched-{project.id}", {})
            file = StoredUpload(hashlib.sha256(data).hexdigest(), publication.filename, data)
            keep[st.session_state.get("_upload_turn", 0), publication.id] = file
            frame.changed_here()
            frame.flash(f"Fetched {publication.filename}. Look at it under 2, and accept its votes.")
            st.rerun()
    except RunoffError as error:
        frame.show_error(error)


def _publish(
    store: Store,
    project: Project,
    ballot: Ballot,
    whole: Outgoing,
    top_up: Outgoing | None,
    token: str,
    there: list[Publication],
) -> None:
    """The form that publishes the ballot, or what it lacks."""
    with st.form(f"turkle-{ballot.id}", border=False):
        address = st.text_input(
            "Address of your Turkle",
            next((one.address for one in reversed(there) if one.confirmed), ""),
            placeholder="https://turkle.example.org",
            help="Without /admin/ or /api/. Use https where the server isn't this machine.",
        )
        name = st.text_input("Name of the batch there", f"{project.name}, {ballot.called}"[:100])
        about = "How many people answer each comparison."
        n = int(st.number_input("Voters per task", 1, MAX_ASSIGNMENTS, 1, help=about))
        choices = {_WHOLE: whole} | ({_MISSING: top_up} if top_up else {})
        words = {which: which for which in choices}
        last = list(words)[-1]
        which = choosers.radio("What to publish", words, last, key=f"what-{ballot.id}", horizontal=True)
        if not st.form_submit_button("Publish on Turkle"):
            return
    try:
        site = TurkleSite(address, token)
    except RunoffError as error:
        frame.show_error(error)
        return
    frame.carry_out(
        publish_on_turkle,
        store,
        project.id,
        site,
        choices[which],
        name=name,
        assignments=n,
        area_id=ballot.area_id,
        done=lambda made: (
            f"Published: batch {made.batch} with {many(made.n_tasks, 'task')}."
            + (" The address is http, so the token could be read on the way; https is safer." if site.is_open else "")
        ),
    )
