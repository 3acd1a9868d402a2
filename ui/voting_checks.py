"""The checks of the voting page, and its voters: who they are to the store, and how one is taken out again."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.spoken import say
from core.store import Store
from core.store.areas import read_items
from core.store.at_stake import of_sittings
from core.store.ballots import Ballot
from core.store.gold import add_gold, propose_gold, remove_gold
from core.store.projects import Project
from core.store.voting import withdraw_voter
from core.views import at_stake
from core.views.voting import VotingView
from core.views.words import many
from ui import choosers, frame


def checks_box(store: Store, project: Project, ballot: Ballot, view: VotingView) -> None:
    """The ballot's comparisons with a known answer, and proposals to tick."""
    box = st.expander(say("Known answers ({n})", n=len(view.gold)), key=f"checks-box-{ballot.id}", on_change="rerun")
    if not box.open:
        return
    with box:
        if len(view.gold):
            config = {
                "id": None,
                "right answer": say("right answer"),
                "other pair": say("other pair"),
                "answered right": say("answered right"),
                "answered otherwise": say("answered otherwise"),
            }
            st.dataframe(view.gold, hide_index=True, column_config=config, alt=say("Checks and their answers"))
            _remove(project, ballot, view)
        st.caption(say("Tick pairs of items whose order is beyond doubt; the one on the left is the right answer."))
        names = read_items(store, project.id).set_index("item")
        shown = names["token_a"] + " – " + names["token_b"]
        pairs = propose_gold(store, project.id, area_id=ballot.area_id, seed=ballot.seed)
        rows = [{"use": False, "right answer": shown[more], "other pair": shown[less]} for more, less in pairs]
        ticked = st.data_editor(
            rows,
            hide_index=True,
            disabled=["right answer", "other pair"],
            column_config={"use": say("use"), "right answer": say("right answer"), "other pair": say("other pair")},
            key=f"gold-{ballot.id}-{len(view.gold)}",
        )
        chosen = [pair for pair, row in zip(pairs, ticked, strict=True) if row["use"]]
        frame.command_button(
            say("Add {checks}", checks=many(len(chosen), "check")),
            partial(_add, chosen, ballot),
            project.id,
            done=say("The checks are added."),
            disabled=not chosen,
        )


def _add(pairs: list[tuple[int, int]], ballot: Ballot, store: Store, project_id: str, **options: int) -> int:
    return add_gold(store, project_id, pairs, area_id=ballot.area_id, code=ballot.code, **options)


def _remove(project: Project, ballot: Ballot, view: VotingView) -> None:
    names = dict(zip(view.gold["id"].tolist(), view.gold["right answer"].tolist(), strict=True))
    others = dict(zip(view.gold["id"].tolist(), view.gold["other pair"].tolist(), strict=True))
    chosen = choosers.selectbox(
        say("Take a check away"), names, None, key=f"check-gone-{ballot.id}", apart=others.__getitem__,
        placeholder=say("none"),
    )  # fmt: skip
    if chosen is not None:
        action = partial(remove_gold, question_id=chosen, area_id=ballot.area_id, code=ballot.code)
        frame.command_button(say("Take it away"), action, project.id, done=say("The check is gone."))


def voters_box(project: Project, view: VotingView, *, noun: str = "vote") -> None:
    """The voters of the page, what they told as totals, and the way out for one who takes consent back.

    noun : what they gave, "answer" in rounds of other schemes.
    """
    if not len(view.voters):
        return
    with st.expander(say("Voters ({n})", n=len(view.voters))):
        st.dataframe(view.voters, hide_index=True, column_config=_of_voters(), alt=say("Voters of the page"))
        if len(view.told):
            st.dataframe(
                view.told,
                hide_index=True,
                column_config={"question": say("question"), "answer": say("answer"), "voters": say("voters")},
                alt=say("What voters told of themselves, as totals"),
            )
        names = dict(zip(view.voters["id"].tolist(), view.voters["voter"].tolist(), strict=True))
        platforms = dict(zip(view.voters["id"].tolist(), view.voters["platform"].tolist(), strict=True))
        chosen = choosers.selectbox(
            say("Somebody takes consent back"),
            names,
            None,
            key=f"consent-{project.id}-{view.voting.id if view.voting else None}",
            apart=platforms.__getitem__,
            placeholder=say("Choose an option"),
        )
        if chosen is not None:
            stake = of_sittings(frame.store(), project.id, [chosen])
            st.caption(frame.plain(at_stake.said(at_stake.TAKES_OUT, stake, noun=noun, whom=names[chosen])))
            frame.command_button(
                say("Take this voter's votes out"),
                partial(withdraw_voter, sitting_id=chosen),
                project.id,
                done=lambda n: say("{answers} marked as withdrawn.", answers=many(n, "answer")),
            )


def _of_voters() -> dict[str, str | None]:
    """What the columns of the page's voters are called."""
    return {
        "id": None,
        "voter": say("voter"),
        "platform": say("platform"),
        "state": say("state"),
        "tasks done": say("tasks done"),
        "checks right": say("checks right"),
        "checks wrong": say("checks wrong"),
        "counts": say("counts"),
        "code": say("code"),
        "last seen": say("last seen"),
        "began": say("began"),
        "same address": say("same address"),
    }
