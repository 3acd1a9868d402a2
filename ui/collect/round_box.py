"""The box in which a round is collected: it is drawn, its batch goes out, answers come back, it is closed.

Rounds are of those kinds of question that are asked in rounds.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, percent, plural
from core.commands.ballots import CloseBallot, DiscardBallot, DrawRound, ReopenBallot, SimulateVotes
from core.commands.votes import WithdrawUpload
from core.plan.campaign_plan import n_kept
from core.platforms.round_files import round_files
from core.questions import RoundKind, RoundSettings
from core.store.ballots.ballot_rows import Ballot, short_questions
from core.store.ballots.comparisons import read_shown
from core.store.projects.project_commands import Project
from core.store.voting.owner_commands import read_voting
from core.views.collect.collect_page import MOST
from core.views.kinds import rounds as view
from core.views.kinds.rounds import RoundView
from core.views.wording import moment
from ui.collect.payment_box import payment
from ui.collect.uploads import choose_upload, upload_box
from ui.collect.voting_box import round_voting_panel, still_served
from ui.shared import choosers, frame, jobs, kinds

ALL_ITEMS = 0
WAYS = {"page": "Voting page", "files": "Files"}
ABOUT = {
    "page": "People open a link to Runoff's own page; each answer is stored at once.",
    "files": "For Turkle, for programs that take Mechanical Turk's files, or a table to fill in.",
}


def collect_rounds(project: Project, area_id: int | None, kind: RoundKind) -> None:
    """All of the page for one kind."""
    standing = kinds.standing(project, area_id)
    settings = standing.asked.plans.get(kind.name) if standing else None
    rounds = kinds.rounds(project, area_id, kind)
    if settings is None and rounds:
        settings = rounds[0].round.settings
    if standing is None or settings is None:
        frame.nothing_yet(f"There is no plan for {kind.about.label} yet.", "plan", "make the plan")
    if not rounds:
        frame.first_line(f"**No round of {kind.about.label} is drawn yet.** Drawing it fixes the token lists.")
        _draw(project, area_id, kind, settings, standing.n_items, rounds)
        return
    round_view = kinds.one_of(project, area_id, rounds)
    if round_view.round.is_open:
        _open(project, round_view)
        return
    if not any(one.round.is_open for one in rounds):
        _draw(project, area_id, kind, settings, standing.n_items, rounds)
        still_served(frame.store())
    with st.container(horizontal=True, vertical_alignment="center"):
        frame.link("scores", "See the scores", icon=":material/leaderboard:")
        jobs.offer(
            f"Reopen round {round_view.round.number}",
            ReopenBallot.of(project.id, frame.expected(), round_view.round),
            help="Its scores are taken off until it is closed again.",
        )
    with st.expander(f"Uploads ({len(round_view.uploads)})"):
        _uploads(project, round_view)
    _payment(project, round_view)


def _draw(
    project: Project,
    area_id: int | None,
    kind: RoundKind,
    settings: RoundSettings,
    n_items: int,
    rounds: tuple[RoundView, ...],
) -> None:
    """The button that draws the next round; where rounds rest on each other, after which one, and with what share."""
    if lacks := kind.lacks(settings):
        frame.lead_to(f"The plan has no {lacks} yet.", "plan", f"choose the {lacks}")
        return
    after, n = None, n_items
    closed = {one.round.number: one.round for one in rounds if not one.round.is_open}
    if kind.about.pools and closed:
        key = f"{kind.name}-{project.id}-{area_id}-{len(closed)}"
        names = {number: f"the leading items of round {number}" for number in closed} | {ALL_ITEMS: "all items"}
        with st.container(horizontal=True, vertical_alignment="bottom"):
            after = choosers.selectbox(
                "Items", names, key=f"after-{key}", width=240,
                help="The next round keeps the items with the highest scores, and those near each other meet.",
            ) or None  # fmt: skip
            if after is not None:
                usual = round(100 * settings.keep)
                percent_kept = st.number_input("Go on (%)", 1, 100, usual, key=f"keep-{key}", width=120)
                settings = replace(settings, keep=percent_kept / 100)
                n = max(1, n_kept(closed[after].n_items, settings.keep))
    st.caption(view.cost_text(settings, n))
    with st.container(horizontal=True, vertical_alignment="center"):
        jobs.offer(
            f"Draw round {1 + max((one.number for one in _of_all_kinds(project, area_id)), default=0)}",
            DrawRound(project.id, frame.expected(), area_id, settings.stored(), after),
            type="primary",
            icon=":material/casino:",
            key=f"draw-{kind.name}-{project.id}",
        )
        frame.link("plan", "Change the plan", icon=":material/tune:")


def _of_all_kinds(project: Project, area_id: int | None) -> tuple[Ballot, ...]:
    """The rounds of the ranking, which are numbered whatever their kinds."""
    standing = kinds.standing(project, area_id)
    return standing.asked.rounds if standing else ()


def _open(project: Project, round_view: RoundView) -> None:
    """The open round: its progress, its files and voting page, its answers, and how it is closed."""
    st.progress(round_view.progress.share, text=f"{percent(round_view.progress.share)} of the answers are there")
    may_close = round_view.progress.share >= MOST
    if may_close:
        _close(project, round_view)
    st.markdown("##### 1. Give it to people")
    voting = read_voting(frame.store(), round_view.round.id)
    usual = "files" if voting is None and round_view.uploads else "page"
    way = choosers.radio(
        "How do you collect answers?", WAYS, usual, horizontal=True, key=f"way-{round_view.round.id}",
        persist_state="session", help="You may use both for one round: answers from both count.",
    )  # fmt: skip
    st.caption(ABOUT[way])
    if way == "page":
        round_voting_panel(project, round_view.round)
    else:
        _files_out(project, round_view)
    st.markdown("##### 2. Upload results")
    upload_box(frame.store(), project, round_view.round)
    if project.may_simulate and not round_view.progress.is_complete:
        st.caption("Or, in a demo or trial project:")
        jobs.offer(
            "Let simulated people answer",
            SimulateVotes.of(project.id, frame.expected(), round_view.round),
            icon=":material/science:",
        )
    if not may_close:
        _close(project, round_view)
    with st.expander(f"Uploads ({len(round_view.uploads)})"):
        _uploads(project, round_view)
    _payment(project, round_view)


def _payment(project: Project, round_view: RoundView) -> None:
    """Assignments approved, rejected and paid, as those of ballots are."""
    if round_view.progress.untouched:
        return
    box = st.expander("Settle up: approve, reject, pay", key=f"settle-round-{round_view.round.id}", on_change="rerun")
    if box.open:
        with box:
            payment(frame.store(), project, round_view.round)


def _files_out(project: Project, round_view: RoundView) -> None:
    """Downloads of the round's task files, on request of what still needs answers alone."""
    one, store = round_view.round, frame.store()
    settings = {**one.settings.stored(), "notion": project.notion}
    widest = min(one.settings.task_size, one.n_comparisons)
    has_begun = not round_view.progress.untouched and not round_view.progress.is_complete
    top_up = has_begun and st.toggle(
        "Only what still needs answers", key=f"missing-{one.id}", help="Leaves out questions that have their answers."
    )
    files = round_files(
        one.code,
        one.asks,
        settings,
        shown=lambda: read_shown(store, project.id, one.id),
        widest=widest,
        only=(lambda: short_questions(store, one.id)) if top_up else (lambda: None),
        is_top_up=top_up,
    )
    swapped = one.asks.swaps(one.settings)
    with st.container(horizontal=True):
        for number, file in enumerate(files):
            st.download_button(
                file.label,
                file.make,
                file.name,
                file.mime,
                icon=":material/download:",
                on_click="ignore",
                help=file.note,
                key=f"out-{one.id}-{number}-{top_up}",
                type="primary" if number == 0 else "secondary",
            )
    st.caption(
        f"Publish each task with {many(one.settings.raters, 'assignment')}."
        + (" Half of the items are shown with their tokens exchanged." if swapped else "")
    )


