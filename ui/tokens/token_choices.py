"""What is chosen about tokens and items: where frequencies come from, and which pairs become items."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, percent_as_set, plural
from core.errors import RunoffError
from core.store import Store
from core.store.projects.embedding_library import read_embeddings
from core.store.projects.project_commands import Project
from core.store.tokens.areas import ItemRules, set_item_rules
from core.store.tokens.frequencies import RareTerms, RareTokens, use_list, use_ranks, use_wordfreq
from core.tokens.frequencies import Frequencies, read_frequencies, wordfreq_languages
from core.views import file_kinds
from core.views.tokens import TokensView
from ui.shared import choosers, files, frame
from ui.shared.tables import in_percent, share_column

SOURCES = {
    "corpus": "A list of your own domain corpus (the real source)",
    "rank": "The order of an embedding's words (a proxy)",
    "wordfreq": "General texts of a language, by wordfreq (a proxy)",
}
_PAIR = ["area", "token_a", "token_b"]


def rare_tokens(store: Store, project: Project, view: TokensView) -> None:
    """Which tokens are rare, by which source; and the choice of the source."""
    st.caption(
        "A dataset needs rare tokens too: models tend to give everything the same frequent neighbours. "
        "A token is rare below a share of the mean frequency in texts of the domain."
    )
    if view.rare is not None:
        _show(view.rare)
    with st.expander("Choose where frequencies come from"):
        _choose(store, project)


def _show(rare: RareTokens) -> None:
    if rare.problem:
        st.error(frame.plain(rare.problem))
        return
    sentence = f"By **{frame.plain(rare.source.label)}**, rare below {percent_as_set(rare.source.share)} of the mean."
    if rare.is_proxy:
        sentence += " This is a proxy: a list of your domain's own texts says more."
    st.markdown(sentence)
    for note in rare.notes:
        st.caption(frame.plain(note))
    columns = {"share": share_column("share rare")}
    names = {"n_tokens": "tokens", "n_rare": "rare", "n_unknown": "unknown"}
    by_area = in_percent(rare.by_area.rename(columns=names), "share")
    st.dataframe(by_area, hide_index=True, column_config=columns, alt="Rare tokens by area")
    st.dataframe(
        rare.tokens,
        hide_index=True,
        height=240,
        alt="Frequencies of the tokens",
    )


def _choose(store: Store, project: Project) -> None:
    sources = dict(SOURCES)
    kind = choosers.radio("Source", sources, key=f"freq-kind-{project.id}")
    per_cent = st.number_input("Rare below this share of the mean (%)", 0.1, 100.0, 10.0, key=f"share-{project.id}")
    lower = st.toggle("Look tokens up in lower case too", key=f"freq-lower-{project.id}")
    terms = RareTerms(per_cent / 100, lower)
    done = "The frequencies are in use."
    if kind == "corpus":
        file = st.file_uploader("CSV or TSV of words and counts", key=f"freq-file-{project.id}")
        if file is not None:
            _use_list(store, project, file.getvalue(), file.name, f"{project.id}-{file.file_id}", terms)
    elif kind == "rank":
        mine = [e for e in read_embeddings(store, project.id) if e.info.get("kind") != "similarities"]
        if not mine:
            st.caption("There is no embedding yet.")
            return
        chosen = choosers.embedding("Embedding", mine, key=f"freq-embedding-{project.id}")
        if st.button("Use its order", type="primary"):
            revision = frame.expected()
            frame.carry_out(use_ranks, store, project.id, chosen.id, terms, done=done, expected_revision=revision)
    else:
        languages = wordfreq_languages()
        if not languages:
            st.caption("The package wordfreq is not installed: pip install wordfreq.")
            return
        codes = {code: code for code in sorted(languages)}
        first = "en" if "en" in codes else next(iter(codes))
        language = choosers.selectbox("Language", codes, first, key=f"freq-language-{project.id}")
        if st.button("Use wordfreq", type="primary"):
            revision = frame.expected()
            frame.carry_out(use_wordfreq, store, project.id, language, terms, done=done, expected_revision=revision)


def _use_list(store: Store, project: Project, data: bytes, filename: str, key: str, terms: RareTerms) -> None:
    """The encoding of a list, what is read from it so, and the button that uses it."""
    try:
        file_kinds.check("frequencies", data, filename)
    except RunoffError as error:
        frame.show_error(error)
        return
    encoding = files.of_file(key)
    try:
        frequencies = _read_list(data, filename, encoding)
    except RunoffError as error:
        frame.show_error(error)
        return
    first = ", ".join(f"{word} {value:g}" for word, value in frequencies.first(5))
    st.markdown(frame.plain(f"{many(frequencies.n_words, 'word')}, {frequencies.mean:,.4g} on average: {first}, …"))
    for note in frequencies.notes:
        st.caption(frame.plain(str(note)))
    if st.button("Use this list", type="primary"):
        done = "The frequencies are in use."
        frame.carry_out(
            use_list, store, project.id, data, filename, terms,
            encoding=encoding, done=done, expected_revision=frame.expected(),
        )  # fmt: skip


@st.cache_resource(max_entries=2, show_spinner=False)
def _read_list(data: bytes, filename: str, encoding: str | None) -> Frequencies:
    return read_frequencies(data, filename, encoding=encoding)


def _merge(project: Project, view: TokensView) -> bool:
    """Whether a pair of tokens that stands in several areas counts once."""
    if view.shared:
        n = len(view.shared)
        st.markdown(
            plural(n, "{n} pair of tokens in more than one area.", "{n} pairs of tokens in more than one area.")
        )
        rows = [{"token_a": a, "token_b": b, "areas": ", ".join(areas)} for a, b, areas in view.shared]
        st.dataframe(rows, hide_index=True, height=min(38 + 35 * len(rows), 200), alt="Pairs in more than one area")
    return st.toggle(
        "Keep a pair in the first of its areas only",
        view.rules.merge_shared,
        key=f"merge-{project.id}",
        disabled=view.locked or not (view.shared or view.rules.merge_shared),
        help=(
            "Voters see the area with a pair, which can mean something else in another area: by default each is an "
            "item of its own."
        ),
    )


def item_rules(project: Project, view: TokensView) -> None:
    """Which pairs become items: all, a sample, all but some."""
    n_pairs = sum(area.n_items for area in view.areas)
    st.markdown(f"**{view.n_items:,} of {many(n_pairs, 'pair')} are items.**")
    _warn(view)
    merge = _merge(project, view)
    size = _sample_size(project, view)
    excluded = _excluded(project, view)
    _show_near(view)
    if not view.locked:
        _change(project, view, ItemRules(size, excluded, merge))


def _warn(view: TokensView) -> None:
    """What the rules of now name that isn't there, or leave without an item."""
    for problem in view.unknown:
        st.warning(frame.plain(f"A pair to leave out isn't there: {problem}"))
    if view.without:
        named = ", ".join(f"{token} ({area})" for area, token in view.without[:10])
        text = plural(
            len(view.without),
            "The sample leaves {n} token without an item: {names}.",
            "The sample leaves {n} tokens without an item: {names}.",
            names=named,
        )
        st.warning(frame.plain(text))


