"""The box in which an owner collects votes: one way at a time, with its steps, its files and nothing else.

Prolific: the voting page that its participants come to, and its list of submissions held against the votes. Turkle over
its interface: the ballot published there, how far it is, its votes fetched; no token is kept. The ballot as web pages
that need no server. And how evenly the votes came: the quota, and who gave how many.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many
from core.commands.votes import WithdrawVoters
from core.errors import RunoffError
from core.i18n import language
from core.platforms import PLATFORMS
from core.platforms.plain import MAX_FILES, split_among_colleagues, write_offline, write_tables
from core.platforms.turkle import TurkleSite
from core.questions.voting_settings import CONSENT
from core.store import Store
from core.store.ballots.ballot_rows import Ballot, read_comparisons
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.votes.payment import (
    ReviewChange,
    SubmissionCheck,
    assignments_from_page,
    check_submissions,
    review_assignments,
)
from core.store.votes.publications import (
    MAX_ASSIGNMENTS,
    Publication,
    confirm_address,
    fetch_from_turkle,
    finished_there,
    publish_on_turkle,
    read_publications,
)
from core.store.votes.uploads import of_sessions
from core.store.voting.owner_commands import read_voting
from core.tabular.zips import pack
from core.views import file_kinds, wording
from core.views.collect.collect_page import WAYS, CollectView, DrawnStage, Workload, outgoing, way_in_use
from core.views.collect.tasks import TaskPages
from core.views.wording import moment
from core.votes.payment import Review, id_list
from core.votes.platform import Outgoing, Platform
from ui.collect.voting_box import voting_panel
from ui.shared import cache, choosers, frame, jobs
from ui.shared.files import StoredUpload
from ui.shared.tables import in_percent, share_column


def over_quota(workload: Workload) -> None:
    """A warning while somebody is over the quota."""
    if workload.is_over:
        votes, most = many(workload.top_votes or 0, "vote"), many(workload.quota.comparisons_per_voter, "vote")
        st.warning(f"The busiest voter is over the quota of {most}, with {votes}.", icon=":material/balance:")


def quota_line(workload: Workload) -> None:
    """The quota, for where voters work elsewhere."""
    quota = workload.quota
    st.caption(
        f"Quota: {many(quota.tasks_per_voter, 'task')} ({many(quota.comparisons_per_voter, 'comparison')}) per "
        f"voter, {workload.why}. Set it where voters work, so that the fastest don't decide."
    )


@st.fragment
def voters_box(store: Store, project: Project, ballot: Ballot, workload: Workload) -> None:
    """Who voted how much and what to look at, in an expander; nothing is read before it is opened."""
    box = st.expander("Voters and their flags", key=f"voters-{ballot.code}", on_change="rerun")
    if not box.open:
        return
    with box:
        voters = cache.load_payment_votes(store, project, ballot.id, workload.quota.comparisons_per_voter)
        n_flagged = int((voters["flags"] != "").sum())
        most = many(workload.quota.comparisons_per_voter, "vote")
        flagged = f"{n_flagged:,} with a flag" if n_flagged else "none with a flag"
        st.markdown(f"**{many(len(voters), 'voter')}, {flagged}.** The quota is {most}, {workload.why}.")
        st.dataframe(
            in_percent(voters, "share", digits=1),
            hide_index=True,
            lazy=True,
            column_config={
                "share": share_column("share of votes", digits=1),
                "unknown": st.column_config.NumberColumn("unknown words", help="Answers “I don't know a word here”."),
                "flags": st.column_config.TextColumn("flags", help="A reason to look, not proof.", width="large"),
            },
            alt="Votes by voter, with flags",
        )


def offline_box(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """How many files, and their download."""
    with st.expander("Let people vote without a server (a page in a file)", icon=":material/draft:"):
        st.caption(
            "Each file holds a part of the ballot, works from a disk or any web host, keeps the answers in the "
            "browser, and ends with a CSV to send back to you. Upload that below."
        )
        most = min(MAX_FILES, max(1, ballot.n_comparisons // plan.task_size))
        about = "The ballot's tasks are dealt out to this many files."
        n_files = int(st.number_input("For how many voters", 1, most, 1, help=about))

        standard = language(plan.wording.language).text(CONSENT)
        consent = st.text_area("Consent, shown before the first comparison", standard, key=f"offline-{ballot.id}")

        def files() -> dict[str, bytes]:
            return write_offline(
                read_comparisons(store, project.id, ballot.number, ballot.area_id),
                name=ballot.code,
                notion=project.notion,
                ties_allowed=plan.ties_allowed,
                wording=plan.wording,
                consent=consent,
                n_files=n_files,
            )

        if n_files == 1:
            st.download_button(
                "Web page (HTML)",
                lambda: next(iter(files().values())),
                f"{ballot.code}-ballot.html",
                "text/html",
                on_click="ignore",
            )
        else:
            name = f"{ballot.code}-ballot.zip"
            st.download_button(
                "Web pages (ZIP)", lambda: pack(files().items()), name, "application/zip", on_click="ignore"
            )


_DOES = {
    "approve": "To approve: paste these into Bulk approve.",
    "reject": "To reject, or to ask to return: each with the reason in the table.",
    "withdraw": "To take out: votes of people who took consent back, returned or timed out.",
}

_IDS = {"approve": "Ids to approve ({n})", "reject": "Ids to reject ({n})", "withdraw": "Ids to withdraw ({n})"}
_COUNTED = {
    "finished": "{n:,} finished",
    "other code": "{n:,} other code",
    "unfinished": "{n:,} unfinished",
    "set aside": "{n:,} set aside",
    "no votes": "{n:,} no votes",
    "left": "{n:,} left",
    "left with votes": "{n:,} left with votes",
    "consent revoked": "{n:,} consent revoked",
    "decided": "{n:,} decided",
    "under way": "{n:,} under way",
}


def prolific_box(store: Store, project: Project, ballot: Ballot, plan: PlanSettings) -> None:
    """The voting page, and the check of submissions once it was opened."""
    voting = read_voting(store, ballot.id)
    with st.expander("The voting page and its link", icon=":material/link:", expanded=voting is None):
        voting_panel(store, project, ballot, plan)
    if voting is None:
        return
    file = st.file_uploader(
        "Prolific's list of submissions (prolific_export_….csv)",
        key=f"prolific-{ballot.id}",
        help="It is only checked: nothing of it is stored.",
    )
    if file is None:
        return
    try:
        file_kinds.check("submissions", file.getvalue(), file.name)
        submissions = check_submissions(store, project.id, ballot, file.getvalue(), file.name)
    except RunoffError as error:
        frame.show_error(error)
        return
    _show(project, ballot, submissions)


def _show(project: Project, ballot: Ballot, submissions: SubmissionCheck) -> None:
    """What was checked of Prolific's submissions, with the ids to approve, reject or withdraw."""
    for issue in submissions.issues[:3]:
        st.warning(frame.plain(str(issue)))
    st.markdown(", ".join(_COUNTED[case].format(n=n) for case, n in submissions.counts.items()).capitalize() + ".")
    rows = submissions.rows.drop(columns="sitting")
    st.dataframe(rows, hide_index=True, lazy=True, alt="Submissions and what follows")
    if submissions.not_listed:
        voters = many(len(submissions.not_listed), "voter")
        st.caption(f"Voted here from Prolific, but not in this list: {voters}.")
    for proposal, sentence in _DOES.items():
        ids = submissions.ids(proposal)
        if not ids:
            continue
        st.markdown(f"**{sentence}**")
        st.code("\n".join(ids), language=None, height=120 if len(ids) > 4 else "content")
        with st.container(horizontal=True):
            st.download_button(
                _IDS[proposal].format(n=len(ids)), id_list(ids), f"{ballot.code}-{proposal}.txt", on_click="ignore"
            )
            _follow(project, proposal, submissions.rows[submissions.rows["proposal"] == proposal])