def _uploads(project: Project, round_view: RoundView) -> None:
    if not round_view.uploads:
        st.caption("No file was uploaded yet.")
        return
    rows = [
        {
            "file": upload.filename,
            "rows": upload.n_rows,
            "new answers": upload.counts.get("new", 0),
            "accepted (UTC)": moment(upload.accepted_at),
            "state": f"withdrawn on {moment(upload.withdrawn_at)}" if upload.withdrawn_at else "counted",
        }
        for upload in round_view.uploads
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Files of this round")
    active = [upload for upload in round_view.uploads if not upload.withdrawn_at]
    if not active or not round_view.round.is_open:
        return
    with st.container(border=True):
        upload = choose_upload(project, active, "Withdraw a file", round_view.round.id, noun="answer")
        if st.button("Withdraw it", key=f"withdraw-{round_view.round.id}"):
            jobs.send(WithdrawUpload(project.id, frame.expected(), upload.id, upload.filename, noun="answer"))


def _close(project: Project, round_view: RoundView) -> None:
    """The button that closes the round, or discards it before the first answer."""
    progress = round_view.progress
    if progress.untouched:
        st.caption("It can be closed once it has answers.")
    elif not progress.is_complete:
        left = progress.wanted - progress.answered
        st.warning(plural(left, "{n} answer is still missing.", "{n} answers are still missing."))
    sure = progress.is_complete or (
        not progress.untouched and st.checkbox("Close anyway", key=f"sure-{round_view.round.id}")
    )
    with st.container(horizontal=True):
        jobs.offer(
            f"Close round {round_view.round.number}",
            CloseBallot.of(project.id, frame.expected(), round_view.round),
            type="primary" if progress.is_complete else "secondary",
            disabled=not sure,
        )
        if progress.untouched:
            jobs.offer(
                "Discard this round",
                DiscardBallot.of(project.id, frame.expected(), round_view.round),
            )
