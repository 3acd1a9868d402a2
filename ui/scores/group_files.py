"""Target groups that exist already: a file is read, models are scored on it, and people's orders give its shares."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.base.durable import slug
from core.base.numbers_in_words import many, plural
from core.errors import RunoffError
from core.questions.order.groups import TargetGroup, score_groups
from core.questions.order.kind import GroupFile, groups_of, read_group_file, read_groups, write_groups
from core.questions.order.orders import OrderFile, comparisons_of, group_agreement, read_orders, without
from core.store.projects.embedding_library import open_library, other_embeddings, read_embeddings
from core.store.projects.project_commands import Project
from core.views import file_kinds
from core.views.kinds import target_groups as view
from ui.shared import choosers, frame
from ui.shared.tables import download, figures, named, show_issues, show_table

EXAMPLE = "singer\nmusician,0.90,person,0.10\ndistractors\nmusician,1.00,song,0.00\nrandoms\nmusician,1.00,laptop,0.00"
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
        st.code(EXAMPLE, language=None)
    groups: list[TargetGroup] = []
    try:
        read = _read(project)
        groups = [] if read is None else groups_of(read.comparisons)
    except RunoffError as error:
        frame.show_error(error)
    else:
        if read is not None:
            _show(read, groups)
            _scores(project, read)
    _orders_box(project, groups)


def _read(project: Project) -> GroupFile | None:
    """The groups of the file, else those that were pasted; None without either."""
    file = st.file_uploader("File of target groups", key=f"groups-{project.id}")
    pasted = st.text_area("Or paste it", key=f"groups-text-{project.id}", height=120, placeholder=EXAMPLE)
    if file is not None:
        file_kinds.check("target groups", file.getvalue(), file.name)
        return read_group_file(file.getvalue(), file.name)
    return read_groups(pasted) if pasted else None


def _show(read: GroupFile, groups: list[TargetGroup]) -> None:
    st.markdown(f"**{view.headline(read, groups)}**")
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
    table = view.table(groups)
    st.dataframe(table, hide_index=True, height=280, alt="Groups of the file")
    by_target = {group.target: group for group in groups}
    target = choosers.selectbox(
        "Look at a group",
        {name: f"{view.isolated(name)} ({many(len(group.words), 'word')})" for name, group in by_target.items()},
        key="look-at-group",
        help="Positives in the order of the file. Words run in the direction of their own script.",
    )
    if target is not None:
        st.html(view.group_html(by_target[target]))
    with st.expander("All comparisons"):
        table = view.comparisons(read)
        config = named(view.WORST_HELP)
        st.dataframe(table, hide_index=True, column_config=config, alt="All comparisons")
        download("Download the comparisons (CSV)", partial(view.comparisons, read), "target-groups-comparisons.csv")


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
    found, opened = {}, {}
    try:
        for one in chosen:
            opened[names[one]] = open_library(store, known[one])
            found[names[one]] = score_groups(read.comparisons, opened[names[one]].cosines)
    except RunoffError as error:
        frame.show_error(error)
        return
    if not found:
        return
    table = view.scores(found)
    st.dataframe(
        table, hide_index=True, column_config=figures(table, view.HELP), placeholder="–", alt="Scores of the models"
    )
    download("Download the scores (CSV)", partial(view.scores, found), "target-groups-scores.csv")
    by_name = {name: name for name in table["model"].tolist()}
    model = choosers.selectbox("Look at a model", by_name, key=f"group-model-{project.id}")
    counts = view.behind(found[model])
    st.dataframe(counts, hide_index=True, placeholder="–", alt="What is behind the figures")
    wrong = view.worst(read.comparisons, opened[model].cosines)
    st.markdown("##### Worst comparisons")
    if wrong.empty:
        st.caption(
            "None is wrong." if found[model].overall.n else "There are none: the model has the words of no comparison."
        )
        return
    about = figures(wrong, view.WORST_HELP)
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
    found = group_agreement(read.orders)
    st.markdown(f"**{view.agreement_text(found, len(read.targets))}**")
    show_table(view.people(found), view.PEOPLE_HELP, "Agreement of people")
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
    kept = without(read.orders, left_out)
    if left_out:
        st.caption(f"Without them: mean pairwise ρ {group_agreement(kept).mean:.3f}.")
    comparisons = comparisons_of(kept, groups)
    name = slug(f"{project.name}-orders", "orders")
    if groups:
        st.caption("Distractors and randoms are those of the groups above.")
    with st.container(horizontal=True):
        st.download_button(
            "Download the groups with shares (text)",
            write_groups(comparisons).encode("utf-8"),
            f"{name}-groups.txt",
            "text/plain",
            icon=":material/download:",
            on_click="ignore",
            help=f"{many(len(comparisons), 'comparison')} in the authors' format, ready to be read above.",
        )
        download("Download the people (CSV)", partial(view.people, found), f"{name}-people.csv")
