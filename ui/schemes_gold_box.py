"""Ratings against gold and against experts: who qualifies, and how far the crowd lies from experts by genre."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.evaluation.rating_report import RatingReport
from core.questions.rating.expert_files import crowd_minus_experts, qualify_people
from core.questions.rating.files import read_ratings
from core.questions.rating.sets import RatingSet
from core.store.projects import Project
from core.views import rating_sets as view
from ui import frame
from ui.scheme_tables import download, show_issues, show_table


def gold_box(project: Project, found: RatingReport, stem: str) -> None:
    """Both of them, each from a file of its own."""
    with st.expander("Qualification: who rates gold pairs near enough"):
        st.caption("A file of the same layouts with the right ratings of some pairs, five as a rule.")
        gold = _file(project, "Gold ratings", "gold")
        tolerance = st.number_input(
            "Points off that still pass", 0.05, 10.0, 1.0, 0.25, key=f"tolerance-{project.id}", width=200,
            help="Every gold pair must be within so many points of its right rating; a pair left out isn't.",
        )  # fmt: skip
        if gold is not None:
            _qualified(found, gold, float(tolerance), stem)
    with st.expander("Crowd minus experts, by genre"):
        st.caption("A file of the same layouts with experts' ratings of these items: above 0 the crowd rates higher.")
        experts = _file(project, "Experts' ratings", "experts")
        if experts is not None:
            _deviation(found, experts, stem)


def _file(project: Project, label: str, key: str) -> RatingSet | None:
    file = st.file_uploader(label, type=["csv", "tsv", "txt", "xlsx"], key=f"{key}-{project.id}")
    if file is None:
        return None
    try:
        read = read_ratings(file.getvalue(), file.name)
    except RunoffError as error:
        frame.show_error(error)
        return None
    show_issues(read.issues, read.notes)
    return read


def _qualified(found: RatingReport, gold: RatingSet, tolerance: float, stem: str) -> None:
    try:
        people = qualify_people(found.ratings, gold, tolerance=tolerance)
    except RunoffError as error:
        frame.show_error(error)
        return
    table = view.qualified(people)
    st.markdown(f"**{int(table['passed'].sum()):,} of {len(table):,} people pass.**")
    show_table(table, view.QUALIFIED_HELP, "Who passes the qualification")
    download("Download the qualification (CSV)", lambda: table, f"{stem}-qualification.csv")


def _deviation(found: RatingReport, experts: RatingSet, stem: str) -> None:
    try:
        deviations = crowd_minus_experts(found.ratings, experts)
    except RunoffError as error:
        frame.show_error(error)
        return
    make = partial(view.deviations, deviations)
    show_table(make(), view.DEVIATION_HELP, "Crowd minus experts")
    download("Download the deviations (CSV)", make, f"{stem}-crowd-minus-experts.csv")
