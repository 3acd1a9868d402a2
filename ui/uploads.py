"""Votes back: upload result files, look at what they hold, take them; and the uploads so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import InputError, RunoffError
from core.platforms import LABELS, UnnamedColumnsError
from core.store import Store
from core.store.ballots import PILOT, called
from core.store.projects import Project
from core.store.uploads import Upload, Withdrawn, withdraw_upload
from core.store.votes import Accepted, UploadPreview, accept_upload, preview_upload
from core.views.effects import top_sentence, voters_said, votes_said
from core.views.words import many, moment
from ui import frame
from ui.mapping_box import mapping_box
from ui.policy_box import policy_box
from ui.row_classes_box import CLASSES, classes_box

KEPT = 30  # previews of a session that are not read anew at each run
LARGE = 200_000  # answers


def upload_box(store: Store, project: Project, area_id: int | None, *, more: Sequence[Any] = ()) -> None:
    """The upload box, the preview of each file, and the button that takes the votes.

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
    files = [*files, *more]
    previews = [_preview(store, project, area_id, file) for file in files]
    ready = [(file, preview) for file, preview in zip(files, previews, strict=True) if preview is not None]
    for file, preview in ready:
        _show(store, project, file, preview)
    useful = [(file, preview) for file, preview in ready if preview.takes_something]
    if not useful:
        if ready:
            st.info("There is nothing new in these files.", icon=":material/info:")
        return
    label = "Take these votes" if len(useful) == 1 else f"Take the votes of {len(useful)} files"
    if st.button(label, type="primary", icon=":material/check:"):
        _take(store, project, area_id, useful)


def _preview(store: Store, project: Project, area_id: int | None, file: Any) -> UploadPreview | None:
    kept = st.session_state.setdefault("_previews", {})
    key = (file.file_id, project.id, project.stamp, area_id)
    if key not in kept:
        try:
            found = preview_upload(store, project.id, file.getvalue(), file.name, area_id)
        except RunoffError as error:
            st.markdown(f"**{frame.plain(file.name)}**")
            if isinstance(error, UnnamedColumnsError):
                st.info("Runoff doesn't know these columns: say which column is which.", icon=":material/view_column:")
            else:
                frame.show_error(error)
            if isinstance(error, InputError):
                mapping_box(store, project, file, needed=True)
            return None
        st.session_state["_previews"] = {key: found, **dict(list(kept.items())[: _n_kept(found)])}
        return found
    return kept[key]


def _n_kept(found: UploadPreview) -> int:
    """How many other previews are kept beside this one: none beside a large file, which holds much memory."""
    return KEPT if len(found.preview.rows) < LARGE else 0


def _show(store: Store, project: Project, file: Any, preview: UploadPreview) -> None:
    counts = preview.counts
    with st.container(border=True):
        st.markdown(
            f"**{frame.plain(preview.filename)}**: {many(preview.n_rows, 'row')} "
            f"({LABELS.get(preview.platform, preview.platform)}), for {called(preview.ballot)}. "
            f"**{many(counts.get('new', 0), 'new vote')}.**"
        )
        if preview.accepted_before:
            st.caption(f"The same file was taken on {moment(preview.accepted_before)} UTC.")
        for issue in preview.issues[:3]:
            st.warning(frame.plain(str(issue)))
        if len(preview.issues) > 3:
            with st.expander(f"All {len(preview.issues):,} remarks on the file"):
                told = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in preview.issues]
                st.dataframe(told, hide_index=True, alt="Remarks on the file")
        classes_box(preview, str(file.file_id))
        if preview.mapping is not None:
            mapping_box(store, project, file, needed=False)


def _take(store: Store, project: Project, area_id: int | None, files: list[tuple[Any, UploadPreview]]) -> None:
    for file, preview in files:
        try:
            accepted = accept_upload(
                store, project.id, file.getvalue(), file.name, area_id, mapping=preview.mapping, found=preview
            )
        except RunoffError as error:
            frame.flash(f"{file.name}: {error}", kind="warning")
        else:
            frame.flash(said(file.name, accepted))
    st.session_state["_upload_turn"] += 1
    st.session_state.pop("_previews", None)
    frame.changed_here()
    st.rerun()


def said(name: str, accepted: Accepted) -> str:
    """What an accepted upload changed, in a sentence."""
    counts = accepted.counts
    new = counts.get("new", 0)
    parts = [f"{many(new, 'new vote')} of {voters_said(accepted.effect)}"] if new else []
    kinds = ("changed", "rejected", "repeat", "unknown")
    parts += [f"{counts[kind]:,} {CLASSES[kind][0]}" for kind in kinds if counts.get(kind)]
    return f"{name} is taken: {', '.join(parts)}. {top_sentence(accepted.effect)}"


def withdrawn_said(name: str, withdrawn: Withdrawn) -> str:
    """What the withdrawal of an upload changed, in a sentence."""
    n = withdrawn.judgements
    answers = f"{many(n, 'answer')} of {name} {'counts' if n == 1 else 'count'} no more"
    return f"{answers}: {votes_said(withdrawn.effect)}. {top_sentence(withdrawn.effect)}"


def state_of(upload: Upload) -> str:
    """Whether an upload counts, and what its withdrawal changed."""
    if not upload.withdrawn_at:
        return "counted"
    changed = f": {votes_said(upload.withdrawal)}. {top_sentence(upload.withdrawal)}" if upload.withdrawal else ""
    return f"withdrawn on {moment(upload.withdrawn_at)}{changed}"


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
            "state": state_of(upload),
        }
        for upload in uploads
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Accepted uploads")
    there = [upload for upload in uploads if upload.ballot == open_number and not upload.withdrawn_at]
    if not there:
        return
    with st.form("withdraw"):
        chosen = st.selectbox(
            "Withdraw an upload",
            there,
            format_func=lambda upload: f"{upload.filename}, {moment(upload.accepted_at)} UTC",
            help="Its votes stay in the store, marked, and count no more. The same file can be taken again.",
        )
        if st.form_submit_button("Withdraw it"):
            frame.carry_out(
                withdraw_upload,
                store,
                project.id,
                chosen.id,
                done=lambda withdrawn: withdrawn_said(chosen.filename, withdrawn),
            )
