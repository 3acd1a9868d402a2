"""The people of a round, and leaving some of them out."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.commands.voters import ExcludeVoters
from core.errors import RunoffError
from core.store.projects import Project
from core.views import round_people
from core.views.rating_sets import QUALIFIED_HELP
from core.views.rounds import RoundView
from ui import cache, choosers, frame, jobs
from ui.scheme_tables import download, show_table


def people_box(project: Project, found: RoundView, stem: str) -> None:
    """Everyone whose answers count with their figure; who stands apart is proposed, a person decides."""
    people: round_people.People = cache.load_round(round_people.load, frame.store(), project, found.round)
    box = st.expander(f"People ({len(people.table):,})", key=f"people-{found.round.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        table = people.table.drop(columns="voter_id")
        about = {
            "answers": "Answers that count.",
            people.figure: people.about,
            "apart": "More than one standard deviation under the mean of all: a hint, no proof.",
        }
        show_table(table, about, "People of the round")
        download("Download the people (CSV)", lambda: table, f"{stem}-people.csv")
        failed = _qualification(project, found, stem) if found.round.settings.gold else []
        _leave_out(project, found, people, failed)


def _qualification(project: Project, found: RoundView, stem: str) -> list[str]:
    """Who met the gold pairs; the names of those who didn't."""
    try:
        table, silent = cache.load_round(round_people.qualification, frame.store(), project, found.round)
    except RunoffError as error:
        frame.show_error(error)
        return []
    for said_ in silent:
        st.caption(frame.plain(said_))
    if table.empty:
        return []
    passed = int(table["passed"].sum())
    st.markdown(f"**{passed:,} of {len(table):,} people pass the qualification.**")
    show_table(table, QUALIFIED_HELP, "Who passes the qualification")
    download("Download the qualification (CSV)", lambda: table, f"{stem}-qualification.csv")
    return table.loc[~table["passed"], "person"].tolist()


def _leave_out(project: Project, found: RoundView, people: round_people.People, failed: list[str]) -> None:
    names, key = people.names, f"leave-out-{found.round.id}-{project.revision}"
    if people.apart:
        st.button(
            f"Choose the {len(people.apart):,} who stand apart",
            on_click=partial(_choose, key, people.apart),
            icon=":material/playlist_add_check:",
        )
    ids = [id_ for id_, name in names.items() if name in failed]
    if ids:
        st.button(
            f"Choose the {len(ids):,} who don't pass",
            on_click=partial(_choose, key, ids),
            icon=":material/playlist_add_check:",
        )
    chosen = choosers.multiselect("People to leave out", names, key=key, placeholder="Nobody yet")
    if not chosen:
        st.caption(
            "Their answers stay in the store, laid aside, in everything of this project. It is logged; the page "
            "Voters lets them count again. Leaving out whoever disagrees raises agreement by itself."
        )
        return
    reason = st.text_input("Reason", key=f"{key}-reason", max_chars=500, placeholder="For the log and the datasheet")
    if st.button(f"Leave {len(chosen):,} out", type="primary", disabled=not reason.strip(), key=f"{key}-button"):
        jobs.send(ExcludeVoters(project.id, frame.expected(), tuple(chosen), reason, {}))


def _choose(key: str, ids: list[int]) -> None:
    st.session_state[key] = ids
