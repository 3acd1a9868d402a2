"""Best–worst judgements that exist already: a file is read and worked out."""

from __future__ import annotations

import streamlit as st

from core.base.durable import slug
from core.errors import RunoffError
from core.questions.best_worst.files import Named, read_best_worst
from core.questions.best_worst.report import BestWorstReport, report
from core.store.projects.project_commands import Project
from core.views import file_kinds
from core.views.kinds import best_worst as view
from ui.shared import frame
from ui.shared.tables import download, read_asking, show_issues, show_table

EXAMPLE = (
    "item_1,item_2,item_3,item_4,best,worst,voter\nsea – ship,tax – law,cat – dog,sea – tax,cat – dog,sea – tax,W1"
)


def best_worst_box(project: Project) -> None:
    """All of the tab."""
    st.markdown("**Of four items a person names the most and the least related.**")
    with st.popover("What a file looks like", icon=":material/help:", type="tertiary"):
        st.markdown(
            "A CSV or TSV file, a row per judgement: the items, the one named best, the one named worst (or their "
            "places, 1 the first), and who judged. Item1 … Item4, BestItem, WorstItem and Annotator (Kiritchenko "
            "and Mohammad) are known too."
        )
        st.code(EXAMPLE, language=None)
    file = st.file_uploader("File of judgements", key=f"best-worst-{project.id}")
    if file is not None:
        try:
            file_kinds.check("best–worst", file.getvalue(), file.name)
            with st.spinner("Reading the judgements …"):
                found = read_asking(_report, file.getvalue(), file.name, file.file_id)
        except RunoffError as error:
            frame.show_error(error)
        else:
            if found is not None:
                _show(found, slug(file.name.rsplit(".", 1)[0], "best-worst"))


@st.cache_resource(max_entries=8, show_spinner=False)
def _report(data: bytes, name: str, named: Named | None = None) -> BestWorstReport:
    return report(read_best_worst(data, name, named=named))


def _show(found: BestWorstReport, stem: str) -> None:
    st.markdown(f"**{frame.plain(view.headline(found))}**")
    show_issues(found.read.issues, found.read.notes)
    with st.container(horizontal=True):
        for label, value, about in view.figures(found):
            st.metric(label, value, help=about, width="content")
    for reason in view.reasons(found):
        st.caption(frame.plain(reason))
    table = view.table(found)
    show_table(table, view.HELP, "Items of the judgements")
    download("Download these items (CSV)", lambda: table, f"{stem}-scores.csv")
