"""What a file holds: its rows and answers by class, each class to be opened and downloaded."""

from __future__ import annotations

import streamlit as st

from core.commands.votes import CLASSES
from core.plurals import many
from core.row_classes import class_file
from core.store.votes import UploadPreview
from core.views.upload_jobs import MOST_SHOWN, LargePreview
from ui import choosers


def classes_box(found: UploadPreview | LargePreview, key: str) -> None:
    """The table of classes, and one of them row by row with its download."""
    answers, rows = found.counts, found.row_counts
    table = [
        {"class": said, "rows": rows.get(name, 0), "answers": answers[name], "then": then}
        for name, (said, then) in CLASSES.items()
        if answers.get(name)
    ]
    alt = f"What {found.filename} holds"
    st.dataframe(table, hide_index=True, alt=alt)
    st.caption(
        f"{many(found.n_rows, 'row')} and {many(sum(answers.values()), 'answer')}, each in one class. A row with "
        "several answers is in the class of the first of them in this table."
    )
    names = [name for name in CLASSES if answers.get(name)]
    if not names:
        return
    is_large = isinstance(found, LargePreview)  # its rows are read from the disk, once they are asked for
    box = st.expander("Row by row", key=f"rows-{key}", on_change="rerun" if is_large else "ignore")
    if is_large and not box.open:
        return
    with box:
        words = {name: f"{CLASSES[name][0]} ({answers[name]:,})" for name in names}
        name = choosers.selectbox("Class", words, key=f"class-{key}")
        chosen = found.table(name)
        alt = f"Rows of {found.filename}: {CLASSES[name][0]}"
        if isinstance(found, LargePreview) and answers[name] > MOST_SHOWN:
            st.caption(f"The first {MOST_SHOWN:,} of them; the download has all.")
        st.dataframe(chosen, hide_index=True, lazy=True, alt=alt)
        st.download_button(
            "Download this class (CSV)",
            lambda: class_file(found.whole(name) if isinstance(found, LargePreview) else chosen),
            f"{found.filename.rsplit('.', 1)[0]}-{name.replace('_', '-')}.csv",
            "text/csv",
            on_click="ignore",
            key=f"class-file-{key}",
            help="With the row of the file and the reason. Texts that a spreadsheet would run get an apostrophe.",
        )
