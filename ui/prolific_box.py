"""Prolific: the voting page that its participants come to, and its list of submissions held against the votes."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from core.errors import RunoffError
from core.settlement import Review, id_list
from core.spoken import say, to_say
from core.store import Store
from core.store.at_stake import of_sittings
from core.store.ballots import Ballot
from core.store.plans import PlanSettings
from core.store.projects import Project
from core.store.prolific import SubmissionCheck, assignments_from_page, check_submissions
from core.store.settlement import review_assignments
from core.store.voting import read_voting, withdraw_voters
from core.views import at_stake
from core.views.words import many
from ui import frame
from ui.tables import said_columns
from ui.voting_box import voting_panel

_DOES = {
    "approve": to_say("To approve: paste these into Bulk approve."),
    "reject": to_say("To reject, or to ask to return: each with the reason in the table."),
    "withdraw": to_say("To take out: votes of people who took consent back, returned or timed out."),
}

_IDS = {
    "approve": to_say("Ids to approve ({n})"),
    "reject": to_say("Ids to reject ({n})"),
    "withdraw": to_say("Ids to withdraw ({n})"),
}
_COUNTED = {
    "finished": to_say("{n:,} finished"),
    "other code": to_say("{n:,} other code"),
    "unfinished": to_say("{n:,} unfinished"),
    "set aside": to_say("{n:,} set aside"),
    "no votes": to_say("{n:,} no votes"),
    "left": to_say("{n:,} left"),
    "left with votes": to_say("{n:,} left with votes"),
    "consent revoked": to_say("{n:,} consent revoked"),
    "decided": to_say("{n:,} decided"),
    "under way": to_say("{n:,} under way"),
}
_COLUMNS = (
    to_say("row"), to_say("participant"), to_say("submission"), to_say("status"), to_say("case"), to_say("proposal"),
    to_say("why"), to_say("code there"), to_say("code here"), to_say("tasks done"), to_say("votes"), to_say("minutes"),
)  # fmt: skip
_PROPOSALS = {"approve": to_say("approve"), "reject": to_say("reject"), "withdraw": to_say("withdraw")}


def prolific_box(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """The voting page, and the check of submissions once it was opened."""
    voting = read_voting(store, ballot.id)
    with st.expander(say("The voting page and its link"), icon=":material/link:", expanded=voting is None):
        voting_panel(store, project, ballot, plan)
    if voting is None:
        return
    file = st.file_uploader(
        say("Prolific's list of submissions (prolific_export_….csv)"),
        type=["csv"],
        key=f"prolific-{ballot.id}",
        help=say("It is only looked at: nothing of it is stored."),
    )
    if file is None:
        return
    try:
        found = check_submissions(store, project.id, ballot, file.getvalue(), file.name)
    except RunoffError as error:
        frame.show_error(error)
        return
    _show(project, ballot, found)


def _show(project: Project, ballot: Ballot, found: SubmissionCheck) -> None:
    for issue in found.issues[:3]:
        st.warning(frame.plain(str(issue)))
    st.markdown(", ".join(say(_COUNTED[case], n=n) for case, n in found.counts.items()).capitalize() + ".")
    shown = found.rows.drop(columns="sitting")
    shown["case"] = [case if case == "left" else say(case) for case in shown["case"]]
    shown["proposal"] = [say(_PROPOSALS.get(proposal, "")) for proposal in shown["proposal"]]
    shown["why"] = [say(why) for why in shown["why"]]
    config = said_columns(*_COLUMNS)
    st.dataframe(shown, hide_index=True, lazy=True, column_config=config, alt=say("Submissions and what follows"))
    if found.not_listed:
        voters = many(len(found.not_listed), "voter")
        st.caption(say("Voted here from Prolific without being in this list: {voters}.", voters=voters))
    for proposal, sentence in _DOES.items():
        ids = found.ids(proposal)
        if not ids:
            continue
        st.markdown(f"**{say(sentence)}**")
        st.code("\n".join(ids), language=None, height=120 if len(ids) > 4 else "content")
        with st.container(horizontal=True):
            st.download_button(
                say(_IDS[proposal], n=len(ids)), id_list(ids), f"{ballot.code}-{proposal}.txt", on_click="ignore"
            )
            _follow(project, proposal, found.rows[found.rows["proposal"] == proposal])


def _follow(project: Project, proposal: str, rows: pd.DataFrame) -> None:
    """The button that does in Runoff what is proposed for Prolific."""
    here = rows.dropna(subset="sitting")
    if here.empty:
        return
    options = {"key": f"prolific-{proposal}", "type": "secondary"}
    if proposal == "withdraw":
        sittings = here["sitting"].astype(int).tolist()
        stake = of_sittings(frame.store(), project.id, sittings)
        st.caption(frame.plain(at_stake.said(at_stake.TAKES_OUT, stake)))
        frame.command_button(
            say("Take the votes of {voters} out", voters=many(len(here), "voter")),
            partial(withdraw_voters, sitting_ids=sittings),
            project.id,
            done=lambda n: say("{answers} marked as withdrawn.", answers=many(n, "answer")),
            **options,
        )
        return
    whys = dict(zip(here["sitting"].astype(int), here["why"], strict=True))
    words = {"approve": to_say("Note them as approved"), "reject": to_say("Leave their votes out")}
    frame.command_button(
        say(words[proposal]),
        partial(_review, proposal, whys),
        project.id,
        done=lambda done: say(
            "{assignments} decided; {votes} left out.",
            assignments=many(done.decided, "assignment"),
            votes=many(done.out, "vote"),
        ),
        help=say("Decisions stand under “Settle up” below, and can be taken back there."),
        **options,
    )


def _review(proposal: str, whys: dict[int, str], store: Store, project_id: str, **options: int):
    decisions = {
        assignment: Review(proposal, why if proposal == "reject" else "")
        for sitting, why in whys.items()
        for assignment in assignments_from_page(store, [sitting])
    }
    return review_assignments(store, project_id, decisions, **options)
