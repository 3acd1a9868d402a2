"""How far the scores can be trusted, line by line, what another ballot would change, and checks of the votes.

Checks are shown on the Scores page, and where a ballot is about to be closed.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.commands.figures.base import MeasuredFigure
from core.commands.figures.votes import ChecksOfVotes, TrustLines, VoteChecks
from core.store.projects.project_commands import Project
from core.trust.report import AMBER, GREEN, RED, TrustCheck
from core.views.scores.trust import MOST_SHOWN, bounds_text, headline, worth_text
from ui.help import glossary
from ui.shared import cache, frame, jobs
from ui.shared.tables import in_percent, share_column


def _measured_checks(project: Project, area_id: int | None, button: str) -> MeasuredFigure[VoteChecks] | None:
    """The checks of a ranking's votes; None as long as they aren't there."""
    figure = ChecksOfVotes(project.id, project.revision, area_id)
    return jobs.figure(figure, project, button, key=f"checks-{project.id}-{area_id}")


def show_vote_checks(project: Project, area_id: int | None, n_votes: int) -> None:
    """What the votes of a ranking look like."""
    measured = _measured_checks(project, area_id, "Check the votes") if n_votes else None
    if measured is None:
        return
    checks = cache.load_checks(frame.store(), project, area_id, measured)
    if len(checks.part_sizes) > 1:
        st.warning(frame.plain(checks.parts_said), icon=":material/link_off:")
    flagged = checks.sides.flagged
    if len(flagged):
        st.warning(frame.plain(checks.sides_said), icon=":material/swap_horiz:")
    with st.expander("Checks of the votes"):
        for sentence in (checks.parts_said, checks.sides_said, checks.agreement_said):
            st.markdown(frame.plain(sentence))
        if checks.has_checks:
            figures_table(checks.figures)
        st.caption(
            "Sides are drawn at random, so a voter who reads chooses each about half the time; on a phone the left "
            "pair is the upper one. A voter is named where so uneven a split has a chance below 5% for all voters "
            "together (exact binomial test). α is 1 where voters agree fully, and 0 where they agree as by chance."
        )
        table = checks.sides.voters.head(MOST_SHOWN).rename(columns={"share": "share of left"})
        table = in_percent(table, "share of left")
        if (n := len(checks.sides.voters)) > MOST_SHOWN:
            st.caption(f"The {MOST_SHOWN:,} of {n:,} voters who prefer a side most.")
        config = {
            "share of left": share_column("share of left"),
            "p": st.column_config.NumberColumn(format="%.4f", help="Chance of so uneven a split, or more, by luck."),
        }
        st.dataframe(table, hide_index=True, column_config=config, lazy=True, alt="Sides chosen by voter")
        frame.link("voters", "Look at each voter", icon=":material/groups:", area_id=area_id)


def figures(project: Project, area_id: int | None) -> None:
    """The figures of the answers to checks, on the Scores page."""
    measured = _measured_checks(project, area_id, "Read the checks")
    if measured is None:
        return
    checks = cache.load_checks(frame.store(), project, area_id, measured)
    if not checks.has_checks:
        st.caption("No voter answered a check, or a comparison that another voter answered.")
        return
    st.markdown("##### Checks in the ballots", help=glossary.of("Check"))
    figures_table(checks.figures)
    st.caption("How far voters agree beyond chance, Krippendorff's α, is a line of *How far to trust it*.")


def figures_table(table: pd.DataFrame) -> None:
    """The figures of checks with their intervals."""
    config = {
        "share": share_column("share"),
        "from": share_column("from", help="Lower bound of the 90% interval."),
        "to": share_column("to", help="Upper bound of the 90% interval."),
    }
    percents = in_percent(table, *config)
    st.dataframe(percents, hide_index=True, column_config=config, placeholder="–", alt="Checks in the ballots")


MARKS = {
    GREEN: ":green[:material/check_circle: good]",
    AMBER: ":orange[:material/warning: weak]",
    RED: ":red[:material/error: bad]",
}

WORST_FIRST = (RED, AMBER, GREEN)


def show(project: Project, area_id: int | None) -> None:
    """The panel of the Scores page."""
    st.subheader("How far to trust it")
    figure = TrustLines(project.id, project.revision, area_id)
    measured = jobs.figure(figure, project, "Check the scores", key=f"trust-{project.id}-{area_id}")
    if measured is None:
        return
    view = cache.load_trust(frame.store(), project, area_id, measured)
    st.markdown(f"**{headline(view.lines)}**")
    if named := _weak_points(view.lines):
        st.markdown(named)
    if view.next_ballot is None:
        st.caption("What another ballot would change isn't known: it is simulated at closing, up to 200,000 votes.")
    else:
        st.markdown(frame.plain(worth_text(view.next_ballot, view.after, is_last=view.is_last)))
    with st.expander(f"Every point, with its reason and what to do ({len(view.lines)})"):
        _show_lines(view.lines)
        if view.next_ballot is not None:
            st.caption(frame.plain(bounds_text()))
        frame.link("voters", "Look at each voter", icon=":material/groups:", area_id=area_id)


def _weak_points(lines: Sequence[TrustCheck]) -> str:
    """The names of the points that aren't good, the worst first, as Markdown."""
    by_level = {level: [frame.plain(line.name) for line in lines if line.level == level] for level in (RED, AMBER)}
    return " ".join(f"{MARKS[level]}: {', '.join(names)}." for level, names in by_level.items() if names)


def worth_of_next(project: Project, area_id: int | None) -> None:
    """The sentence of the Collect page between two ballots."""
    next_ballot, after, is_last = cache.load_next_ballot_value(frame.store(), project, area_id)
    if next_ballot is not None:
        st.markdown(frame.plain(worth_text(next_ballot, after, is_last=is_last)))


def _show_lines(lines: Sequence[TrustCheck]) -> None:
    """The worst come first."""
    for line in sorted(lines, key=lambda line: WORST_FIRST.index(line.level)):
        name, reason, cure = (frame.plain(text) for text in (line.name, line.reason, line.cure))
        st.markdown(f"{MARKS[line.level]} **{name}.** {reason}" + (f" *{cure}*" if cure else ""))
