"""Turkle over its interface: publish the ballot there, see how far it is, fetch the votes. No token is kept."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import streamlit as st

from core.errors import RunoffError
from core.platforms.base import Outgoing
from core.platforms.turkle_api import TurkleSite
from core.spoken import say, to_say
from core.store import Store
from core.store.ballots import Ballot
from core.store.projects import Project
from core.store.publications import (
    MAX_ASSIGNMENTS,
    Publication,
    confirm_address,
    fetch_from_turkle,
    finished_there,
    publish_on_turkle,
    read_publications,
)
from core.views.words import called, many, moment
from ui import choosers, frame

_WHOLE, _MISSING = to_say("The whole ballot"), to_say("Only what wants votes")


@dataclass(frozen=True)
class Fetched:
    """A file that was fetched, as the upload box takes it."""

    file_id: str
    name: str
    data: bytes

    def getvalue(self) -> bytes:
        return self.data


def fetched_files(project: Project) -> list[Fetched]:
    """The files fetched since votes were last taken, for the upload box."""
    turn = st.session_state.get("_upload_turn", 0)
    kept = st.session_state.get(f"_fetched-{project.id}", {})
    return [file for (of_turn, _), file in kept.items() if of_turn == turn]


def turkle_box(store: Store, project: Project, ballot: Ballot, whole: Outgoing, top_up: Outgoing | None) -> None:
    """The API token, what was published, and the form that publishes."""
    there = read_publications(store, ballot.id)
    with st.expander(say("Let Runoff publish and fetch"), icon=":material/cloud_sync:", expanded=bool(there)):
        token = st.text_input(
            say("API token of an administrator"),
            type="password",
            key="turkle-token",
            autocomplete="off",
            help=say(
                "On the server, `manage.py drf_create_token NAME` shows it. It is kept in this browser's session only: "
                "never on a disk, never in the log."
            ),
        )
        for publication in there:
            _published(store, project, publication, token)
        _publish(store, project, ballot, whole, top_up, token, there)


def _published(store: Store, project: Project, publication: Publication, token: str) -> None:
    """A batch that is there, and its two buttons; first that the address is the owner's, where a file brought it."""
    fetched = say("not fetched yet")
    if publication.fetched_at:
        fetched = say("fetched {time} UTC", time=moment(publication.fetched_at))
    st.markdown(
        say(
            "Top-up: batch {batch} at {address}, {tasks} × {voters}, {fetched}."
            if publication.is_top_up
            else "Ballot: batch {batch} at {address}, {tasks} × {voters}, {fetched}.",
            batch=publication.batch,
            address=frame.plain(publication.address),
            tasks=many(publication.n_tasks, "task"),
            voters=many(publication.assignments, "voter"),
            fetched=fetched,
        )
    )
    if not publication.confirmed:
        address = frame.plain(publication.address)
        st.warning(
            say("The address {address} came with the imported file. Your token would go there.", address=address)
        )
        frame.command_button(
            say("Yes, this is my Turkle"),
            confirm_address,
            project.id,
            publication.id,
            done=say("The votes can be fetched from {address} now.", address=publication.address),
            key=f"confirm-{publication.id}",
        )
        return
    with st.container(horizontal=True):
        fetch = st.button(say("Fetch the votes"), key=f"fetch-{publication.id}", type="primary", disabled=not token)
        ask = st.button(say("How far is it?"), key=f"ask-{publication.id}", disabled=not token)
    try:
        if ask:
            done, wanted = finished_there(store, project.id, publication.id, token)
            st.info(say("{n:,} of {wanted:,} assignments are finished there.", n=done, wanted=wanted))
        if fetch:
            data = fetch_from_turkle(store, project.id, publication.id, token)
            keep = st.session_state.setdefault(f"_fetched-{project.id}", {})
            file = Fetched(hashlib.sha256(data).hexdigest(), publication.filename, data)
            keep[st.session_state.get("_upload_turn", 0), publication.id] = file
            frame.changed_here()
            frame.flash(say("Fetched {file}. Look at it under 2, and take its votes.", file=publication.filename))
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
            say("Address of your Turkle"),
            next((one.address for one in reversed(there) if one.confirmed), ""),
            placeholder="https://turkle.example.org",
            help=say("Without /admin/ or /api/. Use https where the server isn't this machine."),
        )
        name = st.text_input(say("Name of the batch there"), f"{project.name}, {called(ballot.number)}"[:100])
        about = say("So many people answer each comparison.")
        n = int(st.number_input(say("Voters a task"), 1, MAX_ASSIGNMENTS, 1, help=about))
        choices = {_WHOLE: whole} | ({_MISSING: top_up} if top_up else {})
        words = {which: say(which) for which in choices}
        last = list(words)[-1]
        which = choosers.radio(say("What to publish"), words, last, key=f"what-{ballot.id}", horizontal=True)
        if not st.form_submit_button(say("Publish on Turkle")):
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
            say("Published: batch {batch} with {tasks}.", batch=made.batch, tasks=many(made.n_tasks, "task"))
            + (
                " " + say("The address is http, so the token could be read on the way; https is safer.")
                if site.is_open
                else ""
            )
        ),
    )
