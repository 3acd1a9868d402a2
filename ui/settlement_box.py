"""Settling up: approve or reject assignments, the files that tell platforms, and what is to be paid."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.platforms.workbooks import MIME
from core.settlement import Review, Rules, write_payments
from core.store import Store
from core.store.ballots import Ballot
from core.store.projects import Project
from core.store.settlement import Reviewed, review_assignments
from core.views.collect import CollectView
from core.views.settlement import SettlementView, review_file
from core.views.words import many
from ui import cache, frame

MOST = 500  # assignments that a list offers at once
_DECISIONS = {"approve": "Approve", "reject": "Reject, with a reason", "": "Take the decision back"}


def settlement_box(store: Store, project: Project, view: CollectView) -> None:
    """Everything about settling up; read and drawn once it is unfolded."""
    stages = (*reversed(view.stages), *([view.pilot] if view.pilot else []))
    ballots = [stage.ballot for stage in stages if stage.ballot and stage.progress and not stage.progress.untouched]
    if not ballots:
        return
    box = st.expander("Settle up: approve, reject, pay", key=f"settle-{project.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        ballot = ballots[0]
        if len(ballots) > 1:
            ballot = st.selectbox("Ballot", ballots, format_func=lambda one: one.called, key=f"settled-{project.id}")
        settle(store, project, ballot)


def settle(store: Store, project: Project, ballot: Ballot) -> None:
    """The assignments of a ballot or a round, and what is decided about them."""
    rules = st.container()
    if cache.load_settlement(store, project, ballot.id, Rules()).assignments.empty:
        st.caption("Simulated voters need no pay, and nobody else has voted here.")
        return
    with rules:
        found = cache.load_settlement(store, project, ballot.id, _rules())
    st.markdown(found.headline)
    st.dataframe(found.table, hide_index=True, lazy=True, alt="Assignments and what was decided")
    if not ballot.is_open:
        st.caption("This ballot is closed: decisions are kept, its votes stay as scored until you reopen it.")
    _at_once(project, found)
    _one_by_one(project, ballot, found)
    _files(store, ballot, found)


def _rules() -> Rules:
    """When something speaks against an assignment."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gold = st.number_input(
            "Checks right, at least (%)",
            0,
            100,
            50,
            5,
            width=210,
            help="Of the checks in an assignment, if it has any.",
        )
        fast = st.number_input(
            "Time, at least (% of usual)",
            0,
            100,
            33,
            1,
            width=210,
            help="Seconds a comparison, against the median over this ballot's assignments.",
        )
        unfinished = st.checkbox("All comparisons answered", True)
    return Rules(gold / 100, fast / 100, unfinished)


def _done(done: Reviewed) -> str:
    moved = f"; {many(done.out, 'vote')} left out" if done.out else ""
    back = f"; {many(done.back, 'vote')} came in" if done.back else ""
    again = ". What they answered wants votes again: see the top-up" if done.out else ""
    return f"{many(done.decided, 'assignment')} decided{moved}{back}{again}."


def _at_once(project: Project, found: SettlementView) -> None:
    """The two decisions that follow the proposals."""
    with st.container(horizontal=True):
        frame.command_button(
            f"Approve {len(found.fine):,} with nothing against them",
            partial(_decide, {id_: Review("approve") for id_ in found.fine}),
            project.id,
            done=_done,
            disabled=not found.fine,
        )
        frame.command_button(
            f"Reject {len(found.doubtful):,} with something against them",
            partial(_decide, {id_: Review("reject", reason) for id_, reason in found.doubtful.items()}),
            project.id,
            done=_done,
            disabled=not found.doubtful,
            help="Their votes count no more, and their comparisons go into the top-up. It can be taken back.",
        )


def _decide(decisions: dict[int, Review | None], store: Store, project_id: str, **options: int) -> Reviewed:
    return review_assignments(store, project_id, decisions, **options)


def _one_by_one(project: Project, ballot: Ballot, found: SettlementView) -> None:
    """The form for single assignments."""
    rows = found.assignments
    if len(rows) > MOST:
        about = f"There are {len(rows):,}: the first {MOST} that match are offered."
        text = st.text_input("Find a voter or an assignment", help=about, key=f"find-{ballot.id}").strip()
        matches = rows["voter"].str.contains(text, regex=False) | rows["assignment_id"].str.contains(text, regex=False)
        rows = rows[matches].head(MOST)
    labels = (rows["voter"] + " · " + rows["assignment_id"]).tolist()
    names = dict(zip(rows["assignment"].tolist(), labels, strict=True))
    with st.form(f"decide-{ballot.id}", clear_on_submit=True):
        chosen = st.multiselect("Assignments", list(names), format_func=names.__getitem__)
        decision = st.radio("Decision", list(_DECISIONS), format_func=_DECISIONS.__getitem__, horizontal=True)
        reason = st.text_input("Reason for a rejection", help="Whoever did the work reads it.")
        if st.form_submit_button("Decide") and chosen:
            review = Review(decision, reason) if decision else None
            frame.carry_out(
                _decide, dict.fromkeys(chosen, review), frame.store(), project.id, done=_done,
                expected_revision=frame.expected(),
            )  # fmt: skip


def _files(store: Store, ballot: Ballot, found: SettlementView) -> None:
    """What goes to platforms, and the payment table."""
    for upload_id, name in found.uploads:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                f"Review file for {name}",
                partial(review_file, store, upload_id, found),
                f"review-{name}",
                "text/csv",
                key=f"review-{upload_id}",
                on_click="ignore",
            )
            st.caption("The uploaded file with X in Approve or the reason in Reject, for the platform to take.")
    st.markdown("**Payments**")
    st.dataframe(found.payments, hide_index=True, lazy=True, alt="What each voter is due")
    st.caption("Rejected assignments pay nothing. “an hour” is the wage reached, by the time that was told.")
    with st.container(horizontal=True):
        for excel, label, mime in ((False, "Payments (CSV)", "text/csv"), (True, "Payments (XLSX)", MIME)):
            st.download_button(
                label,
                partial(write_payments, found.payments, excel=excel),
                f"{ballot.code}-payments.{'xlsx' if excel else 'csv'}",
                mime,
                on_click="ignore",
            )
