"""The ballots in a row, and how far the open one is."""

from __future__ import annotations

import streamlit as st

from core.spoken import say, to_say, written
from core.views.collect import Stage
from core.views.words import many

CARD = 147  # pixels: five of them beside each other in a window of 1280 with a scroll bar


def timeline(stages: tuple[Stage, ...]) -> None:
    """All ballots of the plan, drawn or not, in a row."""
    icons = {"closed": ":material/check_circle:", "open": ":material/how_to_vote:", "planned": ":material/schedule:"}
    with st.container(horizontal=True, gap="small"):
        for stage in stages:
            with st.container(border=True, width=CARD):
                st.markdown(f"{icons[stage.state]} " + say("**Ballot {number}**", number=stage.number))
                st.caption(
                    f"{many(stage.n_items, 'item')}  \n{many(stage.n_comparisons, 'comparison')}  \n{_said(stage)}"
                )


def _said(stage: Stage) -> str:
    """A stage's state in two words."""
    if stage.progress is None:
        return say("planned")
    if stage.state == "closed":
        votes = many(stage.progress.votes, "vote")
        return say("closed, {votes}, simulated" if stage.progress.simulated else "closed, {votes}", votes=votes)
    return say("open, {share:.0%} voted", share=stage.progress.share)


def progress(stage: Stage) -> None:
    """How far the open ballot is."""
    p = stage.progress
    text = say(
        "{n:,} of {wanted:,} comparisons have a vote; {votes} in all, {simulated:,} by simulated voters"
        if p.simulated
        else "{n:,} of {wanted:,} comparisons have a vote; {votes} in all",
        n=p.answered,
        wanted=p.wanted,
        votes=many(p.votes, "vote"),
        simulated=p.simulated,
    )
    st.progress(p.share, text=text)
    figures = (
        (say("Voters"), say("{n:,}", n=p.voters), say("Who gave at least one counted vote.")),
        (
            say("Effective voters"),
            "–" if p.effective_voters is None else _counted(p.effective_voters),
            say("The votes are as uneven as if so many voters had given equally many (1/Σp²)."),
        ),
        (
            say("Largest share of a voter"),
            _percent(p.top_share),
            say("A single opinion should not carry a ballot."),
        ),
        (
            say("Items short of votes"),
            say("{n:,}", n=p.short_items),
            say("Items with fewer than M = {wanted} votes so far.", wanted=stage.ballot.appearances),
        ),
        (
            say("Time a comparison"),
            "–" if p.seconds is None else say("{seconds:.1f} s", seconds=p.seconds),
            say("The median over the answers whose files tell a time."),
        ),
    )
    with st.container(horizontal=True):
        for label, value, about in figures:
            st.metric(label, value, width="content", help=about)
    kept = (
        (p.unknown, to_say("{n:,} answers “I don't know a word here”")),
        (p.rejected, to_say("{n:,} rejected")),
        (p.repeats, to_say("{n:,} repeats of a voter")),
        (p.withdrawn, to_say("{n:,} withdrawn")),
        (p.excluded, to_say("{n:,} of voters who are left out")),
    )
    if any(n for n, _ in kept):
        st.caption(say("Kept, not counted: {counts}.", counts=", ".join(say(what, n=n) for n, what in kept if n)))


def _counted(voters: float) -> str:
    """A number of voters, with a decimal only where it has one.

    >>> _counted(42.0), _counted(3.26)
    ('42', '3.3')
    """
    shown = round(voters, 1)
    return written(shown, ",.0f" if shown.is_integer() else ",.1f")


def _percent(share: float | None) -> str:
    """A share in per cent, or a dash where there is none."""
    return "–" if share is None else say("{share:.0%}", share=share)
