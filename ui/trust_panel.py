"""How far to trust the scores, line by line, and what another ballot would change."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.spoken import say, to_say
from core.store.projects import Project
from core.trust import AMBER, GREEN, RED, Line
from core.views.trust import CHEAP, QUICK, TrustView, bounds_said, headline, worth_said
from ui import cache, frame

MARKS = {
    GREEN: to_say(":green[:material/check_circle: good]"),
    AMBER: to_say(":orange[:material/warning: weak]"),
    RED: to_say(":red[:material/error: bad]"),
}

WORST_FIRST = (RED, AMBER, GREEN)


def show(project: Project, area_id: int | None, n_votes: int) -> None:
    """The panel of the Scores page: at once where votes are few, on demand where reading them takes a while."""
    st.subheader(say("How far to trust it"))
    key = f"{project.id}-{area_id}"
    if n_votes > CHEAP and not st.toggle(say("Check the scores"), key=f"trust-{key}", help=say("Reads all votes.")):
        return
    view: TrustView = cache.load_trust(frame.store(), project, area_id)
    answer, lines = st.container(), st.container()  # the count is of all lines, which take longer
    asked = n_votes <= QUICK or st.toggle(
        say("Measure reliability"),
        key=f"reliability-{key}",
        help=say("Scores votes again some thirty times: seconds, or minutes."),
    )
    with lines:
        _lines(view.lines)
    more = cache.load_reliability(frame.store(), project, area_id) if asked else ()
    _lines(more)
    answer.markdown(f"**{headline([*view.lines, *more])}**")
    frame.link("voters", say("Look at each voter"), icon=":material/groups:", area_id=area_id)
    if view.foresight is None:
        st.caption(
            say("What another ballot would change isn't known: it is simulated at closing, up to 200,000 votes.")
        )
        return
    st.markdown(frame.plain(worth_said(view.foresight, view.after, is_last=view.is_last)))
    st.caption(frame.plain(bounds_said()))


def worth_of_next(project: Project, area_id: int | None) -> None:
    """The sentence of the Collect page between two ballots."""
    foresight, after, is_last = cache.load_foresight(frame.store(), project, area_id)
    if foresight is not None:
        st.markdown(frame.plain(worth_said(foresight, after, is_last=is_last)))


def _lines(lines: Sequence[Line]) -> None:
    """The worst come first."""
    for line in sorted(lines, key=lambda line: WORST_FIRST.index(line.level)):
        cure = f" *{frame.plain(line.cure)}*" if line.cure else ""
        st.markdown(f"{say(MARKS[line.level])} **{frame.plain(line.name)}.** {frame.plain(line.reason)}{cure}")
