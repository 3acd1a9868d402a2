"""Ratings that exist already: a file is read, worked out, and models, gold and experts are held against it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import plural
from core.errors import RunoffError
from core.evaluation.baselines import text_similarities
from core.evaluation.rating_report import RatingReport, report, stand
from core.questions.rating.files import crowd_minus_experts, qualify_people, read_ratings
from core.questions.rating.scales import SCALES, RatingScale, RatingSet
from core.questions.rating.statistics import ModelPlace
from core.store import Store
from core.store.projects.embedding_library import Imported, open_library, other_embeddings, read_embeddings
from core.store.projects.project_commands import Project
from core.views import file_kinds
from core.views.kinds import rating_sets as view
from ui.shared import choosers, frame
from ui.shared.tables import download, show_issues, show_table

SCALE_NAMES = {"": "not checked", "STSS": "STSS: 0 to 4 in tenths", "CLSS": "CLSS: 0 to 4 in quarters", "own": "own"}
LAYOUTS = (
    "A CSV or TSV file with two columns of texts (token_a, token_b; word1, word2; sentence1, sentence2) and **either** "
    "voter and rating, a row per rating, **or** a column per person, **or** one column of mean scores, perhaps with "
    "SD. A long file may have level, genre, condition and order (A or B) as well. WordSim-353, SimVerb, SimLex-999 and "
    "the STS benchmark come in as they are."
)


def ratings_box(project: Project) -> None:
    """All of the tab."""
    st.markdown("**A rating set of your own or of others: how far people agree, and which model comes near them.**")
    with st.popover("What a file looks like", icon=":material/help:", type="tertiary"):
        st.markdown(LAYOUTS)
    file = st.file_uploader("File of ratings", key=f"ratings-{project.id}")
    scale = _scale(project)
    if file is None:
        return
    try:
        file_kinds.check("ratings", file.getvalue(), file.name)
        with st.spinner("Reading the ratings …"):
            bounds = None if scale is None else (scale.low, scale.high, scale.step)
            found = _report(file.getvalue(), file.name, bounds)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.markdown(f"**{frame.plain(view.headline(found))}**")
    _issues(found)
    with st.container(horizontal=True):
        for label, value, about in view.figures(found):
            st.metric(label, value, help=about, width="content")
    for reason in view.why_undefined(found):
        st.caption(frame.plain(reason))
    stem = slug(file.name.rsplit(".", 1)[0], "ratings")
    _items(found, stem)
    _people(found, stem)
    _groups(found)
    _conditions(found, stem)
    _gold_box(project, found, stem)
    _models(project, found, f"{file.file_id}-{scale}", stem)


def _scale(project: Project) -> RatingScale | None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choosers.selectbox(
            "Scale",
            dict(SCALE_NAMES),
            key=f"rating-scale-{project.id}",
            width=240,
            help="Ratings that the scale doesn't allow are left out and listed.",
        )
        if name != "own":
            return SCALES.get(name)
        low = st.number_input("From", value=0.0, key=f"scale-low-{project.id}", width=110)
        high = st.number_input("To", value=10.0, key=f"scale-high-{project.id}", width=110)
        step = st.number_input("In steps of", value=0.5, key=f"scale-step-{project.id}", width=120)
    try:
        return RatingScale("own", low, high, step)
    except RunoffError as error:
        frame.show_error(error)
        return None


@st.cache_resource(max_entries=8, show_spinner=False)
def _report(data: bytes, name: str, scale: tuple[float, float, float] | None) -> RatingReport:
    return report(read_ratings(data, name, scale=RatingScale("the scale", *scale) if scale else None))


@st.cache_resource(max_entries=8, show_spinner=False)
def _standings(
    key: tuple[str, int],
    chosen: tuple[str, ...],
    held_out: tuple[str, ...],
    names: tuple[str, ...],
    _found: RatingReport,
    _imported: list[Imported],
    _store: Store,
) -> list[ModelPlace]:
    given = {
        name: text_similarities(open_library(_store, imported), _found.ratings.first, _found.ratings.second)
        for imported, name in zip(_imported, names, strict=True)
    }
    return stand(_found.ratings, _found.mean, given, held_out=held_out)


def _issues(found: RatingReport) -> None:
    show_issues(found.ratings.issues, found.ratings.notes)
    if found.gap is not None:
        st.caption(f"People's means differ from the file's own column by {found.gap:.3f} at most.")


def _items(found: RatingReport, stem: str) -> None:
    table = view.items(found)
    st.subheader("Items", help="Mean, SD and number of ratings of each.")
    waiting = list(found.waiting)
    if found.ratings.has_people:
        only = st.toggle(
            plural(len(waiting), "Only the {n} item to adjudicate", "Only the {n} items to adjudicate"),
            key=f"adjudicate-{stem}",
            help=(
                "Where any two people differ by a point or more, the mean hides a disagreement: somebody should "
                "decide. A point is much on a scale of 0 to 4 and little on one of 0 to 10."
            ),
        )
        table = table.iloc[waiting] if only else table
    show_table(table, view.HELP, "Items of the rating set")
    download("Download these items (CSV)", lambda: table, f"{stem}-items.csv")


def _people(found: RatingReport, stem: str) -> None:
    table = view.people(found)
    if len(table):
        st.subheader("People", help="Each person against the mean of all others, the lowest first.")
        show_table(table, view.HELP, "People of the rating set")
        download("Download the people (CSV)", partial(view.people, found), f"{stem}-people.csv")


def _groups(found: RatingReport) -> None:
    parts = (
        ("level", "By level", "Agreement by level", found.by_level),
        ("genre", "By genre", "Agreement by genre", found.by_genre),
    )
    for called, title, alt, groups in parts:
        if groups:
            st.subheader(title, help="Agreement of the items of each.")
            show_table(view.alphas(groups, called), view.HELP, alt)


def _conditions(found: RatingReport, stem: str) -> None:
    if found.conditions:
        st.subheader("Conditions", help="Whether the way of asking moved the ratings.")
        table = view.conditions(found)
        show_table(table, view.CONDITION_HELP, "Conditions compared")
        download("Download the conditions (CSV)", partial(view.conditions, found), f"{stem}-conditions.csv")
        effects = view.anova(found)
        if len(effects):
            show_table(effects, view.ANOVA_HELP, "Analysis of variance")
        if said := view.anova_text(found):
            st.caption(frame.plain(said))
    if found.order_tests:
        st.subheader("Order in the pair", help="Whether an item is rated otherwise with its two texts exchanged.")
        table = view.orders(found)
        show_table(table, view.ORDER_HELP, "Order in the pair")
        download("Download the orders (CSV)", partial(view.orders, found), f"{stem}-orders.csv")


def _models(project: Project, found: RatingReport, key: str, stem: str) -> None:
    st.subheader("Models", help="Similarities of embeddings against the mean ratings, with two string baselines.")
    store = frame.store()
    mine = read_embeddings(store, project.id)
    known = {imported.id: imported for imported in [*mine, *other_embeddings(store, project.id)]}
    names = choosers.names_of(known.values())
    chosen = choosers.multiselect(
        "Embeddings", names, [imported.id for imported in mine],
        key=f"rating-models-{project.id}", placeholder="None: only the baselines",
        help="All of the workspace. Longer texts are the mean of their known words' vectors.",
    )  # fmt: skip
    genres = sorted(set(filter(None, found.ratings.genre)))
    held_out: list[str] = []
    if genres:
        held_out = choosers.multiselect(
            "Genres held out", {genre: genre for genre in genres}, key=f"held-out-{key}", placeholder="None",
            help="Genres that models couldn't prepare for get a figure of their own.",
        )  # fmt: skip
    if not st.toggle("Hold them against the means", key=f"rating-stand-{key}", help="Takes a moment with many texts."):
        return
    try:
        with st.spinner("Looking the texts up …"):
            standings = _standings(
                (key, project.cache_key), tuple(chosen), tuple(held_out), tuple(names[one] for one in chosen),
                found, [known[one] for one in chosen], store,
            )  # fmt: skip
    except RunoffError as error:
        frame.show_error(error)
        return
    table = view.models(standings)
    show_table(table, view.MODEL_HELP, "Models against the means")
    download("Download the models (CSV)", partial(view.models, standings), f"{stem}-models.csv")
    st.caption("A level that a model doesn't cover counts as 0 in the sum that decides the places.")


def _gold_box(project: Project, found: RatingReport, stem: str) -> None:
    """Both of them, each from a file of its own."""
    with st.expander("Qualification: who rates gold pairs near enough"):
        st.caption("A file of the same layouts with the right ratings of some pairs, five as a rule.")
        gold = _other_file(project, "Gold ratings", "gold")
        tolerance = st.number_input(
            "Points off that still pass", 0.05, 10.0, 1.0, 0.25, key=f"tolerance-{project.id}", width=200,
            help="Every gold pair must be within so many points of its right rating; a pair left out isn't.",
        )  # fmt: skip
        if gold is not None:
            _qualified(found, gold, float(tolerance), stem)
    with st.expander("Crowd minus experts, by genre"):
        st.caption("A file of the same layouts with experts' ratings of these items: above 0 the crowd rates higher.")
        experts = _other_file(project, "Experts' ratings", "experts")
        if experts is not None:
            _deviation(found, experts, stem)


def _other_file(project: Project, label: str, key: str) -> RatingSet | None:
    file = st.file_uploader(label, key=f"{key}-{project.id}")
    if file is None:
        return None
    try:
        file_kinds.check("ratings", file.getvalue(), file.name)
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
