"""What is always so of what a page shows, as badges: nothing needs doing about it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from core.base.numbers_in_words import plural


class Badge(NamedTuple):
    """An icon, one or two words, and the sentence that explains them."""

    icon: str
    words: str
    about: str


SIMULATED = Badge(
    ":material/science:",
    "simulated votes",
    "Simulated voters gave some of these votes: they say how Runoff works, and nothing about people.",
)


def of_dataset(about: Mapping[Hashable, Any]) -> tuple[Badge, ...]:
    """Whether a dataset, by its description (its attrs), holds simulated votes, and whether it is provisional."""
    badges = [SIMULATED] if about["simulated_votes"] else []
    if about["provisional"]:
        words = plural(
            about["ballots_closed"],
            "provisional: {n} of {planned} ballots is closed",
            "provisional: {n} of {planned} ballots are closed",
            planned=about["ballots_planned"],
        )
        badges.append(Badge(":material/hourglass_top:", words, "An open ballot counts once it is closed."))
    return tuple(badges)


def show(*badges: Badge) -> None:
    """Each badge with its sentence as help."""
    for badge in badges:
        st.badge(badge.words, icon=badge.icon, color="gray", help=badge.about)
