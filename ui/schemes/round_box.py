"""One round: its batch goes out, answers come back, it is closed, and says what it found."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, percent, plural
from core.commands.ballots import CloseBallot, DiscardBallot, ReopenBallot, SimulateVotes
from core.commands.votes import WithdrawUpload
from core.platforms.round_files import round_files
from core.store.ballots.ballot_rows import short_questions
from core.store.ballots.comparisons import read_shown
from core.store.projects.project_commands import Project
from core.views.schemes.rounds import RoundView
from core.views.wording import moment
from ui.collect.payment_box import payment
from ui.collect.uploads import to_withdraw, upload_box
from ui.collect.voting_box import round_voting_panel
from ui.schemes.round_results import people_box, results_box
from ui.shared import frame, jobs


def round_box(project: Project, area_id: int | None, found: RoundView) -> None:
    """All of one round."""
    st.markdown(f"**{found.said}**")
    st.progress(found.progress.share, text=f"{percent(found.progress.share)}")
    if found.round.is_open:
        _out(project, found)
        round_voting_panel(project, found.round)
        st.subheader("2. Upload results")
        upload_box(frame.store(), project, found.round)
        _uploads(project, found)
        _close(project, found)
        if not found.progress.untouched:
            people_box(project, found, slug(f"{project.name}-round-{found.round.number}"))
        _payment(project, found)
        return
    results_box(project, area_id, found)
    _payment(project, found)
    with st.expander("Uploads and reopening"):
        _uploads(project, found)
        jobs.offer(
            f"Reopen round {found.round.number}",
            ReopenBallot.of(project.id, frame.expected(), found.round),
            help="Its scores are taken off until it is closed again.",
        )


def _payment(project: Project, found: RoundView) -> None:
    """Assignments approved, rejected and paid, as those of ballots are."""
    if found.progress.untouched:
        return
    box = st.expander("Settle up: approve, reject, pay", key=f"settle-round-{found.round.id}", on_change="rerun")
    if box.open:
        with box:
            payment(frame.store(), project, found.round)


def _out(project: Project, found: RoundView) -> None:
    st.subheader("1. Give it to people")
    one, store = found.round, frame.store()
    settings = {**one.settings.stored(), "notion": project.notion}
    widest = min(one.settings.task_size, one.n_comparisons)
    begun = not found.progress.untouched and not found.progress.is_complete
    top_up = begun and st.toggle(
        "Only what still wants answers", key=f"missing-{one.id}", help="Leaves out questions that have their answers."
    )
    files = round_files(
        one.code,
        one.asks,
        settings,
        shown=lambda: read_shown(store, project.id, one.id),
        widest=widest,
        only=(lambda: short_questions(store, one.id)) if top_up else (lambda: None),
        is_top_up=top_up,
    )
    swapped = one.asks.swaps(one.settings)
    with st.container(horizontal=True):
        for number, file in enumerate(files):
            st.download_button(
                file.label,
                file.make,
                file.name,
                file.mime,
                icon=":material/download:",
                on_click="ignore",
                help=file.note,
                key=f"out-{one.id}-{number}-{top_up}",
                type="primary" if number == 0 else "secondary",
            )
    st.caption(
        f"Publish each task with {many(one.settings.raters, 'assignment')}."
        + (" Half of the items are shown with their tokens exchanged." if swapped else "")
    )
    if project.kind != "real":
        jobs.offer(
            "Let simulated people answer",
            SimulateVotes.of(project.id, frame.expected(), one),
            icon=":material/science:",
            disabled=found.progress.is_complete,
        )


def _uploads(project: Project, found: RoundView) -> None:
    if not found.uploads:
        return
    rows = [
        {
            "file": upload.filename,
            "rows": upload.n_rows,
            "new answers": upload.counts.get("new", 0),
            "accepted (UTC)": moment(upload.accepted_at),
            "state": f"withdrawn on {moment(upload.withdrawn_at)}" if upload.withdrawn_at else "counted",
        }
        for upload in found.uploads
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Files of this round")
    there = [upload for upload in found.uploads if not upload.withdrawn_at]
    if not there or not found.round.is_open:
        return
    with st.container(border=True):
        upload = to_withdraw(project, there, "Withdraw a file", found.round.id, noun="answer")
        if st.button("Withdraw it", key=f"withdraw-{found.round.id}"):
            jobs.send(WithdrawUpload(project.id, frame.expected(), upload.id, upload.filename, noun="answer"))


def _close(project: Project, found: RoundView) -> None:
    st.subheader("3. Close it")
    progress = found.progress
    if progress.untouched:
        st.caption("It can be closed once it has answers.")
    elif not progress.is_complete:
        left = progress.wanted - progress.answered
        st.warning(
            plural(left, "{n} answer that the round wants is missing.", "{n} answers that the round wants are missing.")
        )
    sure = progress.is_complete or (
        not progress.untouched and st.checkbox("Close anyway", key=f"sure-{found.round.id}")
    )
    with st.container(horizontal=True):
        jobs.offer(
            f"Close round {found.round.number}",
            CloseBallot.of(project.id, frame.expected(), found.round),
            type="primary" if progress.is_complete else "secondary",
            disabled=not sure,
        )
        if progress.untouched:
            jobs.offer(
                "Discard this round",
                DiscardBallot.of(project.id, frame.expected(), found.round),
            )
