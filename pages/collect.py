"""The whole collection on one page: the ballots in a row, the open one, its files, its votes, and what comes next."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.store.ballots import close_ballot, discard_ballot, draw_next_ballot, draw_waiting, reopen_ballot
from core.store.simulated import simulate_votes
from core.views import tasks
from core.views.collect import CollectView, Stage
from core.views.words import many
from ui import ballot_files, cache, frame, uploads, vote_checks
from ui.dealing import dealing_line, voters_box
from ui.task_preview import preview_box
from ui.trial import trial_box

project = frame.project()
store = frame.store()
st.title("Collect")
standings = cache.load_standings(store, project)
area_id = frame.area(project, standings)
view: CollectView = cache.load_collect(store, project, area_id)


def timeline() -> None:
    """All ballots of the plan, drawn or not, in a row."""
    icons = {"closed": ":material/check_circle:", "open": ":material/how_to_vote:", "planned": ":material/schedule:"}
    with st.container(horizontal=True, gap="small"):
        for stage in view.stages:
            with st.container(border=True, width=150):
                st.markdown(f"{icons[stage.state]} **Ballot {stage.number}**")
                st.caption(
                    f"{many(stage.n_items, 'item')}  \n{many(stage.n_comparisons, 'comparison')}  \n{said(stage)}"
                )


def said(stage: Stage) -> str:
    """A stage's state in two words."""
    if stage.progress is None:
        return "planned"
    if stage.state == "closed":
        simulated = ", simulated" if stage.progress.simulated else ""
        return f"closed, {many(stage.progress.votes, 'vote')}{simulated}"
    return f"open, {stage.progress.share:.0%} voted"


def progress(stage: Stage) -> None:
    """How far the open ballot is."""
    p = stage.progress
    text = f"{p.answered:,} of {p.wanted:,} comparisons have a vote; {many(p.votes, 'vote')} in all"
    if p.simulated:
        text += f", {p.simulated:,} by simulated voters"
    st.progress(p.share, text=text)
    figures = (
        ("Voters", f"{p.voters:,}", "Who gave at least one counted vote."),
        (
            "Effective voters",
            "–" if p.effective_voters is None else f"{p.effective_voters:.1f}",
            "The votes are as uneven as if so many voters had given equally many (1/Σp²).",
        ),
        ("Largest share of a voter", percent(p.top_share), "A single opinion should not carry a ballot."),
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
        (p.unknown, "answers “I don't know a word here”"),
        (p.rejected, "rejected"),
        (p.repeats, "repeats of a voter"),
        (p.withdrawn, "withdrawn"),
    )
    if any(n for n, _ in kept):
        st.caption("Kept, not counted: " + ", ".join(f"{n:,} {what}" for n, what in kept if n) + ".")


def percent(share: float | None) -> str:
    """A share in per cent, or a dash where there is none."""
    return "–" if share is None else f"{share:.0%}"


def close(stage: Stage) -> None:
    """The end of a ballot, with what should be known before."""
    for warning in view.warnings:
        st.warning(frame.plain(warning), icon=":material/lightbulb:")
    complete = not view.warnings
    sure = complete or st.checkbox("Close it all the same", key=f"sure-{project.id}-{project.revision}")
    with st.container(horizontal=True):
        frame.command_button(
            f"Close ballot {stage.number}",
            partial(close_ballot, area_id=area_id),
            project.id,
            done=f"Ballot {stage.number} is closed and its scores are computed.",
            type="primary" if complete else "secondary",
            disabled=not sure,
        )
        if stage.progress.untouched:
            frame.command_button(
                "Discard this draw",
                partial(discard_ballot, area_id=area_id),
                project.id,
                done=f"Ballot {stage.number} is discarded.",
                help="Takes the ballot back; before ballot 1 the plan can be changed again.",
            )


def open_ballot(stage: Stage) -> None:
    """The open ballot: its progress, its files, its votes, its end."""
    st.subheader(f"Ballot {stage.number}: {stage.n_comparisons:,} comparisons of {stage.n_items:,} items")
    if stage.ballot.n_tied:
        kept = f"{stage.ballot.n_tied_kept} of them stayed, by a seeded draw"
        st.caption(f"{stage.ballot.n_tied} items were tied at the cut; {kept}.")
    progress(stage)
    dealing_line(view.dealing)
    voters_box(store, stage.ballot, view.dealing)
    st.markdown("##### 1. Give it to voters")
    p = stage.progress
    pages = tasks.load(store, stage.ballot, view.settings, project.notion)
    ballot_files.downloads(store, project, stage.ballot, pages, begun=not p.untouched, complete=p.is_complete)
    preview_box(store, project, stage.ballot, pages)
    trial_box(store, project, stage.ballot, pages)
    st.markdown("##### 2. Take the votes back")
    uploads.upload_box(store, project, area_id)
    if project.may_simulate and not stage.progress.is_complete:
        st.caption("Or, in a demo or trial project:")
        frame.command_button(
            "Let simulated voters answer this ballot",
            partial(simulate_votes, area_id=area_id),
            project.id,
            done=lambda n: f"Simulated voters gave {n:,} votes, marked as simulated.",
            icon=":material/science:",
            help="The paper's voter model (§4.1) answers what is missing. Its votes are marked as simulated for ever.",
        )
    st.markdown("##### 3. Close the ballot")
    vote_checks.show(store, project, area_id, stage.progress.votes)
    close(stage)


def between_ballots() -> None:
    """No ballot is open: draw the next, look at the scores, or open the last one again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.next_number is not None:
            frame.command_button(
                f"Draw ballot {view.next_number}",
                partial(draw_next_ballot, area_id=area_id),
                project.id,
                done=lambda number: f"Ballot {number} is drawn. Download its batch and give it to voters.",
                type="primary",
                icon=":material/casino:",
            )
        waiting = [standing for standing in standings if standing.waits_for_draw]
        if len(waiting) > 1 and view.next_number is not None:
            frame.command_button(
                f"Draw in all {len(waiting)} areas that wait",
                draw_waiting,
                project.id,
                done=lambda n: f"{n} ballots are drawn. Choose an area for its batch.",
                help="Draws the next ballot of every area that has a plan and no open ballot.",
            )
        if view.last_closed is not None:
            frame.link("scores", "See the scores", icon=":material/leaderboard:")
            frame.command_button(
                f"Reopen ballot {view.last_closed.number}",
                partial(reopen_ballot, area_id=area_id),
                project.id,
                done=f"Ballot {view.last_closed.number} is open again.",
                help="Its scores are taken off until it is closed again.",
            )


if view.plan is None:
    frame.nothing_yet("Ballots are drawn by a plan, and there is none yet.", "plan", "make the plan")
stage = view.open_stage
if stage is not None:
    answered = f"{stage.progress.answered:,} of {stage.progress.wanted:,} comparisons have a vote"
    st.markdown(f"**Ballot {stage.number} of {len(view.stages)} is open: {answered}.**")
elif view.next_number is None:
    st.markdown("**All ballots are closed: the scores are final.**")
elif view.next_number == 1:
    st.markdown("**No ballot is drawn yet.** Drawing it fixes the token lists and the plan.")
else:
    st.markdown(f"**Ballot {view.next_number - 1} is closed.** The next one keeps the best of its items.")
if any(stage.progress and stage.progress.simulated for stage in view.stages):
    st.warning("Some of these votes were given by simulated voters.", icon=":material/science:")
timeline()
if stage is not None:
    open_ballot(stage)
else:
    between_ballots()
with st.expander(f"Uploads ({len(view.uploads)})"):
    uploads.upload_list(store, project, view.uploads, stage.number if stage else None)
