"""What a file holds: its rows and answers by class, each class to be opened and downloaded."""

from __future__ import annotations

import streamlit as st

from core.row_classes import class_file
from core.store.votes import UploadPreview
from core.views.words import many

CLASSES = {
    "new": ("new votes", "will be counted"),
    "check": ("answers to checks", "will be kept; no score reads them"),
    "unknown": ("“I don't know a word here”", "will be logged; no vote"),
    "changed": ("changed since the last upload", "will be updated"),
    "rejected": ("rejected by the owner", "will be kept, not counted"),
    "repeat": ("repeats by the same voter", "will be kept, not counted"),
    "excluded": ("voters who are left out", "will be kept, not counted"),
    "contradicts": ("differ from the stored answer", "nothing happens: withdraw the first upload to replace it"),
    "known": ("known already", "nothing happens"),
    "no_answer": ("no answer", "left out"),
    "other_ballot": ("unknown comparison (not of this ballot)", "left out"),
    "unreadable": ("unreadable", "left out"),
}


def classes_box(found: UploadPreview, key: str) -> None:
    """The table of classes, and one of them row by row with its download."""
    answers, rows = found.counts, found.row_counts
    table = [
        {"class": said, "rows": rows.get(name, 0), "answers": answers[name], "then": then}
        for name, (said, then) in CLASSES.items()
        if answers.get(name)
    ]
    st.dataframe(table, hide_index=True, alt=f"What {found.filename} holds")
    st.caption(
        f"{many(found.n_rows, 'row')} and {many(sum(answers.values()), 'answer')}, each in one class. A row with "
        "several answers is in the class of the first of them in this table."
    )
    names = [name for name in CLASSES if answers.get(name)]
    if not names:
        return
    with st.expander("Row by row"):
        name = st.selectbox(
            "Class", names, format_func=lambda name: f"{CLASSES[name][0]} ({answers[name]:,})", key=f"class-{key}"
        )
        chosen = found.table(name)
        st.dataframe(chosen, hide_index=True, lazy=True, alt=f"Rows of {found.filename}: {CLASSES[name][0]}")
        st.download_button(
            "Download this class (CSV)",
            lambda: class_file(chosen),
            f"{found.filename.rsplit('.', 1)[0]}-{name.replace('_', '-')}.csv",
            "text/csv",
            on_click="ignore",
            key=f"class-file-{key}",
            help="With the row of the file and the reason. Texts that a spreadsheet would run get an apostrophe.",
        )
