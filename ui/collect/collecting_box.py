"""How votes are collected: one way at a time, with its steps, its files and nothing else."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.platforms import PLATFORMS
from core.platforms.plain import split_among_colleagues, write_tables
from core.store import Store
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.tabular.zips import pack
from core.views.collect.collect_page import WAYS, CollectView, DrawnStage, outgoing, way_in_use
from core.views.collect.tasks import TaskPages
from core.votes.platform import Outgoing, Platform
from ui.collect.offline_box import offline_box
from ui.collect.prolific_box import prolific_box
from ui.collect.turkle_box import turkle_box
from ui.collect.voting_box import voting_panel
from ui.collect.workload_box import quota_line
from ui.shared import choosers, frame

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
    shown = {file.name: file for ballot in (whole, top_up) if ballot for file in platform.files(ballot)}
    for number, file in enumerate(shown.values()):
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
