"""The ballots in a row, and how far the open one is."""

from __future__ import annotations

import streamlit as st

from core.base.percent import percent
from core.base.plurals import many
from core.views.collect.collect import DrawnStage, Stage

CARD = 147  # pixels: five of them beside each other in a window of 1280 with a scroll bar


def timeline(stages: tuple[Stage, ...]) -> None:
    """All ballots of the plan, drawn or not, in a row."""
    icons = {"closed": ":material/check_circle:", "open": ":material/how_to_vote:", "planned": ":material/schedule:"}
    with st.container(horizontal=True, gap="small"):
        for stage in stages:
            with st.container(border=True, width=CARD):
                st.markdown(f"{icons[stage.state]} **Ballot {stage.number}**")
                st.caption(
                    f"{many(stage.n_items, 'item')}  \n{many(stage.n_comparisons, 'comparison')}  \n{_said(stage)}"
                )


def _said(stage: Stage) -> str:
    """A stage's state in two words."""
    if not isinstance(stage, DrawnStage):
        return "planned"
    if stage.state == "closed":
        votes = many(stage.progress.votes, "vote")
        return f"closed, {votes}, simulated" if stage.progress.simulated else f"closed, {votes}"
    return f"open, {percent(stage.progress.share)} voted"


def progress(stage: DrawnStage) -> None:
    """How far the open ballot is."""
    p = stage.progress
    text = (
        (
            f"{p.answered:,} of {p.wanted:,} comparisons have a vote; {many(p.votes, 'vote')} in all, "
            f"{p.simulated:,} by simulated voters"
        )
        if p.simulated
        else f"{p.answered:,} of {p.wanted:,} comparisons have a vote; {many(p.votes, 'vote')} in all"
    )
    st.progress(p.share, text=text)
    figures = (
        ("Voters in this ballot", f"{p.voters:,}", "Who gave at least one vote of this ballot that counts."),
        (
            "Effective voters",
            "–" if p.effective_voters is None else _counted(p.effective_voters),
            "The votes are as uneven as if so many voters had given equally many (1/Σp²).",
        ),
        (
            "Largest share of a voter",
            _percent(p.top_share),
            "A single opinion should not carry a ballot.",
        ),
        (
            "Items short of votes",
            f"{p.short_items:,}",
            f"Items with fewer than M = {stage.ballot.appearances} votes so far.",
        ),
        (
            "Time a comparison",
            "–" if p.seconds is None else f"{p.seconds:.1f} s",
            "The median over the answers whose files tell a time.",
        ),
    )
    with st.container(horizontal=True):
        for label, value, about in figures:
            st.metric(label, value, width="content", help=about)
    kept = (
        (p.unknown, "{n:,} answers “I don't know a word here”"),
        (p.rejected, "{n:,} rejected"),
        (p.repeats, "{n:,} repeats of a voter"),
        (p.withdrawn, "{n:,} withdrawn"),
        (p.excluded, "{n:,} of voters who are left out"),
    )
    if any(n for n, _ in kept):
        st.caption("Kept, not counted: {counts}.".format(counts=", ".join(what.format(n=n) for n, what in kept if n)))


def _counted(voters: float) -> str:
    """A number of voters, with a decimal only where it has one.

    >>> _counted(42.0), _counted(3.26)
    ('42', '3.3')
    """
    shown = round(voters, 1)
    return format(shown, ",.0f" if shown.is_integer() else ",.1f")


def _percent(share: float | None) -> str:
    """A share in per cent, or a dash where there is none."""
    return "–" if share is None else percent(share)
