"""What a file holds: its rows and answers by class, each class to be opened and downloaded."""

from __future__ import annotations

import streamlit as st

from core.row_classes import class_file
from core.spoken import say, to_say
from core.store.votes import UploadPreview
from core.views.upload_jobs import MOST_SHOWN, LargePreview
from core.views.upload_words import CLASSES
from core.views.words import many
from ui import choosers
from ui.tables import said_columns

_TABLE = (to_say("class"), to_say("rows"), to_say("answers"), to_say("then"))
_ROWS = (
    to_say("row"), to_say("class"), to_say("reason"), to_say("voter"), to_say("assignment_id"), to_say("task_id"),
    to_say("n"), to_say("left_a"), to_say("left_b"), to_say("right_a"), to_say("right_b"), to_say("choice"),
)  # fmt: skip


def classes_box(found: UploadPreview | LargePreview, key: str) -> None:
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
    is_large = isinstance(found, LargePreview)  # its rows are read from the disk, once they are asked for
    box = st.expander(say("Row by row"), key=f"rows-{key}", on_change="rerun" if is_large else "ignore")
    if is_large and not box.open:
        return
    with box:
        words = {name: say("{kind} ({n:,})", kind=say(CLASSES[name][0]), n=answers[name]) for name in names}
        name = choosers.selectbox(say("Class"), words, key=f"class-{key}")
        chosen = found.table(name)
        config = {column: say(column) for column in _ROWS}
        alt = say("Rows of {file}: {kind}", file=found.filename, kind=say(CLASSES[name][0]))
        if isinstance(found, LargePreview) and answers[name] > MOST_SHOWN:
            st.caption(say("The first {most:,} of them; the download has all.", most=MOST_SHOWN))
        st.dataframe(chosen, hide_index=True, lazy=True, column_config=config, alt=alt)
        st.download_button(
            say("Download this class (CSV)"),
            lambda: class_file(found.whole(name) if isinstance(found, LargePreview) else chosen),
            f"{found.filename.rsplit('.', 1)[0]}-{name.replace('_', '-')}.csv",
            "text/csv",
            on_click="ignore",
            key=f"class-file-{key}",
            help=say("With the row of the file and the reason. Texts that a spreadsheet would run get an apostrophe."),
        )
