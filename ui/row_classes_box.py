"""What a file holds: its rows and answers by class, each class to be opened and downloaded."""

from __future__ import annotations

import streamlit as st

from core.row_classes import class_file
from core.spoken import say, to_say
from core.store.votes import UploadPreview
from core.views.words import many
from ui.tables import said_columns

CLASSES = {
    "new": (to_say("new votes"), to_say("will be counted")),
    "check": (to_say("answers to checks"), to_say("will be kept; no score reads them")),
    "unknown": (to_say("“I don't know a word here”"), to_say("will be logged; no vote")),
    "changed": (to_say("changed since the last upload"), to_say("will be updated")),
    "rejected": (to_say("rejected by the owner"), to_say("will be kept, not counted")),
    "repeat": (to_say("repeats by the same voter"), to_say("will be kept, not counted")),
    "excluded": (to_say("voters who are left out"), to_say("will be kept, not counted")),
    "contradicts": (
        to_say("differ from the stored answer"),
        to_say("nothing happens: withdraw the first upload to replace it"),
    ),
    "known": (to_say("known already"), to_say("nothing happens")),
    "no_answer": (to_say("no answer"), to_say("left out")),
    "other_ballot": (to_say("unknown comparison (not of this ballot)"), to_say("left out")),
    "unreadable": (to_say("unreadable"), to_say("left out")),
}
_TABLE = (to_say("class"), to_say("rows"), to_say("answers"), to_say("then"))
_ROWS = (
    to_say("row"), to_say("class"), to_say("reason"), to_say("voter"), to_say("assignment_id"), to_say("task_id"),
    to_say("n"), to_say("left_a"), to_say("left_b"), to_say("right_a"), to_say("right_b"), to_say("choice"),
)  # fmt: skip


def classes_box(found: UploadPreview, key: str) -> None:
    """The table of classes, and one of them row by row with its download."""
    answers, rows = found.counts, found.row_counts
    table = [
        {"class": say(said), "rows": rows.get(name, 0), "answers": answers[name], "then": say(then)}
        for name, (said, then) in CLASSES.items()
        if answers.get(name)
    ]
    config = said_columns(*_TABLE)
    alt = say("What {file} holds", file=found.filename)
    st.dataframe(table, hide_index=True, column_config=config, alt=alt)
    st.caption(
        say(
            "{rows} and {answers}, each in one class. A row with several answers is in the class of the first of them "
            "in this table.",
            rows=many(found.n_rows, "row"),
            answers=many(sum(answers.values()), "answer"),
        )
    )
    names = [name for name in CLASSES if answers.get(name)]
    if not names:
        return
    with st.expander(say("Row by row")):
        name = st.selectbox(
            say("Class"),
            names,
            format_func=lambda name: say("{kind} ({n:,})", kind=say(CLASSES[name][0]), n=answers[name]),
            key=f"class-{key}",
        )
        chosen = found.table(name)
        config = {column: say(column) for column in _ROWS}
        alt = say("Rows of {file}: {kind}", file=found.filename, kind=say(CLASSES[name][0]))
        st.dataframe(chosen, hide_index=True, lazy=True, column_config=config, alt=alt)
        st.download_button(
            say("Download this class (CSV)"),
            lambda: class_file(chosen),
            f"{found.filename.rsplit('.', 1)[0]}-{name.replace('_', '-')}.csv",
            "text/csv",
            on_click="ignore",
            key=f"class-file-{key}",
            help=say("With the row of the file and the reason. Texts that a spreadsheet would run get an apostrophe."),
        )
