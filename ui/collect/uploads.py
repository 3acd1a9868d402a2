"""Result files uploaded: looked at before their votes are taken, and listed with a way to take them back.

The look shows a file's rows and answers by class, each class to be opened and downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base.numbers_in_words import many, plural
from core.commands.figures.base import MeasuredFigure
from core.commands.figures.files import MOST_SHOWN, FileRead, ReadFile
from core.commands.figures.files import answers_of as rows_of_class
from core.commands.votes import (
    CLASSES,
    SetPolicy,
    TakeUploads,
    WithdrawUpload,
    bring_file,
    top_sentence,
    voters_text,
    votes_text,
)
from core.errors import RunoffError
from core.platforms import LABELS, Mapping
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PILOT
from core.store.projects.project_commands import Project
from core.store.votes.intake import UploadPreview
from core.store.votes.judgements import read_policy
from core.store.votes.uploads import Upload
from core.views import file_kinds, wording
from core.views.wording import moment
from core.votes.reasons import REJECTED, REPEATS, report_file
from ui.shared import cache, choosers, frame, jobs
from ui.shared.columns_form import answers_of, mapping_box, questions_box, remarks
from ui.shared.files import in_chosen_encoding


def upload_report(measured: MeasuredFigure[FileRead] | UploadPreview, key: str) -> None:
    """The table of classes, and one of them row by row with its download."""
    read = measured.result if isinstance(measured, MeasuredFigure) else measured
    answers, rows = read.counts, read.row_counts
    table = [
        {"class": label, "rows": rows.get(name, 0), "answers": answers[name], "then": then}
        for name, (label, then) in CLASSES.items()
        if answers.get(name)
    ]
    alt = f"What {read.filename} holds"
    st.dataframe(table, hide_index=True, alt=alt)
    st.caption(
        f"{many(read.n_rows, 'row')} and {many(sum(answers.values()), 'answer')}, each in one class. A row with "
        "several answers is in the class of the first of them in this table."
    )
    names = [name for name in CLASSES if answers.get(name)]
    if not names:
        return
    by_job = (
        isinstance(measured, MeasuredFigure) and measured.job is not None
    )  # its rows are read from the disk, once asked for
    box = st.expander("Row by row", key=f"rows-{key}", on_change="rerun" if by_job else "ignore")
    if by_job and not box.open:
        return
    with box:
        words = {name: f"{CLASSES[name][0]} ({answers[name]:,})" for name in names}
        name = choosers.selectbox("Class", words, key=f"class-{key}")
        chosen = (
            rows_of_class(measured, name, MOST_SHOWN) if isinstance(measured, MeasuredFigure) else measured.table(name)
        )
        alt = f"Rows of {read.filename}: {CLASSES[name][0]}"
        if len(chosen) < answers[name]:
            st.caption(f"The first {MOST_SHOWN:,} of them; the download has all.")
        st.dataframe(chosen, hide_index=True, lazy=True, alt=alt)
        st.download_button(
            "Download this class (CSV)",
            lambda: report_file(rows_of_class(measured, name) if isinstance(measured, MeasuredFigure) else chosen),
            f"{read.filename.rsplit('.', 1)[0]}-{name.replace('_', '-')}.csv",
            "text/csv",
            on_click="ignore",
            key=f"class-file-{key}",
            help="With the row of the file and the reason. Texts that a spreadsheet would run get an apostrophe.",
        )


_LAID_DOWN = "_brought"  # in the session: files as they were laid down, by their ids


@dataclass(frozen=True)
class _BoxTexts:
    """The texts of the upload box: label and help, the button, and the noun for what files hold."""

    label: str
    help: str
    take: str
    noun: str


VOTES = _BoxTexts(
    "Result files of Turkle, Mechanical Turk's format, Label Studio, Potato, Toloka, Appen, or any table",
    "Nothing counts until you accept it. A file may be uploaded again: known votes are not counted twice.",
    "Accept these votes",
    "vote",
)
ANSWERS = _BoxTexts(
    "Result files of Turkle or in Mechanical Turk's format, or the table filled in",
    "Nothing counts until you accept it. A file may be uploaded again: known answers are not counted twice. A round "
    "of ratings also takes a rating set with a column for each person, or with voter and rating: items are "
    "found by their texts.",
    "Accept these answers",
    "answer",
)


def upload_box(store: Store, project: Project, ballot: Ballot, *, more: Sequence[Any] = ()) -> None:
    """The upload box of an open ballot or round, the preview of each file, and the button that takes the votes.

    `more` are files that came in another way: they have file_id, name and getvalue like uploaded ones.
    """
    turn = st.session_state.setdefault("_upload_turn", 0)
    texts = ANSWERS if ballot.is_round else VOTES
    key = f"answers-{ballot.id}-{turn}" if ballot.is_round else f"results-{project.id}-{turn}"
    files = st.file_uploader(texts.label, accept_multiple_files=True, key=key, help=texts.help)
    if not ballot.is_round:
        _policy_box(store, project)
        files = in_chosen_encoding([*files, *more], key)
    previews = [_look_at(store, project, ballot, file) for file in files]
    ready = [(file, measured) for file, measured in zip(files, previews, strict=True) if measured is not None]
    for file, measured in ready:
        _show_preview(store, project, ballot, file, measured)
    useful = [(file, measured) for file, measured in ready if measured.result.takes_something]
    if not useful:
        if ready and not any(measured.result.questions for _, measured in ready):
            st.info("There is nothing new in these files.", icon=":material/info:")
        return
    label = texts.take if ballot.is_round else plural(len(useful), texts.take, "Accept the votes of {n} files")
    if st.button(label, type="primary", icon=":material/check:"):
        _take(project, ballot, useful)


def _look_at(store: Store, project: Project, ballot: Ballot, file: Any) -> MeasuredFigure[FileRead] | None:
    """The contents of an uploaded file; None where it can't be read, with an error on the page, or isn't read yet."""
    stored = st.session_state.setdefault(_LAID_DOWN, {})
    try:
        if file.file_id not in stored:
            place = "round results" if ballot.is_round else "results"
            file_kinds.check(place, file.getvalue(), file.name, store, project.id)
            stored[file.file_id] = bring_file(store, file.getvalue(), file.name)
    except RunoffError as error:
        frame.show_error(error)
        return None
    figure = ReadFile.of(project.id, project.revision, ballot, stored[file.file_id], answers_of(file))
    box = st.container()
    measured = jobs.figure(
        figure, project, "Read it again", key=f"read-{file.file_id}", before_job=partial(_store_again, store, file),
        icon=":material/refresh:", help=None,
    )  # fmt: skip
    if measured is None or measured.result.problem:
        box.markdown(f"**{frame.plain(file.name)}**")
    if measured is None or not measured.result.problem:
        return measured
    if measured.result.is_unnamed:
        st.info("Runoff doesn't know these columns: say which column is which.", icon=":material/view_column:")
    else:
        frame.show_error(measured.result.error)
    if not ballot.is_round:
        mapping_box(store, project, file, needed=True)
    return None


def _store_again(store: Store, file: Any) -> None:
    """Have a file there for the job that reads it: it goes after a day."""
    bring_file(store, file.getvalue(), file.name)


def _show_preview(
    store: Store, project: Project, ballot: Ballot, file: Any, measured: MeasuredFigure[FileRead]
) -> None:
    """What a file that was read holds, its remarks, and its questions."""
    preview = measured.result
    where = f" ({LABELS.get(preview.platform, preview.platform)}), for {ballot.called}"
    noun = ANSWERS.noun if ballot.is_round else VOTES.noun
    with st.container(border=True):
        st.markdown(
            f"**{frame.plain(preview.filename)}**: {many(preview.n_rows, 'row')}{'' if ballot.is_round else where}. "
            f"**{many(preview.counts.get('new', 0), f'new {noun}')}.**"
        )
        if preview.accepted_before:
            st.caption(f"The same file was accepted on {moment(preview.accepted_before)} UTC.")
        questions_box(file, preview.questions)
        issues = remarks(preview)
        for issue in issues[:3]:
            st.warning(frame.plain(str(issue)))
        if len(issues) > 3:
            n_left_out = preview.n_issues - len(preview.issues)
            with st.expander(f"All {len(issues) + n_left_out:,} remarks on the file"):
                if n_left_out:
                    st.caption(f"The first {len(issues):,} of them.")
                rows = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in issues]
                st.dataframe(rows, hide_index=True, alt="Remarks on the file")
        upload_report(measured, str(file.file_id))
        if preview.mapping is not None and Mapping.of(preview.mapping).named():
            mapping_box(store, project, file, needed=False)


def _take(project: Project, ballot: Ballot, files: list[tuple[Any, MeasuredFigure[FileRead]]]) -> None:
    """Take the votes of files, each with how its columns are read; the upload box is empty then."""
    stored = st.session_state[_LAID_DOWN]
    try:
        for file, _ in files:
            _store_again(frame.store(), file)
    except RunoffError as error:
        frame.show_error(error)
        return
    stored_files = tuple((stored[file.file_id], measured.result.mapping) for file, measured in files)
    noun = ANSWERS.noun if ballot.is_round else VOTES.noun
    jobs.send(TakeUploads(project.id, frame.expected(), ballot.area_id, ballot.code, stored_files, noun), _empty)


def _empty() -> None:
    st.session_state["_upload_turn"] += 1
    st.session_state.pop(_LAID_DOWN, None)


def upload_list(project: Project, uploads: tuple[Upload, ...], open_number: int | None) -> None:
    """The accepted uploads, each with a button that takes it back while its ballot is open."""
    if not uploads:
        st.caption("No file was uploaded yet.")
        return
    rows = [
        {
            "ballot": "pilot" if upload.ballot == PILOT else str(upload.ballot),
            "file": upload.filename,
            "format": LABELS.get(upload.platform, upload.platform),
            "rows": upload.n_rows,
            "new votes": upload.counts.get("new", 0),
            "voters": "" if upload.effect is None else voters_text(upload.effect),
            "what it changed": "" if upload.effect is None else top_sentence(upload.effect),
            "accepted (UTC)": moment(upload.accepted_at),
            "state": _state_of(upload),
        }
        for upload in uploads
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Accepted uploads")
    active = [upload for upload in uploads if upload.ballot == open_number and not upload.withdrawn_at]
    if not active:
        return
    with st.container(border=True):
        upload = choose_upload(project, active, "Withdraw an upload", project.id, noun="vote")
        if st.button("Withdraw it", key="withdraw"):
            jobs.send(WithdrawUpload(project.id, frame.expected(), upload.id, upload.filename))


def choose_upload(project: Project, there: Sequence[Upload], label: str, key: object, *, noun: str) -> Upload:
    """The one of some uploads that is chosen to be taken back, and what goes with it; `noun` is what it holds."""
    by_id = {upload.id: upload for upload in there}
    names = {upload.id: f"{upload.filename}, {moment(upload.accepted_at)} UTC" for upload in there}
    id_ = choosers.selectbox(
        label,
        names,
        key=f"withdrawn-{key}",
        apart=lambda id_: by_id[id_].accepted_at[11:19],
        help=f"Its {noun}s stay in the store, marked, and no longer count. The same file can be uploaded again.",
    )
    stake = cache.load_stake_of_upload(frame.store(), project, id_)
    st.caption(frame.plain(wording.deletion_text(wording.TAKES_OUT, stake, noun=noun)))
    return by_id[id_]


def _state_of(upload: Upload) -> str:
    """Whether an upload counts, and what its withdrawal changed."""
    if not upload.withdrawn_at:
        return "counted"
    time = moment(upload.withdrawn_at)
    if not upload.withdrawal:
        return f"withdrawn on {time}"
    text = f"withdrawn on {time}: {votes_text(upload.withdrawal)}."
    return f"{text} {top_sentence(upload.withdrawal)}".rstrip()


def _policy_box(store: Store, project: Project) -> None:
    """The policy of the project, and the form that changes it."""
    current = read_policy(store, project.id)
    st.caption(
        f"Answers of rejected assignments are {REJECTED[current.rejected]}; of a voter's several votes on one "
        f"comparison {REPEATS[current.repeats]}."
    )
    with st.expander("Change what counts"), st.form(f"policy-{project.id}"):
        rejected = choosers.radio(
            "Answers of rejected assignments are",
            {name: _choice(words, name == "leave out") for name, words in REJECTED.items()},
            current.rejected,
            key=f"rejected-{project.id}-{current.rejected}",
            help="The owner rejected them on the platform, or in the file's column Reject.",
        )
        repeats = choosers.radio(
            "Of a voter's several votes on one comparison",
            {name: _choice(words, name == "earliest") for name, words in REPEATS.items()},
            current.repeats,
            key=f"repeats-{project.id}-{current.repeats}",
            help="By the time they were submitted, in whatever order the files come. No vote is lost by any choice.",
        )
        st.caption("Open ballots are counted again at once. Closed ones keep their count until they are reopened.")
        if st.form_submit_button("Save"):
            jobs.send(SetPolicy(project.id, frame.expected(), rejected, repeats))


def _choice(label: str, is_default: bool) -> str:
    return f"{label} (default)" if is_default else label
