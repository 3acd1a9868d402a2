"""Paying voters: approve or reject assignments, the files that tell platforms, and what is to be paid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core.commands.figures.files import Assignments
from core.commands.votes import ReviewAssignments
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.project_commands import Project
from core.tabular.workbook_reading import MIME
from core.views.collect.collect_page import CollectView, PaymentView, review_file
from core.votes.payment import Review, Rules, write_payments
from ui.shared import cache, choosers, frame, jobs

REVIEW = "review-{}"
FIRST = Rules(0.5, 0.33)  # what the fields say at first
MOST = 500  # assignments that a list offers at once
_DECISIONS = {"approve": "Approve", "reject": "Reject, with a reason", "": "Take the decision back"}


def payment_box(store: Store, project: Project, view: CollectView) -> None:
    """Everything about paying voters; read and drawn once it is unfolded."""
    stages = (*reversed(view.drawn), *([view.pilot] if view.pilot else []))
    ballots = [stage.ballot for stage in stages if not stage.progress.untouched]
    if not ballots:
        return
    box = st.expander("Settle up: approve, reject, pay", key=f"settle-{project.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        ballot = ballots[0]
        if len(ballots) > 1:
            by_id = {one.id: one for one in ballots}
            names = {id_: one.called for id_, one in by_id.items()}
            ballot = by_id[choosers.selectbox("Ballot", names, key=f"settled-{project.id}")]
        payment(store, project, ballot)


def payment(store: Store, project: Project, ballot: Ballot) -> None:
    """The assignments of a ballot or a round, and what is decided about them."""
    load = _loader(store, project, ballot)
    if load is None:
        return
    rules = st.container()
    if load(FIRST).assignments.empty:
        st.caption("Simulated voters need no pay, and nobody else has voted here.")
        return
    with rules:
        view = load(_rules())
    st.markdown(view.headline)
    alt = "Assignments and what was decided"
    st.dataframe(view.table, hide_index=True, lazy=True, alt=alt)
    if not ballot.is_open:
        st.caption("This ballot is closed: decisions are kept, its votes stay as scored until you reopen it.")
    _at_once(project, ballot, view)
    _one_by_one(project, ballot, view)
    _files(store, ballot, view)


def _loader(store: Store, project: Project, ballot: Ballot) -> Callable[[Rules], PaymentView] | None:
    """What makes the payment of a ballot by rules; None until its assignments are read."""
    figure = Assignments(project.id, project.revision, ballot.id)
    assignments = jobs.figure(figure, project, "Read the assignments", key=f"settle-{ballot.id}-{project.id}")
    return None if assignments is None else partial(cache.load_payment, store, project, ballot.id, figure=assignments)


def _rules() -> Rules:
    """When something speaks against an assignment."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gold = st.number_input(
            "Checks right, at least (%)",
            0,
            100,
            round(100 * FIRST.gold_share),
            5,
            width=210,
            help="Of the checks in an assignment, if it has any.",
        )
        fast = st.number_input(
            "Time, at least (% of usual)",
            0,
            100,
            round(100 * FIRST.fast),
            1,
            width=210,
            help="Seconds per comparison, against the median over this ballot's assignments.",
        )
        unfinished = st.checkbox("All comparisons answered", FIRST.unfinished)
    return Rules(gold / 100, fast / 100, unfinished)


def _at_once(project: Project, ballot: Ballot, view: PaymentView) -> None:
    """The two decisions that follow the proposals."""
    with st.container(horizontal=True):
        if st.button(f"Approve {len(view.fine):,} with nothing against them", disabled=not view.fine):
            _decide(project, ballot, {id_: Review("approve") for id_ in view.fine})
        if st.button(
            f"Reject {len(view.doubtful):,} with something against them",
            disabled=not view.doubtful,
            help="Their votes no longer count, and their comparisons go into the top-up. This can be taken back.",
        ):
            _decide(project, ballot, {id_: Review("reject", reason) for id_, reason in view.doubtful.items()})


def _decide(project: Project, ballot: Ballot, decisions: Mapping[int, Review | None]) -> None:
    jobs.send(ReviewAssignments(project.id, frame.expected(), ballot.id, decisions))


def _one_by_one(project: Project, ballot: Ballot, view: PaymentView) -> None:
    """The form for single assignments."""
    rows = view.assignments
    if len(rows) > MOST:
        about = f"There are {len(rows):,}: the first {MOST} that match are offered."
        text = st.text_input("Find a voter or an assignment", help=about, key=f"find-{ballot.id}").strip()
        matches = rows["voter"].str.contains(text, regex=False) | rows["assignment_id"].str.contains(text, regex=False)
        rows = rows[matches].head(MOST)
    labels = (rows["voter"] + " · " + rows["assignment_id"]).tolist()
    names = dict(zip(rows["assignment"].tolist(), labels, strict=True))
    platforms = dict(zip(rows["assignment"].tolist(), rows["platform"].tolist(), strict=True))
    with st.form(f"decide-{ballot.id}", clear_on_submit=True):
        chosen = choosers.multiselect("Assignments", names, key=f"decided-{ballot.id}", apart=platforms.__getitem__)
        decisions = dict(_DECISIONS)
        decision = choosers.radio("Decision", decisions, key=f"decision-{ballot.id}", horizontal=True)
        reason = st.text_input("Reason for a rejection", help="Whoever did the work reads it.")
        if st.form_submit_button("Decide") and chosen:
            review = Review(decision, reason) if decision else None
            _decide(project, ballot, dict.fromkeys(chosen, review))


def _files(store: Store, ballot: Ballot, view: PaymentView) -> None:
    """The review files for platforms, and the payment table."""
    for upload_id, name in view.uploads:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                f"Review file for {name}",
                partial(review_file, store, upload_id, view),
                REVIEW.format(name),
                "text/csv",
                key=f"review-{upload_id}",
                on_click="ignore",
            )
            st.caption("The uploaded file with X in Approve or the reason in Reject, for the platform to take.")
    st.markdown("**Payments**")
    alt = "What each voter is due"
    st.dataframe(view.payments, hide_index=True, lazy=True, alt=alt)
    st.caption("Rejected assignments pay nothing. “per hour” is the wage reached, by the reported time.")
    with st.container(horizontal=True):
        for excel, label, mime in (
            (False, "Payments (CSV)", "text/csv"),
            (True, "Payments (XLSX)", MIME),
        ):
            file = f"{ballot.code}-payments.{'xlsx' if excel else 'csv'}"
            st.download_button(
                label,
                partial(write_payments, view.payments, excel=excel),
                file,
                mime,
                on_click="ignore",
            )
