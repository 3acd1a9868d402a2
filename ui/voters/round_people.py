"""The people of a round: how far each agrees with the others, who meets the gold pairs, and whom to leave out."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.numbers_in_words import many, plural
from core.commands.votes import ExcludeVoters
from core.errors import RunoffError
from core.questions import RoundKind
from core.store.projects.project_commands import Project
from core.views.kinds import rounds as view
from core.views.kinds.rating_sets import QUALIFIED_HELP
from core.views.kinds.rounds import RoundView
from core.views.voters import load_left_out
from ui.shared import cache, choosers, frame, jobs, kinds
from ui.shared.tables import download, show_table
from ui.voters.voters_box import left_out


def show_rounds(project: Project, area_id: int | None, kind: RoundKind) -> None:
    """All of the page for one kind."""
    rounds = kinds.rounds(project, area_id, kind)
    if not rounds:
        frame.lead_to(
            f"Nobody has answered yet: no round of {kind.about.label} is drawn.", "collect", "collect answers"
        )
    else:
        round_view = kinds.one_of(project, area_id, rounds, lambda one: _people_sentence(one, _people_of(project, one)))
        people = _people_of(project, round_view)
        if len(people.table):
            _people(project, round_view, people, view.file_stem_of(project.name, round_view.round))
        else:
            frame.next_step("collect", "collect answers")
    left_out(project, *load_left_out(frame.store(), project.id))


def _people_of(project: Project, round_view: RoundView) -> view.People:
    people: view.People = cache.load_round(view.people_of, frame.store(), project, round_view.round)
    return people


def _people_sentence(round_view: RoundView, people: view.People) -> str:
    """Who answered, and how many stand apart."""
    n = len(people.table)
    if not n:
        return f"{round_view.title}: nobody has answered yet."
    answers = many(int(people.table["answers"].sum()), "answer")
    answered = f"{many(n, 'voter')} gave {answers}"
    apart = plural(len(people.apart), "{n} stands apart", "{n} stand apart") if people.apart else "nobody stands apart"
    return f"{round_view.title}: {answered}; {apart}."


def _people(project: Project, round_view: RoundView, people: view.People, stem: str) -> None:
    """Everyone whose answers count, with their figure; those who stand apart are proposed, a person decides."""
    table = people.table.drop(columns="voter_id")
    about = {
        "answers": "Answers that count.",
        people.figure: people.about,
        "apart": "More than one standard deviation under the mean of all: a hint, no proof.",
    }
    show_table(table, about, "People of the round")
    download("Download the people (CSV)", lambda: table, f"{stem}-people.csv")
    failed = _qualification(project, round_view, stem) if round_view.round.settings.gold else []
    _leave_out(project, round_view, people, failed)


def _qualification(project: Project, round_view: RoundView, stem: str) -> list[str]:
    """Who met the gold pairs; the names of those who didn't."""
    try:
        table, silent = cache.load_round(view.qualification, frame.store(), project, round_view.round)
    except RunoffError as error:
        frame.show_error(error)
        return []
    for message in silent:
        st.caption(frame.plain(message))
    if table.empty:
        return []
    passed = int(table["passed"].sum())
    st.markdown(f"**{passed:,} of {len(table):,} people pass the qualification.**")
    show_table(table, QUALIFIED_HELP, "Who passes the qualification")
    download("Download the qualification (CSV)", lambda: table, f"{stem}-qualification.csv")
    return table.loc[~table["passed"], "person"].tolist()


def _leave_out(project: Project, round_view: RoundView, people: view.People, failed: list[str]) -> None:
    st.subheader("Leave people out")
    names, key = people.names, f"leave-out-{round_view.round.id}-{project.revision}"
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
            "Their answers stay in the store, laid aside, in everything of this project. It is logged, and can "
            "be undone at any time. Leaving out whoever disagrees raises agreement by itself."
        )
        return
    reason = st.text_input("Reason", key=f"{key}-reason", max_chars=500, placeholder="For the log and the datasheet")
    if st.button(f"Leave {len(chosen):,} out", type="primary", disabled=not reason.strip(), key=f"{key}-button"):
        jobs.send(ExcludeVoters(project.id, frame.expected(), tuple(chosen), reason, {}))


def _choose(key: str, ids: list[int]) -> None:
    st.session_state[key] = ids
