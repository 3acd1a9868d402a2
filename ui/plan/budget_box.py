"""How often items can be shown for a budget of votes, hours or money."""

from __future__ import annotations

import streamlit as st

from core.errors import PlanError
from core.store.projects.plans import PlanSettings, with_budget, within_cost
from core.views.plan import appearances_text
from ui.shared import choosers, frame

KINDS = {
    "votes": "votes",
    "hours": "hours of voters' time",
    "money": "money, fees included",
}


def budget_box(project_id: str, settings: PlanSettings, n_items: int, *, key: str) -> None:
    """Find M for a budget as the plan's protocol likes it, and put it into its box (`key` is that of the widgets)."""
    with st.popover("Find M for a budget", icon=":material/savings:"):
        kinds = dict(KINDS)
        kind = choosers.radio("Budget of", kinds, key=f"budget-kind-{project_id}")
        amount = st.number_input("At most", 1.0, 1e9, 1000.0, key=f"budget-{project_id}")
        try:
            if kind == "votes":
                within = with_budget(settings, n_items, int(amount))
            else:
                within = within_cost(settings, n_items, **({"hours": amount} if kind == "hours" else {"total": amount}))
            found = within.plan(n_items)
        except PlanError as error:
            frame.show_error(error)
            return
        said = appearances_text(found.appearances_by_ballot)
        same = found.appearances_by_ballot == settings.plan(n_items).appearances_by_ballot
        text = f"**M = {said}**: {found.n_comparisons:,} votes."
        if same:
            text = f"**M = {said}**: {found.n_comparisons:,} votes, as it is."
        st.markdown(text)
        st.button("Use it", on_click=_use, args=(said, key), disabled=same)


def _use(said: str, key: str) -> None:
    st.session_state[f"m-{key}"] = said
