"""Settling up: approve or reject assignments, the files that tell platforms, and what is to be paid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core.platforms.workbooks import MIME
from core.settlement import Review, Rules, write_payments
from core.spoken import say, to_say
from core.store import Store
from core.store.ballots import Ballot
from core.store.projects import Project
from core.views import settlement_job
from core.views.collect import CollectView
from core.views.command_list import decisions_kept
from core.views.long_commands import is_many
from core.views.settlement import SettlementView, review_file
from core.views.words import called
from ui import cache, choosers, kept_jobs, long_commands
from ui.tables import said_columns

REVIEW = "review-{}"
FIRST = Rules(0.5, 0.33)  # what the fields say at first
MOST = 500  # assignments that a list offers at once
_DECISIONS = {
    "approve": to_say("Approve"),
    "reject": to_say("Reject, with a reason"),
    "": to_say("Take the decision back"),
}
_COLUMNS = (
    to_say("voter"), to_say("assignment"), to_say("task"), to_say("answered"), to_say("checks right"),
    to_say("seconds each"), to_say("against it"), to_say("decision"), to_say("reason"), to_say("platform says"),
)  # fmt: skip
_PAID = (
    to_say("voter"), to_say("platform"), to_say("assignments"), to_say("approved"), to_say("rejected"),
    to_say("undecided"), to_say("comparisons"), to_say("votes counted"), to_say("minutes"), to_say("reward due"),
    to_say("an hour"),
)  # fmt: skip


def settlement_box(store: Store, project: Project, view: CollectView) -> None:
    """Everything about settling up; read and drawn once it is unfolded."""
    stages = (*reversed(view.stages), *([view.pilot] if view.pilot else []))
    ballots = [stage.ballot for stage in stages if stage.ballot and stage.progress and not stage.progress.untouched]
    if not ballots:
        return
    box = st.expander(say("Settle up: approve, reject, pay"), key=f"settle-{project.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        ballot = ballots[0]
        if len(ballots) > 1:
            by_id = {one.id: one for one in ballots}
            names = {id_: called(one.number) for id_, one in by_id.items()}
            ballot = by_id[choosers.selectbox(say("Ballot"), names, key=f"settled-{project.id}")]
        settle(store, project, ballot)


def settle(store: Store, project: Project, ballot: Ballot) -> None:
    """The assignments of a ballot or a round, and what is decided about them."""
    load = _loader(store, project, ballot)
    if load is None:
        return
    rules = st.container()
    if load(FIRST).assignments.empty:
        st.caption(say("Simulated voters need no pay, and nobody else has voted here."))
        return
    with rules:
        found = load(_rules())
    st.markdown(found.headline)
    config = said_columns(*_COLUMNS)
    alt = say("Assignments and what was decided")
    st.dataframe(found.table, hide_index=True, lazy=True, column_config=config, alt=alt)
    if not ballot.is_open:
        st.caption(say("This ballot is closed: decisions are kept, its votes stay as scored until you reopen it."))
    _at_once(project, ballot, found)
    _one_by_one(project, ballot, found)
    _files(store, ballot, found)


def _loader(store: Store, project: Project, ballot: Ballot) -> Callable[[Rules], SettlementView] | None:
    """What reads the settlement of a ballot: at once, or by the table that a job has read; None until it has."""
    if not is_many(ballot.n_comparisons):
        return partial(cache.load_settlement, store, project, ballot.id)
    job = kept_jobs.of_votes(
        settlement_job.FIGURES,
        project,
        None,
        say("Read the assignments"),
        place=f"settle-{ballot.id}",
        extra=(ballot.id,),
    )
    return job and partial(cache.load_settlement_of, store, project, ballot.id, job_id=job.id)


def _rules() -> Rules:
    """When something speaks against an assignment."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        gold = st.number_input(
            say("Checks right, at least (%)"),
            0,
            100,
            round(100 * FIRST.gold_share),
            5,
            width=210,
            help=say("Of the checks in an assignment, if it has any."),
        )
        fast = st.number_input(
            say("Time, at least (% of usual)"),
            0,
            100,
            round(100 * FIRST.fast),
            1,
            width=210,
            help=say("Seconds a comparison, against the median over this ballot's assignments."),
        )
        unfinished = st.checkbox(say("All comparisons answered"), FIRST.unfinished)
    return Rules(gold / 100, fast / 100, unfinished)


