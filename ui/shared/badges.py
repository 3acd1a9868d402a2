"""What is always so of a dataset, as badges: nothing needs doing about it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from core.base.plurals import plural


def show(about: Mapping[Hashable, Any]) -> None:
    """Whether a dataset, by its description, holds votes of simulated voters, and whether it is provisional."""
    if about["simulated_votes"]:
        st.badge("simulated voters", icon=":material/science:", color="orange", help="They say nothing about people.")
    if about["provisional"]:
        said = plural(
            about["ballots_closed"],
            "provisional: {n} of {planned} ballots is closed",
            "provisional: {n} of {planned} ballots are closed",
            planned=about["ballots_planned"],
        )
        st.badge(said, icon=":material/hourglass_top:", help="An open ballot counts once it is closed.")
