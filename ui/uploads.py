"""Votes back: upload result files, look at what they hold, take them; and the uploads so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.commands.effects import top_sentence, voters_said, votes_said
from core.commands.votes import TakeUploads, WithdrawUpload, bring_file
from core.errors import RunoffError
from core.platforms import LABELS, UnnamedColumnsError
from core.plurals import many, plural
from core.store import Store
from core.store.ballots import PILOT, Ballot
from core.store.projects import Project
from core.store.uploads import Upload
from core.store.votes import UploadPreview, preview_upload
from core.views import at_stake
from core.views.upload_jobs import LargePreview
from core.views.words import called, moment
from ui import cache, choosers, frame, jobs, large_uploads
from ui.mapping_box import mapping_box
from ui.policy_box import policy_box
from ui.questions_box import questions_box, remarks, said_of
from ui.recoded_files import in_chosen_encoding
from ui.row_classes_box import classes_box

KEPT = 30  # previews of a session that are not read anew at each run
LARGE = 200_000  # answers


def upload_box(store: Store, project: Project, ballot: Ballot, *, more: Sequence[Any] = ()) -> None:
    """The upload box of the open ballot, the preview of each file, and the button that takes the votes.

    `more` are files that came in another way: they have file_id, name and getvalue like uploaded ones.
    """
    turn = st.session_state.setdefault("_upload_turn", 0)
    files = st.file_uploader(
        "Result files of Turkle, Mechanical Turk's format, Label Studio, Potato, Toloka, Appen, or any table",
        type=["csv", "tsv", "txt", "json", "jsonl", "xlsx"],
        accept_multiple_files=True,
        key=f"results-{project.id}-{turn}",
        help="Nothing is taken until you confirm. A file may be uploaded again: known votes are not doubled.",
    )
    policy_box(store, project)
    files = in_chosen_encoding([*files, *more], f"results-{project.id}-{turn}")
    previews = [_look_at(store, project, ballot, file) for file in files]
    ready = [(file, preview) for file, preview in zip(files, previews, strict=True) if preview is not None]
    for file, preview in ready:
        _show(store, project, file, preview)
    useful = [(file, preview) for file, preview in ready if preview.takes_something]
    if not useful:
        if ready and not any(preview.questions for _, preview in ready):
            st.info("There is nothing new in these files.", icon=":material/info:")
        return
    label = plural(len(useful), "Take these votes", "Take the votes of {n} files")
    if st.button(label, type="primary", icon=":material/check:"):
        _take(store, project, ballot, useful)


def _look_at(store: Store, project: Project, ballot: Ballot, file: Any) -> UploadPreview | LargePreview | None:
    """What a file holds; None where it can't be read, or not yet."""
    if large_uploads.is_large(file):
        return large_uploads.preview(store, project, ballot, file)
    return _preview(store, project, ballot, file)


def _preview(store: Store, project: Project, ballot: Ballot, file: Any) -> UploadPreview | None:
    kept, said = st.session_state.setdefault("_previews", {}), said_of(file)
    key = (file.file_id, project.id, project.stamp, ballot.code, said)
    if key not in kept:
        try:
            area_id, code = ballot.area_id, ballot.code
            found = preview_upload(
                store, project.id, file.getvalue(), file.name, mapping=said, area_id=area_id, code=code
            )
        except RunoffError as error:
            large_uploads.show_problem(store, project, file, error, isinstance(error, UnnamedColumnsError))
            return None
        st.session_state["_previews"] = {key: found, **dict(list(kept.items())[: _n_kept(found)])}
        return found
    return kept[key]


def _n_kept(found: UploadPreview) -> int:
    """How many other previews are kept beside this one: none beside a large file, which holds much memory."""
    return KEPT if len(found.preview.rows) < LARGE else 0


def _show(store: Store, project: Project, file: Any, preview: UploadPreview | LargePreview) -> None:
    counts = preview.counts
    with st.container(border=True):
        st.markdown(
            f"**{frame.plain(preview.filename)}**: {many(preview.n_rows, 'row')} "
            f"({LABELS.get(preview.platform, preview.platform)}), for {called(preview.ballot)}. "
            f"**{many(counts.get('new', 0), 'new vote')}.**"
        )
        if preview.accepted_before:
            st.caption(f"The same file was taken on {moment(preview.accepted_before)} UTC.")
        questions_box(file, preview.questions)
        issues = remarks(preview)
        for issue in issues[:3]:
            st.warning(frame.plain(str(issue)))
        if len(issues) > 3:
            n_left_out = preview.n_issues - len(preview.issues) if isinstance(preview, LargePreview) else 0
            with st.expander(f"All {len(issues) + n_left_out:,} remarks on the file"):
                if n_left_out:
                    st.caption(f"The first {len(issues):,} of them.")
                told = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in issues]
                st.dataframe(told, hide_index=True, alt="Remarks on the file")
        classes_box(preview, str(file.file_id))
        if preview.mapping is not None and preview.mapping.named():
            mapping_box(store, project, file, needed=False)


def _take(
    store: Store, project: Project, ballot: Ballot, files: list[tuple[Any, UploadPreview | LargePreview]]
) -> None:
    """Take the votes of files, each with how its columns are read; the upload box is empty then."""
    try:
        told = [(bring_file(store, file.getvalue(), file.name), preview.mapping) for file, preview in files]
    except RunoffError as error:
        frame.show_error(error)
        return
    jobs.send(TakeUploads.of(project.id, ballot, told), _empty)


def _empty() -> None:
    st.session_state["_upload_turn"] += 1
    st.session_state.pop("_previews", None)


def upload_list(store: Store, project: Project, uploads: tuple[Upload, ...], open_number: int | None) -> None:
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
            "voters": "" if upload.effect is None else voters_said(upload.effect),
            "what it changed": "" if upload.effect is None else top_sentence(upload.effect),
            "taken (UTC)": moment(upload.accepted_at),
            "state": _state_of(upload),
        }
        for upload in uploads
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Accepted uploads")
    there = [upload for upload in uploads if upload.ballot == open_number and not upload.withdrawn_at]
    if not there:
        return
    with st.container(border=True):
        by_id = {upload.id: upload for upload in there}
        names = {upload.id: f"{upload.filename}, {moment(upload.accepted_at)} UTC" for upload in there}
        id_ = choosers.selectbox(
            "Withdraw an upload",
            names,
            key=f"withdrawn-{project.id}",
            apart=lambda id_: by_id[id_].accepted_at[11:19],
            help="Its votes stay in the store, marked, and count no more. The same file can be taken again.",
        )
        stake = cache.load_at_stake(store, project, id_)
        st.caption(frame.plain(at_stake.said(at_stake.TAKES_OUT, stake)))
        if st.button("Withdraw it", key="withdraw"):
            jobs.send(WithdrawUpload(project.id, frame.expected(), id_, by_id[id_].filename))


def _state_of(upload: Upload) -> str:
    """Whether an upload counts, and what its withdrawal changed."""
    if not upload.withdrawn_at:
        return "counted"
    time = moment(upload.withdrawn_at)
    if not upload.withdrawal:
        return f"withdrawn on {time}"
    told = f"withdrawn on {time}: {votes_said(upload.withdrawal)}."
    return f"{told} {top_sentence(upload.withdrawal)}".rstrip()
