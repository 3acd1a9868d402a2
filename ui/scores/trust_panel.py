"""How far to trust the scores, line by line, and what another ballot would change."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.commands.figures.trust import TrustLines
from core.store.projects.project_commands import Project
from core.trust.report import AMBER, GREEN, RED, TrustCheck
from core.views.scores.trust import bounds_text, headline, worth_text
from ui.shared import cache, frame, jobs

MARKS = {
    GREEN: ":green[:material/check_circle: good]",
    AMBER: ":orange[:material/warning: weak]",
    RED: ":red[:material/error: bad]",
}

WORST_FIRST = (RED, AMBER, GREEN)


def show(project: Project, area_id: int | None) -> None:
    """The panel of the Scores page."""
    st.subheader("How far to trust it")
    wanted = TrustLines(project.id, project.revision, area_id)
    found = jobs.figure(wanted, project, "Check the scores", key=f"trust-{project.id}-{area_id}")
    if found is None:
        return
    view = cache.load_trust(frame.store(), project, area_id, found)
    st.markdown(f"**{headline(view.lines)}**")
    if named := _to_mend(view.lines):
        st.markdown(named)
    if view.next_ballot is None:
        st.caption("What another ballot would change isn't known: it is simulated at closing, up to 200,000 votes.")
    else:
        st.markdown(frame.plain(worth_text(view.next_ballot, view.after, is_last=view.is_last)))
    with st.expander(f"Every point, with its reason and what to do ({len(view.lines)})"):
        _lines(view.lines)
        if view.next_ballot is not None:
            st.caption(frame.plain(bounds_text()))
        frame.link("voters", "Look at each voter", icon=":material/groups:", area_id=area_id)


def _to_mend(lines: Sequence[TrustCheck]) -> str:
    """The names of the points that aren't good, the worst first, as Markdown."""
    by_level = {level: [frame.plain(line.name) for line in lines if line.level == level] for level in (RED, AMBER)}
    return " ".join(f"{MARKS[level]} {', '.join(names)}." for level, names in by_level.items() if names)


def worth_of_next(project: Project, area_id: int | None) -> None:
    """The sentence of the Collect page between two ballots."""
    next_ballot, after, is_last = cache.load_next_ballot_value(frame.store(), project, area_id)
    if next_ballot is not None:
        st.markdown(frame.plain(worth_text(next_ballot, after, is_last=is_last)))


def _lines(lines: Sequence[TrustCheck]) -> None:
    """The worst come first."""
    for line in sorted(lines, key=lambda line: WORST_FIRST.index(line.level)):
        name, reason, cure = (frame.plain(text) for text in (line.name, line.reason, line.cure))
        st.markdown(f"{MARKS[line.level]} **{name}.** {reason}" + (f" *{cure}*" if cure else ""))
