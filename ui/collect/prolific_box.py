"""Prolific: the voting page that its participants come to, and its list of submissions held against the votes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many
from core.commands.votes import WithdrawVoters
from core.errors import RunoffError
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.votes.payment import (
    ReviewChange,
    SubmissionCheck,
    assignments_from_page,
    check_submissions,
    review_assignments,
)
from core.store.votes.uploads import of_sessions
from core.store.voting.owner_commands import read_voting
from core.views import file_kinds, wording
from core.votes.payment import Review, id_list
from ui.collect.voting_box import voting_panel
from ui.shared import frame, jobs

_DOES = {
    "approve": "To approve: paste these into Bulk approve.",
    "reject": "To reject, or to ask to return: each with the reason in the table.",
    "withdraw": "To take out: votes of people who took consent back, returned or timed out.",
}

_IDS = {"approve": "Ids to approve ({n})", "reject": "Ids to reject ({n})", "withdraw": "Ids to withdraw ({n})"}
_COUNTED = {
    "finished": "{n:,} finished",
    "other code": "{n:,} other code",
    "unfinished": "{n:,} unfinished",
    "set aside": "{n:,} set aside",
    "no votes": "{n:,} no votes",
    "left": "{n:,} left",
    "left with votes": "{n:,} left with votes",
    "consent revoked": "{n:,} consent revoked",
    "decided": "{n:,} decided",
    "under way": "{n:,} under way",
}


def prolific_box(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """The voting page, and the check of submissions once it was opened."""
    voting = read_voting(store, ballot.id)
    with st.expander("The voting page and its link", icon=":material/link:", expanded=voting is None):
        voting_panel(store, project, ballot, plan)
    if voting is None:
        return
    file = st.file_uploader(
        "Prolific's list of submissions (prolific_export_….csv)",
        key=f"prolific-{ballot.id}",
        help="It is only checked: nothing of it is stored.",
    )
    if file is None:
        return
    try:
        file_kinds.check("submissions", file.getvalue(), file.name)
        found = check_submissions(store, project.id, ballot, file.getvalue(), file.name)
    except RunoffError as error:
        frame.show_error(error)
        return
    _show(project, ballot, found)


def _show(project: Project, ballot: Ballot, found: SubmissionCheck) -> None:
    for issue in found.issues[:3]:
        st.warning(frame.plain(str(issue)))
    st.markdown(", ".join(_COUNTED[case].format(n=n) for case, n in found.counts.items()).capitalize() + ".")
    shown = found.rows.drop(columns="sitting")
    st.dataframe(shown, hide_index=True, lazy=True, alt="Submissions and what follows")
    if found.not_listed:
        voters = many(len(found.not_listed), "voter")
        st.caption(f"Voted here from Prolific, but not in this list: {voters}.")
    for proposal, sentence in _DOES.items():
        ids = found.ids(proposal)
        if not ids:
            continue
        st.markdown(f"**{sentence}**")
        st.code("\n".join(ids), language=None, height=120 if len(ids) > 4 else "content")
        with st.container(horizontal=True):
            st.download_button(
                _IDS[proposal].format(n=len(ids)), id_list(ids), f"{ballot.code}-{proposal}.txt", on_click="ignore"
            )
            _follow(project, proposal, found.rows[found.rows["proposal"] == proposal])


def _follow(project: Project, proposal: str, rows: pd.DataFrame) -> None:
    """The button that does in Runoff what is proposed for Prolific."""
    here = rows.dropna(subset="sitting")
    if here.empty:
        return
    options: dict[str, Any] = {"key": f"prolific-{proposal}", "type": "secondary"}
    if proposal == "withdraw":
        sittings = here["sitting"].astype(int).tolist()
        stake = of_sessions(frame.store(), project.id, sittings)
        st.caption(frame.plain(wording.deletion_text(wording.TAKES_OUT, stake)))
        command = WithdrawVoters(project.id, frame.expected(), tuple(sittings))
        jobs.offer(f"Take the votes of {many(len(here), 'voter')} out", command, **options)
        return
    whys = dict(zip(here["sitting"].astype(int), here["why"], strict=True))
    words = {"approve": "Mark them as approved", "reject": "Leave their votes out"}
    frame.command_button(
        words[proposal],
        partial(_review, proposal, whys),
        project.id,
        done=lambda done: f"{many(done.decided, 'assignment')} decided; {many(done.out, 'vote')} left out.",
        help="Decisions stand under “Settle up” below, and can be taken back there.",
        **options,
    )


def _review(proposal: str, whys: dict[int, str], store: Store, project_id: str, **options: int) -> ReviewChange:
    decisions = {
        assignment: Review(proposal, why if proposal == "reject" else "")
        for session, why in whys.items()
        for assignment in assignments_from_page(store, [session])
    }
    return review_assignments(store, project_id, decisions, **options)
