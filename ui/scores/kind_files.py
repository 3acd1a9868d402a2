"""Files of other kinds that exist already, read and worked out: best–worst judgements, target groups, ratings."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, plural, with_decimals
from core.errors import RunoffError
from core.evaluation.baselines import text_similarities
from core.evaluation.rating_report import RatingReport, report, stand
from core.questions.best_worst.files import BestWorstReport, Named, read_best_worst
from core.questions.best_worst.files import report as best_worst_report
from core.questions.order.groups import TargetGroup, score_groups
from core.questions.order.kind import GroupFile, groups_of, read_group_file, read_groups
from core.questions.order.orders import OrderFile, comparisons_of, group_agreement, read_orders, without
from core.questions.rating.files import crowd_minus_experts, qualify_people, read_ratings
from core.questions.rating.scales import SCALES, RatingScale, RatingSet
from core.questions.rating.statistics import ModelPlace
from core.store import Store
from core.store.projects.embedding_library import Imported, open_library, other_embeddings, read_embeddings
from core.store.projects.project_commands import Project
from core.views import file_kinds
from core.views.kinds import best_worst, rating_sets, target_groups
from ui.shared import choosers, frame
from ui.shared.tables import download, download_groups, figures, named, read_asking, show_issues, show_table

BEST_WORST_EXAMPLE = (
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
        st.code(BEST_WORST_EXAMPLE, language=None)
    file = st.file_uploader("File of judgements", key=f"best-worst-{project.id}")
    if file is not None:
        try:
            file_kinds.check("best–worst", file.getvalue(), file.name)
            with st.spinner("Reading the judgements …"):
                result = read_asking(_best_worst_report, file.getvalue(), file.name, file.file_id)
        except RunoffError as error:
            frame.show_error(error)
        else:
            if result is not None:
                _show_best_worst(result, slug(file.name.rsplit(".", 1)[0], "best-worst"))


@st.cache_resource(max_entries=8, show_spinner=False)
def _best_worst_report(data: bytes, name: str, named: Named | None = None) -> BestWorstReport:
    return best_worst_report(read_best_worst(data, name, named=named))


def _show_best_worst(result: BestWorstReport, stem: str) -> None:
    st.markdown(f"**{frame.plain(best_worst.headline(result))}**")
    show_issues(result.read.issues, result.read.notes)
    with st.container(horizontal=True):
        for label, value, about in best_worst.figures(result):
            st.metric(label, value, help=about, width="content")
    for reason in best_worst.reasons(result):
        st.caption(frame.plain(reason))
    table = best_worst.table(result)
    show_table(table, best_worst.HELP, "Items of the judgements")
    download("Download these items (CSV)", lambda: table, f"{stem}-scores.csv")


GROUP_EXAMPLE = (
    "singer\nmusician,0.90,person,0.10\ndistractors\nmusician,1.00,song,0.00\nrandoms\nmusician,1.00,laptop,0.00"
)
ORDERS_EXAMPLE = "target,voter,word,place\nsinger,W1,musician,1\nsinger,W1,artist,2\nsinger,W1,person,3"


def groups_box(project: Project) -> None:
    """All of the tab."""
    st.markdown("**People put the words of one target into order, and only words of the same target are compared.**")
    with st.popover("What a file looks like", icon=":material/help:", type="tertiary"):
        st.markdown(
            "The text files of Avraham and Goldberg (2016): a target, then two of its positives per line, each with "
            "the share of people that put it above the other; below the headings *distractors* and *randoms* a "
            "positive above one of these."
        )
        st.code(GROUP_EXAMPLE, language=None)
    groups: list[TargetGroup] = []
    try:
        read = _read(project)
        groups = [] if read is None else groups_of(read.comparisons)
    except RunoffError as error:
        frame.show_error(error)
    else:
        if read is not None:
            _show_groups(read, groups)
            _scores(project, read)
    _orders_box(project, groups)


def _read(project: Project) -> GroupFile | None:
    """The groups of the file, else those that were pasted; None without either."""
    file = st.file_uploader("File of target groups", key=f"groups-{project.id}")
    pasted = st.text_area("Or paste it", key=f"groups-text-{project.id}", height=120, placeholder=GROUP_EXAMPLE)
    if file is not None:
        file_kinds.check("target groups", file.getvalue(), file.name)
        return read_group_file(file.getvalue(), file.name)
    return read_groups(pasted) if pasted else None


def _show_groups(read: GroupFile, groups: list[TargetGroup]) -> None:
    st.markdown(f"**{target_groups.headline(read, groups)}**")
    for note in read.notes:
        st.caption(frame.plain(note))
    if read.repeated:
        with st.expander(
            plural(
                len(read.repeated),
                "{n} line said again what an earlier one said; they count once",
                "{n} lines said again what an earlier one said; they count once",
            )
        ):
            rows = [{"line": issue.row, "found": issue.found} for issue in read.repeated]
            st.dataframe(rows, hide_index=True, alt="Repeated lines")
    table = target_groups.table(groups)
    st.dataframe(table, hide_index=True, height=280, alt="Groups of the file")
    by_target = {group.target: group for group in groups}
    target = choosers.selectbox(
        "Look at a group",
        {
            name: f"{target_groups.isolated(name)} ({many(len(group.words), 'word')})"
            for name, group in by_target.items()
        },
        key="look-at-group",
        help="Positives in the order of the file. Words run in the direction of their own script.",
    )
    if target is not None:
        st.html(target_groups.group_html(by_target[target]))
    with st.expander("All comparisons"):
        table = target_groups.comparisons(read)
        config = named(target_groups.WORST_HELP)
        st.dataframe(table, hide_index=True, column_config=config, alt="All comparisons")
        download(
            "Download the comparisons (CSV)", partial(target_groups.comparisons, read), "target-groups-comparisons.csv"
        )


def _scores(project: Project, read: GroupFile) -> None:
    st.subheader("Models", help="How much each embedding earns of what people's agreement makes it possible to earn.")
    store = frame.store()
    mine = read_embeddings(store, project.id)
    known = {imported.id: imported for imported in [*mine, *other_embeddings(store, project.id)]}
    if not known:
        st.info("There is no embedding in this workspace yet: import one on the Embeddings page.")
        return
    names = choosers.names_of(known.values())
    chosen = choosers.multiselect(
        "Embeddings", names, [imported.id for imported in mine], key=f"group-models-{project.id}",
        help="All of the workspace.",
    )  # fmt: skip
    scores_of, opened = {}, {}
    try:
        for one in chosen:
            opened[names[one]] = open_library(store, known[one])
            scores_of[names[one]] = score_groups(read.comparisons, opened[names[one]].cosines)
    except RunoffError as error:
        frame.show_error(error)
        return
    if not scores_of:
        return
    table = target_groups.scores(scores_of)
    st.dataframe(
        table,
        hide_index=True,
        column_config=figures(table, target_groups.HELP),
        placeholder="–",
        alt="Scores of the models",
    )
    download("Download the scores (CSV)", partial(target_groups.scores, scores_of), "target-groups-scores.csv")
    by_name = {name: name for name in table["model"].tolist()}
    model = choosers.selectbox("Look at a model", by_name, key=f"group-model-{project.id}")
    counts = target_groups.behind(scores_of[model])
    st.dataframe(counts, hide_index=True, placeholder="–", alt="What is behind the figures")
    wrong = target_groups.worst(read.comparisons, opened[model].cosines)
    st.markdown("##### Worst comparisons")
    if wrong.empty:
        st.caption(
            "None is wrong."
            if scores_of[model].overall.n
            else "There are none: the model has the words of no comparison."
        )
        return
    about = figures(wrong, target_groups.WORST_HELP)
    st.dataframe(wrong, hide_index=True, column_config=about, height=300, alt="Worst comparisons")
    st.caption("Those on which people agree most come first, then those that the model misses by most; 100 at most.")


def _orders_box(project: Project, groups: list[TargetGroup]) -> None:
    """Orders from a file; with `groups`, the file above, their distractors and randoms come into the result."""
    st.subheader("People's orders", help="How people put the positives of each target into order.")
    with st.popover("What a file of orders looks like", icon=":material/help:", type="tertiary"):
        st.markdown("A row per word that somebody placed: 1 is the most similar to the target, equal places are a tie.")
        st.code(ORDERS_EXAMPLE, language=None)
    file = st.file_uploader("File of orders", key=f"orders-{project.id}")
    if file is None:
        return
    try:
        file_kinds.check("orders", file.getvalue(), file.name)
        read = read_orders(file.getvalue(), file.name, groups)
    except RunoffError as error:
        frame.show_error(error)
        return
    show_issues(read.issues, read.notes)
    try:
        _agreement(project, read, groups, file.file_id)
    except RunoffError as error:
        frame.show_error(error)


def _agreement(project: Project, read: OrderFile, groups: list[TargetGroup], key: str) -> None:
    agreement = group_agreement(read.orders)
    st.markdown(f"**{target_groups.agreement_text(agreement, len(read.targets))}**")
    show_table(target_groups.people(agreement), target_groups.PEOPLE_HELP, "Agreement of people")
    left_out = choosers.multiselect(
        "Leave out",
        {name: name for name in sorted(read.orders)},
        key=f"leave-out-{key}",
        placeholder="Nobody",
        help=(
            "Those more than one standard deviation under the mean are proposed, as Avraham and Goldberg left them "
            "out. Leaving out whoever disagrees raises agreement by itself: look at what they answered."
        ),
    )
    remaining = without(read.orders, left_out)
    if left_out:
        st.caption(f"Without them: mean pairwise ρ {with_decimals(group_agreement(remaining).mean)}.")
    comparisons = comparisons_of(remaining, groups)
    name = slug(f"{project.name}-orders", "orders")
    if groups:
        st.caption("Distractors and randoms are those of the groups above.")
    with st.container(horizontal=True):
        about = f"{many(len(comparisons), 'comparison')} of two words, each with the share of people behind it."
        download_groups(comparisons, f"{name}-groups", about)
        download("Download the people (CSV)", partial(target_groups.people, agreement), f"{name}-people.csv")


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
            result = _rating_report(file.getvalue(), file.name, bounds)
    except RunoffError as error:
        frame.show_error(error)
        return
    st.markdown(f"**{frame.plain(rating_sets.headline(result))}**")
    _issues(result)
    with st.container(horizontal=True):
        for label, value, about in rating_sets.figures(result):
            st.metric(label, value, help=about, width="content")
    for reason in rating_sets.why_undefined(result):
        st.caption(frame.plain(reason))
    stem = slug(file.name.rsplit(".", 1)[0], "ratings")
    _items(result, stem)
    _people(result, stem)
    _groups(result)
    _conditions(result, stem)
    _gold_box(project, result, stem)
    _models(project, result, f"{file.file_id}-{scale}", stem)


def _scale(project: Project) -> RatingScale | None:
    """The scale of the ratings, as chosen; None for any, or where an own one is no scale."""
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
def _rating_report(data: bytes, name: str, scale: tuple[float, float, float] | None) -> RatingReport:
    return report(read_ratings(data, name, scale=RatingScale("the scale", *scale) if scale else None))


@st.cache_resource(max_entries=8, show_spinner=False)
def _standings(
    key: tuple[str, int],
    chosen: tuple[str, ...],
    held_out: tuple[str, ...],
    names: tuple[str, ...],
    _result: RatingReport,
    _imported: list[Imported],
    _store: Store,
) -> list[ModelPlace]:
    similarities = {
        name: text_similarities(open_library(_store, imported), _result.ratings.first, _result.ratings.second)
        for imported, name in zip(_imported, names, strict=True)
    }
    return stand(_result.ratings, _result.mean, similarities, held_out=held_out)


def _issues(result: RatingReport) -> None:
    show_issues(result.ratings.issues, result.ratings.notes)
    if result.gap is not None:
        st.caption(f"People's means differ from the file's own column by {result.gap:.3f} at most.")


def _items(result: RatingReport, stem: str) -> None:
    table = rating_sets.items(result)
    st.subheader("Items", help="Mean, SD and number of ratings of each.")
    waiting = list(result.waiting)
    if result.ratings.has_people:
        only = st.toggle(
            plural(len(waiting), "Only the {n} item to adjudicate", "Only the {n} items to adjudicate"),
            key=f"adjudicate-{stem}",
            help=(
                "Where any two people differ by a point or more, the mean hides a disagreement: somebody should "
                "decide. A point is much on a scale of 0 to 4 and little on one of 0 to 10."
            ),
        )
        table = table.iloc[waiting] if only else table
    show_table(table, rating_sets.HELP, "Items of the rating set")
    download("Download these items (CSV)", lambda: table, f"{stem}-items.csv")


def _people(result: RatingReport, stem: str) -> None:
    table = rating_sets.people(result)
    if len(table):
        st.subheader("People", help="Each person against the mean of all others, the lowest first.")
        show_table(table, rating_sets.HELP, "People of the rating set")
        download("Download the people (CSV)", partial(rating_sets.people, result), f"{stem}-people.csv")


def _groups(result: RatingReport) -> None:
    """Agreement by level and by genre."""
    parts = (
        ("level", "By level", "Agreement by level", result.by_level),
        ("genre", "By genre", "Agreement by genre", result.by_genre),
    )
    for called, title, alt, groups in parts:
        if groups:
            st.subheader(title, help="Agreement of the items of each.")
            show_table(rating_sets.alphas(groups, called), rating_sets.HELP, alt)


def _conditions(result: RatingReport, stem: str) -> None:
    if result.conditions:
        st.subheader("Conditions", help="Whether the way of asking moved the ratings.")
        table = rating_sets.conditions(result)
        show_table(table, rating_sets.CONDITION_HELP, "Conditions compared")
        download("Download the conditions (CSV)", partial(rating_sets.conditions, result), f"{stem}-conditions.csv")
        effects = rating_sets.anova(result)
        if len(effects):
            show_table(effects, rating_sets.ANOVA_HELP, "Analysis of variance")
        if sentence := rating_sets.anova_text(result):
            st.caption(frame.plain(sentence))
    if result.order_tests:
        st.subheader("Order in the pair", help="Whether an item is rated otherwise with its two texts exchanged.")
        table = rating_sets.orders(result)
        show_table(table, rating_sets.ORDER_HELP, "Order in the pair")
        download("Download the orders (CSV)", partial(rating_sets.orders, result), f"{stem}-orders.csv")


def _models(project: Project, result: RatingReport, key: str, stem: str) -> None:
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
    genres = sorted(set(filter(None, result.ratings.genre)))
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
                result, [known[one] for one in chosen], store,
            )  # fmt: skip
    except RunoffError as error:
        frame.show_error(error)
        return
    table = rating_sets.models(standings)
    show_table(table, rating_sets.MODEL_HELP, "Models against the means")
    download("Download the models (CSV)", partial(rating_sets.models, standings), f"{stem}-models.csv")
    st.caption("A level that a model doesn't cover counts as 0 in the sum that decides the places.")


def _gold_box(project: Project, result: RatingReport, stem: str) -> None:
    """Both of them, each from a file of its own."""
    with st.expander("Qualification: who rates gold pairs near enough"):
        st.caption("A file of the same layouts with the right ratings of some pairs, five as a rule.")
        gold = _other_file(project, "Gold ratings", "gold")
        tolerance = st.number_input(
            "Points off that still pass", 0.05, 10.0, 1.0, 0.25, key=f"tolerance-{project.id}", width=200,
            help="Every gold pair must be within so many points of its right rating; a pair left out isn't.",
        )  # fmt: skip
        if gold is not None:
            _qualified(result, gold, float(tolerance), stem)
    with st.expander("Crowd minus experts, by genre"):
        st.caption("A file of the same layouts with experts' ratings of these items: above 0 the crowd rates higher.")
        experts = _other_file(project, "Experts' ratings", "experts")
        if experts is not None:
            _deviation(result, experts, stem)


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


def _qualified(result: RatingReport, gold: RatingSet, tolerance: float, stem: str) -> None:
    try:
        people = qualify_people(result.ratings, gold, tolerance=tolerance)
    except RunoffError as error:
        frame.show_error(error)
        return
    table = rating_sets.qualified(people)
    st.markdown(f"**{int(table['passed'].sum()):,} of {len(table):,} people pass.**")
    show_table(table, rating_sets.QUALIFIED_HELP, "Who passes the qualification")
    download("Download the qualification (CSV)", lambda: table, f"{stem}-qualification.csv")


def _deviation(result: RatingReport, experts: RatingSet, stem: str) -> None:
    try:
        deviations = crowd_minus_experts(result.ratings, experts)
    except RunoffError as error:
        frame.show_error(error)
        return
    make = partial(rating_sets.deviations, deviations)
    show_table(make(), rating_sets.DEVIATION_HELP, "Crowd minus experts")
    download("Download the deviations (CSV)", make, f"{stem}-crowd-minus-experts.csv")
