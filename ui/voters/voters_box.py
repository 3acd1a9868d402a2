"""The voters of a ranking as a table, one of them in full, and the owner's decision to leave some of them out.

Rules propose voters to leave out; a preview shows what that would change, and there is a way back. The table can be
downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, plural
from core.commands.figures.votes import ExclusionPreview, WithoutVoters
from core.commands.votes import ExcludeVoters, ReadmitVoters
from core.store.projects.project_commands import Project
from core.store.votes.exclusions import Exclusion
from core.trust.voter_rules import RULES, VoterRule, n_named, propose
from core.views.voters import COLUMNS, MOST_SHOWN, PERCENT, VotersView, left_out_table
from ui.help import glossary
from ui.shared import choosers, frame, jobs
from ui.shared.tables import in_percent

_TWO = {"to ranking", "speed", "lapse ε", "sharpness s"}
_FORMATS = dict.fromkeys(PERCENT, "%.0f%%") | dict.fromkeys(_TWO, "%.2f")
_FORMATS |= {"p (side)": "%.2g", "seconds": "%.1f"}


def table(project: Project, view: VotersView, hashed: bool, stem: str) -> None:
    """All voters, those who stand out most first, with a search and the download."""
    text = st.text_input("Find a voter", placeholder="Type a part of an id", key=f"voter-{project.id}")
    rows = view.search(text, hashed)
    n = len(view.quality.table)
    if len(rows) < n:
        more = "" if text.strip() else f" Only the first {MOST_SHOWN:,} are shown: search, or download all."
        st.caption(f"{len(rows):,} of {many(n, 'voter')}." + more)
    config = {
        name: st.column_config.NumberColumn(name, format=_FORMATS.get(name), help=about)
        for name, (_, about) in COLUMNS.items()
        if name not in ("voter", "state")
    }
    texts = {
        name: st.column_config.TextColumn(name, help=COLUMNS[name][1], pinned=name == "voter")
        for name in ("voter", "state")
    }
    st.dataframe(
        in_percent(rows[view.measured()], *PERCENT),
        hide_index=True,
        height=min(420, 38 + 35 * max(len(rows), 1)),
        column_config=config | texts,
        placeholder="–",
        alt="Figures of each voter",
    )
    if blank := view.blank():
        st.caption(f"Not measured here. {frame.plain(' '.join(blank))}")
    st.download_button(
        "Download all figures (CSV)",
        partial(view.csv, hashed),
        f"{stem}-voters.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="With all intervals. Ids that a spreadsheet would take for a formula get an apostrophe.",
    )


def review_button(project: Project, view: VotersView) -> None:
    """Look at those who look odd, one after the other."""
    ids, key = list(view.odd_reasons), f"one-voter-{project.id}"

    def choose() -> None:
        current = st.session_state.get(key)
        st.session_state[key] = ids[(ids.index(current) + 1) % len(ids)] if current in ids else ids[0]

    st.button("Review", icon=":material/visibility:", on_click=choose)


def one(project: Project, view: VotersView, hashed: bool) -> None:
    """All figures of one voter, with the reason for each that is blank."""
    names = view.called(hashed)
    offered = {id_: names[id_] for id_ in view.order}
    chosen = choosers.selectbox(
        "Look at one voter", offered, None, key=f"one-voter-{project.id}", placeholder="Choose a voter"
    )
    if chosen is not None:
        figures = view.details(chosen)
        alt = f"Figures of {names[chosen]}"
        st.dataframe(figures, hide_index=True, alt=alt)


BY_AGREEMENT = {"pairwise", "ranking"}
_NOW_AND_THEN = ("ρ_w now", "ρ_w then", "τ_w now", "τ_w then")


def proposals(project: Project, view: VotersView, names: dict[int, str]) -> pd.DataFrame:
    """The rules, each off at first, with how many voters it would name; returns what those that are on propose."""
    with st.expander("Rules that propose whom to leave out", key=f"rules-{project.id}"):
        st.caption(
            "A rule only proposes. Each says how many voters it would name, of those with enough answers to judge, "
            "whether it is on or off."
        )
        bounds = {}
        for rule in RULES.values():
            on, bound = _rule(project, view, rule)
            if on:
                bounds[rule.key] = bound
    proposed = propose(view.quality.table, bounds)
    if len(proposed):
        n = proposed["voter_id"].nunique()
        st.markdown(f"**{many(n, 'voter')} proposed.**")
        rows = proposed.assign(
            voter=proposed["voter_id"].map(names), rule=[RULES[key].label for key in proposed["rule"]]
        )
        st.dataframe(rows[["voter", "reason", "rule"]], hide_index=True, alt="Proposals and their reasons")
    elif bounds:
        st.caption("The rules that are on propose nobody.")
    if BY_AGREEMENT & set(bounds):
        st.warning(
            (
                "Leaving out those who agree least raises every agreement figure, also where nobody was careless. "
                "Report the figures with all voters too."
            ),
            icon=":material/balance:",
        )
    return proposed


def _rule(project: Project, view: VotersView, rule: VoterRule) -> tuple[bool, float]:
    """One rule: switch, bound, and whom it would name."""
    key = f"rule-{project.id}-{rule.key}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        on = st.toggle(
            rule.label, key=f"{key}-on", persist_state="session", width=330,
            help=f"{rule.about} It says nothing of voters with fewer than {many(rule.least, 'case')}.",
        )  # fmt: skip
        bound = st.number_input(
            rule.asks,
            rule.low,
            rule.high,
            rule.bound,
            rule.step,
            key=f"{key}-bound",
            persist_state="session",
            width=220,
        )
        n, judged = n_named(view.quality.table, rule.key, float(bound))
        consequence = f"names {n:,} of {many(judged, 'voter')}" if judged else "can't judge anybody here"
        st.markdown(consequence, width="content")
    return on, float(bound)


def decide(project: Project, area_id: int | None, view: VotersView, hashed: bool) -> None:
    """Choose voters, look at what leaving them out changes, and do it."""
    names = view.called(hashed)
    st.subheader("Leave voters out")
    proposal_rows = proposals(project, view, names)
    key = f"leave-out-{project.id}-{project.revision}"
    figures = view.quality.table
    ids = figures.loc[~figures["left_out"], "voter_id"].tolist()
    proposed = proposal_rows["voter_id"].drop_duplicates().tolist()
    if proposed:
        st.button(
            plural(len(proposed), "Choose the proposed voter", "Choose the {n} proposed voters"),
            on_click=partial(_choose, key, proposed), icon=":material/playlist_add_check:",
        )  # fmt: skip
    offered = {id_: names[id_] for id_ in ids}
    chosen = choosers.multiselect("Voters to leave out", offered, key=key, placeholder="Nobody yet")
    if not chosen:
        st.caption(
            "Their votes stay in the store but don't count, in all ballots including those to come. It is logged, and "
            "can be undone at any time."
        )
        return
    preview = jobs.figure(
        WithoutVoters(project.id, project.revision, area_id, tuple(sorted(chosen))), project, "See what would change",
        key=f"preview-{project.id}-{area_id}",
    )  # fmt: skip
    if preview is not None:
        show_preview(preview.result)
    reasons: dict[int, list[str]] = {}
    for id_, why in zip(proposal_rows["voter_id"], proposal_rows["reason"], strict=True):
        reasons.setdefault(int(id_), []).append(why)
    about = "For the log and the datasheet"
    reason = st.text_input("Reason", key=f"{key}-reason", max_chars=500, placeholder=about)
    detail = {id_: {"proposed": reasons[id_]} for id_ in chosen if id_ in reasons}
    if st.button(f"Leave {many(len(chosen), 'voter')} out", type="primary", disabled=not reason.strip()):
        jobs.send(ExcludeVoters(project.id, frame.expected(), tuple(chosen), reason, detail))


def _choose(key: str, ids: list[int]) -> None:
    st.session_state[key] = ids


def show_preview(preview: ExclusionPreview) -> None:
    """What would change, in words and for each embedding."""
    with st.container(border=True):
        for sentence in preview.said:
            st.markdown(frame.plain(sentence))
        if preview.problem:
            st.error(frame.plain(preview.problem))
        if len(preview.models):
            config = {name: st.column_config.NumberColumn(name, format="%.3f") for name in _NOW_AND_THEN}
            st.dataframe(
                preview.models,
                hide_index=True,
                column_config=config,
                placeholder="–",
                alt="Embeddings without them",
            )


def left_out(project: Project, out: Sequence[Exclusion], names: Mapping[int, str]) -> None:
    """Who is left out and why, and the way back; `names` by voter_id."""
    if not out:
        return
    st.subheader("Left out", help=glossary.of("Left out"))
    st.dataframe(left_out_table(out, names), hide_index=True, alt="Voters left out")
    offered = {each.voter_id: names.get(each.voter_id, str(each.voter_id)) for each in out}
    chosen = choosers.multiselect("Voters to readmit", offered, key=f"readmit-{project.id}-{project.revision}")
    if st.button("Let them count again", disabled=not chosen):
        jobs.send(ReadmitVoters(project.id, frame.expected(), tuple(chosen)))
