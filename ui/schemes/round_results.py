"""What a closed round says: figures, items, people, models, and how it compares with the project's votes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.commands.votes import ExcludeVoters
from core.dataset.files import to_csv
from core.errors import RunoffError
from core.questions.order.kind import write_groups
from core.store.projects.project_commands import Project
from core.views.schemes import rating_sets, target_groups
from core.views.schemes import rounds as view
from core.views.schemes.rating_sets import QUALIFIED_HELP
from core.views.schemes.rounds import RoundView
from ui.schemes.scheme_tables import download, show_table
from ui.schemes.side_by_side_box import show_side_by_side
from ui.shared import cache, choosers, frame, jobs


def results_box(project: Project, area_id: int | None, found: RoundView) -> None:
    """All that a closed round says."""
    stem = slug(f"{project.name}-round-{found.round.number}")
    with st.container(horizontal=True):
        for label, value, about in found.figures:
            st.metric(label, value, help=about, width="content")
    for reason in found.why_undefined:
        st.caption(frame.plain(reason))
    kind = found.round.kind.about
    if kind.scores_items:
        _items(project, found, stem)
    else:
        _preferences(project, found, stem)
    if kind.is_scale:
        _ratings(project, found)
    people_box(project, found, stem)
    _models(project, found, stem)
    if kind.scores_items:
        _beside_votes(project, area_id, found, stem)
    if kind.pools:
        st.caption(f"A further round with the leading items: choose “A new round” above, then {kind.label}.")


def _items(project: Project, found: RoundView, stem: str) -> None:
    st.subheader("Items", help="By score, the most related first.")
    table = cache.load_round(view.items, frame.store(), project, found.round)
    digits = {"rank": "%.1f", "score": "%.3f", "lower": "%.3f", "upper": "%.3f"}
    config = {
        name: st.column_config.NumberColumn(name, help=about, format=digits.get(name))
        for name, about in view.ITEM_HELP.items()
    }
    st.dataframe(table, hide_index=True, column_config=config, height=400, alt="Items of the round")
    if found.round.interval_note:
        st.caption(frame.plain(found.round.interval_note))
    st.download_button(
        "Download the dataset (CSV)",
        lambda: to_csv(view.dataset(frame.store(), project.id, found.round)),
        f"{stem}.csv", "text/csv", icon=":material/download:", on_click="ignore", key=f"dataset-{found.round.id}",
        help="The page Evaluate and the command `evaluate` take it.",
    )  # fmt: skip


def _ratings(project: Project, found: RoundView) -> None:
    report = cache.load_round(view.rating_report, frame.store(), project, found.round)
    with st.expander(f"Items to adjudicate ({len(report.waiting):,})"):
        st.caption("Any two people differ by a point or more there, so the mean hides a disagreement.")
        table = rating_sets.items(report).iloc[list(report.waiting)]
        show_table(table, rating_sets.HELP, "Items to adjudicate")


def _preferences(project: Project, found: RoundView, stem: str) -> None:
    st.subheader("Preferences", help="R: the share of people that put one word above the other.")
    words = cache.load_round(view.compared_words, frame.store(), project, found.round)
    table = view.preferences(words)
    show_table(table, target_groups.WORST_HELP, "Preferences of two positives")
    st.download_button(
        "Download the groups (text)",
        write_groups(words).encode("utf-8"),
        f"{stem}.txt",
        "text/plain",
        icon=":material/download:",
        on_click="ignore",
        help="The tab Target groups and the command `groups` take it.",
    )


def _models(project: Project, found: RoundView, stem: str) -> None:
    st.subheader("Models", help="The project's embeddings against what people said.")
    opened, problems = view.opened_models(frame.store(), project.id)
    for problem in problems:
        st.warning(frame.plain(problem))
    if not opened:
        st.caption("There is no embedding in this project yet: import one on the Embeddings page.")
        return
    ranked = partial(view.models, opened=opened)
    make = partial(cache.load_round, ranked, frame.store(), project, found.round)
    try:
        table = make()
    except RunoffError as error:
        frame.show_error(error)
        return
    about = view.MODEL_HELP if found.round.kind.about.scores_items else target_groups.HELP
    show_table(table, about, "Models against the round")
    download("Download the models (CSV)", make, f"{stem}-models.csv")


def _beside_votes(project: Project, area_id: int | None, found: RoundView, stem: str) -> None:
    standings = cache.load_standings(frame.store(), project)
    mine = next((standing for standing in standings if standing.ranking.area_id == area_id), None)
    if mine is None or not mine.n_closed:
        st.caption("Once a ballot of comparisons is closed, both can be set side by side here.")
        return
    box = st.expander("Side by side with the votes", key=f"beside-{found.round.id}", on_change="rerun")
    if not box.open:
        return
    with box, st.spinner("Comparing …"):
        both = cache.load_round(view.beside_votes, frame.store(), project, found.round)
        show_side_by_side(both, f"{stem}-votes")


def people_box(project: Project, found: RoundView, stem: str) -> None:
    """Everyone whose answers count with their figure; who stands apart is proposed, a person decides."""
    people: view.People = cache.load_round(view.people_of, frame.store(), project, found.round)
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
        table, silent = cache.load_round(view.qualification, frame.store(), project, found.round)
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


def _leave_out(project: Project, found: RoundView, people: view.People, failed: list[str]) -> None:
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
