"""What is odd about the tokens of a project's areas: in several areas, hardly different, with characters unseen or
refused."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import plural
from core.views.tokens import TokensView
from ui.shared import frame


def show(view: TokensView) -> None:
    """Each oddity in a box of its own; nothing where there is none."""
    if view.alike:
        _alike(view)
    if view.shared:
        _shared(view)
    if not view.locked:
        _near(view)
    for area, token, names in view.hidden[:10]:
        seen = ", ".join(names)
        text = f"{token} in {area} holds characters that can't be seen: {seen}."
        st.warning(frame.plain(text))
    if len(view.hidden) > 10:
        st.warning(plural(len(view.hidden) - 10, "So do {n} other tokens.", "So do {n} other tokens."))
    if view.encoded:
        named = ", ".join(token for _, token in view.encoded[:10])
        about = plural(
            len(view.encoded),
            "{n} token with characters that Mechanical Turk refuses as they are: {named}.",
            "{n} tokens with characters that Mechanical Turk refuses as they are: {named}.",
            named=named,
        )
        about += " The batch file writes them as references such as &#x1F525;, and voters still see the characters."
        st.info(frame.plain(about), icon=":material/info:")


def _alike(view: TokensView) -> None:
    """Two areas that a person would take for one: no item has a token of each."""
    named = "; ".join(", ".join(names) for names in view.alike)
    said = f"Names of areas that differ in case or spaces only: {named}. Only tokens of one area are paired."
    if not view.locked:
        said += " If they are meant to be one, edit all areas as a table and write their names alike."
    st.warning(frame.plain(said))


def _shared(view: TokensView) -> None:
    n = len(view.shared)
    if view.rules.merge_shared:
        said = plural(
            n,
            "{n} pair of tokens in more than one area: such a pair stays in the first of them only.",
            "{n} pairs of tokens in more than one area: such a pair stays in the first of them only.",
        )
    else:
        said = plural(
            n,
            "{n} pair of tokens in more than one area: such a pair is an item of its own in each.",
            "{n} pairs of tokens in more than one area: such a pair is an item of its own in each.",
        )
    said += " Choose under “Which pairs become items”."
    st.info(said, icon=":material/info:")


def _near(view: TokensView) -> None:
    """Two spellings of one word make an item that voters are asked about for nothing."""
    pairs = view.near[["area", "token_a", "token_b"]].itertuples(index=False, name=None)
    left = [f"{a} – {b} ({area})" for area, a, b in pairs if (area, a, b) not in view.rules.excluded]
    if not left:
        return
    said = plural(
        len(left),
        "{n} pair of tokens that hardly differ: {named}.",
        "{n} pairs of tokens that hardly differ: {named}.",
        named=", ".join(left[:5]) + (", …" if len(left) > 5 else ""),
    )
    st.info(frame.plain(f"{said} Choose under “Which pairs become items”."), icon=":material/info:")
