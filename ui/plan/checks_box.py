"""Checks in the ballots: what the plan asks for and costs, how many were answered, and what they say."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.ballots.checks import MOST_OVERLAP_VOTERS, CheckSettings, gold_text, read_gold_pairs
from core.plan import Plan
from core.store import Store
from core.store.ballots.ballot_rows import Ballot
from core.store.projects.plans import PlanSettings
from core.store.projects.project_commands import Project
from core.store.votes.checks import strange_gold
from core.views.plan import answered_text, cost_text, counts_table
from ui.plan.plan_fields import NumberField, show_facts
from ui.shared import choosers, frame

CHECKS_ICON = ":material/fact_check:"


# By twos and a last three, as they stand in the form.
NUMBERS = (
    NumberField("overlap", "Judged by several voters (%)", 0.0, 50.0, 1.0,
                "This share of comparisons is put before further voters, for a figure of agreement. The vote that "
                "counts stays one.", scale=100.0),
    NumberField("overlap_voters", "By how many voters", 2, MOST_OVERLAP_VOTERS, 1,
                "The voter whose vote counts is one of them."),
    NumberField("audit_items", "Cut items that come back, per ballot", 0, 100, 1,
                "How many of the items a ballot cuts come back once, drawn at random, against items near the end of "
                "the top 10; this shows how many of the top were lost. 0: none."),
    NumberField("audit_votes", "Comparisons of each", 1, 40, 1, "One vote each."),
    NumberField("gold", "Known answers", 0, 10, 1,
                "From ballot 2 on they are taken from differences that the votes leave no doubt about; ballot 1 has "
                "only those typed below. 0: none."),
    NumberField("repeats", "Repeats per task", 0, 5, 1,
                "A comparison is shown again later in the task, with sides swapped."),
)  # fmt: skip
GOLD_PER = {"task": "in every task", "voter": "for every voter"}
GOLD_HELP = "For every voter: as often as if the tasks were shared out evenly."


def known_answers_area(key: str, value: str = "") -> str:
    """Where known answers are typed, a comparison a line: those of a plan before its ballots are drawn, and those that
    an open ballot of the voting page gets besides (`checks.read_gold_pairs`)."""
    return st.text_area(
        "Known answers, one per line",
        value,
        key=key,
        placeholder="cat, dog > saw, mouse",
        help="The more related pair first. Both pairs must be items of the project.",
    )


def checks_form(start: CheckSettings | None, *, key: str) -> CheckSettings | None:
    """The switch and the settings of the plan's checks; None where they are off.

    Raises `PlanError` for a line that is no comparison with a known answer.
    """
    on = st.toggle(
        "Checks in the ballots",
        start is not None,
        key=f"checks-{key}",
        help=(
            "A few extra comparisons, which voters can't tell from the others. They show how good the votes are, and "
            "what was lost at the cuts. They never enter scores."
        ),
    )
    if not on:
        return None
    old = start or CheckSettings()
    with st.expander("Which checks", icon=CHECKS_ICON):
        *places, last, middle, end = [*st.columns(2), *st.columns(2), *st.columns(3)]
        values: dict[str, Any] = {
            field.name: field.input(place, getattr(old, field.name), key=key)
            for place, field in zip([*places, last, end], NUMBERS, strict=True)
        }
        per = choosers.selectbox(
            "How often", GOLD_PER, old.gold_per, place=middle, key=f"gold-per-{key}", help=GOLD_HELP
        )
        pairs = known_answers_area(f"gold-pairs-{key}", gold_text(old.gold_pairs))
    return CheckSettings(**values, gold_per=per, gold_pairs=read_gold_pairs(pairs))


def show_checks(checks: CheckSettings | None) -> None:
    """The settings of checks that are drawn, as text; nothing where there are none."""
    if checks is None:
        return
    box = st.expander("Which checks", icon=CHECKS_ICON, key="checks-drawn", on_change="rerun")
    if box.open:
        with box:
            facts = [field.fact(getattr(checks, field.name)) for field in NUMBERS]
            show_facts([*facts[:5], ("How often", GOLD_PER[checks.gold_per], GOLD_HELP), facts[5]])
            if checks.gold_pairs:
                st.markdown("Known answers:")
                st.code(gold_text(checks.gold_pairs), language=None)


def checks_cost(project: Project, area_id: int | None, plan: Plan, settings: PlanSettings) -> None:
    """What the checks of a plan cost, and known answers that can't be asked."""
    if settings.checks is None:
        st.caption("No checks: nothing will tell how far voters agree, or what was lost at the cuts.")
        return
    for tokens in strange_gold(frame.store(), project.id, area_id, settings.checks):
        named = frame.plain(" – ".join(tokens))
        st.warning(f"Among the known answers, {named} is no item here, so that comparison will not be asked.")
    st.markdown(frame.plain(cost_text(plan, settings)))
    box = st.expander("Check votes by ballot", key="check-votes", on_change="rerun")
    if box.open:
        with box:
            st.dataframe(counts_table(plan, settings), hide_index=True, alt="Check votes by ballot")


def collected(store: Store, ballot: Ballot) -> None:
    """How many checks the open ballot carries, and how many answers came."""
    if sentence := answered_text(store, ballot):
        st.caption(frame.plain(sentence))
