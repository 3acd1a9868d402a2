"""How evenly the votes of a ballot came: the quota, and who gave how many."""

from __future__ import annotations

import streamlit as st

from core.spoken import say
from core.store import Store
from core.store.ballots import Ballot
from core.store.projects import Project
from core.views.dealing import Dealing
from core.views.words import many
from ui import cache
from ui.shares import in_percent, share_column


def dealing_line(dealing: Dealing) -> None:
    """The quota in one sentence, with a warning while somebody is over it."""
    quota = dealing.quota
    st.caption(
        say(
            "Quota: {tasks} ({comparisons}) a voter, as the plan has {voters}. Set it where voters work, so that the "
            "fastest don't decide (§2.5).",
            tasks=many(quota.tasks_per_voter, "task"),
            comparisons=many(quota.comparisons_per_voter, "comparison"),
            voters=many(dealing.n_voters, "voter"),
        )
    )
    if dealing.is_over:
        votes = many(dealing.top_votes, "vote")
        st.warning(say("The busiest voter is over it, with {votes}.", votes=votes), icon=":material/balance:")


@st.fragment
def voters_box(store: Store, project: Project, ballot: Ballot, dealing: Dealing) -> None:
    """Who voted how much, in an expander; nothing is read before it is opened."""
    box = st.expander(say("Votes by voter"), key=f"voters-{ballot.code}", on_change="rerun")
    if not box.open:
        return
    with box:
        voters = cache.load_dealt(store, project, ballot.id, dealing.quota.comparisons_per_voter)
        n_over = int(voters["over"].sum())
        st.markdown(
            say(
                "**{voters}, {n:,} over the quota of {votes}.**"
                if n_over
                else "**{voters}, nobody over the quota of {votes}.**",
                voters=many(len(voters), "voter"),
                n=n_over,
                votes=many(dealing.quota.comparisons_per_voter, "vote"),
            )
        )
        st.dataframe(
            in_percent(voters, "share"),
            hide_index=True,
            lazy=True,
            column_config={
                "voter": say("voter"),
                "platform": say("platform"),
                "votes": say("votes"),
                "share": share_column(say("share of votes"), digits=1),
                "unknown": st.column_config.NumberColumn(
                    say("unknown words"), help=say("Answers “I don't know a word here”.")
                ),
                "over": st.column_config.CheckboxColumn(say("over the quota")),
            },
            alt=say("Votes by voter"),
        )
