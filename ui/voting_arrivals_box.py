"""When the voters of the voting page began and how many of one address, and the way out for a span of them at once."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import streamlit as st

from core.spoken import say
from core.store import Store
from core.store.projects import Project
from core.store.voting import Voting
from core.views import arrivals
from core.views.arrivals import Arrivals
from core.views.words import many, moment
from ui import long_commands


def arrivals_box(store: Store, project: Project, voting: Voting, *, is_long: bool) -> None:
    """Voters by the minute in which they began, and those of a span of time taken out, once opened."""
    box = st.expander(say("When voters began"), key=f"arrivals-{voting.id}", on_change="rerun")
    if not box.open:
        return
    found = arrivals.load(store, voting.id)
    with box:
        if not len(found.voters):
            st.caption(say("Nobody has begun yet."))
            return
        st.caption(
            say(
                "Times are UTC. Addresses are numbered; what they are isn't kept, and the numbers go when the ballot "
                "closes. A school, or a proxy without --behind-proxy, is one address."
            )
        )
        _tables(found)
        _span(store, project, voting, found, is_long)


def _tables(found: Arrivals) -> None:
    columns = {
        "minute": say("minute"),
        "voters": say("voters"),
        "most of one address": say("most of one address"),
        "note": say("note"),
    }
    st.dataframe(found.minutes, hide_index=True, column_config=columns, alt=say("Voters by minute"))
    if len(shared := found.addresses):
        columns = {
            "address": say("address"),
            "voters": say("voters"),
            "first began": say("first began"),
            "last began": say("last began"),
        }
        st.dataframe(shared, hide_index=True, column_config=columns, alt=say("Addresses of several voters"))


def _span(store: Store, project: Project, voting: Voting, found: Arrivals, is_long: bool) -> None:
    """The voters who began within a span: what goes with them, and the button."""
    st.markdown(say("**Take out all who began between**"))
    with st.container(horizontal=True):
        first, last = (
            st.datetime_input(label, None, step=timedelta(minutes=1), key=f"arrivals-{end}-{voting.id}")
            for end, label in (("first", say("The first minute (UTC)")), ("last", say("The last minute (UTC)")))
        )
        address = st.number_input(say("Only of address (0: all)"), 0, value=0, key=f"arrivals-address-{voting.id}")
    if first is None or last is None:
        return
    chosen = found.between(first, last, int(address))
    span = arrivals.span_of(store, chosen["id"].tolist())
    going = chosen[chosen["id"].isin(span.sitting_ids)]
    shown = going.assign(address=going["address"].astype("Int64").replace(0, pd.NA))
    if going.empty:
        st.caption(say("Nobody who votes or has votes began then."))
        return
    counts = {"voters": many(len(going), "voter"), "answers": many(span.n_answers, "answer")}
    columns = {"id": None, "voter": say("voter"), "minute": say("minute"), "address": say("address")}
    st.dataframe(shown, hide_index=True, column_config=columns, alt=say("Voters who would be taken out"))
    st.caption(
        say("{voters} with {answers}, the last at {moment} UTC.", **counts, moment=moment(span.last))
        if span.last
        else say("{voters}, none with an answer.", voters=counts["voters"])
    )
    long_commands.offer(
        say("Take {voters} and {answers} out", **counts),
        project,
        "withdraw_voters",
        {"sitting_ids": span.sitting_ids},
        is_long=is_long,
        key=f"arrivals-out-{hash(tuple(span.sitting_ids))}",  # somebody came since: another list, another button
    )
