"""Votes back: upload result files, look at what they hold, take them; and the uploads so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import InputError, RunoffError
from core.platforms import LABELS, UnnamedColumnsError
from core.spoken import say, say_many, to_say
from core.store import Store
from core.store.ballots import PILOT
from core.store.projects import Project
from core.store.uploads import Upload, Withdrawn, withdraw_upload
from core.store.votes import Accepted, UploadPreview, accept_upload, preview_upload
from core.views.effects import top_sentence, voters_said, votes_said
from core.views.words import called, many, moment
from ui import frame
from ui.mapping_box import mapping_box
from ui.policy_box import policy_box
from ui.row_classes_box import CLASSES, classes_box
from ui.tables import said_columns

KEPT = 30  # previews of a session that are not read anew at each run
LARGE = 200_000  # answers
_REMARK = (to_say("row"), to_say("column"), to_say("what"), to_say("found"))
_COLUMNS = (
    to_say("ballot"), to_say("file"), to_say("format"), to_say("rows"), to_say("new votes"), to_say("voters"),
    to_say("what it changed"), to_say("taken (UTC)"), to_say("state"),
)  # fmt: skip


def upload_box(store: Store, project: Project, area_id: int | None, *, more: Sequence[Any] = ()) -> None:
    """The upload box, the preview of each file, and the button that takes the votes.

    `more` are files that came in another way: they have file_id, name and getvalue like uploaded ones.
    """
    turn = st.session_state.setdefault("_upload_turn", 0)
    files = st.file_uploader(
        say("Result files of Turkle, Mechanical Turk's format, Label Studio, Potato, Toloka, Appen, or any table"),
        type=["csv", "tsv", "txt", "json", "jsonl", "xlsx"],
        accept_multiple_files=True,
        key=f"results-{project.id}-{turn}",
        help=say("Nothing is taken until you confirm. A file may be uploaded again: known votes are not doubled."),
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
            st.info(say("There is nothing new in these files."), icon=":material/info:")
        return
    label = say_many(len(useful), "Take these votes", "Take the votes of {n} files")
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
                told = say("Runoff doesn't know these columns: say which column is which.")
                st.info(told, icon=":material/view_column:")
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
            say(
                "**{file}**: {rows} ({platform}), for {ballot}. **{votes}.**",
                file=frame.plain(preview.filename),
                rows=many(preview.n_rows, "row"),
                platform=say(LABELS.get(preview.platform, preview.platform)),
                ballot=called(preview.ballot),
                votes=many(counts.get("new", 0), "new vote"),
            )
        )
        if preview.accepted_before:
            st.caption(say("The same file was taken on {time} UTC.", time=moment(preview.accepted_before)))
        for issue in preview.issues[:3]:
            st.warning(frame.plain(str(issue)))
        if len(preview.issues) > 3:
            with st.expander(say("All {n:,} remarks on the file", n=len(preview.issues))):
                told = [{"row": i.row, "column": i.column, "what": i.message, "found": i.found} for i in preview.issues]
                config = said_columns(*_REMARK)
                st.dataframe(told, hide_index=True, column_config=config, alt=say("Remarks on the file"))
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
    votes, voters = many(new, "new vote"), voters_said(accepted.effect)
    parts = [say("{votes} of {voters}", votes=votes, voters=voters)] if new else []
    kinds = ("changed", "rejected", "repeat", "unknown")
    parts += [say("{n:,} {kind}", n=counts[kind], kind=say(CLASSES[kind][0])) for kind in kinds if counts.get(kind)]
    told = say("{file} is taken: {counts}.", file=name, counts=", ".join(parts))
    return f"{told} {top_sentence(accepted.effect)}".rstrip()


def withdrawn_said(name: str, withdrawn: Withdrawn) -> str:
    """What the withdrawal of an upload changed, in a sentence."""
    n = withdrawn.judgements
    told = say_many(
        n,
        "{answers} of {file} counts no more: {votes}.",
        "{answers} of {file} count no more: {votes}.",
        answers=many(n, "answer"),
        file=name,
        votes=votes_said(withdrawn.effect),
    )
    return f"{told} {top_sentence(withdrawn.effect)}".rstrip()


def state_of(upload: Upload) -> str:
    """Whether an upload counts, and what its withdrawal changed."""
    if not upload.withdrawn_at:
        return say("counted")
    time = moment(upload.withdrawn_at)
    if not upload.withdrawal:
        return say("withdrawn on {time}", time=time)
    told = say("withdrawn on {time}: {votes}.", time=time, votes=votes_said(upload.withdrawal))
    return f"{told} {top_sentence(upload.withdrawal)}".rstrip()


def upload_list(store: Store, project: Project, uploads: tuple[Upload, ...], open_number: int | None) -> None:
    """The accepted uploads, each with a button that takes it back while its ballot is open."""
    if not uploads:
        st.caption(say("No file was uploaded yet."))
        return
    rows = [
        {
            "ballot": say("pilot") if upload.ballot == PILOT else str(upload.ballot),
            "file": upload.filename,
            "format": say(LABELS.get(upload.platform, upload.platform)),
            "rows": upload.n_rows,
            "new votes": upload.counts.get("new", 0),
            "voters": "" if upload.effect is None else voters_said(upload.effect),
            "what it changed": "" if upload.effect is None else top_sentence(upload.effect),
            "taken (UTC)": moment(upload.accepted_at),
            "state": state_of(upload),
        }
        for upload in uploads
    ]
    config = said_columns(*_COLUMNS)
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=config, alt=say("Accepted uploads"))
    there = [upload for upload in uploads if upload.ballot == open_number and not upload.withdrawn_at]
    if not there:
        return
    with st.form("withdraw"):
        chosen = st.selectbox(
            say("Withdraw an upload"),
            there,
            format_func=lambda upload: say("{file}, {time} UTC", file=upload.filename, time=moment(upload.accepted_at)),
            help=say("Its votes stay in the store, marked, and count no more. The same file can be taken again."),
        )
        if st.form_submit_button(say("Withdraw it")):
            frame.carry_out(
                withdraw_upload,
                store,
                project.id,
                chosen.id,
                done=lambda withdrawn: withdrawn_said(chosen.filename, withdrawn),
            )
