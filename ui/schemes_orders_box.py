"""People's orders of target groups: how far they agree, who stands apart, and the shares R they come to."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.errors import RunoffError
from core.plurals import many
from core.questions.order.agreement import group_agreement
from core.questions.order.files import write_groups
from core.questions.order.groups import TargetGroup
from core.questions.order.orders import OrderFile, comparisons_of, read_orders, without
from core.store.projects import Project
from core.views import target_groups as view
from core.views.words import slug
from ui import choosers, frame
from ui.scheme_tables import download, show_issues, show_table

EXAMPLE = "target,voter,word,place\nsinger,W1,musician,1\nsinger,W1,artist,2\nsinger,W1,person,3"


def orders_box(project: Project, groups: list[TargetGroup]) -> None:
    """Orders from a file; with `groups`, the file above, their distractors and randoms come into the result."""
    st.subheader("People's orders", help="How people put the positives of each target into order.")
    with st.popover("What a file of orders looks like", icon=":material/help:", type="tertiary"):
        st.markdown("A row a word that somebody placed: 1 is the most similar to the target, equal places are a tie.")
        st.code(EXAMPLE, language=None)
    file = st.file_uploader("File of orders", type=["csv", "tsv", "txt", "xlsx"], key=f"orders-{project.id}")
    if file is None:
        return
    try:
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
    st.markdown(f"**{view.agreement_said(found, len(read.targets))}**")
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
