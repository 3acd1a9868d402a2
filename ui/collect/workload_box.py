"""How evenly the votes of a ballot came: the quota, and who gave how many."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.project_commands import Project
from core.views.collect.collect_page import Workload
from ui.shared import cache
from ui.shared.tables import in_percent, share_column


def over_quota(workload: Workload) -> None:
    """A warning while somebody is over the quota."""
    if workload.is_over:
        votes, most = many(workload.top_votes or 0, "vote"), many(workload.quota.comparisons_per_voter, "vote")
        st.warning(f"The busiest voter is over the quota of {most}, with {votes}.", icon=":material/balance:")


def quota_line(workload: Workload) -> None:
    """The quota, for where voters work elsewhere."""
    quota = workload.quota
    st.caption(
        f"Quota: {many(quota.tasks_per_voter, 'task')} ({many(quota.comparisons_per_voter, 'comparison')}) per "
        f"voter, {workload.why}. Set it where voters work, so that the fastest don't decide."
    )


@st.fragment
def voters_box(store: Store, project: Project, ballot: Ballot, workload: Workload) -> None:
    """Who voted how much and what to look at, in an expander; nothing is read before it is opened."""
    box = st.expander("Voters and their flags", key=f"voters-{ballot.code}", on_change="rerun")
    if not box.open:
        return
    with box:
        voters = cache.load_payment_votes(store, project, ballot.id, workload.quota.comparisons_per_voter)
        n_flagged = int((voters["flags"] != "").sum())
        most = many(workload.quota.comparisons_per_voter, "vote")
        flagged = f"{n_flagged:,} with a flag" if n_flagged else "none with a flag"
        st.markdown(f"**{many(len(voters), 'voter')}, {flagged}.** The quota is {most}, {workload.why}.")
        st.dataframe(
            in_percent(voters, "share", digits=1),
            hide_index=True,
            lazy=True,
            column_config={
                "share": share_column("share of votes", digits=1),
                "unknown": st.column_config.NumberColumn("unknown words", help="Answers “I don't know a word here”."),
                "flags": st.column_config.TextColumn("flags", help="A reason to look, not proof.", width="large"),
            },
            alt="Votes by voter, with flags",
        )
