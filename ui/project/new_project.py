"""The ways to make a project: a form, a project file, or archived results of a campaign that Runoff didn't make."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.base.numbers_in_words import many
from core.commands.archived import ImportedArchive, archive_mapping, import_archived, missing_words, rebuild
from core.commands.projects import other_name_text
from core.errors import RunoffError
from core.platforms import Mapping, OpenQuestionsError, open_results
from core.questions import KINDS as QUESTIONS
from core.questions import RoundKind
from core.store import Store
from core.store.projects.project_commands import create_from_template, create_project, get_project
from core.views import file_kinds
from ui.project import project_files
from ui.shared import choosers, frame, kinds
from ui.shared.columns_form import answers_of, columns_form, questions_box
from ui.shared.files import in_chosen_encoding

NOTIONS_IN_SHORT = {"relatedness": "Relatedness", "similarity": "Similarity"}


def archived_box(store: Store) -> None:
    """The files and their columns, the contents of the project to be made, and the button that makes it."""
    turn = st.session_state.setdefault("_archived_turn", 0)
    if not st.toggle(
        "From archived results",
        key=f"archived-{turn}",
        help="Tokens and comparisons are rebuilt from what voters were shown.",
    ):
        return
    uploads = st.file_uploader(
        "Result files of the campaign",
        accept_multiple_files=True,
        key=f"archived-files-{turn}",
    )
    if not uploads:
        st.caption("For example Batch_…_batch_results.csv of Mechanical Turk, with its Input columns.")
        return
    uploads = in_chosen_encoding(uploads, f"archived-{turn}")
    if not uploads:
        return
    files = [(file.name, file.getvalue()) for file in uploads]
    try:
        for name, data in files:
            file_kinds.check("archived results", data, name)
        columns = file_kinds.load(files[0][1], files[0][0])
        tables = [open_results(data, name) for name, data in files]
        guessed = archive_mapping(tables[0])
    except RunoffError as error:
        frame.show_error(error)
        return
    mapping = columns_form(columns, guessed, f"archived-{uploads[0].file_id}", with_areas=True)
    by_file = len(files) > 1 and st.checkbox(
        "Each file is a ballot of its own, in this order", help="Otherwise all files together are one ballot."
    )
    if missing := missing_words(tables[0], mapping):
        st.info(frame.plain(missing), icon=":material/info:")
        return
    meanings = answers_of(uploads[0])
    mapping = mapping if meanings is None else mapping.saying(meanings)
    try:
        campaign = rebuild(tables, mapping, ballot_per_file=by_file)
    except OpenQuestionsError as error:
        questions_box(uploads[0], error.questions)
        return
    except RunoffError as error:
        frame.show_error(error)
        return
    questions_box(uploads[0], ())
    n_tokens = sum(map(len, campaign.areas.values()))
    parts = [many(len(campaign.areas), "area"), many(n_tokens, "token"), many(len(campaign.items), "item")]
    parts.append(many(sum(len(ballot.comparisons) for ballot in campaign.ballots), "comparison"))
    st.markdown(f"**Found: {', '.join(parts)}.**")
    for note in campaign.notes:
        st.warning(frame.plain(str(note)))
    _form(store, files, mapping, by_file)


def _form(store: Store, files: list[tuple[str, bytes]], mapping: Mapping, by_file: bool) -> None:
    with st.form("archived"):
        name = st.text_input("Name of the project", files[0][0].rsplit(".", 1)[0][:100], max_chars=100)
        notions = dict(NOTIONS_IN_SHORT)
        notion = choosers.radio("What voters judged", notions, key="archived-notion", horizontal=True)
        random_opponents = st.checkbox(
            "Opponents were drawn at random",
            help=(
                "Then scores are Borda scores, as in the paper. Otherwise they are Bradley–Terry scores, which assume "
                "nothing about how opponents were chosen."
            ),
        )
        if not st.form_submit_button("Make the project", type="primary"):
            return
    try:
        with st.spinner("Importing…"):
            done = import_archived(
                store,
                name,
                files,
                mapping=replace(mapping),
                notion=notion,
                random_opponents=random_opponents,
                ballot_per_file=by_file,
            )
    except RunoffError as error:
        frame.show_error(error)
        return
    st.session_state["_archived_turn"] += 1  # the box is empty and shut for the next time
    actual_name = get_project(store, done.project_id).name
    message = f"{imported_text(actual_name, done)} {other_name_text(actual_name, name)}".rstrip()
    frame.flash(message, kind="warning" if done.why_open else "success")
    frame.open_project(done.project_id)


def imported_text(name: str, done: ImportedArchive) -> str:
    """What became of archived results, in a few sentences."""
    votes = sum(counts.get("new", 0) for counts in done.counts.values())
    others = sum(sum(counts.values()) for counts in done.counts.values()) - votes
    text = (
        (
            f"{name} is made: {many(done.n_items, 'item')}, {many(votes, 'vote')}, {many(others, 'other answer')} "
            "kept or left out (see Collect › Uploads)."
        )
        if others
        else f"{name} is made: {many(done.n_items, 'item')}, {many(votes, 'vote')}."
    )
    notes = " ".join(str(note) for note in done.notes)
    end = "All votes are scored."
    if done.why_open:
        end = f"The ballot is still open: {done.why_open}"
    return f"{text} {notes} {end}"


NOTIONS = {
    "relatedness": "Relatedness: any strong tie counts, opposites too",
    "similarity": "Similarity: only likeness of meaning counts",
}
KINDS = {"real": "Real: only people", "trial": "Trial: simulated voters too; it stays marked as a trial"}
STARTS = {
    "empty": "Empty: your own token lists",
    "template": "Template: two areas of everyday words and a plan; for comparisons a drawn pilot of 50 too",
}


def new_project() -> None:
    """The form of a project of one's own, empty or from the template."""
    with st.form("new project", clear_on_submit=True):
        name = st.text_input("Name", placeholder="For example: biomedical terms", max_chars=100)
        notion = choosers.radio(
            "What voters judge",
            dict(NOTIONS),
            key="new-notion",
            help="Relatedness ranks embeddings by |cos|, similarity by cos. It can be changed until a ballot is drawn.",
        )
        kind = choosers.radio(
            "Who votes",
            dict(KINDS),
            key="new-kind",
            help="Choose a trial to see the whole process first, without people.",
        )
        kind_name = choosers.radio(
            kinds.LABEL,
            {name: kinds.named(question_kind) for name, question_kind in QUESTIONS.items()},
            key="new-asks",
            horizontal=True,
            help="It can be changed on the Plan page until something is drawn.",
        )
        starts = dict(STARTS)
        start = choosers.radio("Start from", starts, key="new-start")
        if st.form_submit_button("Create project", type="primary"):
            make = create_project if start == "empty" else create_from_template
            try:
                project_id = make(frame.store(), name, kind=kind, notion=notion, asks=kind_name)
            except RunoffError as error:
                frame.show_error(error)
                return
            drawn = (
                "look at its plan" if isinstance(QUESTIONS[kind_name], RoundKind) else "let people vote on the pilot"
            )
            following = "its token lists" if start == "empty" else drawn
            actual_name = get_project(frame.store(), project_id).name
            done = f"The project {actual_name} is made. Next: {following}. It can be undone at the end of this page."
            frame.flash(f"{done} {other_name_text(actual_name, name)}".rstrip())
            frame.open_project(project_id)


def new_box() -> None:
    """Everything that makes a project: a form, a project file, archived results."""
    new_project()
    st.caption("Or bring an existing one: a Runoff project file, or the result files of an old campaign.")
    project_files.import_box(frame.store())
    archived_box(frame.store())