def _sample_size(project: Project, view: TokensView) -> int | None:
    """How many of an area's pairs are drawn, None for all."""
    sampled = st.toggle(
        "Draw a sample of each area's pairs",
        view.rules.sample_size is not None,
        key=f"sample-{project.id}",
        disabled=view.locked,
        help="The paper allows it (section 2.2); many pairs make a better dataset. The draw follows from the "
        "project's seed.",
    )
    if not sampled:
        return None
    before = view.rules.sample_size or 100
    key = f"size-{project.id}"
    return int(st.number_input("Items per area", 1, 1_000_000, before, key=key, disabled=view.locked))


def _excluded(project: Project, view: TokensView) -> tuple[tuple[str, str, str], ...]:
    """The pairs to leave out, as edited: area and two tokens of each."""
    if view.locked and not view.rules.excluded:
        return ()
    st.caption("Pairs to leave out, such as two spellings of one word. Tokens that hardly differ are proposed.")
    start = pd.DataFrame(list(view.rules.excluded), columns=_PAIR, dtype="str")
    edited = st.data_editor(
        start,
        num_rows="dynamic" if not view.locked else "fixed",
        hide_index=True,
        key=f"excluded-{project.id}-{hash(view.rules.excluded)}",
        disabled=view.locked,
        column_config={
            "area": st.column_config.SelectboxColumn("area", options=[area.name for area in view.areas]),
        },
    )
    rows = edited.fillna("")[_PAIR].itertuples(index=False, name=None)
    return tuple(row for row in rows if row[1] and row[2])


def _show_near(view: TokensView) -> None:
    """Pairs that are proposed to be left out, and why."""
    if len(view.near):
        rows = view.near[[*_PAIR, "reason"]]
        st.dataframe(rows, hide_index=True, alt="Tokens that hardly differ")


def _change(project: Project, view: TokensView, rules: ItemRules) -> None:
    """Buttons that make the items by other rules: as chosen, or without the proposed pairs."""
    with st.container(horizontal=True):
        frame.command_button(
            "Rebuild the items",
            set_item_rules,
            project.id,
            rules,
            done="The items are made by these rules.",
            disabled=rules == view.rules,
        )
        proposed = tuple(view.near[_PAIR].itertuples(index=False, name=None))
        missing = tuple(pair for pair in proposed if pair not in view.rules.excluded)
        if missing:
            frame.command_button(
                plural(len(missing), "Leave out {n} proposed pair", "Leave out {n} proposed pairs"),
                set_item_rules,
                project.id,
                replace(view.rules, excluded=(*view.rules.excluded, *missing)),
                done="The proposed pairs are left out.",
            )
