"""The checks of the voting page, and its voters: who they are to the store, and how one is taken out again."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.numbers_in_words import many
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.ballots.check_drawing import typed_gold
from core.store.projects.project_commands import Project
from core.store.tokens.areas import read_items
from core.store.votes.checks import add_gold, remove_gold
from core.store.votes.uploads import of_sessions
from core.store.voting.owner_commands import withdraw_voter
from core.views import wording
from core.views.collect.voting import VotingView
from ui.plan.checks_box import GOLD_HELP, GOLD_LINE, GOLD_LINES
from ui.shared import cache, choosers, frame


def checks_box(store: Store, project: Project, ballot: Ballot, view: VotingView) -> None:
    """The ballot's comparisons with a known answer, and proposals to tick, and lines for others."""
    box = st.expander(f"Known answers ({len(view.gold)})", key=f"checks-box-{ballot.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        if len(view.gold):
            st.dataframe(view.gold, hide_index=True, column_config={"id": None}, alt="Checks and their answers")
            _remove(project, ballot, view)
        _proposed(store, project, ballot, view)
        typed = st.text_area(GOLD_LINES, key=f"gold-typed-{ballot.id}", placeholder=GOLD_LINE, help=GOLD_HELP)
        frame.command_button(
            "Add these", partial(_add_typed, typed, ballot), project.id, done="The checks are added.",
            disabled=not typed.strip(), key=f"gold-typed-add-{ballot.id}",
        )  # fmt: skip


def _proposed(store: Store, project: Project, ballot: Ballot, view: VotingView) -> None:
    pairs = cache.load_proposed_gold(store, project, ballot)
    if not pairs:
        st.caption("No proposals: no order is beyond doubt by ballots that are closed.")
        return
    st.caption("The votes so far leave no doubt about the order of these. Tick those to ask.")
    names = read_items(store, project.id).set_index("item")
    shown = names["token_a"] + " – " + names["token_b"]
    rows = [{"use": False, "right answer": shown[more], "other pair": shown[less]} for more, less in pairs]
    ticked = st.data_editor(
        rows,
        hide_index=True,
        disabled=["right answer", "other pair"],
        key=f"gold-{ballot.id}-{len(view.gold)}",
    )
    chosen = [pair for pair, row in zip(pairs, ticked, strict=True) if row["use"]]
    frame.command_button(
        f"Add {many(len(chosen), 'check')}",
        partial(_add, chosen, ballot),
        project.id,
        done="The checks are added.",
        disabled=not chosen,
    )


def _add(pairs: list[tuple[int, int]], ballot: Ballot, store: Store, project_id: str, **options: int) -> int:
    return add_gold(store, project_id, pairs, area_id=ballot.area_id, code=ballot.code, **options)


def _add_typed(text: str, ballot: Ballot, store: Store, project_id: str, **options: int) -> int:
    return _add(typed_gold(store, project_id, text, area_id=ballot.area_id), ballot, store, project_id, **options)


def _remove(project: Project, ballot: Ballot, view: VotingView) -> None:
    names = dict(zip(view.gold["id"].tolist(), view.gold["right answer"].tolist(), strict=True))
    others = dict(zip(view.gold["id"].tolist(), view.gold["other pair"].tolist(), strict=True))
    chosen = choosers.selectbox(
        "Remove a check", names, None, key=f"check-gone-{ballot.id}", apart=others.__getitem__,
        placeholder="none",
    )  # fmt: skip
    if chosen is not None:
        action = partial(remove_gold, question_id=chosen, area_id=ballot.area_id, code=ballot.code)
        frame.command_button("Remove it", action, project.id, done="The check is removed.")


def voters_box(project: Project, view: VotingView, *, noun: str = "vote") -> None:
    """The voters of the page, what they told as totals, and the way out for one who takes consent back.

    noun : what they gave, "answer" in rounds of other kinds.
    """
    if not len(view.voters):
        return
    with st.expander("Voters of the page"):  # a number that changes would close it with each voter who comes
        st.dataframe(view.voters, hide_index=True, column_config={"id": None}, alt="Voters of the page")
        if len(view.told):
            st.dataframe(
                view.told,
                hide_index=True,
                alt="What voters said about themselves, as totals",
            )
        names = dict(zip(view.voters["id"].tolist(), view.voters["voter"].tolist(), strict=True))
        platforms = dict(zip(view.voters["id"].tolist(), view.voters["platform"].tolist(), strict=True))
        chosen = choosers.selectbox(
            "Somebody withdraws consent",
            names,
            None,
            key=f"consent-{project.id}-{view.voting.id if view.voting else None}",
            apart=platforms.__getitem__,
            placeholder="Choose an option",
        )
        if chosen is not None:
            stake = of_sessions(frame.store(), project.id, [chosen])
            st.caption(frame.plain(wording.deletion_text(wording.TAKES_OUT, stake, noun=noun, whom=names[chosen])))
            frame.command_button(
                "Withdraw this voter's votes",
                partial(withdraw_voter, session_id=chosen),
                project.id,
                done=lambda n: f"{many(n, 'answer')} marked as withdrawn.",
            )