def _follow(project: Project, proposal: str, rows: pd.DataFrame) -> None:
    """The button that does in Runoff what is proposed for Prolific."""
    with_session = rows.dropna(subset="sitting")
    if with_session.empty:
        return
    options: dict[str, Any] = {"key": f"prolific-{proposal}", "type": "secondary"}
    if proposal == "withdraw":
        sittings = with_session["sitting"].astype(int).tolist()
        stake = of_sessions(frame.store(), project.id, sittings)
        st.caption(frame.plain(wording.deletion_text(wording.TAKES_OUT, stake)))
        command = WithdrawVoters(project.id, frame.expected(), tuple(sittings))
        jobs.offer(f"Take the votes of {many(len(with_session), 'voter')} out", command, **options)
        return
    whys = dict(zip(with_session["sitting"].astype(int), with_session["why"], strict=True))
    words = {"approve": "Mark them as approved", "reject": "Leave their votes out"}
    frame.command_button(
        words[proposal],
        partial(_review, proposal, whys),
        project.id,
        done=lambda done: f"{many(done.decided, 'assignment')} decided; {many(done.out, 'vote')} left out.",
        help="Decisions stand under “Settle up” below, and can be taken back there.",
        **options,
    )


def _review(proposal: str, whys: dict[int, str], store: Store, project_id: str, **options: int) -> ReviewChange:
    decisions = {
        assignment: Review(proposal, why if proposal == "reject" else "")
        for session, why in whys.items()
        for assignment in assignments_from_page(store, [session])
    }
    return review_assignments(store, project_id, decisions, **options)


