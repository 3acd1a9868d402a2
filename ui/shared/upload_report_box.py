"""What a file holds: its rows and answers by class, each class to be opened and downloaded."""

from __future__ import annotations

import streamlit as st

from core.base.numbers_in_words import many
from core.commands.figures.base import MeasuredFigure
from core.commands.figures.files import MOST_SHOWN, FileRead, answers_of
from core.commands.votes import CLASSES
from core.store.votes.intake import UploadPreview
from core.votes.reasons import report_file
from ui.shared import choosers


def upload_report(found: MeasuredFigure[FileRead] | UploadPreview, key: str) -> None:
    """The table of classes, and one of them row by row with its download."""
    read = found.result if isinstance(found, MeasuredFigure) else found
    answers, rows = read.counts, read.row_counts
    table = [
        {"class": said, "rows": rows.get(name, 0), "answers": answers[name], "then": then}
        for name, (said, then) in CLASSES.items()
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
        isinstance(found, MeasuredFigure) and found.job is not None
    )  # its rows are read from the disk, once asked for
    box = st.expander("Row by row", key=f"rows-{key}", on_change="rerun" if by_job else "ignore")
    if by_job and not box.open:
        return
    with box:
        words = {name: f"{CLASSES[name][0]} ({answers[name]:,})" for name in names}
        name = choosers.selectbox("Class", words, key=f"class-{key}")
        chosen = answers_of(found, name, MOST_SHOWN) if isinstance(found, MeasuredFigure) else found.table(name)
        alt = f"Rows of {read.filename}: {CLASSES[name][0]}"
        if len(chosen) < answers[name]:
            st.caption(f"The first {MOST_SHOWN:,} of them; the download has all.")
        st.dataframe(chosen, hide_index=True, lazy=True, alt=alt)
        st.download_button(
            "Download this class (CSV)",
            lambda: report_file(answers_of(found, name) if isinstance(found, MeasuredFigure) else chosen),
            f"{read.filename.rsplit('.', 1)[0]}-{name.replace('_', '-')}.csv",
            "text/csv",
            on_click="ignore",
            key=f"class-file-{key}",
            help="With the row of the file and the reason. Texts that a spreadsheet would run get an apostrophe.",
        )
