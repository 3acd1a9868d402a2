"""When the voters of the voting page began and how many of one address, and the way out for a span of them at once."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from core.base.numbers_in_words import many
from core.commands.votes import WithdrawVoters
from core.store import Store
from core.store.projects.project_commands import Project
from core.store.voting.owner_commands import VotingPageInfo
from core.views.collect import voting as arrivals
from core.views.collect.voting import Arrivals
from core.views.wording import moment
from ui.shared import frame, jobs


def arrivals_box(store: Store, project: Project, voting: VotingPageInfo) -> None:
    """Voters by the minute in which they began, and those of a span of time taken out, once opened."""
    box = st.expander("When voters began", key=f"arrivals-{voting.id}", on_change="rerun")
    if not box.open:
        return
    found = arrivals.load_arrivals(store, voting.id)
    with box:
        if not len(found.voters):
            st.caption("Nobody has begun yet.")
            return
        st.caption(
            "Times are UTC. Addresses are numbered; the addresses themselves aren't kept, and the numbers go when "
            "the ballot closes. A school, or a proxy without --behind-proxy, is one address."
        )
        _tables(found)
        _span(store, project, voting, found)


def _tables(found: Arrivals) -> None:
    st.dataframe(found.minutes, hide_index=True, alt="Voters by minute")
    if len(shared := found.addresses):
        st.dataframe(shared, hide_index=True, alt="Addresses of several voters")


def _span(store: Store, project: Project, voting: VotingPageInfo, found: Arrivals) -> None:
    """The voters who began within a span: what goes with them, and the button."""
    st.markdown("**Take out all who began between**")
    with st.container(horizontal=True):
        first, last = (
            st.datetime_input(label, None, step=timedelta(minutes=1), key=f"arrivals-{end}-{voting.id}")
            for end, label in (("first", "The first minute (UTC)"), ("last", "The last minute (UTC)"))
        )
        address = st.number_input("Only of address (0: all)", 0, value=0, key=f"arrivals-address-{voting.id}")
    if first is None or last is None:
        return
    chosen = found.between(first, last, int(address))
    span = arrivals.span_of(store, chosen["id"].tolist())
    going = chosen[chosen["id"].isin(span.session_ids)]
    shown = going.assign(address=going["address"].astype("Int64").mask(going["address"] == 0))
    if going.empty:
        st.caption("Nobody who is voting or has voted began then.")
        return
    counts = {"voters": many(len(going), "voter"), "answers": many(span.n_answers, "answer")}
    st.dataframe(shown, hide_index=True, column_config={"id": None}, alt="Voters who would be taken out")
    st.caption(
        "{voters} with {answers}, the last at {moment} UTC.".format(moment=moment(span.last), **counts)
        if span.last
        else f"{counts['voters']}, none with an answer."
    )
    jobs.offer(
        "Take {voters} and {answers} out".format(**counts),
        WithdrawVoters(project.id, frame.expected(), tuple(span.session_ids)),
        key=f"arrivals-out-{hash(tuple(span.session_ids))}",  # somebody came since: another list, another button
    )