_WHOLE, _MISSING = "The whole ballot", "Only what still needs votes"


def fetched_files(project: Project) -> list[StoredUpload]:
    """The files fetched since votes were last taken, for the upload box."""
    turn = st.session_state.get("_upload_turn", 0)
    fetched = st.session_state.get(f"_fetched-{project.id}", {})
    return [file for (of_turn, _), file in fetched.items() if of_turn == turn]


def turkle_box(store: Store, project: Project, ballot: Ballot, whole: Outgoing, top_up: Outgoing | None) -> None:
    """The API token, what was published, and the form that publishes."""
    publications = read_publications(store, ballot.id)
    with st.expander("Let Runoff publish and fetch", icon=":material/cloud_sync:", expanded=bool(publications)):
        token = st.text_input(
            "API token of an administrator",
            type="password",
            key="turkle-token",
            autocomplete="off",
            help=(
                "On the server, `manage.py drf_create_token NAME` shows it. It is kept in this browser's session only: "
                "never on a disk, never in the log."
            ),
        )
        for publication in publications:
            _published(store, project, publication, token)
        _publish(store, project, ballot, whole, top_up, token, publications)


def _published(store: Store, project: Project, publication: Publication, token: str) -> None:
    """A published batch and its two buttons; an address from an imported file is confirmed first."""
    fetched = "not fetched yet"
    if publication.fetched_at:
        fetched = f"fetched {moment(publication.fetched_at)} UTC"
    st.markdown(
        (
            f"Top-up: batch {publication.batch} at {frame.plain(publication.address)}, "
            f"{many(publication.n_tasks, 'task')} × {many(publication.assignments, 'voter')}, {fetched}."
        )
        if publication.is_top_up
        else (
            f"Ballot: batch {publication.batch} at {frame.plain(publication.address)}, "
            f"{many(publication.n_tasks, 'task')} × {many(publication.assignments, 'voter')}, {fetched}."
        )
    )
    if not publication.confirmed:
        address = frame.plain(publication.address)
        st.warning(f"The address {address} came with the imported file. Your token would go there.")
        frame.command_button(
            "Yes, this is my Turkle",
            confirm_address,
            project.id,
            publication.id,
            done=f"The votes can be fetched from {publication.address} now.",
            key=f"confirm-{publication.id}",
        )
        return
    with st.container(horizontal=True):
        fetch = st.button("Fetch the votes", key=f"fetch-{publication.id}", type="primary", disabled=not token)
        ask = st.button("Check progress", key=f"ask-{publication.id}", disabled=not token)
    try:
        if ask:
            n_done, n_wanted = finished_there(store, project.id, publication.id, token)
            st.info(f"{n_done:,} of {n_wanted:,} assignments are finished there.")
        if fetch:
            data = fetch_from_turkle(store, project.id, publication.id, token)
            keep = st.session_state.setdefault(f"_fetched-{project.id}", {})
            file = StoredUpload(hashlib.sha256(data).hexdigest(), publication.filename, data)
            keep[st.session_state.get("_upload_turn", 0), publication.id] = file
            frame.changed_here()
            frame.flash(f"Fetched {publication.filename}. Look at it under 2, and accept its votes.")
            st.rerun()
    except RunoffError as error:
        frame.show_error(error)


def _publish(
    store: Store,
    project: Project,
    ballot: Ballot,
    whole: Outgoing,
    top_up: Outgoing | None,
    token: str,
    there: list[Publication],
) -> None:
    """The form that publishes the ballot, or what it lacks."""
    with st.form(f"turkle-{ballot.id}", border=False):
        address = st.text_input(
            "Address of your Turkle",
            next((one.address for one in reversed(there) if one.confirmed), ""),
            placeholder="https://turkle.example.org",
            help="Without /admin/ or /api/. Use https where the server isn't this machine.",
        )
        name = st.text_input("Name of the batch there", f"{project.name}, {ballot.called}"[:100])
        about = "How many people answer each comparison."
        n = int(st.number_input("Voters per task", 1, MAX_ASSIGNMENTS, 1, help=about))
        choices = {_WHOLE: whole} | ({_MISSING: top_up} if top_up else {})
        words = {which: which for which in choices}
        last = list(words)[-1]
        which = choosers.radio("What to publish", words, last, key=f"what-{ballot.id}", horizontal=True)
        if not st.form_submit_button("Publish on Turkle"):
            return
    try:
        site = TurkleSite(address, token)
    except RunoffError as error:
        frame.show_error(error)
        return
    frame.carry_out(
        publish_on_turkle,
        store,
        project.id,
        site,
        choices[which],
        name=name,
        assignments=n,
        area_id=ballot.area_id,
        done=lambda made: (
            f"Published: batch {made.batch} with {many(made.n_tasks, 'task')}."
            + (" The address is http, so the token could be read on the way; https is safer." if site.is_open else "")
        ),
    )


