"""How evenly the votes of a ballot came: the quota, and who gave how many."""

from __future__ import annotations

import streamlit as st

from core.base.plurals import many
from core.store import Store
from core.store.ballots.ballots import Ballot
from core.store.projects.projects import Project
from core.views.collect.dealing import Dealing
from ui.shared import cache
from ui.shared.shares import in_percent, share_column


def dealing_line(dealing: Dealing) -> None:
    """The quota in one sentence, with a warning while somebody is over it."""
    quota = dealing.quota
    st.caption(
        f"Quota: {many(quota.tasks_per_voter, 'task')} ({many(quota.comparisons_per_voter, 'comparison')}) a "
        f"voter, as the plan has {many(dealing.n_voters, 'voter')}. Set it where voters work, so that the "
        "fastest don't decide (§2.5)."
    )
    if dealing.is_over:
        votes = many(dealing.top_votes or 0, "vote")
        st.warning(f"The busiest voter is over it, with {votes}.", icon=":material/balance:")


@st.fragment
def voters_box(store: Store, project: Project, ballot: Ballot, dealing: Dealing) -> None:
    """Who voted how much, in an expander; nothing is read before it is opened."""
    box = st.expander("Votes by voter", key=f"voters-{ballot.code}", on_change="rerun")
    if not box.open:
        return
    with box:
        voters = cache.load_dealt(store, project, ballot.id, dealing.quota.comparisons_per_voter)
        n_over = int(voters["over"].sum())
        st.markdown(
            (
                f"**{many(len(voters), 'voter')}, {n_over:,} over the quota of "
                f"{many(dealing.quota.comparisons_per_voter, 'vote')}.**"
            )
            if n_over
            else (
                f"**{many(len(voters), 'voter')}, nobody over the quota of "
                f"{many(dealing.quota.comparisons_per_voter, 'vote')}.**"
            )
        )
        st.dataframe(
            in_percent(voters, "share", digits=1),
            hide_index=True,
            lazy=True,
            column_config={
                "share": share_column("share of votes", digits=1),
                "unknown": st.column_config.NumberColumn("unknown words", help="Answers “I don't know a word here”."),
                "over": st.column_config.CheckboxColumn("over the quota"),
            },
            alt="Votes by voter",
        )
