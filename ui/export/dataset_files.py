"""Downloads of a project's results: the dataset as one zip or single files of other formats, and what rounds found.

A closed round gives the dataset of its items in all formats, or the groups with people's shares.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.numbers_in_words import many
from core.commands.figures.base import MeasuredFigure
from core.commands.figures.files import DatasetFile, MadeFile
from core.dataset.published import read_published
from core.questions import RoundKind
from core.questions.order.groups import preference_table
from core.store.projects.project_commands import Project
from core.store.votes.model_answers import read_judges
from core.views.export import DatasetFiles
from core.views.kinds import rounds as view
from core.views.kinds import target_groups
from ui.shared import cache, frame, jobs, kinds
from ui.shared.tables import download, download_groups, show_table

_ABOUT = (
    "The dataset in all formats, its datasheet, the votes under pseudonyms, plan and seeds, and checksums: a folder "
    "that Hugging Face datasets loads, and from which anybody can compute the scores again."
)


def with_model_answers(project: Project) -> bool:
    """Whether what language models answered goes into the dataset's files; asked only where there is something."""
    if not read_judges(frame.store(), project.id):
        return False
    return st.checkbox(
        "Put the answers of language models in, as a file of their own",
        key=f"model-answers-{project.id}",
        help="models/answers.json, marked as a model's. No score rests on it, and a replay doesn't read it.",
    )


def whole(project: Project, model_answers: bool) -> None:
    """The download of the recommended file, the dataset's zip, made on request."""
    figure = DatasetFile(project.id, project.revision, model_answers)
    measured = jobs.figure(
        figure,
        project,
        "Make the dataset to publish (zip)",
        key=f"publication-{project.id}-{model_answers}",
        on_request=True,
        type="primary",
        icon=":material/inventory_2:",
    )
    if measured is None:
        st.caption(_ABOUT)
        return
    file = measured.result
    st.download_button(
        f"Download the dataset (zip, {max(file.size / 1e6, 0.1):.1f} MB)",
        measured.read_file,
        file.filename,
        "application/zip",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
    )
    with st.container(horizontal=True):
        for label, path, mime in (
            ("Datasheet (page)", "datasheet.html", "text/html"),
            ("Datasheet (Markdown)", "datasheet.md", "text/markdown"),
        ):
            stem = file.filename.removesuffix(".zip")
            make = partial(_member, measured, path)
            st.download_button(label, make, f"{stem}-{path}", mime, on_click="ignore", icon=":material/description:")
    for path, why in file.left_out.items():
        st.caption(frame.plain(f"Not in it: {path}. {why}"))


def _member(measured: MeasuredFigure[MadeFile], path: str) -> bytes:
    return read_published(measured.read_file()).files[path]


def formats(view: DatasetFiles, *, expanded: bool = False) -> None:
    """Single files, each made when it is downloaded."""
    with st.expander("Single files and other formats", expanded=expanded):
        for each in view.formats:
            problem = view.problems.get(each.label, "")
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.download_button(
                    each.label,
                    partial(each.make, view.dataset),
                    f"{view.stem}{each.ending}",
                    each.mime,
                    key=f"format-{each.ending}",
                    icon=":material/download:",
                    on_click="ignore",
                    disabled=bool(problem),
                    width=220,  # all alike, so that what is said of them stands in one column
                )
                st.caption(frame.plain(problem or each.about))


def show_rounds(project: Project, area_id: int | None, kind: RoundKind) -> None:
    """All of the page for one kind."""
    closed = [one for one in kinds.rounds(project, area_id, kind) if not one.round.is_open]
    if not closed:
        frame.nothing_yet(f"No round of {kind.about.label} is closed yet.", "collect", "collect answers")
    round_view = kinds.one_of(project, area_id, closed)
    stem = view.file_stem_of(project.name, round_view.round)
    if not kind.about.scores_items:
        _groups(project, round_view, stem)
        return
    files = cache.load_round(view.files, frame.store(), project, round_view.round)
    st.caption("The command evaluate takes the dataset, as any other.")
    formats(files, expanded=True)
    st.subheader("What is in it")
    st.caption("The first ten items, under the names of the file's columns.")
    three = dict.fromkeys(("score", "lower", "upper"), st.column_config.NumberColumn(format="%.3f"))
    st.dataframe(
        files.dataset.head(10),
        hide_index=True,
        column_config=three,
        placeholder="–",
        alt="The first ten rows of the dataset",
    )
    with st.expander("The description"):
        st.code(files.description, language=None, wrap_lines=True)


def _groups(project: Project, round_view: view.RoundView, stem: str) -> None:
    """Groups with the share of people who prefer one word of a target to another."""
    words = cache.load_round(view.compared_words, frame.store(), project, round_view.round)
    with st.container(horizontal=True):
        about = f"{many(len(words), 'comparison')} of two words, each with the share of people behind it."
        download_groups(words, stem, about)
        table = preference_table(words)
        download("Download the preferences (CSV)", lambda: table, f"{stem}-preferences.csv")
    show_table(table, target_groups.WORST_HELP, "Preferences of two positives")