FORMATS = ("Excel (XLSX)", "CSV")
PART, ALL = "Each a part", "Everybody all"
_PLATFORM = {platform.name: platform for platform in PLATFORMS}


def collecting_box(
    store: Store, project: Project, view: CollectView, stage: DrawnStage, settings: PlanSettings, pages: TaskPages
) -> None:
    """The chooser, and below it what the chosen way needs; `settings` are those that the ballot was drawn by."""
    ballot = stage.ballot
    way = choosers.radio(
        "How do you collect votes?",
        {way: words for way, (words, *_) in WAYS.items()},
        way_in_use(store, ballot, view.uploads),
        horizontal=True,
        key=f"way-{ballot.id}",
        persist_state="session",
        help="You may use several ways for one ballot: votes from all of them count.",
    )
    st.caption(WAYS[way][1])
    if view.workload is not None and way not in ("page", "prolific"):
        quota_line(view.workload)
    whole = outgoing(store, project.id, ballot, pages)
    has_missing = not stage.progress.untouched and not stage.progress.is_complete
    top_up = outgoing(store, project.id, ballot, pages, missing=True) if has_missing else None
    if way == "page":
        voting_panel(store, project, ballot, settings)
    elif way == "prolific":
        steps(_PLATFORM[way])
        prolific_box(store, project, ballot, settings)
    elif way == "colleagues":
        steps(_PLATFORM["plain"])
        files(_PLATFORM["plain"], whole, top_up)
        _colleagues_box(top_up or whole)
        offline_box(store, project, ballot, settings)
    else:
        if way == "turkle":
            turkle_box(store, project, ballot, whole, top_up)
            st.markdown("**By hand**")
        steps(_PLATFORM[way])
        files(_PLATFORM[way], whole, top_up)


def steps(platform: Platform) -> None:
    """What the owner does on the platform, in order."""
    st.markdown("\n".join(f"{n}. {step}" for n, step in enumerate(platform.steps, 1)))


def files(platform: Platform, whole: Outgoing, top_up: Outgoing | None) -> None:
    """The platform's files, each with a sentence; those of a top-up too, where comparisons want votes."""
    by_name = {file.name: file for ballot in (whole, top_up) if ballot for file in platform.files(ballot)}
    for number, file in enumerate(by_name.values()):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                file.label,
                file.make,
                file.name,
                file.mime,
                type="primary" if number == 0 else "secondary",
                icon=":material/download:",
                on_click="ignore",
            )
            st.caption(file.note)


def _colleagues_box(ballot: Outgoing) -> None:
    """Names in, a zip of tables out; what is missing only, where the ballot has votes already."""
    with st.expander("A file for each colleague", icon=":material/groups:"):
        names = st.text_area("Names, one per line", key=f"colleagues-{ballot.code}").splitlines()
        with st.container(horizontal=True):
            formats = {name: name for name in FORMATS}
            kind = choosers.segmented_control("Format", formats, key=f"format-{ballot.code}")
            share = choosers.segmented_control(
                "Who gets what",
                {share: share for share in (PART, ALL)},
                key=f"share-{ballot.code}",
                help="Parts are whole tasks, dealt evenly. With “Everybody all” each comparison gets several votes.",
            )
        excel = kind != FORMATS[1]
        if not any(name.strip() for name in names):
            st.caption("Type the names; each stands in its file, so that nobody has to write it.")
            return
        try:
            parts = split_among_colleagues(ballot.asked(), names, everybody_all=share != PART)
        except RunoffError as error:
            frame.show_error(error)
            return
        sizes = [len(part) for part in parts.values()]
        if not sizes:
            st.caption("There is no comparison left to ask for.")
            return
        about = f"{len(parts)} files with {min(sizes):,} to {max(sizes):,} comparisons, numbered in the order of names."
        files = partial(write_tables, parts, name=ballot.part, ties_allowed=ballot.ties_allowed, excel=excel)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                "Files for colleagues (ZIP)",
                lambda: pack(files().items()),
                f"{ballot.part}-colleagues.zip",
                "application/zip",
                on_click="ignore",
                icon=":material/download:",
            )
            st.caption(about)
