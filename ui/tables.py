"""Names of the tables' columns as they are shown; in the files that tables become they stay English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.spoken import say, to_say

# What `columns` and `named` put into a language: names that tables get where they are made.
NAMES = (
    *(to_say("rank"), to_say("token_a"), to_say("token_b"), to_say("area"), to_say("score"), to_say("lower")),
    *(to_say("upper"), to_say("votes"), to_say("ballots"), to_say("ballot"), to_say("pair"), to_say("what")),
    *(to_say("value"), to_say("embedding"), to_say("items"), to_say("covered"), to_say("coverage")),
    *(to_say("top k"), to_say("lacks items of"), to_say("against"), to_say("difference"), to_say("better")),
    *(to_say("votes needed"), to_say("tokens needed"), to_say("figure"), to_say("estimate")),
    *(to_say("chance reaches (5 %)"), to_say("model"), to_say("by people"), to_say("by embedding")),
    *(to_say("share"), to_say("cosine"), to_say("hubs"), to_say("token"), to_say("more"), to_say("reason")),
    *(to_say("found as"), to_say("cosines"), to_say("what it is"), to_say("score_before")),
    *(to_say("score_change"), to_say("rank_before"), to_say("rank_change"), to_say("votes_before")),
    *(to_say("voters"), to_say("rank_lower"), to_say("rank_upper"), to_say("item"), to_say("count")),
    *(to_say("θ, lower"), to_say("θ, upper"), to_say("count, lower"), to_say("count, upper"), to_say("shown")),
    *(to_say("best"), to_say("worst"), to_say("first"), to_say("second"), to_say("mean"), to_say("SD")),
    *(to_say("apart"), to_say("90 % interval"), to_say("level"), to_say("noise, first")),
    *(to_say("noise, second"), to_say("p (noise)"), to_say("effect"), to_say("place"), to_say("genre")),
    *(to_say("person"), to_say("near enough"), to_say("gold pairs"), to_say("not rated"), to_say("passed")),
    *(to_say("lower quartile"), to_say("median"), to_say("upper quartile"), to_say("why undefined")),
    *(to_say("answers"), to_say("agreement"), to_say("scheme"), to_say("judgements"), to_say("hours")),
    *(to_say("panels"), to_say("gap"), to_say("rank, first"), to_say("rank, second"), to_say("score, first")),
    *(to_say("score, second"), to_say("what counts"), to_say("only in"), to_say("targets"), to_say("target")),
    *(to_say("preferred"), to_say("other"), to_say("kind"), to_say("cos, preferred"), to_say("cos, other")),
    *(to_say("voter"), to_say("ρ with others"), to_say("others"), to_say("proposed"), to_say("positives")),
    *(to_say("distractors"), to_say("randoms"), to_say("missing"), to_say("people"), to_say("row")),
    *(to_say("column"), to_say("found"), to_say("line"), to_say("file"), to_say("rows")),
    *(to_say("new answers"), to_say("taken (UTC)"), to_say("state"), to_say("p (t)")),
    *(to_say("p (Mann–Whitney)"),),
)


def said_columns(*names: str) -> dict[str, str]:
    """For `column_config`: what columns are called in the language of whoever looks, by their own, English names.

    The names must be literals, so that `tests/catalogue.py` finds them.
    """
    return {name: say(name) for name in names}


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
    if name in NAMES:
        return say(name)
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


def named(names: Iterable[str], about: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The configuration that shows columns by their names in the language of whoever looks, with their help."""
    return columns(names, {name: st.column_config.Column(help=_help(about, name)) for name in about or ()})


def figures(table: pd.DataFrame, about: Mapping[str, str] | None = None) -> dict[str, Any]:
    """As `named`, with ranks to one digit and other numbers to three."""
    numbers = {
        name: st.column_config.NumberColumn(
            help=_help(about, name), format="%.1f" if name.startswith(("rank", "gap")) else "%.3f"
        )
        for name in table.columns
        if pd.api.types.is_float_dtype(table[name])
    }
    return named(table.columns, about) | columns(numbers, numbers)


def _help(about: Mapping[str, str] | None, name: str) -> str | None:
    return say(about[name]) if about and name in about else None
