"""Names of the tables' columns as they are shown; in the files that tables become they stay English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from core.spoken import say, to_say

# What `columns` puts into a language: the names of the tables on Scores, Evaluate and Export.
NAMES = (
    *(to_say("rank"), to_say("token_a"), to_say("token_b"), to_say("area"), to_say("score"), to_say("lower")),
    *(to_say("upper"), to_say("votes"), to_say("ballots"), to_say("ballot"), to_say("pair"), to_say("what")),
    *(to_say("value"), to_say("embedding"), to_say("items"), to_say("covered"), to_say("coverage"), to_say("top k")),
    *(to_say("lacks items of"), to_say("against"), to_say("difference"), to_say("better"), to_say("votes needed")),
    *(to_say("tokens needed"), to_say("figure"), to_say("estimate"), to_say("chance reaches (5 %)")),
    *(to_say("model"), to_say("by people"), to_say("by embedding"), to_say("share"), to_say("cosine"), to_say("hubs")),
    *(to_say("token"), to_say("more"), to_say("reason"), to_say("found as"), to_say("cosines"), to_say("what it is")),
    *(to_say("score_before"), to_say("score_change"), to_say("rank_before"), to_say("rank_change")),
    *(to_say("votes_before"), to_say("voters"), to_say("rank_lower"), to_say("rank_upper")),
)


def columns(names: Iterable[str], config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """How columns of these names are shown: as `config` has it, and called in the language of whoever looks.

    A name that isn't known, such as ρ_w, stays; "ρ_w lower" is the lower bound of what it begins with.
    """
    found = {}
    for name in names:
        one = dict((config or {}).get(name) or st.column_config.Column())
        found[name] = one if one.get("label") else {**one, "label": _said(name)}
    return found


def _said(name: str) -> str:
    of, _, end = name.rpartition(" ")
    if of and end == "lower":
        return say("{figure} lower", figure=say(of))
    if of and end == "upper":
        return say("{figure} upper", figure=say(of))
    if of.endswith(" by"):
        by_votes = end == "votes"
        figure = say(of.removesuffix(" by"))
        return say("{figure} by votes", figure=figure) if by_votes else say("{figure} by tokens", figure=figure)
    return say(name)