def _at_once(project: Project, ballot: Ballot, found: SettlementView) -> None:
    """The two decisions that follow the proposals."""
    with st.container(horizontal=True):
        if st.button(say("Approve {n:,} with nothing against them", n=len(found.fine)), disabled=not found.fine):
            _decide(project, ballot, {id_: Review("approve") for id_ in found.fine})
        if st.button(
            say("Reject {n:,} with something against them", n=len(found.doubtful)),
            disabled=not found.doubtful,
            help=say("Their votes count no more, and their comparisons go into the top-up. It can be taken back."),
        ):
            _decide(project, ballot, {id_: Review("reject", reason) for id_, reason in found.doubtful.items()})


def _decide(project: Project, ballot: Ballot, decisions: Mapping[int, Review | None]) -> None:
    is_long = is_many(ballot.n_comparisons)
    long_commands.carry_out(project, "review", {"decisions": decisions_kept(decisions)}, is_long=is_long)


def _one_by_one(project: Project, ballot: Ballot, found: SettlementView) -> None:
    """The form for single assignments."""
    rows = found.assignments
    if len(rows) > MOST:
        about = say("There are {n:,}: the first {most} that match are offered.", n=len(rows), most=MOST)
        text = st.text_input(say("Find a voter or an assignment"), help=about, key=f"find-{ballot.id}").strip()
        matches = rows["voter"].str.contains(text, regex=False) | rows["assignment_id"].str.contains(text, regex=False)
        rows = rows[matches].head(MOST)
    labels = (rows["voter"] + " · " + rows["assignment_id"]).tolist()
    names = dict(zip(rows["assignment"].tolist(), labels, strict=True))
    platforms = dict(zip(rows["assignment"].tolist(), rows["platform"].tolist(), strict=True))
    with st.form(f"decide-{ballot.id}", clear_on_submit=True):
        chosen = choosers.multiselect(
            say("Assignments"), names, key=f"decided-{ballot.id}", apart=platforms.__getitem__
        )
        decisions = {name: say(words) for name, words in _DECISIONS.items()}
        decision = choosers.radio(say("Decision"), decisions, key=f"decision-{ballot.id}", horizontal=True)
        reason = st.text_input(say("Reason for a rejection"), help=say("Whoever did the work reads it."))
        if st.form_submit_button(say("Decide")) and chosen:
            review = Review(decision, reason) if decision else None
            _decide(project, ballot, dict.fromkeys(chosen, review))


def _files(store: Store, ballot: Ballot, found: SettlementView) -> None:
    """What goes to platforms, and the payment table."""
    for upload_id, name in found.uploads:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                say("Review file for {file}", file=name),
                partial(review_file, store, upload_id, found),
                REVIEW.format(name),
                "text/csv",
                key=f"review-{upload_id}",
                on_click="ignore",
            )
            st.caption(say("The uploaded file with X in Approve or the reason in Reject, for the platform to take."))
    st.markdown(say("**Payments**"))
    config = said_columns(*_PAID)
    alt = say("What each voter is due")
    st.dataframe(found.payments, hide_index=True, lazy=True, column_config=config, alt=alt)
    st.caption(say("Rejected assignments pay nothing. “an hour” is the wage reached, by the time that was told."))
    with st.container(horizontal=True):
        for excel, label, mime in (
            (False, say("Payments (CSV)"), "text/csv"),
            (True, say("Payments (XLSX)"), MIME),
        ):
            file = f"{ballot.code}-payments.{'xlsx' if excel else 'csv'}"
            st.download_button(
                label,
                partial(write_payments, found.payments, excel=excel),
                file,
                mime,
                on_click="ignore",
            )
