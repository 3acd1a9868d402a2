"""Which kind of question a page is about, and the rounds of that kind.

It is the project's own kind, unless another one of which something is planned or drawn is chosen at the page's top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.questions import COMPARISON, KINDS, QuestionKind, RoundKind
from core.store.projects.project_commands import Project
from core.views.kinds.rounds import RoundView
from core.views.overview import RankingStatus
from ui.shared import cache, choosers, frame
from ui.shared.frame import SIMULATED

LABEL = "Kind of question"


def choose(project: Project, of: Sequence[RankingStatus | None], *, every: bool = False) -> QuestionKind:
    """The kind that a page is about; where there is more than one, a row of buttons to choose it by.

    of : the rankings that the page is about. every : all kinds are offered, as where one is planned. What is chosen
    stands in the address where it isn't the project's own kind, and on the other pages too, so that whatever belongs to
    it can be reached there.
    """
    known = [kind for ranking in of if ranking is not None for kind in ranking.asked.kinds] or [COMPARISON]
    own = known[0]
    requested = st.query_params.get("kind") or st.session_state.get(f"_kind-{project.id}")
    chosen = KINDS.get(str(requested), own)
    offered = tuple(KINDS.values()) if every else tuple(dict.fromkeys([*known, chosen]))
    st.session_state[f"_kind-{project.id}"] = chosen.name
    if chosen is not own:
        st.query_params["kind"] = chosen.name
    else:
        st.query_params.pop("kind", None)
        st.session_state.pop(f"_kind-{project.id}")
    if len(offered) > 1:
        key = f"kind-{project.id}-{chosen.name}"
        choosers.segmented_control(
            LABEL,
            {kind.name: named(kind) for kind in offered},
            chosen.name,
            key=key,
            on_change=_pick,
            args=(project.id, key),
            label_visibility="visible" if every else "collapsed",
            help="A project asks one kind of question. Rounds of other kinds may stand beside it." if every else None,
        )
    return chosen


def _pick(project_id: str, key: str) -> None:
    st.session_state[f"_kind-{project_id}"] = st.query_params["kind"] = st.session_state[key]


def named(kind: QuestionKind) -> str:
    """What a button calls a kind."""
    return kind.about.label[:1].upper() + kind.about.label[1:]


def standing(project: Project, area_id: int | None) -> RankingStatus | None:
    """Where the ranking stands; None in a project that ranks areas and has none."""
    standings = cache.load_standings(frame.store(), project)
    return next((one for one in standings if one.ranking.area_id == area_id), None)


def rounds(project: Project, area_id: int | None, kind: RoundKind) -> tuple[RoundView, ...]:
    """The rounds of a kind, the newest first."""
    all_rounds = cache.load_rounds(frame.store(), project, area_id)
    return tuple(one for one in reversed(all_rounds) if one.round.kind is kind)


def one_of(
    project: Project,
    area_id: int | None,
    round_views: Sequence[RoundView],
    sentence_of: Callable[[RoundView], str] = lambda one: f"{one.title}. {one.said}",
) -> RoundView:
    """The round that a page is about, of at least one, and the page's first line, its `sentence_of`. Chosen where
    there are several, the newest at first."""
    headline = st.container()
    chosen = round_views[0]
    if len(round_views) > 1:
        by_number = {one.round.number: one for one in round_views}
        key = f"round-{project.id}-{area_id}-{chosen.round.number}"
        names = {number: one.listed for number, one in by_number.items()}
        chosen = by_number[choosers.selectbox("Round", names, key=key, width=360)]
    with headline:
        frame.first_line(f"**{sentence_of(chosen)}**", *([SIMULATED] if chosen.progress.simulated else []))
    return chosen
